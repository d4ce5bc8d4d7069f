package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
)

// reduceRef reduces dims of x with f over the list of elements; keepdim shape.
func reduceRef(x tensor64, dims []int, f func([]float64) float64) tensor64 {
	red := make([]bool, len(x.shape))
	for _, d := range dims {
		red[mod(d, len(x.shape))] = true
	}
	shape := append([]int{}, x.shape...)
	for i := range shape {
		if red[i] || len(dims) == 0 {
			shape[i] = 1
		}
	}
	return fill64(shape, func(ix []int) float64 {
		var list []float64
		each(x.shape, func(jx []int) {
			for i := range jx {
				if shape[i] != 1 && jx[i] != ix[i] {
					return
				}
			}
			list = append(list, x.at(jx...))
		})
		return f(list)
	})
}

func sumRef(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x
	}
	return s
}

// extremeRef returns a reference maximum (sign 1) or minimum (sign -1).
func extremeRef(sign float64) func([]float64) float64 {
	return func(v []float64) float64 {
		m := math.Inf(-1)
		for _, x := range v {
			m = math.Max(m, sign*x) // math.Max propagates NaN
		}
		return sign * m
	}
}

var reduceDims = [][]int{nil, {0}, {1}, {-1}, {0, 2}, {1, 2}, {0, 1, 2, 3}, {1, 3}, {3, 0}}

func TestReduceFloat(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	x := rand64(r, 3, 4, 1, 5)
	nan := tensor64{x.shape, slices.Clone(x.data)}
	nan.data[7] = math.NaN()
	for _, dims := range reduceDims {
		for _, d := range []array.DType{array.F32, array.F64, array.F16, array.BF16} {
			tol := map[array.DType]float64{array.F16: 1e-3, array.BF16: 8e-3}[d] + 1e-6
			for _, k := range []struct {
				kind string
				x    tensor64
				f    func([]float64) float64
			}{
				{"sum", x, sumRef},
				{"mean", x, func(v []float64) float64 { return sumRef(v) / float64(len(v)) }},
				{"prod", tensor64{x.shape, slices.Repeat([]float64{1, -2, 0.5}, 20)}, func(v []float64) float64 {
					p := 1.0
					for _, e := range v {
						p *= e
					}
					return p
				}},
				{"max", x, extremeRef(1)},
				{"min", x, extremeRef(-1)},
				{"max", nan, extremeRef(1)},
				{"min", nan, extremeRef(-1)},
			} {
				want := reduceRef(k.x, dims, k.f)
				for i, in := range layouts(d, k.x) {
					got := run1(t, Reduce{Kind: k.kind, Dims: dims}, d, want.shape, in)
					near(t, want, got, tol, k.kind, dims, d, i)
				}
			}
		}
	}
}

func TestReduceInt(t *testing.T) {
	x := iota64(2, 3, 4)
	for _, d := range array.DTypes() {
		if !d.IsInt() {
			continue
		}
		for _, in := range layouts(d, x) {
			for _, dims := range [][]int{nil, {1}, {0, 2}} {
				want := reduceRef(x, dims, sumRef)
				same(t, want, run1(t, Reduce{Kind: "sum", Dims: dims}, array.I64, want.shape, in))
				want = reduceRef(x, dims, extremeRef(1))
				same(t, want, run1(t, Reduce{Kind: "max", Dims: dims}, d, want.shape, in))
				want = reduceRef(x, dims, extremeRef(-1))
				same(t, want, run1(t, Reduce{Kind: "min", Dims: dims}, d, want.shape, in))
			}
		}
	}
	same(t, tensor64{[]int{}, []float64{12.5}}, run1(t, Reduce{Kind: "mean"}, array.F32, nil, pack64(array.I32, iota64(2, 3, 4))))

	big := array.FromSlice([]uint64{1, math.MaxUint64, 5, 1 << 63})
	out := array.New(array.U64)
	(Reduce{Kind: "max"}).Run(new(Workspace), []*array.Array{out}, []*array.Array{big})
	require.Equal(t, []uint64{math.MaxUint64}, array.Data[uint64](out))
	(Reduce{Kind: "min"}).Run(new(Workspace), []*array.Array{out}, []*array.Array{big})
	require.Equal(t, []uint64{1}, array.Data[uint64](out))
	require.Equal(t, []uint64{1, math.MaxUint64, 5, 1 << 63}, array.Data[uint64](big), "input unchanged")

	wrap := array.FromSlice([]int64{math.MaxInt64, 1})
	sum := array.New(array.I64)
	(Reduce{Kind: "sum"}).Run(new(Workspace), []*array.Array{sum}, []*array.Array{wrap})
	require.Equal(t, []int64{math.MinInt64}, array.Data[int64](sum))
}

func TestReduceLogic(t *testing.T) {
	x := tensor64{[]int{3, 2}, []float64{0, 0, 0, math.NaN(), -1, 2}}
	for _, d := range []array.DType{array.F32, array.BF16, array.F64} {
		for _, in := range layouts(d, x) {
			same(t, tensor64{[]int{3}, []float64{0, 1, 1}}, run1(t, Reduce{Kind: "any", Dims: []int{1}}, array.Bool, []int{3}, in))
			same(t, tensor64{[]int{3}, []float64{0, 0, 1}}, run1(t, Reduce{Kind: "all", Dims: []int{1}}, array.Bool, []int{3}, in))
			same(t, tensor64{[]int{2}, []float64{1, 1}}, run1(t, Reduce{Kind: "any", Dims: []int{0}}, array.Bool, []int{2}, in))
			same(t, tensor64{[]int{2}, []float64{0, 0}}, run1(t, Reduce{Kind: "all", Dims: []int{0}}, array.Bool, []int{2}, in))
		}
	}
	b := array.FromSlice([]bool{true, false, true})
	same(t, tensor64{[]int{}, []float64{2}}, run1(t, Reduce{Kind: "sum"}, array.I64, nil, b))
	same(t, tensor64{[]int{}, []float64{1}}, run1(t, Reduce{Kind: "max"}, array.Bool, nil, b))
}

func TestReduceEmptyAndScalar(t *testing.T) {
	e := array.New(array.F32, 0, 2)
	for kind, want := range map[string]float64{"sum": 0, "prod": 1, "mean": math.NaN()} {
		same(t, tensor64{[]int{2}, []float64{want, want}}, run1(t, Reduce{Kind: kind, Dims: []int{0}}, array.F32, []int{2}, e))
	}
	same(t, tensor64{[]int{2}, []float64{1, 1}}, run1(t, Reduce{Kind: "all", Dims: []int{0}}, array.Bool, []int{2}, e))
	same(t, tensor64{[]int{0}, []float64{}}, run1(t, Reduce{Kind: "max", Dims: []int{1}}, array.F32, []int{0}, e))
	code(t, emptyCode, "no elements", func() {
		Reduce{Kind: "max", Dims: []int{0}}.Run(new(Workspace), []*array.Array{array.New(array.F32, 2)}, []*array.Array{e})
	})
	same(t, tensor64{[]int{}, []float64{3}}, run1(t, Reduce{Kind: "max"}, array.F32, nil, array.Scalar(float32(3))))
	same(t, tensor64{[]int{}, []float64{3}}, run1(t, Reduce{Kind: "sum", Dims: []int{-1}}, array.F32, nil, array.Scalar(float32(3))))
	// An expanded input counts every element.
	wide := array.Make(array.F32, []int{1000, 3}, []int{0, 0}, 0, array.Scalar(float32(0.5)).Storage())
	same(t, tensor64{[]int{}, []float64{1500}}, run1(t, Reduce{Kind: "sum"}, array.F32, nil, wide))
}

// The sum of many float32 values keeps full precision, which a plain float32
// loop would lose, and does not depend on the layout.
func TestReduceAccuracy(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	x := fill64([]int{300, 700}, func([]int) float64 { return float64(float32(r.Float64())) })
	total := tensor64{[]int{}, []float64{sumRef(x.data)}}
	near(t, total, run1(t, Reduce{Kind: "sum"}, array.F32, nil, pack64(array.F32, x)), 1e-7)
	var first tensor64
	for i, in := range layouts(array.F64, x) {
		got := unpack64(run1(t, Reduce{Kind: "sum"}, array.F64, nil, in))
		if i == 0 {
			first = got
		}
		require.Equal(t, first, got)
	}
}

func TestVar(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	x := rand64(r, 3, 4, 1, 5)
	for _, dims := range reduceDims {
		for _, corr := range []float64{0, 1, 2} {
			want := reduceRef(x, dims, func(v []float64) float64 {
				m, s := sumRef(v)/float64(len(v)), 0.0
				for _, e := range v {
					s += (e - m) * (e - m)
				}
				return s / math.Max(float64(len(v))-corr, 0)
			})
			mean := reduceRef(x, dims, func(v []float64) float64 { return sumRef(v) / float64(len(v)) })
			for _, d := range []array.DType{array.F32, array.F64, array.F16} {
				tol := map[array.DType]float64{array.F16: 1e-3}[d] + 1e-6
				for _, in := range layouts(d, x) {
					out := []*array.Array{array.New(d, want.shape...), array.New(d, want.shape...)}
					runOut(t, Var{Dims: dims, Correction: corr}, out, in)
					near(t, want, out[0], tol, dims, corr)
					near(t, mean, out[1], tol)
				}
			}
		}
	}
	// Large offsets do not cancel the digits.
	off := array.FromSlice([]float32{1e6, 1e6 + 1, 1e6 + 2})
	same(t, tensor64{[]int{}, []float64{1}}, run1(t, Var{Correction: 1}, array.F32, nil, off))
	one := array.FromSlice([]float32{1})
	same(t, tensor64{[]int{}, []float64{math.NaN()}}, run1(t, Var{Correction: 1}, array.F32, nil, one))
}

func TestArgReduce(t *testing.T) {
	nan := math.NaN()
	x := tensor64{[]int{2, 3, 2}, []float64{1, 5, 3, 5, 3, 0, 2, nan, nan, 1, 4, nan}}
	for _, d := range []array.DType{array.F32, array.F64, array.F16, array.BF16} {
		for _, in := range layouts(d, x) {
			same(t, tensor64{[]int{2, 2}, []float64{1, 0, 1, 0}}, run1(t, ArgReduce{Kind: "argmax", Dim: 1}, array.I64, []int{2, 2}, in))
			same(t, tensor64{[]int{2, 2}, []float64{0, 2, 1, 0}}, run1(t, ArgReduce{Kind: "argmin", Dim: 1}, array.I64, []int{2, 2}, in))
			same(t, tensor64{[]int{}, []float64{7}}, run1(t, ArgReduce{Kind: "argmax", Flat: true}, array.I64, nil, in))
			out := []*array.Array{array.New(d, 2, 2), array.New(array.I64, 2, 2)}
			runOut(t, MinMaxDim{Kind: "max", Dim: -2}, out, in)
			same(t, tensor64{[]int{2, 2}, []float64{3, 5, nan, nan}}, out[0])
			same(t, tensor64{[]int{2, 2}, []float64{1, 0, 1, 0}}, out[1])
			runOut(t, MinMaxDim{Kind: "min", Dim: 1}, out, in)
			same(t, tensor64{[]int{2, 2}, []float64{1, 0, nan, nan}}, out[0])
		}
	}
	u := array.FromSlice([]uint64{1, math.MaxUint64, 5})
	same(t, tensor64{[]int{}, []float64{1}}, run1(t, ArgReduce{Kind: "argmax"}, array.I64, nil, u))
	b := array.FromSlice([]bool{false, true, true})
	same(t, tensor64{[]int{}, []float64{1}}, run1(t, ArgReduce{Kind: "argmax"}, array.I64, nil, b))
	same(t, tensor64{[]int{}, []float64{0}}, run1(t, ArgReduce{Kind: "argmin", Dim: -1}, array.I64, nil, array.Scalar(float32(1))))
	code(t, emptyCode, "no elements", func() {
		ArgReduce{Kind: "argmax"}.Run(new(Workspace), []*array.Array{array.New(array.I64, 2)}, []*array.Array{array.New(array.F32, 0, 2)})
	})
}

func TestScan(t *testing.T) {
	x := iota64(2, 3, 2)
	for dim := -3; dim < 3; dim++ {
		d := mod(dim, 3)
		ref := func(product bool) tensor64 {
			return fill64(x.shape, func(ix []int) float64 {
				acc := x.at(ix...)
				jx := slices.Clone(ix)
				for jx[d]--; jx[d] >= 0; jx[d]-- {
					if product {
						acc *= x.at(jx...)
					} else {
						acc += x.at(jx...)
					}
				}
				return acc
			})
		}
		for in, out := range map[array.DType]array.DType{
			array.F32: array.F32, array.F64: array.F64, array.F16: array.F16, array.U8: array.I64,
			array.I64: array.I64, array.I32: array.F32, array.I16: array.I16, array.BF16: array.F32,
		} {
			for _, a := range layouts(in, x) {
				same(t, ref(false), run1(t, Scan{Kind: "cumsum", Dim: dim}, out, x.shape, a))
				same(t, ref(true), run1(t, Scan{Kind: "cumprod", Dim: dim}, out, x.shape, a))
			}
		}
	}
	same(t, tensor64{[]int{0, 2}, nil}, run1(t, Scan{Kind: "cumsum", Dim: 0}, array.F32, []int{0, 2}, array.New(array.F32, 0, 2)))
	same(t, tensor64{[]int{}, []float64{4}}, run1(t, Scan{Kind: "cumsum"}, array.F32, nil, array.Scalar(float32(4))))
}

func TestReduceDoesNotAllocate(t *testing.T) {
	x := layouts(array.F32, iota64(4, 8, 8))[1]
	h := pack64(array.BF16, iota64(4, 8, 8))
	out := []*array.Array{array.New(array.F32, 4, 8)}
	for _, s := range []Step{Reduce{Kind: "sum", Dims: []int{1}}, Reduce{Kind: "max", Dims: []int{2}}, Var{Dims: []int{1}}} {
		noAllocs(t, s, out, x)
	}
	noAllocs(t, Reduce{Kind: "mean", Dims: []int{1}}, []*array.Array{array.New(array.BF16, 4, 8)}, h)
	noAllocs(t, ArgReduce{Kind: "argmax", Dim: 1}, []*array.Array{array.New(array.I64, 4, 8)}, x)
	noAllocs(t, Scan{Kind: "cumsum", Dim: 1}, []*array.Array{array.New(array.F32, 4, 8, 8)}, x)
}
