package toy_test

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	_ "github.com/gofx-dev/gofx/op/std" // the operators
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"

	"example.com/customtarget/toy"
)

var ctx = context.Background()

// capture traces a call of an operator with inputs of the operands' types.
func capture(t *testing.T, o *op.Op, s op.Sample) (*graph.Module, []*array.Array) {
	var in []*array.Array
	var metas []*tensor.Tensor
	for _, a := range s.In {
		if a != nil {
			in, metas = append(in, a), append(metas, tracer.Meta(shape.TypeOf(a)))
		}
	}
	gm, err := fx.Trace(ctx, func(xs ...*tensor.Tensor) []*tensor.Tensor {
		args := make([]*tensor.Tensor, len(s.In))
		for i, a := range s.In {
			if a != nil {
				args[i], xs = xs[0], xs[1:]
			}
		}
		return tensor.Apply(o, s.Attrs, args...)
	}, fx.Args(metas))
	require.NoError(t, err)
	return gm.Module, in
}

// differ compares with the operator's own results.
func differ(t *testing.T, o *op.Op, s op.Sample, got []*array.Array) {
	want, err := o.Eval(&kernel.Workspace{}, s.Attrs, s.In)
	require.NoError(t, err)
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i].DType(), got[i].DType())
		require.Equal(t, want[i].Shape(), got[i].Shape())
		// The unit for products adds in its own order.
		require.Empty(t, passes.Differ(got[i], want[i], max(o.Tol.Rel, 1e-5), max(o.Tol.Abs, 1e-5)), "%s %s", s.Name, o.Codec().Print(s.Attrs))
	}
}

// Every sample of every operator gives the operator's results: on the machine alone those
// that it supports, over two targets all. Supported ones run on it.
func TestConformance(t *testing.T) {
	alone := map[string]int{}
	for _, o := range op.All() {
		if o.Path != "" || o.AdHoc || o.Structural() {
			continue
		}
		t.Run(o.Name, func(t *testing.T) {
			for _, s := range o.Samples() {
				m, in := capture(t, o, s)
				target := toy.Target{Machine: &toy.Machine{}}
				e, err := lowering.Split{First: target, Rest: cpu.Target{}}.Pieces(m, lowering.Options{Exact: true})
				require.NoError(t, err)
				got, err := e.Run(ctx, in)
				require.NoError(t, err)
				differ(t, o, s, got)
				for _, f := range e.Stats().Fallback {
					require.NotEmpty(t, f.Reason)
				}
				if len(lowering.Query(target, m.Graph)) > 0 {
					continue
				}
				alone[o.Name]++
				require.Empty(t, e.Stats().Fallback)
				for _, p := range e.Stats().Parts {
					require.Equal(t, "toy", p.Target)
				}
				x, err := target.Compile(m, lowering.Options{})
				require.NoError(t, err)
				got, err = x.Run(ctx, in)
				require.NoError(t, err)
				differ(t, o, s, got)
			}
		})
	}
	for _, name := range []string{"add", "sub", "mul", "maximum", "minimum", "neg", "relu", "linear"} {
		require.Positive(t, alone[name], "%s: %v", name, alone)
	}
	t.Log(alone)
}

const net = `gofx 1

graph f(%x: f32[N,2], %y: f32[M,2]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%y, 0)
  %w = get_attr[w] : f32[2,2]
  %a = call_function[linear](%x, %w) : f32[N,2]
  %b = call_function[add](%a, %y) : f32[N,2]
  guard N == M from %b
  return %b
}
param w : f32[2,2]
`

// A composite operator runs where all that it is composed of has a unit; the reason why not is one line.
func TestComposites(t *testing.T) {
	for nonlinearity, want := range map[string]string{"relu": "",
		"tanh": "what it is composed of: target toy cannot run rnn_cell: it is made of tanh; the machine has no unit for it"} {
		m, err := graph.Parse([]byte("gofx 1\n\ngraph f(%x: f32[2,3], %h: f32[2,4], %a: f32[4,3], %b: f32[4,4]) {\n"+
			"  %y = call_function[rnn_cell](%x, %h, %a, %b) {nonlinearity="+strconv.Quote(nonlinearity)+"}\n  return %y\n}\n"), "f.fx")
		require.NoError(t, err)
		ok, why := toy.Target{}.Supports(m.Graph.Find("y"))
		require.Equal(t, want == "", ok)
		require.Equal(t, want, why)
	}
}

// Operators that do not fit are refused by name, never computed.
func TestRefusals(t *testing.T) {
	m, err := graph.Parse([]byte(net), "net.fx")
	require.NoError(t, err)
	target := toy.Target{Machine: &toy.Machine{}}
	_, err = target.Compile(m, lowering.Options{})
	require.ErrorIs(t, err, interp.NoParam)
	m.SetParam(graph.Param{Path: "w", Value: array.FromSlice([]float32{1, 2, 3, 4}, 2, 2)})
	exe, err := target.Compile(m, lowering.Options{})
	require.NoError(t, err)
	one, two := array.FromSlice([]float32{1, 1}, 1, 2), array.New(array.F32, 2, 2)
	got, err := exe.Run(ctx, []*array.Array{one, one})
	require.NoError(t, err)
	require.Equal(t, []float32{4, 8}, array.Data[float32](got[0]))
	require.Equal(t, toy.Counts{Resident: 4, Loaded: 4, Stored: 2, Executed: 2}, target.Machine.Counts())
	_, err = exe.Run(ctx, []*array.Array{one, two})
	require.ErrorIs(t, err, interp.GuardFailed)
	_, err = exe.Run(ctx, []*array.Array{one})
	require.ErrorIs(t, err, interp.MissingInput)
	_, err = exe.Run(ctx, []*array.Array{one, array.New(array.F32, 1, 3)})
	require.ErrorIs(t, err, interp.GuardFailed)
	_, err = exe.Run(ctx, []*array.Array{one, one, one})
	require.ErrorIs(t, err, interp.ExtraInput)
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	_, err = exe.Run(stopped, []*array.Array{one, one})
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, exe.Close())
	_, err = exe.Run(ctx, []*array.Array{one, one})
	require.ErrorIs(t, err, lowering.Closed)

	m, err = graph.Parse([]byte(strings.ReplaceAll(net, "f32", "f16")), "net.fx")
	require.NoError(t, err)
	m.SetParam(graph.Param{Path: "w", Value: array.New(array.F16, 2, 2)})
	_, err = target.Compile(m, lowering.Options{})
	require.ErrorIs(t, err, lowering.Unsupported)
}
