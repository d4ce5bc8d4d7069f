package gemm

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

func TestGemm(t *testing.T) {
	sizes := [][3]int{{1, 1, 1}, {2, 4, 2}, {3, 5, 7}, {1, 33, 300}, {3, 17, 513}, {4, 4, 256}, {5, 9, 257},
		{17, 19, 23}, {64, 30, 64}, {260, 6, 3}, {5, 515, 10}, {258, 514, 259}, {0, 3, 3}, {3, 0, 3}, {3, 3, 0}, {8, 3, 0}}
	for _, s := range sizes {
		for flags := range 8 {
			transA, transB, acc := flags&1 != 0, flags&2 != 0, flags&4 != 0
			t.Run(fmt.Sprintf("%v/%v/%v/%v", s, transA, transB, acc), func(t *testing.T) {
				checkGemm[float64](t, transA, transB, acc, s[0], s[1], s[2], 1e-12)
				checkGemm[float32](t, transA, transB, acc, s[0], s[1], s[2], 2e-6)
			})
		}
	}
}

func checkGemm[T operand.Real](t *testing.T, transA, transB, acc bool, m, n, k int, tol float64) {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 4))
	const gap = 3 // leading dimensions exceed the rows
	matrix := func(rows, cols int, trans bool) (data []T, ld int, at func(i, j int) float64) {
		if trans {
			rows, cols = cols, rows
		}
		ld = cols + gap
		data = make([]T, rows*ld)
		for i := range data {
			data[i] = T(r.NormFloat64())
		}
		return data, ld, func(i, j int) float64 {
			if trans {
				i, j = j, i
			}
			return float64(data[i*ld+j])
		}
	}
	a, lda, atA := matrix(m, k, transA)
	b, ldb, atB := matrix(k, n, transB)
	c, ldc, _ := matrix(m, n, false)
	before := append([]T{}, c...)
	Gemm(&par.Workspace{}, transA, transB, m, n, k, a, lda, b, ldb, c, ldc, acc)
	for i := range m {
		for j := range ldc {
			want := 0.0
			if acc || j >= n {
				want = float64(before[i*ldc+j])
			}
			if j < n {
				for p := range k {
					want += atA(i, p) * atB(p, j)
				}
			}
			require.InDelta(t, want, float64(c[i*ldc+j]), tol*float64(max(k, 8)), "c[%d,%d]", i, j)
		}
	}
}

// A sum of many equal terms grows its rounding error with the length of the
// chain of additions; blocks keep it short.
func TestGemmLongSum(t *testing.T) {
	const k = 1 << 16
	for _, m := range []int{1, 8} {
		a, b, c := make([]float32, m*k), make([]float32, k), make([]float32, m)
		for i := range b {
			b[i] = 0.1
		}
		for i := range a {
			a[i] = 1
		}
		Gemm(&par.Workspace{}, false, true, m, 1, k, a, k, b, k, c, 1, false)
		for _, v := range c {
			require.InEpsilon(t, float64(float32(0.1))*k, float64(v), 5e-6)
		}
	}
}

func TestMatMul(t *testing.T) {
	cases := []struct{ a, b, out []int }{
		{[]int{3, 4}, []int{4, 5}, []int{3, 5}},
		{[]int{2, 3, 4}, []int{4, 5}, []int{2, 3, 5}},
		{[]int{2, 3, 4}, []int{2, 4, 5}, []int{2, 3, 5}},
		{[]int{2, 1, 6, 4}, []int{3, 4, 5}, []int{2, 3, 6, 5}},
		{[]int{3, 4}, []int{2, 2, 4, 1}, []int{2, 2, 3, 1}},
		{[]int{1, 2, 7, 1}, []int{3, 1, 1, 6}, []int{3, 2, 7, 6}},
		{[]int{2, 0, 4}, []int{2, 4, 5}, []int{2, 0, 5}},
		{[]int{2, 3, 0}, []int{2, 0, 5}, []int{2, 3, 5}},
		{[]int{2, 3, 0}, []int{0, 5}, []int{2, 3, 5}},
		{[]int{0, 3, 2}, []int{2, 5}, []int{0, 3, 5}},
	}
	for _, c := range cases {
		kerneltest.StepCase{
			Name: fmt.Sprint(c.a, c.b), Step: MatMul{}, Out: kerneltest.Shapes{c.out}, In: kerneltest.Shapes{c.a, c.b},
			Meaning: func(in, out []kerneltest.RefArray) { matMulMeaning(in[0], in[1], out[0]) },
		}.Check(t, array.F32, array.F64, array.F16, array.BF16, array.I32, array.I64)
	}
}

func matMulMeaning(a, b, c kerneltest.RefArray) {
	kerneltest.EachPos(c.Shape, func(pos []int) {
		n := len(pos)
		own := func(d kerneltest.RefArray, r, q int) float64 {
			p := append([]int{}, pos[n-len(d.Shape):]...)
			for i := range p {
				p[i] = min(p[i], d.Shape[i]-1) // broadcast
			}
			p[len(p)-2], p[len(p)-1] = r, q
			return d.Get(p...)
		}
		s := 0.0
		for k := range a.Shape[len(a.Shape)-1] {
			s += own(a, pos[n-2], k) * own(b, k, pos[n-1])
		}
		c.Set(s, pos...)
	})
}

func TestMatMulIntegersWrap(t *testing.T) {
	out := array.New(array.I8, 1, 1)
	MatMul{}.Run(&par.Workspace{}, []*array.Array{out}, []*array.Array{
		array.FromSlice([]int8{100, 100}, 1, 2), array.FromSlice([]int8{2, 1}, 2, 1)})
	require.Equal(t, []int8{300 - 256}, array.Data[int8](out))
}

// A broadcast (stride zero) and a transposed operand are read in place.
func TestMatMulReadsViews(t *testing.T) {
	base := array.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	same := array.Make(array.F32, []int{4, 3, 2}, []int{0, 1, 3}, 0, base.Storage())
	out := array.New(array.F32, 4, 3, 3)
	b := array.Make(array.F32, []int{2, 3}, []int{3, 1}, 0, base.Storage())
	kerneltest.RunStep(t, MatMul{}, []*array.Array{out}, []*array.Array{same, b})
	want := []float32{17, 22, 27, 22, 29, 36, 27, 36, 45}
	for i := range 4 {
		require.Equal(t, want, array.Data[float32](out)[i*9:(i+1)*9])
	}
}

func TestLinear(t *testing.T) {
	cases := []struct{ x, w, b, out []int }{
		{[]int{3, 4}, []int{5, 4}, []int{5}, []int{3, 5}},
		{[]int{4}, []int{5, 4}, []int{5}, []int{5}},
		{[]int{2, 3, 4}, []int{6, 4}, nil, []int{2, 3, 6}},
		{[]int{9, 70}, []int{33, 70}, []int{33}, []int{9, 33}},
		{[]int{0, 4}, []int{5, 4}, []int{5}, []int{0, 5}},
		{[]int{2, 0}, []int{3, 0}, []int{3}, []int{2, 3}},
		{[]int{2, 0}, []int{3, 0}, nil, []int{2, 3}},
		{[]int{2, 3}, []int{0, 3}, nil, []int{2, 0}},
	}
	for _, c := range cases {
		kerneltest.StepCase{
			Name: fmt.Sprint(c.x, c.w, c.b), Step: Linear{}, Out: kerneltest.Shapes{c.out}, In: kerneltest.Shapes{c.x, c.w, c.b},
			Meaning: func(in, out []kerneltest.RefArray) {
				x, w, b := in[0], in[1], in[2]
				n, k := w.Shape[0], w.Shape[1]
				for i := range out[0].V {
					for p := range k {
						out[0].V[i] += x.V[i/n*k+p] * w.V[i%n*k+p]
					}
					if b.V != nil {
						out[0].V[i] += b.V[i%n]
					}
				}
			},
		}.Check(t)
	}
}

func TestGemmStepsDoNotAllocate(t *testing.T) {
	x, y := array.New(array.F32, 4, 40, 50), array.New(array.F32, 50, 60)
	kerneltest.RequireNoAllocs(t, MatMul{}, []*array.Array{array.New(array.F32, 4, 40, 60)}, []*array.Array{x, y})
	wt, b := array.New(array.F16, 300, 500), array.New(array.F16, 300)
	kerneltest.RequireNoAllocs(t, Linear{}, []*array.Array{array.New(array.F16, 70, 300)},
		[]*array.Array{array.New(array.F16, 70, 500), wt, b})
	kerneltest.RequireNoAllocs(t, Linear{}, []*array.Array{array.New(array.F64, 1, 300)},
		[]*array.Array{array.New(array.F64, 1, 500), array.New(array.F64, 300, 500)})
}
