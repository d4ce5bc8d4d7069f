package index

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// sortRef returns the positions of v in sorted order, NaN greatest, stable.
func sortRef(v []float64, descending bool) []int {
	pos := make([]int, len(v))
	for i := range pos {
		pos[i] = i
	}
	less := func(a, b float64) bool {
		if math.IsNaN(a) {
			return false
		}
		return math.IsNaN(b) || a < b
	}
	sort.SliceStable(pos, func(i, j int) bool {
		if descending {
			i, j = j, i
		}
		return less(v[pos[i]], v[pos[j]])
	})
	return pos
}

func TestSortAndTopK(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	x := kerneltest.Fill64([]int{2, 37, 3}, func([]int) float64 {
		switch v := r.IntN(12); v {
		case 0:
			return math.NaN()
		case 1:
			return math.Copysign(0, -1)
		case 2:
			return math.Inf(-1)
		default:
			return float64(v - 6)
		}
	})
	pos := kerneltest.Fill64(x.Shape, func(ix []int) float64 { return float64(int(math.Abs(x.At(ix...))) % 90) })
	for i, v := range pos.Data {
		if math.IsNaN(v) || v < 0 || v > 90 {
			pos.Data[i] = 90
		}
	}
	for _, d := range []array.DType{array.F32, array.F64, array.F16, array.BF16, array.I32, array.U8, array.U64, array.I64} {
		src := x
		if !d.IsFloat() {
			src = pos
		}
		for _, in := range kerneltest.Layouts(d, src) {
			for _, desc := range []bool{false, true} {
				for _, k := range []int{37, 20, 3, 0} {
					shape := []int{2, k, 3}
					idx := kerneltest.Fill64(shape, func(ix []int) float64 {
						col := make([]float64, 37)
						for i := range col {
							col[i] = src.At(ix[0], i, ix[2])
						}
						return float64(sortRef(col, desc)[ix[1]])
					})
					val := kerneltest.Fill64(shape, func(ix []int) float64 { return src.At(ix[0], int(idx.At(ix...)), ix[2]) })
					var s par.Step = TopK{K: k, Dim: -2, Largest: desc, Sorted: true}
					if k == 37 {
						s = Sort{Dim: 1, Descending: desc, Stable: true}
					}
					out := []*array.Array{array.New(d, shape...), array.New(array.I64, shape...)}
					kerneltest.RunOut(t, s, out, in)
					kerneltest.Same(t, val, out[0], d, desc, k)
					kerneltest.Same(t, idx, out[1], d, desc, k)
				}
			}
		}
	}
	out := []*array.Array{array.New(array.U64, 3), array.New(array.I64, 3)}
	kerneltest.RunOut(t, Sort{}, out, array.FromSlice([]uint64{1 << 63, 5, math.MaxUint64}))
	kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{3}, Data: []float64{1, 0, 2}}, out[1])
	kerneltest.RunOut(t, Sort{}, []*array.Array{array.New(array.F32), array.New(array.I64)}, array.Scalar(float32(1)))
	kerneltest.Code(t, operand.OperandCode, "k exceeds", func() { TopK{K: 4}.Run(new(par.Workspace), out, out) })
}

func TestGather(t *testing.T) {
	x := kerneltest.Iota64(3, 4, 5)
	ix := kerneltest.Tensor64{Shape: []int{2, 6, 3}, Data: nil}
	r := rand.New(rand.NewPCG(9, 1))
	for range 36 {
		ix.Data = append(ix.Data, float64(r.IntN(4)))
	}
	want := kerneltest.Fill64(ix.Shape, func(i []int) float64 { return x.At(i[0], int(ix.At(i...)), i[2]) })
	for _, d := range []array.DType{array.F32, array.U8, array.BF16, array.I64} {
		for _, a := range kerneltest.Layouts(d, x) {
			for _, id := range []array.DType{array.I32, array.I64} {
				for _, b := range kerneltest.Layouts(id, ix) {
					kerneltest.Same(t, want, kerneltest.Run1(t, Gather{Dim: 1}, d, ix.Shape, a, b))
				}
			}
		}
	}
	a := kerneltest.Pack64(array.F32, kerneltest.Iota64(10))
	kerneltest.Code(t, operand.IndexCode, "index 12 is out of range for dimension 0 of size 10", func() {
		kerneltest.Run1(t, Gather{}, array.F32, []int{1}, a, array.FromSlice([]int64{12}))
	})
	kerneltest.Code(t, operand.IndexCode, "index -1 is out of range", func() {
		kerneltest.Run1(t, Gather{}, array.F32, []int{1}, a, array.FromSlice([]int32{-1}))
	})
	kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{0}, Data: nil}, kerneltest.Run1(t, Gather{}, array.F32, []int{0}, a, array.New(array.I64, 0)))
	kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{}, Data: []float64{1}}, kerneltest.Run1(t, Gather{}, array.F32, nil, kerneltest.Pack64(array.F32, kerneltest.Iota64()), array.Scalar(int64(0))))
}

func TestScatter(t *testing.T) {
	self, src := kerneltest.Iota64(3, 5), kerneltest.Fill64([]int{4, 6}, func(ix []int) float64 { return float64(2 + ix[0] + 3*ix[1]) })
	ix := kerneltest.Tensor64{Shape: []int{4, 3}, Data: []float64{0, 1, 2, 2, 1, 0, 0, 0, 0, 2, 2, 1}}
	ops := map[string]func(a, b float64) float64{
		"":         func(_, b float64) float64 { return b },
		"add":      func(a, b float64) float64 { return a + b },
		"multiply": func(a, b float64) float64 { return a * b },
		"amax":     math.Max,
		"amin":     math.Min,
	}
	for how, f := range ops {
		want := kerneltest.Tensor64{Shape: self.Shape, Data: slices.Clone(self.Data)}
		kerneltest.Each(ix.Shape, func(i []int) {
			p := &want.Data[int(ix.At(i...))*5+i[1]]
			*p = f(*p, src.At(i...))
		})
		for _, d := range []array.DType{array.F32, array.F64, array.I32, array.U64, array.I64} {
			b := kerneltest.Layouts(d, src)
			for k, a := range kerneltest.Layouts(d, self) {
				kerneltest.Same(t, want, kerneltest.Run1(t, Scatter{Dim: 0, Reduce: how}, d, self.Shape, a, kerneltest.Layouts(array.I64, ix)[k], b[k]), how, d)
			}
		}
		for _, a := range kerneltest.Layouts(array.F16, self) {
			kerneltest.Near(t, want, kerneltest.Run1(t, Scatter{Dim: -2, Reduce: how}, array.F16, self.Shape, a, kerneltest.Pack64(array.I32, ix), kerneltest.Pack64(array.F16, src)), 1e-3)
		}
	}
	// Along the last dimension, where elements of a row go to one place, and a part of src is read.
	row := kerneltest.Tensor64{Shape: []int{3, 4}, Data: []float64{0, 4, 0, 0, 1, 2, 3, 4, 4, 4, 2, 2}}
	sums := kerneltest.Tensor64{Shape: self.Shape, Data: slices.Clone(self.Data)}
	kerneltest.Each(row.Shape, func(i []int) { sums.Data[i[0]*5+int(row.At(i...))] += src.At(i...) })
	for k, a := range kerneltest.Layouts(array.F32, self) {
		ix := kerneltest.Layouts(array.I64, row)[k]
		kerneltest.Same(t, sums, kerneltest.Run1(t, Scatter{Dim: -1, Reduce: "add"}, array.F32, self.Shape, a, ix, kerneltest.Layouts(array.F32, src)[k]))
	}
	nan := array.FromSlice([]float32{float32(math.NaN())})
	got := kerneltest.Run1(t, Scatter{Reduce: "amax"}, array.F32, []int{2}, array.FromSlice([]float32{1, 2}), array.FromSlice([]int64{1}), nan)
	kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{2}, Data: []float64{1, math.NaN()}}, got)
	u := kerneltest.Run1(t, Scatter{Reduce: "amax"}, array.U64, []int{2}, array.FromSlice([]uint64{1 << 63, 2}), array.FromSlice([]int64{0}), array.FromSlice([]uint64{7}))
	kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{2}, Data: []float64{1 << 63, 2}}, u)
	kerneltest.Code(t, operand.IndexCode, "index 3 is out of range for dimension 0 of size 3", func() {
		kerneltest.Run1(t, Scatter{}, array.F32, []int{3}, array.New(array.F32, 3), array.FromSlice([]int64{3}), array.New(array.F32, 1))
	})
}

func TestIndexSelectAndEmbedding(t *testing.T) {
	x := kerneltest.Iota64(3, 4, 5)
	pick := []int64{2, 0, 2, 1}
	for dim := range 3 {
		shape := slices.Clone(x.Shape)
		shape[dim] = 4
		want := kerneltest.Fill64(shape, func(i []int) float64 {
			j := slices.Clone(i)
			j[dim] = int(pick[i[dim]])
			return x.At(j...)
		})
		for _, d := range []array.DType{array.F32, array.I8, array.F64, array.BF16} {
			for _, a := range kerneltest.Layouts(d, x) {
				kerneltest.Same(t, want, kerneltest.Run1(t, IndexSelect{Dim: dim - 3}, d, shape, a, array.FromSlice(pick)))
			}
		}
	}
	w := kerneltest.Iota64(6, 3)
	ix := kerneltest.Tensor64{Shape: []int{2, 2}, Data: []float64{5, 0, 3, 3}}
	want := kerneltest.Fill64([]int{2, 2, 3}, func(i []int) float64 { return w.At(int(ix.At(i[0], i[1])), i[2]) })
	for _, a := range kerneltest.Layouts(array.F16, w) {
		for _, b := range kerneltest.Layouts(array.I32, ix) {
			kerneltest.Same(t, want, kerneltest.Run1(t, Embedding{}, array.F16, want.Shape, b, a))
		}
	}
	kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{0, 3}, Data: nil}, kerneltest.Run1(t, Embedding{}, array.F32, []int{0, 3}, array.New(array.I64, 0), kerneltest.Pack64(array.F32, w)))
	kerneltest.Code(t, operand.IndexCode, "index 6 is out of range for dimension 0 of size 6", func() {
		kerneltest.Run1(t, Embedding{}, array.F32, []int{1, 3}, array.FromSlice([]int64{6}), kerneltest.Pack64(array.F32, w))
	})
}

func TestEmbeddingBag(t *testing.T) {
	w := kerneltest.Tensor64{Shape: []int{4, 2}, Data: []float64{1, -2, 3, 4, 5, -6, math.NaN(), 8}}
	idx := array.FromSlice([]int64{0, 1, 2, 2})
	nan := math.NaN()
	for _, d := range []array.DType{array.F32, array.F64, array.F16, array.BF16} {
		for _, a := range kerneltest.Layouts(d, w) {
			off := array.FromSlice([]int32{0, 2, 2})
			kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{3, 2}, Data: []float64{4, 2, 0, 0, 10, -12}}, kerneltest.Run1(t, EmbeddingBag{"sum"}, d, []int{3, 2}, idx, a, off))
			kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{3, 2}, Data: []float64{2, 1, 0, 0, 5, -6}}, kerneltest.Run1(t, EmbeddingBag{"mean"}, d, []int{3, 2}, idx, a, off))
			kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{3, 2}, Data: []float64{3, 4, 0, 0, 5, -6}}, kerneltest.Run1(t, EmbeddingBag{"max"}, d, []int{3, 2}, idx, a, off))
			// One start more than bags: it is the end.
			kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{2, 2}, Data: []float64{4, 2, 5, -6}}, kerneltest.Run1(t, EmbeddingBag{"sum"}, d, []int{2, 2}, idx, a, array.FromSlice([]int64{0, 2, 3})))
			m := array.FromSlice([]int64{3, 0, 1, 1}, 2, 2)
			kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{2, 2}, Data: []float64{nan, 8, 3, 4}}, kerneltest.Run1(t, EmbeddingBag{"max"}, d, []int{2, 2}, m, a))
			scale := array.FromSlice([]float32{2, 1, 0.5, -1}, 2, 2)
			m = array.FromSlice([]int64{0, 1, 1, 2}, 2, 2)
			kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{2, 2}, Data: []float64{5, 0, -3.5, 8}}, kerneltest.Run1(t, EmbeddingBag{"sum"}, d, []int{2, 2}, m, a, nil, scale))
		}
	}
	a := kerneltest.Pack64(array.F32, w)
	kerneltest.Code(t, operand.OperandCode, "ascending", func() {
		kerneltest.Run1(t, EmbeddingBag{"sum"}, array.F32, []int{3, 2}, idx, a, array.FromSlice([]int64{0, 3, 1}))
	})
	kerneltest.Code(t, operand.OperandCode, "the first bag starts at 1, expected 0", func() {
		kerneltest.Run1(t, EmbeddingBag{"sum"}, array.F32, []int{2, 2}, idx, a, array.FromSlice([]int64{1, 2}))
	})
	kerneltest.Code(t, operand.IndexCode, "index 9 is out of range", func() {
		kerneltest.Run1(t, EmbeddingBag{"sum"}, array.F32, []int{1, 2}, array.FromSlice([]int64{9}), a, array.FromSlice([]int64{0}))
	})
}

func TestIndexDoesNotAllocate(t *testing.T) {
	x := kerneltest.Layouts(array.F32, kerneltest.Iota64(8, 8))[1]
	out := []*array.Array{array.New(array.F32, 8, 8), array.New(array.I64, 8, 8)}
	idx := array.New(array.I32, 8, 8)
	kerneltest.NoAllocs(t, Sort{Dim: 0}, out, x)
	kerneltest.NoAllocs(t, Gather{Dim: 1}, out[:1], x, idx)
	kerneltest.NoAllocs(t, Scatter{Dim: 1, Reduce: "add"}, out[:1], x, idx, x)
	kerneltest.NoAllocs(t, IndexSelect{Dim: 1}, out[:1], x, array.New(array.I64, 8))
	kerneltest.NoAllocs(t, Embedding{}, []*array.Array{array.New(array.F32, 8, 8, 8)}, idx, x)
	kerneltest.NoAllocs(t, EmbeddingBag{"mean"}, out[:1], idx, x)
}
