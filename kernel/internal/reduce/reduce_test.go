package reduce

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// reduceRef reduces dims of x with f over the list of elements; keepdim shape.
func reduceRef(x kerneltest.Tensor64, dims []int, f func([]float64) float64) kerneltest.Tensor64 {
	red := make([]bool, len(x.Shape))
	for _, d := range dims {
		red[move.Mod(d, len(x.Shape))] = true
	}
	shape := append([]int{}, x.Shape...)
	for i := range shape {
		if red[i] || len(dims) == 0 {
			shape[i] = 1
		}
	}
	return kerneltest.Fill64(shape, func(ix []int) float64 {
		var list []float64
		kerneltest.Each(x.Shape, func(jx []int) {
			for i := range jx {
				if shape[i] != 1 && jx[i] != ix[i] {
					return
				}
			}
			list = append(list, x.At(jx...))
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
	x := kerneltest.Rand64(r, 3, 4, 1, 5)
	nan := kerneltest.Tensor64{Shape: x.Shape, Data: slices.Clone(x.Data)}
	nan.Data[7] = math.NaN()
	for _, dims := range reduceDims {
		for _, d := range []array.DType{array.F32, array.F64, array.F16, array.BF16} {
			tol := map[array.DType]float64{array.F16: 1e-3, array.BF16: 8e-3}[d] + 1e-6
			for _, k := range []struct {
				kind string
				x    kerneltest.Tensor64
				f    func([]float64) float64
			}{
				{"sum", x, sumRef},
				{"mean", x, func(v []float64) float64 { return sumRef(v) / float64(len(v)) }},
				{"prod", kerneltest.Tensor64{Shape: x.Shape, Data: slices.Repeat([]float64{1, -2, 0.5}, 20)}, func(v []float64) float64 {
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
				for i, in := range kerneltest.Layouts(d, k.x) {
					got := kerneltest.Run1(t, Reduce{Kind: k.kind, Dims: dims}, d, want.Shape, in)
					kerneltest.Near(t, want, got, tol, k.kind, dims, d, i)
				}
			}
		}
	}
}

func TestReduceInt(t *testing.T) {
	x := kerneltest.Iota64(2, 3, 4)
	for _, d := range array.DTypes() {
		if !d.IsInt() {
			continue
		}
		for _, in := range kerneltest.Layouts(d, x) {
			for _, dims := range [][]int{nil, {1}, {0, 2}} {
				want := reduceRef(x, dims, sumRef)
				kerneltest.Same(t, want, kerneltest.Run1(t, Reduce{Kind: "sum", Dims: dims}, array.I64, want.Shape, in))
				want = reduceRef(x, dims, extremeRef(1))
				kerneltest.Same(t, want, kerneltest.Run1(t, Reduce{Kind: "max", Dims: dims}, d, want.Shape, in))
				want = reduceRef(x, dims, extremeRef(-1))
				kerneltest.Same(t, want, kerneltest.Run1(t, Reduce{Kind: "min", Dims: dims}, d, want.Shape, in))
			}
		}
	}
	kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{}, Data: []float64{12.5}}, kerneltest.Run1(t, Reduce{Kind: "mean"}, array.F32, nil, kerneltest.Pack64(array.I32, kerneltest.Iota64(2, 3, 4))))

	big := array.FromSlice([]uint64{1, math.MaxUint64, 5, 1 << 63})
	out := array.New(array.U64)
	(Reduce{Kind: "max"}).Run(new(par.Workspace), []*array.Array{out}, []*array.Array{big})
	require.Equal(t, []uint64{math.MaxUint64}, array.Data[uint64](out))
	(Reduce{Kind: "min"}).Run(new(par.Workspace), []*array.Array{out}, []*array.Array{big})
	require.Equal(t, []uint64{1}, array.Data[uint64](out))
	require.Equal(t, []uint64{1, math.MaxUint64, 5, 1 << 63}, array.Data[uint64](big), "input unchanged")

	wrap := array.FromSlice([]int64{math.MaxInt64, 1})
	sum := array.New(array.I64)
	(Reduce{Kind: "sum"}).Run(new(par.Workspace), []*array.Array{sum}, []*array.Array{wrap})
	require.Equal(t, []int64{math.MinInt64}, array.Data[int64](sum))
}

func TestReduceLogic(t *testing.T) {
	x := kerneltest.Tensor64{Shape: []int{3, 2}, Data: []float64{0, 0, 0, math.NaN(), -1, 2}}
	for _, d := range []array.DType{array.F32, array.BF16, array.F64} {
		for _, in := range kerneltest.Layouts(d, x) {
			kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{3}, Data: []float64{0, 1, 1}}, kerneltest.Run1(t, Reduce{Kind: "any", Dims: []int{1}}, array.Bool, []int{3}, in))
			kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{3}, Data: []float64{0, 0, 1}}, kerneltest.Run1(t, Reduce{Kind: "all", Dims: []int{1}}, array.Bool, []int{3}, in))
			kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{2}, Data: []float64{1, 1}}, kerneltest.Run1(t, Reduce{Kind: "any", Dims: []int{0}}, array.Bool, []int{2}, in))
			kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{2}, Data: []float64{0, 0}}, kerneltest.Run1(t, Reduce{Kind: "all", Dims: []int{0}}, array.Bool, []int{2}, in))
		}
	}
	b := array.FromSlice([]bool{true, false, true})
	kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{}, Data: []float64{2}}, kerneltest.Run1(t, Reduce{Kind: "sum"}, array.I64, nil, b))
	kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{}, Data: []float64{1}}, kerneltest.Run1(t, Reduce{Kind: "max"}, array.Bool, nil, b))
}

func TestReduceEmptyAndScalar(t *testing.T) {
	e := array.New(array.F32, 0, 2)
	for kind, want := range map[string]float64{"sum": 0, "prod": 1, "mean": math.NaN()} {
		kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{2}, Data: []float64{want, want}}, kerneltest.Run1(t, Reduce{Kind: kind, Dims: []int{0}}, array.F32, []int{2}, e))
	}
	kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{2}, Data: []float64{1, 1}}, kerneltest.Run1(t, Reduce{Kind: "all", Dims: []int{0}}, array.Bool, []int{2}, e))
	kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{0}, Data: []float64{}}, kerneltest.Run1(t, Reduce{Kind: "max", Dims: []int{1}}, array.F32, []int{0}, e))
	kerneltest.Code(t, operand.EmptyCode, "no elements", func() {
		Reduce{Kind: "max", Dims: []int{0}}.Run(new(par.Workspace), []*array.Array{array.New(array.F32, 2)}, []*array.Array{e})
	})
	kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{}, Data: []float64{3}}, kerneltest.Run1(t, Reduce{Kind: "max"}, array.F32, nil, array.Scalar(float32(3))))
	kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{}, Data: []float64{3}}, kerneltest.Run1(t, Reduce{Kind: "sum", Dims: []int{-1}}, array.F32, nil, array.Scalar(float32(3))))
	// An expanded input counts every element.
	wide := array.Make(array.F32, []int{1000, 3}, []int{0, 0}, 0, array.Scalar(float32(0.5)).Storage())
	kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{}, Data: []float64{1500}}, kerneltest.Run1(t, Reduce{Kind: "sum"}, array.F32, nil, wide))
}

// The sum of many float32 values keeps full precision, which a plain float32
// loop would lose, and does not depend on the layout.
func TestReduceAccuracy(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	x := kerneltest.Fill64([]int{300, 700}, func([]int) float64 { return float64(float32(r.Float64())) })
	total := kerneltest.Tensor64{Shape: []int{}, Data: []float64{sumRef(x.Data)}}
	kerneltest.Near(t, total, kerneltest.Run1(t, Reduce{Kind: "sum"}, array.F32, nil, kerneltest.Pack64(array.F32, x)), 1e-7)
	var first kerneltest.Tensor64
	for i, in := range kerneltest.Layouts(array.F64, x) {
		got := kerneltest.Unpack64(kerneltest.Run1(t, Reduce{Kind: "sum"}, array.F64, nil, in))
		if i == 0 {
			first = got
		}
		require.Equal(t, first, got)
	}
}

func TestVar(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	x := kerneltest.Rand64(r, 3, 4, 1, 5)
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
				for _, in := range kerneltest.Layouts(d, x) {
					out := []*array.Array{array.New(d, want.Shape...), array.New(d, want.Shape...)}
					kerneltest.RunOut(t, Var{Dims: dims, Correction: corr}, out, in)
					kerneltest.Near(t, want, out[0], tol, dims, corr)
					kerneltest.Near(t, mean, out[1], tol)
				}
			}
		}
	}
	// Large offsets do not cancel the digits.
	off := array.FromSlice([]float32{1e6, 1e6 + 1, 1e6 + 2})
	kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{}, Data: []float64{1}}, kerneltest.Run1(t, Var{Correction: 1}, array.F32, nil, off))
	one := array.FromSlice([]float32{1})
	kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{}, Data: []float64{math.NaN()}}, kerneltest.Run1(t, Var{Correction: 1}, array.F32, nil, one))
}

func TestArgReduce(t *testing.T) {
	nan := math.NaN()
	x := kerneltest.Tensor64{Shape: []int{2, 3, 2}, Data: []float64{1, 5, 3, 5, 3, 0, 2, nan, nan, 1, 4, nan}}
	for _, d := range []array.DType{array.F32, array.F64, array.F16, array.BF16} {
		for _, in := range kerneltest.Layouts(d, x) {
			kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{2, 2}, Data: []float64{1, 0, 1, 0}}, kerneltest.Run1(t, ArgReduce{Kind: "argmax", Dim: 1}, array.I64, []int{2, 2}, in))
			kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{2, 2}, Data: []float64{0, 2, 1, 0}}, kerneltest.Run1(t, ArgReduce{Kind: "argmin", Dim: 1}, array.I64, []int{2, 2}, in))
			kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{}, Data: []float64{7}}, kerneltest.Run1(t, ArgReduce{Kind: "argmax", Flat: true}, array.I64, nil, in))
			out := []*array.Array{array.New(d, 2, 2), array.New(array.I64, 2, 2)}
			kerneltest.RunOut(t, MinMaxDim{Kind: "max", Dim: -2}, out, in)
			kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{2, 2}, Data: []float64{3, 5, nan, nan}}, out[0])
			kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{2, 2}, Data: []float64{1, 0, 1, 0}}, out[1])
			kerneltest.RunOut(t, MinMaxDim{Kind: "min", Dim: 1}, out, in)
			kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{2, 2}, Data: []float64{1, 0, nan, nan}}, out[0])
		}
	}
	u := array.FromSlice([]uint64{1, math.MaxUint64, 5})
	kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{}, Data: []float64{1}}, kerneltest.Run1(t, ArgReduce{Kind: "argmax"}, array.I64, nil, u))
	b := array.FromSlice([]bool{false, true, true})
	kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{}, Data: []float64{1}}, kerneltest.Run1(t, ArgReduce{Kind: "argmax"}, array.I64, nil, b))
	kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{}, Data: []float64{0}}, kerneltest.Run1(t, ArgReduce{Kind: "argmin", Dim: -1}, array.I64, nil, array.Scalar(float32(1))))
	kerneltest.Code(t, operand.EmptyCode, "no elements", func() {
		ArgReduce{Kind: "argmax"}.Run(new(par.Workspace), []*array.Array{array.New(array.I64, 2)}, []*array.Array{array.New(array.F32, 0, 2)})
	})
}

func TestScan(t *testing.T) {
	x := kerneltest.Iota64(2, 3, 2)
	for dim := -3; dim < 3; dim++ {
		d := move.Mod(dim, 3)
		ref := func(product bool) kerneltest.Tensor64 {
			return kerneltest.Fill64(x.Shape, func(ix []int) float64 {
				acc := x.At(ix...)
				jx := slices.Clone(ix)
				for jx[d]--; jx[d] >= 0; jx[d]-- {
					if product {
						acc *= x.At(jx...)
					} else {
						acc += x.At(jx...)
					}
				}
				return acc
			})
		}
		for in, out := range map[array.DType]array.DType{
			array.F32: array.F32, array.F64: array.F64, array.F16: array.F16, array.U8: array.I64,
			array.I64: array.I64, array.I32: array.F32, array.I16: array.I16, array.BF16: array.F32,
		} {
			for _, a := range kerneltest.Layouts(in, x) {
				kerneltest.Same(t, ref(false), kerneltest.Run1(t, Scan{Kind: "cumsum", Dim: dim}, out, x.Shape, a))
				kerneltest.Same(t, ref(true), kerneltest.Run1(t, Scan{Kind: "cumprod", Dim: dim}, out, x.Shape, a))
			}
		}
	}
	kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{0, 2}, Data: nil}, kerneltest.Run1(t, Scan{Kind: "cumsum", Dim: 0}, array.F32, []int{0, 2}, array.New(array.F32, 0, 2)))
	kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{}, Data: []float64{4}}, kerneltest.Run1(t, Scan{Kind: "cumsum"}, array.F32, nil, array.Scalar(float32(4))))
}

func TestReduceDoesNotAllocate(t *testing.T) {
	x := kerneltest.Layouts(array.F32, kerneltest.Iota64(4, 8, 8))[1]
	h := kerneltest.Pack64(array.BF16, kerneltest.Iota64(4, 8, 8))
	out := []*array.Array{array.New(array.F32, 4, 8)}
	for _, s := range []par.Step{Reduce{Kind: "sum", Dims: []int{1}}, Reduce{Kind: "max", Dims: []int{2}}, Var{Dims: []int{1}}} {
		kerneltest.NoAllocs(t, s, out, x)
	}
	kerneltest.NoAllocs(t, Reduce{Kind: "mean", Dims: []int{1}}, []*array.Array{array.New(array.BF16, 4, 8)}, h)
	kerneltest.NoAllocs(t, ArgReduce{Kind: "argmax", Dim: 1}, []*array.Array{array.New(array.I64, 4, 8)}, x)
	kerneltest.NoAllocs(t, Scan{Kind: "cumsum", Dim: 1}, []*array.Array{array.New(array.F32, 4, 8, 8)}, x)
}
