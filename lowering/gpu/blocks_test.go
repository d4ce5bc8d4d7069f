package gpu_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

// contraction is a call of a product or a convolution.
type contraction struct {
	op    *op.Op
	attrs any
	in    []*array.Array
}

// randomContraction makes a product, a linear layer or a convolution of any sizes.
func randomContraction(r *rand.Rand, d array.DType) contraction {
	pick := func(n ...int) int { return n[r.IntN(len(n))] }
	m, n, k := pick(1, 3, 16, 33, 70, 129), pick(2, 5, 16, 40, 65, 130), pick(1, 7, 16, 31, 100)
	switch r.IntN(4) {
	case 0:
		return contraction{std.Matmul, op.None{}, []*array.Array{numbers(r, d, pick(1, 2), m, k), numbers(r, d, 2, k, n)}}
	case 1:
		return contraction{std.Linear, op.None{}, []*array.Array{numbers(r, d, 2, m, k), numbers(r, d, n, k), numbers(r, d, n)}}
	}
	groups, size := pick(1, 1, 2), pick(1, 2, 3)
	c, f := pick(1, 3, 8)*groups, pick(4, 5, 20, 66)*groups
	a := std.ConvAttrs{Stride: op.IntList(pick(1, 2)), Padding: op.IntList(pick(0, 1, 2)), Dilation: op.IntList(pick(1, 2)), Groups: groups}
	x := numbers(r, d, pick(1, 2), c, pick(5, 9, 12), pick(7, 11))
	return contraction{std.Conv2d, a, []*array.Array{x, numbers(r, d, f, c/groups, size, pick(1, 3)), numbers(r, d, f)}}
}

// contracts runs calls, each with an activation after it, next to the processor.
func contracts(t *testing.T, g gpu.Target, seed uint64, n int) {
	t.Helper()
	if fxtest.IsNightly() {
		n *= 8
	}
	r := rand.New(rand.NewPCG(seed, 59))
	b := newTogether(t)
	var calls []contraction
	var want []*array.Array
	for len(calls) < n {
		c := randomContraction(r, []array.DType{array.F32, array.F32, array.F16, array.BF16}[len(calls)%4])
		if len(calls) == 0 { // enough of it for the largest blocks
			c = contraction{std.Matmul, op.None{}, []*array.Array{numbers(r, array.F32, 130, 20), numbers(r, array.F32, 20, 131)}}
		}
		if w, err := c.op.Eval(&kernel.Workspace{}, c.attrs, c.in); err == nil { // not larger than the image
			y, err := std.Relu.Eval(&kernel.Workspace{}, op.None{}, w)
			require.NoError(t, err)
			calls, want = append(calls, c), append(want, y[0])
			b.operands(c.in)
		}
	}
	at := 0
	in := b.m.Graph.Inputs()
	for i, c := range calls {
		b.result(b.c.Function(std.Relu, op.None{}, b.c.Function(c.op, c.attrs, in[at:at+len(c.in)]...)), i)
		at += len(c.in)
	}
	e, err := g.Compile(b.module(), lowering.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	got, err := e.Run(ctx, b.in)
	require.NoError(t, err)
	for i, c := range calls {
		if d := fxtest.Beyond(c.op, c.attrs, c.in, want[i], got[i]); d != "" {
			shapes := ""
			for _, a := range c.in {
				shapes += fmt.Sprint(" ", a.DType(), a.Shape())
			}
			t.Errorf("%s %+v%s: %s", c.op.Name, c.attrs, shapes, d)
		}
	}
}

// TestProductsOfAnyShape compares random products and convolutions with the processor: in tiles of
// registers, and in blocks of local memory, on both kinds of devices.
func TestProductsOfAnyShape(t *testing.T) {
	t.Run("tiles", func(t *testing.T) { contracts(t, target(t), 1, 3) })
	t.Run("blocks", func(t *testing.T) { contracts(t, grouped(t), 2, 3) })
	t.Run("cuda", func(t *testing.T) {
		g, l := onCUDA(t)
		contracts(t, g, 3, 12)
		contracts(t, gpu.Target{Device: run.NewDevice(processor{run.Driver(g.Device)}), Cache: "-"}, 4, 6)
		ptx(t, l.sources)
	})
}

// TestNetworksInBlocks runs networks on a processor as a GPU would run them.
func TestNetworksInBlocks(t *testing.T) {
	g := grouped(t)
	for _, name := range []string{"resnet18", "mobilenet_v3_large", "bert_base"} {
		t.Run(name, func(t *testing.T) {
			ref := fxtest.LoadFixture(t, name)
			fxtest.Nightly(t)
			m, in := optimised(t, models.Lookup(name))
			got, err := compile(t, g, m).Run(ctx, in)
			require.NoError(t, err)
			ref.Check(t, got)
		})
	}
}
