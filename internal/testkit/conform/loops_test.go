package conform

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/tensor"
)

// scanned and whiled run a body on one carried value, x times and -n times.
func scanned(body func(c *tensor.Tensor) *tensor.Tensor) func(c, x *tensor.Tensor) *tensor.Tensor {
	return func(c, x *tensor.Tensor) *tensor.Tensor {
		last, _ := tensor.Scan(func(carry, _ []*tensor.Tensor) (next, out []*tensor.Tensor) {
			return []*tensor.Tensor{body(carry[0])}, nil
		}, []*tensor.Tensor{c}, []*tensor.Tensor{x})
		return last[0]
	}
}

func whiled(body func(c *tensor.Tensor) *tensor.Tensor) func(c, x *tensor.Tensor) *tensor.Tensor {
	return func(c, x *tensor.Tensor) *tensor.Tensor {
		n := x.Sum().Neg().Cast(array.I64)
		return tensor.While(func(in []*tensor.Tensor) *tensor.Tensor { return in[0].LtScalar(0) }, func(in []*tensor.Tensor) []*tensor.Tensor {
			return []*tensor.Tensor{in[0].AddScalar(1), body(in[1])}
		}, n, c)[1]
	}
}

// TestLoopsKeepTheSizesOfWhatTheyCarry: where a body changes them is refused for the sizes that differ,
// in the same words by every engine and however many rounds there are, and right for the others.
func TestLoopsKeepTheSizesOfWhatTheyCarry(t *testing.T) {
	for _, c := range []struct {
		name, typ string
		body      func(c *tensor.Tensor) *tensor.Tensor
		right     []int
		wrong     []int
		want      string // "" where capture refuses
	}{
		{"transpose", "f32[A,B]", func(c *tensor.Tensor) *tensor.Tensor { return c.Transpose(0, 1) }, []int{3, 3}, []int{2, 3},
			"needs A (axis 0, here 2) equal to axis 1 (here 3)"},
		{"half", "f32[A]", func(c *tensor.Tensor) *tensor.Tensor { return c.Slice(0, 0, c.Size(0).Div(2)) }, nil, []int{4},
			"needs A (axis 0, here 4) equal to A//2 (here 2)"},
		{"fixed", "f32[A]", func(*tensor.Tensor) *tensor.Tensor { return tensor.Ones(3) }, []int{3}, []int{4}, ""},
		{"twice", "f32[A,2]", func(c *tensor.Tensor) *tensor.Tensor { return tensor.Cat([]*tensor.Tensor{c, c}, 0) }, []int{0, 2}, []int{3, 2}, ""},
	} {
		for kind, loop := range map[string]func(func(*tensor.Tensor) *tensor.Tensor) func(c, x *tensor.Tensor) *tensor.Tensor{"scan": scanned, "while": whiled} {
			fn := loop(c.body)
			gm, err := fx.Trace(ctx, fn, fx.Input("c", c.typ), fx.Input("x", "f32[N]"))
			require.NoError(t, err, c.name)
			reread, err := graph.Parse([]byte(graph.Print(gm.Module, graph.PrintOptions{})), "loop.fx")
			require.NoError(t, err)
			require.Equal(t, len(gm.Module.Graph.Guards()), len(reread.Graph.Guards()), c.name)
			e, compiled := cpu.Compile(gm.Module, lowering.Options{})
			for rounds := range 4 {
				for _, dims := range [][]int{c.right, c.wrong} {
					if dims == nil {
						continue
					}
					in := []*array.Array{array.New(array.F32, dims...), array.New(array.F32, rounds)}
					for i := range in[0].Len() {
						array.SetFloat64At(in[0], i, float64(i))
					}
					for i := range rounds {
						array.SetFloat64At(in[1], i, 1)
					}
					out, err := gm.RunArrays(ctx, in)
					if dims[0] == c.wrong[0] {
						require.ErrorIs(t, err, interp.GuardFailed, "%s %s", kind, c.name)
						require.ErrorContains(t, err, kind+" "+c.want)
						if compiled == nil {
							_, err = e.Run(ctx, in)
							require.ErrorIs(t, err, interp.GuardFailed, "%s %s", kind, c.name)
							require.ErrorContains(t, err, c.want)
						}
						continue
					}
					require.NoError(t, err)
					require.NoError(t, compiled)
					want := fn(tensor.New(in[0]), tensor.New(in[1]))
					require.Equal(t, want.String(), tensor.New(out[0]).String(), "%s %s", kind, c.name)
					out, err = e.Run(ctx, in)
					require.NoError(t, err)
					require.Equal(t, want.String(), tensor.New(out[0]).String(), "%s %s", kind, c.name)
				}
			}
		}
	}
}

// TestLoopsThatNeverKeepASizeAreRefused at the line of the loop.
func TestLoopsThatNeverKeepASizeAreRefused(t *testing.T) {
	grow := func(c *tensor.Tensor) *tensor.Tensor { return c.Pad(0, 1) }
	for kind, fn := range map[string]any{"scan": scanned(grow), "while": whiled(grow)} {
		_, err := fx.Trace(ctx, fn, fx.Input("c", "f32[A]"), fx.Input("x", "f32[N]"))
		require.ErrorContains(t, err, "is f32[A] before and f32[A+1] after the body", kind)
		require.ErrorContains(t, err, "loops_test.go:")
	}
}

// TestSizesFoundInBodiesAreAskedThere: a size that a body finds is compared in every round that
// finds it.
func TestSizesFoundInBodiesAreAskedThere(t *testing.T) {
	positive := func(c *tensor.Tensor) *tensor.Tensor { return c.Nonzero().Select(1, 0).Cast(array.F32).AddScalar(1) }
	for kind, fn := range map[string]any{"scan": scanned(positive), "while": whiled(positive)} {
		gm, err := fx.Trace(ctx, fn, fx.Input("c", "f32[A]"), fx.Input("x", "f32[N]"))
		require.NoError(t, err, kind)
		for _, rounds := range []int{1, 2} {
			x := tensor.Ones(rounds)
			out, err := gm.Run(ctx, tensor.FromSlice([]float32{5, 6, 7}), x)
			require.NoError(t, err, kind)
			require.Equal(t, []float32{1, 2, 3}, tensor.Data[float32](out[0]))
			_, err = gm.Run(ctx, tensor.FromSlice([]float32{5, 0, 7}), x)
			require.ErrorIs(t, err, interp.GuardFailed, kind)
			require.ErrorContains(t, err, "loops_test.go:")
		}
		_, err = cpu.Compile(gm.Module, lowering.Options{})
		require.Error(t, err, kind)
	}
}

// TestScansOfNoRoundsKeepTheGuardsOfTheirBodies: sizes for which the body has none are refused as with
// rounds, where it was traced and where a text leaves the guard in the body.
func TestScansOfNoRoundsKeepTheGuardsOfTheirBodies(t *testing.T) {
	gm, err := fx.Trace(ctx, func(x, c, y *tensor.Tensor) []*tensor.Tensor {
		last, stacked := tensor.Scan(func(c, _ []*tensor.Tensor) (next, out []*tensor.Tensor) {
			return c, []*tensor.Tensor{y.Narrow(0, 1, y.Size(0).Sub(2))}
		}, []*tensor.Tensor{c}, []*tensor.Tensor{x})
		return append(last, stacked...)
	}, fx.Input("x", "f32[N,2]"), fx.Input("c", "f32[2]"), fx.Input("y", "f32[M]"))
	require.NoError(t, err)
	text := graph.Print(gm.Module, graph.PrintOptions{})
	m, err := graph.Parse([]byte(strings.Replace(text, "  guard M >= 2 from %scan\n", "", 1)), "scan.fx")
	require.NoError(t, err)
	for _, m := range []*graph.Module{gm.Module, m} {
		e, err := cpu.Compile(m, lowering.Options{})
		require.NoError(t, err)
		for _, rounds := range []int{0, 2} {
			for size, want := range map[int][]int{4: {rounds, 2}, 2: {rounds, 0}, 1: nil, 0: nil} {
				in := []*array.Array{array.New(array.F32, rounds, 2), array.New(array.F32, 2), array.New(array.F32, size)}
				for _, run := range []func() ([]*array.Array, error){
					func() ([]*array.Array, error) { return fx.NewGraphModule(m).RunArrays(ctx, in) },
					func() ([]*array.Array, error) { return e.Run(ctx, in) },
				} {
					out, err := run()
					if want == nil {
						require.ErrorIs(t, err, interp.GuardFailed)
						require.ErrorContains(t, err, "scan needs M (axis 0, here "+string(rune('0'+size))+") at least 2")
						continue
					}
					require.NoError(t, err)
					require.Equal(t, want, out[1].Shape())
				}
			}
		}
	}
}

// TestRegionsTakeWhatTheirInputsSay: of a text, operands of other letters than the inputs of the regions.
func TestRegionsTakeWhatTheirInputsSay(t *testing.T) {
	m, err := graph.Parse([]byte(`gofx 1
graph g(%x: f32[A], %y: f32[B]) {
  symbol A = dim(%x, 0)
  symbol B = dim(%y, 0)
  %some = call_function[any](%x) : bool[]
  %z = call_function[cond](%some, %x) : f32[?] {
    region yes(%a: f32[B]) {
      %r = call_function[neg](%a) : f32[B]
      return %r
    }
    region no(%a: f32[A]) {
      return %a
    }
  }
  return %z
}
`), "cond.fx")
	require.NoError(t, err)
	e, err := cpu.Compile(m, lowering.Options{})
	require.NoError(t, err)
	for _, sizes := range [][2]int{{2, 2}, {2, 3}} {
		in := []*array.Array{array.New(array.F32, sizes[0]), array.New(array.F32, sizes[1])}
		_, err := fx.NewGraphModule(m).RunArrays(ctx, in)
		_, planned := e.Run(ctx, in)
		if sizes[0] == sizes[1] {
			require.NoError(t, err)
			require.NoError(t, planned)
			continue
		}
		for _, err := range []error{err, planned} {
			require.ErrorContains(t, err, "cond needs B (axis 0, here 3) equal to axis 0 of \"x\" (here 2)")
		}
	}
}
