package interp_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/cases"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/tensor"
)

var ctx = context.Background()

func trace(t *testing.T, fn any, opts ...fx.Option) *graph.Module {
	t.Helper()
	gm, err := fx.Trace(ctx, fn, opts...)
	require.NoError(t, err)
	return gm.Module
}

func reluNeg(x *tensor.Tensor) *tensor.Tensor { return tensor.Relu(x).Neg() }

func TestHooksSeeTheirOpcodesAndMayReplaceValues(t *testing.T) {
	var seen []string
	p := interp.Interpreter{
		State: interp.NewState(trace(t, reluNeg)),
		Node: func(n *graph.Node, in []interp.Result, next func([]interp.Result) (interp.Result, error)) (interp.Result, error) {
			seen = append(seen, n.Opcode().String())
			return next(in)
		},
		CallFunction: func(n *graph.Node, in []interp.Result, next func([]interp.Result) (interp.Result, error)) (interp.Result, error) {
			v, err := next(in)
			if n.Op() == std.Relu {
				v.T = v.T.AddScalar(1)
			}
			return v, err
		},
	}
	out, err := p.Run(ctx, tensor.FromSlice([]float32{-1, 2}))
	require.NoError(t, err)
	require.Equal(t, []float32{-1, -3}, tensor.Data[float32](out[0]))
	require.Equal(t, []string{"placeholder", "call_function", "call_method", "output"}, seen)
}

func TestPartialEvaluation(t *testing.T) {
	m := trace(t, reluNeg)
	var relu *graph.Node
	for n := range m.Graph.Calls(std.Relu) {
		relu = n
	}
	p := interp.Interpreter{State: interp.NewState(m), Known: map[*graph.Node]interp.Result{relu: {T: tensor.FromSlice([]float32{7})}}}
	out, err := p.Run(ctx, tensor.FromSlice([]float32{1}))
	require.NoError(t, err)
	require.Equal(t, -7.0, out[0].Item())
}

func TestErrorsNameTheNodeAndTheModelsLine(t *testing.T) {
	m := trace(t, func(x *tensor.Tensor) *tensor.Tensor {
		return x.Matmul(tensor.FromSlice([]float32{1, 2, 3}, 3, 1))
	})
	_, err := fx.NewGraphModule(m).Run(ctx, tensor.FromSlice([]float32{1, 2}, 1, 2))
	var e *diag.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, "matmul", e.Op)
	require.Equal(t, "matmul", e.Node)
	require.Contains(t, e.Pos.File, "interp_test.go")
}

// TestErrorsInBodiesNameTheCall: what goes wrong in a body is at the line of the call in it, at any
// depth, and not at that of the loop.
func TestErrorsInBodiesNameTheCall(t *testing.T) {
	line := 0
	m := trace(t, func(x, i *tensor.Tensor) *tensor.Tensor {
		last, _ := tensor.Scan(func(carry, slices []*tensor.Tensor) (next, out []*tensor.Tensor) {
			return tensor.Cond(slices[0].GtScalar(0).Any(), func(in []*tensor.Tensor) []*tensor.Tensor {
				_, _, line, _ = runtime.Caller(0)
				return []*tensor.Tensor{in[0].Gather(i, 0)}
			}, func(in []*tensor.Tensor) []*tensor.Tensor { return in }, carry...), nil
		}, []*tensor.Tensor{x}, []*tensor.Tensor{x})
		return last[0]
	}, fx.Input("x", "f32[2]"), fx.Input("i", "i64[2]"))
	gm := fx.NewGraphModule(m)
	x := tensor.FromSlice([]float32{0, 1})
	_, err := gm.Run(ctx, x, tensor.FromSlice([]int64{1, 0}))
	require.NoError(t, err)
	_, err = gm.Run(ctx, x, tensor.FromSlice([]int64{1, 2}))
	var e *diag.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, "gather", e.Op)
	require.Equal(t, "gather", e.Node)
	require.Equal(t, line+1, e.Pos.Line, "%v", e)
}

func TestCancellationEndsARun(t *testing.T) {
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	_, err := fx.NewGraphModule(trace(t, reluNeg)).Run(stopped, tensor.FromSlice([]float32{1}))
	require.ErrorIs(t, err, context.Canceled)
}

func TestOneStateServesManyRuns(t *testing.T) {
	gm := fx.NewGraphModule(trace(t, reluNeg))
	done := make(chan error)
	for i := range 8 {
		go func() {
			out, err := gm.Run(ctx, tensor.FromSlice([]float32{float32(i)}))
			if err == nil && out[0].Item() != float64(-i) {
				err = fmt.Errorf("run %d gave %v", i, out[0])
			}
			done <- err
		}()
	}
	for range 8 {
		require.NoError(t, <-done)
	}
}

func TestTransformerCopiesEveryCase(t *testing.T) {
	for _, c := range cases.All() {
		m := trace(t, c.Fn, c.Opts...)
		before := graph.Print(m, graph.PrintOptions{})
		out, err := (&interp.Transformer{}).Run(m)
		require.NoError(t, err, c.Name)
		same, diff := graph.Equal(m.Graph, out.Graph)
		require.True(t, same, "%s: %s", c.Name, diff)
		require.Empty(t, graph.Lint(out.Graph), c.Name)
		require.Equal(t, before, graph.Print(m, graph.PrintOptions{}), "the source is not changed")
		for n := range out.Graph.Nodes() {
			if n.Opcode().IsCall() && n.Op() != nil {
				require.NotEmpty(t, n.Pos().File, "%s: %s lost its position", c.Name, n)
			}
		}
	}
}

func TestTransformerReportsDroppedValues(t *testing.T) {
	drop := interp.Transformer{Node: func(_ *graph.Cursor, n *graph.Node, _ []*graph.Node, copied func() *graph.Node) *graph.Node {
		if n.Op() == std.Relu {
			return nil
		}
		return copied()
	}}
	_, err := drop.Run(trace(t, reluNeg))
	require.ErrorIs(t, err, interp.Dropped)
}

func ExampleInterpreter() {
	gm, _ := fx.Trace(ctx, reluNeg)
	p := interp.Interpreter{
		State: gm.State(),
		Node: func(n *graph.Node, in []interp.Result, next func([]interp.Result) (interp.Result, error)) (interp.Result, error) {
			v, err := next(in)
			if v.T != nil {
				fmt.Println(n, v.T.Type())
			}
			return v, err
		},
	}
	_, err := p.Run(ctx, tensor.FromSlice([]float32{-1, 2}))
	fmt.Println(err)
	// Output:
	// %x f32[2]
	// %relu f32[2]
	// %neg f32[2]
	// <nil>
}

func ExampleTransformer() {
	gm, _ := fx.Trace(ctx, reluNeg)
	t := interp.Transformer{Node: func(c *graph.Cursor, n *graph.Node, args []*graph.Node, copied func() *graph.Node) *graph.Node {
		if n.Op() == std.Relu {
			return c.Function(std.Gelu, nil, args...)
		}
		return copied()
	}}
	m, err := t.Run(gm.Module)
	fmt.Print(graph.PrintGraph(m.Graph, graph.PrintOptions{}))
	fmt.Println(err)
	// Output:
	// gofx 1
	//
	// graph reluNeg(%x: ?[*]) {
	//   %gelu = call_function[gelu](%x) : ?[*]
	//   %neg = call_method[neg](%gelu) : ?[*]
	//   return %neg
	// }
	// <nil>
}

// noRounds has a scan whose body writes.
const noRounds = `gofx 1
graph g(%x: f32[N,2]) {
  symbol N = dim(%x, 0)
  %s = get_attr[s] : f32[2]
  %scan = call_function[scan](%s, %x) {carry=1, seqs=1} {
    region(%c: f32[2], %row: f32[2]) {
      %s = get_attr[s] : f32[2]
      %sum = call_function[add](%s, %row) {alpha=2}
      %w = call_function[assign](%s, %sum)
      %one = call_function[add](%w) {other=1}
      %again = call_function[assign](%s, %one)
      return (%again, %row)
    }
  }
  %last = call_function[getitem](%scan) {index=0}
  %rows = call_function[getitem](%scan) {index=1}
  return (%last, %rows)
}
param s : f32[2] buffer
`

// A scan of no rounds learns the types of its results from its body where the graph does not say
// them; the body's writes do not happen.
func TestScanOfNoRoundsWritesNothing(t *testing.T) {
	for _, text := range []string{noRounds,
		strings.NewReplacer("f32[N,2]", "f32[*]", "  symbol N = dim(%x, 0)\n", "", "row: f32[2]", "row: f32[*]").Replace(noRounds)} {
		m, err := graph.Parse([]byte(text), "scan.fx")
		require.NoError(t, err)
		m.SetParam(graph.Param{Path: "s", Buffer: true, Value: array.FromSlice([]float32{1, 2}, 2)})
		p := interp.Interpreter{State: interp.NewState(m)}
		for _, c := range []struct {
			rows int
			want []float32
		}{{0, []float32{1, 2}}, {2, []float32{3, 4}}, {0, []float32{3, 4}}} {
			out, err := p.RunArrays(ctx, []*array.Array{array.New(array.F32, c.rows, 2)})
			require.NoError(t, err)
			require.Equal(t, c.want, array.Data[float32](out[0]))
			require.Equal(t, []int{c.rows, 2}, out[1].Shape())
			require.Equal(t, c.want, array.Data[float32](p.State.Tensor("s").Array()))
		}
	}
}

var called int

// counting is a Go function that acts on the world.
func counting(x *tensor.Tensor) *tensor.Tensor {
	called++
	return x.Clone()
}

var count = tensor.Wrap(counting, tensor.Signature("f32[N] -> f32[N]"))

// TestScanOfNoRoundsRunsNothing: as in the targets, a body does not act on the world, refuse what it
// is not given, or go on for ever with it.
func TestScanOfNoRoundsRunsNothing(t *testing.T) {
	m := trace(t, func(x, table *tensor.Tensor) (*tensor.Tensor, *tensor.Tensor, *tensor.Tensor) {
		last, stacked := tensor.Scan(func(carry, slices []*tensor.Tensor) (next, out []*tensor.Tensor) {
			row := slices[0]
			found := table.Gather(row.Cast(array.I64), 0)
			halved := tensor.While(func(in []*tensor.Tensor) *tensor.Tensor { return in[0].LeScalar(8).All() },
				func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0].Add(in[0])} }, row)
			return []*tensor.Tensor{carry[0].Add(count(row))}, []*tensor.Tensor{found.Cast(array.F16), halved[0].Unsqueeze(0)}
		}, []*tensor.Tensor{table.Narrow(0, 0, 2)}, []*tensor.Tensor{x})
		return last[0], stacked[0], stacked[1]
	}, fx.Input("x", "f32[N,2]"), fx.Input("table", "f32[M]"))
	gm := fx.NewGraphModule(m)
	called = 0
	soon, cancel := context.WithTimeout(ctx, time.Minute) // zeros stay zeros for ever
	defer cancel()
	out, err := gm.Run(soon, tensor.New(array.New(array.F32, 0, 2)), tensor.FromSlice([]float32{1, 2}))
	require.NoError(t, err)
	require.Zero(t, called)
	require.Equal(t, []float32{1, 2}, tensor.Data[float32](out[0]))
	require.Equal(t, "f16[0,2]", out[1].Type().String())
	require.Equal(t, "f32[0,1,2]", out[2].Type().String())
	_, err = gm.Run(soon, tensor.FromSlice([]float32{1, 1}, 1, 2), tensor.FromSlice([]float32{1, 2}))
	require.NoError(t, err)
	require.Equal(t, 1, called)
}
