package reduce

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// TestReduceScratchIsSmall: elements are converted in blocks, so that a
// reduction takes the accumulators of its result and of the spans of a row.
func TestReduceScratchIsSmall(t *testing.T) {
	const rows, cols = 300, 1000
	for _, d := range []array.DType{array.I8, array.U8, array.Bool, array.I16, array.U16, array.I32, array.U32, array.F16, array.BF16, array.U64, array.I64} {
		dense := array.New(d, rows, cols)
		strided := array.Make(d, []int{cols, rows}, []int{1, cols}, 0, dense.Storage())
		for _, a := range []*array.Array{dense, strided} {
			for _, c := range []struct {
				kind string
				out  array.DType
			}{{"sum", array.I64}, {"mean", array.F32}, {"prod", array.I64}, {"max", d}, {"min", d}, {"any", array.Bool}, {"all", array.Bool}} {
				if d.IsFloat() && c.out == array.I64 {
					c.out = d
				}
				want := 2560 // of 300 accumulators of 8 bytes, in lines, and of 10 spans
				if reducesAsStored(KindOf(c.kind), c.out, d) && !a.IsContiguous() {
					want += rows * cols * 8
				}
				dim := []int{0}
				if a == dense {
					dim = []int{1}
				}
				out := []*array.Array{array.New(c.out, rows)}
				s := Reduce{Kind: c.kind, Dims: dim}
				require.Equal(t, want, s.ScratchBytes(out, []*array.Array{a}), "%s %s", d, c.kind)
				var w par.Workspace
				s.Run(&w, out, []*array.Array{a})
				require.LessOrEqual(t, w.HighWater(), want, "%s %s", d, c.kind)
			}
		}
		for _, s := range []par.Step{ArgReduce{Kind: "argmax", Dim: 1}, ArgReduce{Kind: "argmin", Flat: true}, MinMaxDim{Kind: "max", Dim: 0}} {
			if d.IsInt() || d == array.Bool {
				require.Zero(t, s.(par.Scratcher).ScratchBytes(nil, []*array.Array{dense}), d)
			}
		}
	}
}

// TestReduceBlocksEqualWhole: elements converted in blocks, over the ends of rows
// and spans, contiguous and strided, on one thread and on several, give the bits
// of elements converted beforehand.
func TestReduceBlocksEqualWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, shape := range [][]int{{2, 40000}, {40000, 2}, {70, 7, 90}, {100001}} {
		x := array.New(array.F32, shape...)
		for i := range x.Len() {
			array.SetFloat64At(x, i, math.Trunc(r.Float64()*250-60))
		}
		for _, d := range []array.DType{array.I8, array.U8, array.Bool, array.I16, array.I32, array.U32, array.F16, array.BF16, array.U64} {
			in := array.Cast(x, d)
			wide, strided := array.Cast(in, move.ScalarOf(d)), stridedCopy(in)
			for _, dims := range [][]int{nil, {0}, {len(shape) - 1}} {
				for _, kind := range []string{"sum", "mean", "max", "all"} {
					out := reducedOut(kind, d, shape, dims)
					want := array.New(out.DType(), out.Shape()...)
					s := Reduce{Kind: kind, Dims: dims}
					if d == array.U64 {
						s.Run(new(par.Workspace), []*array.Array{want}, []*array.Array{in})
					} else {
						s.Run(new(par.Workspace), []*array.Array{want}, []*array.Array{wide})
					}
					for _, a := range []*array.Array{in, strided} {
						for _, threads := range []int{1, 3} {
							s.Run(&par.Workspace{Threads: threads}, []*array.Array{out}, []*array.Array{a})
							require.Equal(t, want.Storage().Bytes(), out.Storage().Bytes(), "%s %s %v %v, %d threads", kind, d, shape, dims, threads)
						}
					}
				}
			}
		}
	}
}

// reducedOut returns an array for a reduction of an array of type d.
func reducedOut(kind string, d array.DType, shape, dims []int) *array.Array {
	switch {
	case kind == "any" || kind == "all":
		d = array.Bool
	case kind == "mean" && !d.IsFloat():
		d = array.F64
	case kind != "max" && !d.IsFloat():
		d = array.I64
	}
	var g Groups
	g.Init(kind, shape, dims)
	return array.New(d, g.OutLen)
}

// stridedCopy returns a copy of a with gaps between its elements.
func stridedCopy(a *array.Array) *array.Array {
	wide := array.New(a.DType(), append(append([]int{}, a.Shape()...), 2)...)
	strides := make([]int, a.Rank())
	for i := range strides {
		strides[i] = wide.Strides()[i]
	}
	v := array.Make(a.DType(), a.Shape(), strides, 1, wide.Storage())
	for i := range a.Len() {
		array.SetFloat64At(v, i, array.Float64At(a, i))
	}
	return v
}

// TestStdOutsideTheRangeOfTheVariance: the root is taken before rounding.
func TestStdOutsideTheRangeOfTheVariance(t *testing.T) {
	for _, c := range []struct {
		d    array.DType
		x    []float64
		want float64
	}{
		{array.F32, []float64{1e20, 2e20, 4e20}, 1.5275252316519467e20}, {array.F32, []float64{1e-30, 2e-30, 4e-30}, 1.5275252316519467e-30},
		{array.F16, []float64{30000, 60000, 10000}, 25168}, {array.BF16, []float64{1e20, 2e20, 4e20}, 1.5219e20},
		{array.F16, []float64{1e-6, 2e-6, 4e-6}, 1.4901161193847656e-06},
	} {
		out := array.New(c.d)
		Var{Correction: 1, Root: true}.Run(new(par.Workspace), []*array.Array{out}, []*array.Array{array.Cast(array.FromSlice(c.x), c.d)})
		require.InEpsilon(t, c.want, array.Float64At(out, 0), 1e-3)
	}
}
