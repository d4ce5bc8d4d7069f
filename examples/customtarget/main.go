// Command customtarget runs the supported part of a network on a custom accelerator
// and the rest on the processor. It prints where each part ran and which values were transferred.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tensor"

	"example.com/customtarget/toy"
)

// Net is a network of two layers with a residual and a softmax, for which the
// accelerator has no unit, in between.
type Net struct {
	First, Second *nn.Linear
}

// NewNet returns a network with weights.
func NewNet() *Net {
	n := &Net{nn.NewLinear(8, 8), nn.NewLinear(8, 4)}
	var g op.Gen
	for _, p := range nn.StateDict(n) {
		array.Copy(p.Tensor.Array(), g.Uniform(-1, 1, p.Tensor.Shape()...))
	}
	return n
}

// Forward computes scores.
func (n *Net) Forward(x *tensor.Tensor) *tensor.Tensor {
	h := n.First.Forward(x).Relu()
	return n.Second.Forward(h.Softmax(-1).Mul(h).Add(x)).Neg()
}

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer) error {
	gm, err := fx.Trace(ctx, NewNet(), fx.Input("x", "f32[N,8]"))
	if err != nil {
		return err
	}
	machine := &toy.Machine{}
	target := lowering.Split{First: toy.Target{Machine: machine}, Rest: cpu.Target{}}
	exe, err := target.Pieces(gm.Module, lowering.Options{})
	if err != nil {
		return err
	}
	defer exe.Close()
	fmt.Fprint(w, exe)
	var g op.Gen
	for _, rows := range []int{1, 3} {
		out, err := exe.Run(ctx, []*array.Array{g.Normal(rows, 8)})
		if err != nil {
			return err
		}
		fmt.Fprintln(w, "scores", out[0].Shape())
	}
	s := exe.Stats()
	fmt.Fprintf(w, "%d runs: %d values to the machine, %d back\n", s.Runs, s.In.Values, s.Out.Values)
	fmt.Fprintf(w, "machine: %+v\n", machine.Counts())
	return nil
}
