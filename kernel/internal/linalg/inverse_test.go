package linalg

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// residual is the greatest element of a·x - 1, of n rows, against that of |a|·|x|.
func residual(a, x []float64, n int) float64 {
	worst := 0.0
	for i := range n {
		for j := range n {
			sum, size := 0.0, 0.0
			for k := range n {
				p := a[i*n+k] * x[k*n+j]
				sum, size = sum+p, size+math.Abs(p)
			}
			if i == j {
				sum--
			}
			if r := math.Abs(sum) / max(size, 1); !(r <= worst) {
				worst = r
			}
		}
	}
	return worst
}

func floats(a *array.Array) []float64 {
	return array.Data[float64](array.Contiguous(array.Cast(a, array.F64)))
}

// TestInverse multiplies inverses with their matrices: sizes on both sides of every bound
// of blocks and batches, all layouts, a bound that grows with the unit of the type.
func TestInverse(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 9))
	for _, shape := range [][]int{
		{3, 1, 1}, {2, 2, 2}, {4, 3, 3}, {2, 3, 5, 5}, {3, 0, 0}, {0, 2, 2}, {4, 4}, {8, 8}, {3, 9, 9}, {16, 16}, {31, 31}, {2, 32, 32}, {33, 33},
		{3, 40, 40}, {9, 47, 47}, {64, 64}, {100, 100}, {2, 129, 129}, {257, 257}, {2, 260, 260},
	} {
		x := kerneltest.Rand64(r, shape...)
		n := shape[len(shape)-1]
		for d, unit := range map[array.DType]float64{array.F64: 1.0 / (1 << 52), array.F32: 1.0 / (1 << 23)} {
			layouts := kerneltest.Layouts(d, x)
			if n > 100 {
				layouts = layouts[:1]
			}
			for _, in := range layouts {
				out := array.New(d, shape...)
				kerneltest.RunStep(t, Inverse{}, []*array.Array{out}, []*array.Array{in})
				a, got := floats(in), floats(out)
				for i := 0; i < len(a); i += n * n {
					require.LessOrEqual(t, residual(a[i:i+n*n], got[i:i+n*n], n), unit*8*math.Sqrt(float64(n+4)), "%v %s", shape, d)
				}
			}
		}
	}
	pivots := array.FromSlice([]float32{0, 2, 1, 1, 0, 3, 4, 1, 0}, 3, 3)
	kerneltest.Near(t, kerneltest.Tensor64{Shape: []int{3, 3}, Data: []float64{-0.12, 0.04, 0.24, 0.48, -0.16, 0.04, 0.04, 0.32, -0.08}},
		kerneltest.Run1(t, Inverse{}, array.F32, []int{3, 3}, pivots), 1e-6)
	kerneltest.Code(t, operand.OperandCode, "square", func() { kerneltest.Run1(t, Inverse{}, array.F32, []int{2, 3, 4}, array.New(array.F32, 2, 3, 4)) })
	kerneltest.Code(t, operand.OperandCode, "another number", func() { kerneltest.Run1(t, Inverse{}, array.F32, []int{2, 3, 3}, array.New(array.F32, 3, 3)) })
}

// TestIllConditioned inverts Hilbert matrices with a little added to the diagonal, whose conditions
// reach 10^12: the result is inverse to the operand as far as the type can express. LAPACK, as
// PyTorch calls it, leaves residuals of 8e-16 and, in f32, 5e-7 by this measure.
func TestIllConditioned(t *testing.T) {
	for _, n := range []int{8, 40, 80, 160} {
		for _, more := range []float64{1e-2, 1e-8, 1e-12} {
			m := make([]float64, n*n)
			for i := range n {
				for j := range n {
					m[i*n+j] = 1 / float64(i+j+1)
				}
				m[i*n+i] += more
			}
			for d, bound := range map[array.DType]float64{array.F64: 1e-15, array.F32: 6e-7} {
				in, out := array.Cast(array.FromSlice(m, n, n), d), array.New(d, n, n)
				kerneltest.RunStep(t, Inverse{}, []*array.Array{out}, []*array.Array{in})
				r := residual(floats(in), floats(out), n)
				t.Log(n, more, d, r)
				require.LessOrEqual(t, r, bound, "%d %g %s", n, more, d)
			}
		}
	}
}

// TestSingular has matrices without an inverse at every kind of bound.
func TestSingular(t *testing.T) {
	for _, n := range []int{1, 2, 32, 33, 70, 300} {
		for _, zero := range []int{0, n / 2, n - 1} {
			x := array.New(array.F32, 2, n, n)
			data := array.Data[float32](x)
			for i := range n {
				data[i*n+i] = 1 // the second matrix lacks an element of the diagonal
				if i != zero {
					data[n*n+i*n+i] = 1
				}
			}
			y := array.New(array.F32, 2, n, n)
			kerneltest.RunStep(t, Inverse{}, []*array.Array{y}, []*array.Array{x})
			got := array.Data[float32](y)
			require.Equal(t, data[:n*n], got[:n*n])
			for _, v := range got[n*n:] {
				require.True(t, v != v, "%d: %v", n, v)
			}
			kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{2}, Data: []float64{1, 0}}, kerneltest.Run1(t, Det{}, array.F32, []int{2}, x))
		}
	}
}

// TestThreads has the same bits for every number of threads, takes the scratch that was said
// and, once warm, allocates nothing.
func TestThreads(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 10))
	for _, shape := range [][]int{{70, 4, 4}, {1, 40, 40}, {5, 40, 40}, {300, 24, 24}, {11, 65, 65}, {1, 200, 200}, {2, 270, 270}} {
		for _, d := range []array.DType{array.F64, array.F32, array.F16} {
			x := kerneltest.Layouts(d, kerneltest.Rand64(r, shape...))[0]
			for _, s := range []par.Step{Inverse{}, Det{}} {
				out := array.New(d, shape...)
				if s == (Det{}) {
					out = array.New(d, shape[0])
				}
				outs, ins := []*array.Array{out}, []*array.Array{x}
				var want []byte
				for threads := range 4 {
					w := &par.Workspace{Threads: threads + 1}
					bytes := s.(par.Scratcher).ScratchBytes(outs, ins)
					w.Reserve(bytes)
					s.Run(w, outs, ins)
					require.LessOrEqual(t, w.HighWater(), bytes, "%v %s %T", shape, d, s)
					if got := out.Storage().Bytes(); want == nil {
						want = append([]byte(nil), got...)
					} else {
						require.Equal(t, want, got, "%v %s %T", shape, d, s)
					}
				}
			}
		}
	}
	for _, n := range []int{3, 40, 300} {
		kerneltest.NoAllocs(t, Inverse{}, []*array.Array{array.New(array.F32, 2, n, n)}, array.New(array.F32, 2, n, n))
		kerneltest.NoAllocs(t, Det{}, []*array.Array{array.New(array.F32, 2)}, kerneltest.Layouts(array.F32, kerneltest.Rand64(r, 2, n, n))[0])
	}
}

// TestDetOfProducts compares determinants of large matrices with those of products of
// triangular ones, whose diagonals are known.
func TestDetOfProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 11))
	for _, n := range []int{31, 33, 64, 100, 257} {
		l, u, m, want := kerneltest.Rand64(r, n, n).Data, kerneltest.Rand64(r, n, n).Data, make([]float64, n*n), 1.0
		for i := range n {
			l[i*n+i], u[i*n+i] = 1, 1+float64(i%3)/8
			want *= u[i*n+i]
			for j := range n {
				for k := range min(i, j) + 1 {
					a, b := l[i*n+k], u[k*n+j]
					if k < i {
						a /= float64(n)
					}
					if k < j {
						b /= float64(n)
					}
					if k < j {
						b /= float64(n)
					}
					m[i*n+j] += a * b
				}
			}
		}
		for i := range n { // an odd permutation of the rows
			if i+1 < n && i == 0 {
				for c := range n {
					m[c], m[n+c] = m[n+c], m[c]
				}
			}
		}
		got := kerneltest.Run1(t, Det{}, array.F64, nil, array.FromSlice(m, n, n))
		require.InEpsilon(t, -want, array.Float64At(got, 0), 1e-11, n)
	}
}

func BenchmarkInverse(b *testing.B) { bench(b, Inverse{}) }

func BenchmarkDet(b *testing.B) { bench(b, Det{}) }

func bench(b *testing.B, s par.Step) {
	r := rand.New(rand.NewPCG(5, 12))
	for _, d := range []array.DType{array.F32, array.F64} {
		for _, n := range []int{16, 64, 256, 512} {
			for _, count := range []int{1, 64} {
				if count*n > 64*256 {
					continue
				}
				x := kerneltest.Layouts(d, kerneltest.Rand64(r, count, n, n))[0]
				out := array.New(d, count, n, n)
				if s == (Det{}) {
					out = array.New(d, count)
				}
				for _, threads := range []int{1, 2} {
					b.Run(d.String()+"/n="+strconv.Itoa(n)+"/batch="+strconv.Itoa(count)+"/threads="+strconv.Itoa(threads), func(b *testing.B) {
						w := &par.Workspace{Threads: threads}
						for b.Loop() {
							s.Run(w, []*array.Array{out}, []*array.Array{x})
						}
					})
				}
			}
		}
	}
}
