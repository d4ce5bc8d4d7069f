package std

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
)

// folded reduces axes (all when empty) of x by f over the elements in row-major
// order of the reduced dimensions.
func folded(x *wide, axes op.Ints, keep bool, f func(v []float64) float64) []*wide {
	gone := make([]bool, len(x.dims))
	for i := range gone {
		gone[i] = axes.Len() == 0 || slices.Contains(axes.Slice(), i) || slices.Contains(axes.Slice(), i-len(gone))
	}
	kept, dims := slices.Clone(x.dims), []int{}
	for i, n := range x.dims {
		if gone[i] {
			kept[i] = 1
		} else {
			dims = append(dims, n)
		}
	}
	if keep {
		dims = kept
	}
	out := newWide(dims...)
	groups := make([][]float64, len(out.v))
	full := &wide{dims: kept}
	for i, v := range x.v {
		at := x.index(i)
		for d := range at {
			if gone[d] {
				at[d] = 0
			}
		}
		k := full.flat(at...)
		groups[k] = append(groups[k], v)
	}
	for i, v := range groups {
		out.v[i] = f(v)
	}
	return []*wide{out}
}

func sumOf(v []float64) (s float64) {
	for _, x := range v {
		s += x
	}
	return s
}

// first returns the position of the extreme: NaN, else the least by less.
func first(v []float64, less func(a, b float64) bool) int {
	best := 0
	for i, x := range v {
		if math.IsNaN(v[best]) {
			return best
		}
		if math.IsNaN(x) || less(x, v[best]) {
			best = i
		}
	}
	return best
}

// inF32 is infinite where an f32 would be; no sample in f64 is that large.
func inF32(v float64) float64 {
	if v > math.MaxFloat32 {
		return math.Inf(1)
	}
	return v
}

func lower(a, b float64) bool  { return a < b }
func higher(a, b float64) bool { return a > b }

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func TestReductions(t *testing.T) {
	for o, f := range map[*op.Op]func(v []float64) float64{
		Sum: sumOf,
		Prod: func(v []float64) float64 {
			p := 1.0
			for _, x := range v {
				p *= x
			}
			return p
		},
		Mean: func(v []float64) float64 { return sumOf(v) / float64(len(v)) },
		Amax: func(v []float64) float64 { return v[first(v, higher)] },
		Amin: func(v []float64) float64 { return v[first(v, lower)] },
		All:  func(v []float64) float64 { return truth(!slices.Contains(v, 0)) },
		Any: func(v []float64) float64 {
			return truth(slices.ContainsFunc(v, func(x float64) bool { return x != 0 }))
		},
	} {
		checkGuarded(t, o, func(a any, in []*wide) []*wide {
			return folded(in[0], a.(ReduceAttrs).Dim, a.(ReduceAttrs).KeepDim, f)
		})
	}
	checkGuarded(t, Max, func(_ any, in []*wide) []*wide {
		return folded(in[0], op.Ints{}, false, func(v []float64) float64 { return v[first(v, higher)] })
	})
	checkGuarded(t, Min, func(_ any, in []*wide) []*wide {
		return folded(in[0], op.Ints{}, false, func(v []float64) float64 { return v[first(v, lower)] })
	})
}

func TestExtremesAlong(t *testing.T) {
	for o, less := range map[*op.Op]func(a, b float64) bool{MaxDim: higher, MinDim: lower} {
		checkGuarded(t, o, func(a any, in []*wide) []*wide {
			m := a.(MinMaxAttrs)
			values := folded(in[0], op.IntList(m.Dim), m.KeepDim, func(v []float64) float64 { return v[first(v, less)] })
			return append(values, folded(in[0], op.IntList(m.Dim), m.KeepDim, func(v []float64) float64 { return float64(first(v, less)) })...)
		})
	}
	for o, less := range map[*op.Op]func(a, b float64) bool{Argmax: higher, Argmin: lower} {
		checkGuarded(t, o, func(a any, in []*wide) []*wide {
			return folded(in[0], a.(ArgAttrs).Dim, a.(ArgAttrs).KeepDim, func(v []float64) float64 { return float64(first(v, less)) })
		})
	}
}

func TestVariance(t *testing.T) {
	variance := func(a VarAttrs) func(v []float64) float64 {
		correction := 1.0
		if a.Correction.Present() {
			correction = a.Correction.Float64()
		}
		return func(v []float64) float64 {
			mean, s := sumOf(v)/float64(len(v)), 0.0
			for _, x := range v {
				s += (x - mean) * (x - mean)
			}
			return inF32(s / max(float64(len(v))-correction, 0))
		}
	}
	checkGuarded(t, Var, func(a any, in []*wide) []*wide {
		return folded(in[0], a.(VarAttrs).Dim, a.(VarAttrs).KeepDim, variance(a.(VarAttrs)))
	})
	checkGuarded(t, Std, func(a any, in []*wide) []*wide {
		f := variance(a.(VarAttrs))
		return folded(in[0], a.(VarAttrs).Dim, a.(VarAttrs).KeepDim, func(v []float64) float64 { return math.Sqrt(f(v)) })
	})
}

func TestNorms(t *testing.T) {
	checkGuarded(t, Norm, func(a any, in []*wide) []*wide {
		p := 2.0
		if n := a.(NormAttrs); n.P.Present() {
			p = n.P.Float64()
		}
		return folded(in[0], a.(NormAttrs).Dim, a.(NormAttrs).KeepDim, func(v []float64) float64 {
			s, top, least := 0.0, 0.0, math.Inf(1)
			for _, x := range v {
				x = math.Abs(x)
				top, least = max(top, x), min(least, x)
				if p == 0 {
					s += truth(x != 0)
				} else {
					s += math.Pow(x, p)
				}
			}
			switch {
			case math.IsInf(p, 1):
				return top
			case math.IsInf(p, -1):
				return least
			case p == 0:
				return s
			}
			return math.Pow(inF32(s), 1/p)
		})
	})
	checkGuarded(t, Logsumexp, func(a any, in []*wide) []*wide {
		return folded(in[0], a.(LogsumexpAttrs).Dim, a.(LogsumexpAttrs).KeepDim, func(v []float64) float64 {
			top := math.Inf(-1)
			for _, x := range v {
				top = max(top, x)
			}
			if math.IsInf(top, 0) {
				return top
			}
			s := 0.0
			for _, x := range v {
				s += math.Exp(x - top)
			}
			return top + math.Log(s)
		})
	})
}

func TestScans(t *testing.T) {
	running := func(combine func(a, b float64) float64) reference {
		return func(a any, in []*wide) []*wide {
			x := in[0]
			if len(x.dims) == 0 {
				return []*wide{x}
			}
			d := front(a.(ScanAttrs).Dim, len(x.dims))
			return pull(x.dims, func(i []int) float64 {
				r := x.strict(swapIn(i, d, 0)...)
				for k := 1; k <= i[d]; k++ {
					r = combine(r, x.strict(swapIn(i, d, k)...))
				}
				return r
			})
		}
	}
	checkGuarded(t, Cumsum, running(func(a, b float64) float64 { return a + b }))
	checkGuarded(t, Cumprod, running(func(a, b float64) float64 { return a * b }))
}

// order returns the order of v, stable, NaN greatest.
func order(v []float64, descending bool) []int {
	at := make([]int, len(v))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(i, j int) int {
		x, y := v[i], v[j]
		c := 0
		switch {
		case math.IsNaN(x) || math.IsNaN(y):
			c = int(truth(math.IsNaN(x)) - truth(math.IsNaN(y)))
		case x < y:
			c = -1
		case x > y:
			c = 1
		}
		if descending {
			c = -c
		}
		return c
	})
	return at
}

// inOrder takes the first k in order along dim (all when k < 0).
func inOrder(x *wide, dim, k int, descending bool) (values, indices *wide) {
	if len(x.dims) == 0 {
		return x, newWide()
	}
	d := front(dim, len(x.dims))
	dims := x.dims
	if k >= 0 {
		dims = swapIn(x.dims, d, k)
	}
	values, indices = newWide(dims...), newWide(dims...)
	for i := range values.v {
		at := values.index(i)
		line := make([]float64, x.dims[d])
		for k := range line {
			line[k] = x.strict(swapIn(at, d, k)...)
		}
		k := order(line, descending)[at[d]]
		values.v[i], indices.v[i] = line[k], float64(k)
	}
	return values, indices
}

func TestSorting(t *testing.T) {
	checkGuarded(t, Sort, func(a any, in []*wide) []*wide {
		v, i := inOrder(in[0], a.(SortAttrs).Dim, -1, a.(SortAttrs).Descending)
		return []*wide{v, i}
	})
	checkGuarded(t, Argsort, func(a any, in []*wide) []*wide {
		_, i := inOrder(in[0], a.(SortAttrs).Dim, -1, a.(SortAttrs).Descending)
		return []*wide{i}
	})
	checkGuarded(t, Topk, func(a any, in []*wide) []*wide {
		v, i := inOrder(in[0], a.(TopkAttrs).Dim, a.(TopkAttrs).K, !a.(TopkAttrs).Smallest)
		return []*wide{v, i}
	})
}

// TestLogsumexpValues: log(e^1000 + e^1000) is 1000 + ln 2, also for ints.
func TestLogsumexpValues(t *testing.T) {
	for _, x := range []*array.Array{array.FromSlice([]float32{1000, 1000}), array.FromSlice([]int64{1000, 1000})} {
		out, err := Logsumexp.Eval(&kernel.Workspace{}, LogsumexpAttrs{}, []*array.Array{x})
		require.NoError(t, err)
		require.Equal(t, array.F32, out[0].DType())
		require.InDelta(t, 1000+math.Ln2, array.Float64At(out[0], 0), 1e-3)
	}
}
