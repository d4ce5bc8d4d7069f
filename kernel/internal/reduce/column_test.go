package reduce

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/rowcol"
)

// rough returns numbers with some that are special.
func rough(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(math.Round(r.NormFloat64()*8) / 4)
		if r.IntN(20) == 0 {
			x[i] = kerneltest.Edges[r.IntN(len(kerneltest.Edges))]
		}
	}
	return x
}

// Every level folds columns and rows to the same bits as Go.
func TestColumnAssembly(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for range 400 {
		rows, n := 1+r.IntN(20), 1+r.IntN(150)
		ld := n + r.IntN(3)
		x := rough(r, rows*ld)
		mean, start := make([]float64, n), make([]float64, n+1)
		for i := range mean {
			mean[i], start[i] = r.NormFloat64(), r.NormFloat64()
		}
		for kind := range 3 {
			want := append([]float64{}, start...)
			rowcol.ColumnFold(cpu.Generic, kind, want[:n], mean, x, ld, rows, 0)
			for _, level := range kerneltest.VecLevels() {
				got := append([]float64{}, start...)
				rowcol.ColumnFold(level, kind, got[:n], mean, x, ld, rows, 4096)
				for i := range want {
					require.True(t, want[i] == got[i] || want[i] != want[i] && got[i] != got[i], "%d %d %d %v: %v, %v", kind, rows, n, level, want[i], got[i])
				}
			}
		}
		for _, least := range []bool{false, true} {
			first := rough(r, n+1)
			want := append([]float32{}, first...)
			rowcol.ColumnExtreme(cpu.Generic, least, want[:n], x, ld, rows, 0)
			for _, level := range kerneltest.VecLevels() {
				got := append([]float32{}, first...)
				rowcol.ColumnExtreme(level, least, got[:n], x, ld, rows, 4096)
				kerneltest.RequireSame(t, want, got, level, n)
			}
		}
	}
}

func TestRowFolds(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	for _, n := range []int{1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 20, 24, 29, 31, 32, 33, 48, 49, 63, 64, 65, 100, 127, 128, 129, 255, 256, 257, 300, 511, 1000, 4099} {
		for range 4 {
			x := rough(r, n)
			for _, level := range kerneltest.VecLevels() {
				for _, f := range []func(l cpu.Level) float64{
					func(l cpu.Level) float64 { return rowcol.RowTotal(l, x) },
					func(l cpu.Level) float64 { return rowcol.RowSquares(l, x, 0.25) },
					func(l cpu.Level) float64 { return rowcol.RowProduct(l, x) },
					func(l cpu.Level) float64 { return float64(rowcol.RowExtreme(l, false, x)) },
					func(l cpu.Level) float64 { return float64(rowcol.RowExtreme(l, true, x)) },
				} {
					a, b := f(cpu.Generic), f(level)
					require.True(t, math.Float64bits(a) == math.Float64bits(b) || a != a && b != b, "%d %v: %v, %v", n, level, a, b)
				}
			}
			high := x[0]
			for _, v := range x {
				if v > high || v != v {
					high = v
				}
			}
			if got := rowcol.RowExtreme(cpu.Host.Level, false, x); got == got || high == high {
				require.Equal(t, high, got)
			}
		}
	}
}

// The position is that of the first extreme, the first NaN where there is one.
func TestBestFast(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	for range 600 {
		outer, n, inner := 1+r.IntN(3), 1+r.IntN(200), 1
		if r.IntN(2) == 0 {
			inner = 1 + r.IntN(300)
		}
		x := make([]float32, outer*n*inner)
		for i := range x {
			x[i] = float32(r.IntN(40))
		}
		if r.IntN(3) == 0 {
			x = rough(r, len(x))
		}
		for _, least := range []bool{false, true} {
			want := make([]int64, outer*inner)
			for i := range want {
				o, c := i/inner, i%inner
				at := func(k int) float32 { return x[(o*n+k)*inner+c] }
				for k := 1; k < n; k++ {
					b, v := at(int(want[i])), at(k)
					if b == b && (v != v || least && v < b || !least && v > b) {
						want[i] = int64(k)
					}
				}
			}
			for _, level := range kerneltest.VecLevels() {
				got := make([]int64, len(want))
				if rowcol.BestFast(level, least, got, x, n, inner) {
					require.Equal(t, want, got, "%v %v %d %d %d", level, least, outer, n, inner)
				}
			}
		}
	}
}

// Every level scales to the same bits as Go, past the caches too.
func TestAffineAssembly(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 28))
	for n := 1; n < 900; n += 1 + n/17 {
		x, w, b, c := rough(r, n), rough(r, n), rough(r, n), rough(r, n)
		for _, f := range []func(l cpu.Level, d []float32, stream bool){
			func(l cpu.Level, d []float32, stream bool) { rowcol.AffineEach(l, d, x, 0.3, 1.7, -2, stream) },
			func(l cpu.Level, d []float32, stream bool) { rowcol.AffineRow(l, d, x, w, b, 0.3, 1.7, -2, stream) },
			func(l cpu.Level, d []float32, _ bool) { rowcol.AffineColumns(l, d, x, w, b, c) },
		} {
			want := make([]float32, n)
			f(cpu.Generic, want, false)
			for _, level := range kerneltest.VecLevels() {
				for _, stream := range []bool{false, true} {
					for _, skip := range []int{0, 1, 3} {
						buf := make([]float32, n+skip+1)
						buf[n+skip] = 7
						f(level, buf[skip:n+skip], stream)
						kerneltest.RequireSame(t, want, buf[skip:n+skip], level, n)
						require.Equal(t, float32(7), buf[n+skip])
					}
				}
			}
		}
	}
}

// Every step that has assembly gives the same bits at every level, whatever the
// number of threads.
func TestMemoryStepsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(29, 30))
	shapes := [][]int{{3, 5}, {2, 40, 7}, {6, 4, 19}, {2, 300, 16}, {4, 8, 33, 9}, {70, 1200}, {1, 3, 700}}
	big := []int{8, 32, 96, 96}
	for _, shape := range append(shapes, big) {
		x := array.FromSlice(rough(r, operand.Prod(shape)), shape...)
		vec := func() *array.Array {
			v := rough(r, shape[1])
			for i := range v {
				v[i] = float32(math.Abs(float64(v[i]))) + 0.5
			}
			return array.FromSlice(v, len(v))
		}
		mean, variance, weight, bias := vec(), vec(), vec(), vec()
		row := array.FromSlice(rough(r, shape[len(shape)-1]), shape[len(shape)-1])
		dropped := append([]int{shape[0]}, shape[2:]...)
		for _, c := range []struct {
			name string
			step par.Step
			in   []*array.Array
			out  []int
			d    array.DType
		}{
			{"softmax 0", Softmax{Dim: 0}, nil, shape, array.F32},
			{"softmax 1", Softmax{Dim: 1}, nil, shape, array.F32},
			{"log softmax 1", LogSoftmax{Dim: 1}, nil, shape, array.F32},
			{"sum 1", Reduce{Kind: "sum", Dims: []int{1}}, nil, dropped, array.F32},
			{"sum 0", Reduce{Kind: "sum", Dims: []int{0}}, nil, shape[1:], array.F32},
			{"max 1", Reduce{Kind: "max", Dims: []int{1}}, nil, dropped, array.F32},
			{"min 0", Reduce{Kind: "min", Dims: []int{0}}, nil, shape[1:], array.F32},
			{"prod 1", Reduce{Kind: "prod", Dims: []int{1}}, nil, dropped, array.F32},
			{"var 1", Var{Dims: []int{1}}, nil, dropped, array.F32},
			{"argmax 1", ArgReduce{Kind: "argmax", Dim: 1}, nil, dropped, array.I64},
			{"batch norm", BatchNorm{Eps: 1e-5}, []*array.Array{mean, variance, weight, bias}, shape, array.F32},
			{"group norm", GroupNorm{Groups: 1, Eps: 1e-5}, []*array.Array{weight, bias}, shape, array.F32},
			{"layer norm", LayerNorm{Axes: 1, Eps: 1e-5}, []*array.Array{row, row}, shape, array.F32},
			{"layer norm bias", LayerNorm{Axes: 1, Eps: 1e-5}, []*array.Array{nil, row}, shape, array.F32},
			{"rms norm", RMSNorm{Axes: 1, Eps: 1e-5}, []*array.Array{row}, shape, array.F32},
		} {
			in := append([]*array.Array{x}, c.in...)
			run := func(threads int) *array.Array {
				o := array.New(c.d, c.out...)
				c.step.Run(&par.Workspace{Threads: threads}, []*array.Array{o}, in)
				return o
			}
			top := cpu.Host
			cpu.Host.Level = cpu.Generic
			want := run(1)
			cpu.Host = top
			for _, level := range kerneltest.Levels() {
				cpu.Host.Level = level
				for threads := 1; threads <= 3; threads += 2 {
					got := run(threads)
					for i := range want.Len() {
						a, b := kerneltest.Get(want, i), kerneltest.Get(got, i)
						if a != b && (a == a || b == b) {
							cpu.Host = top
							require.Failf(t, c.name, "%v %v threads %d: element %d is %v, expected %v", shape, level.String(), threads, i, b, a)
						}
					}
				}
			}
			cpu.Host = top
		}
	}
}

func BenchmarkMemory(b *testing.B) {
	x := array.New(array.F32, 64, 128, 256)
	for i, v := 0, array.Data[float32](x); i < len(v); i++ {
		v[i] = float32(i % 251)
	}
	for _, c := range []struct {
		name string
		step par.Step
		out  *array.Array
	}{
		{"softmax1", Softmax{Dim: 1}, array.New(array.F32, 64, 128, 256)},
		{"sum0", Reduce{Kind: "sum", Dims: []int{0}}, array.New(array.F32, 128, 256)},
		{"sum1", Reduce{Kind: "sum", Dims: []int{1}}, array.New(array.F32, 64, 256)},
		{"max1", Reduce{Kind: "max", Dims: []int{1}}, array.New(array.F32, 64, 256)},
		{"max2", Reduce{Kind: "max", Dims: []int{2}}, array.New(array.F32, 64, 128)},
		{"argmax2", ArgReduce{Kind: "argmax", Dim: 2}, array.New(array.I64, 64, 128)},
	} {
		b.Run(c.name, func(b *testing.B) {
			w := &par.Workspace{}
			for b.Loop() {
				c.step.Run(w, []*array.Array{c.out}, []*array.Array{x})
			}
			kerneltest.PerElement(b, x.Len())
		})
	}
}

// Rows that are reduced together give the sum of their single results, added to the old
// contents.
func TestRowsTogether(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 34))
	for range 200 {
		rows, n := 1+r.IntN(9), 1+r.IntN(200)
		x := rough(r, rows*n)
		start, mean, first := make([]float64, rows), make([]float64, rows), rough(r, rows)
		for i := range start {
			start[i], mean[i] = r.NormFloat64(), r.NormFloat64()
		}
		for _, level := range kerneltest.VecLevels() {
			sums, squares := append([]float64{}, start...), append([]float64{}, start...)
			rowcol.RowsTotal(level, sums, x, n, rowcol.RowAhead)
			rowcol.RowsSquares(level, squares, mean, x, n, rowcol.RowAhead)
			high, low := append([]float32{}, first...), append([]float32{}, first...)
			rowcol.RowsExtreme(level, false, high, x, n)
			rowcol.RowsExtreme(level, true, low, x, n)
			for i := range rows {
				row := x[i*n : (i+1)*n]
				for _, c := range [][2]float64{
					{start[i] + rowcol.RowTotal(cpu.Generic, row), sums[i]},
					{start[i] + rowcol.RowSquares(cpu.Generic, row, mean[i]), squares[i]},
					{float64(rowcol.ExtremeOf(false, first[i], rowcol.RowExtreme(cpu.Generic, false, row))), float64(high[i])},
					{float64(rowcol.ExtremeOf(true, first[i], rowcol.RowExtreme(cpu.Generic, true, row))), float64(low[i])},
				} {
					require.True(t, math.Float64bits(c[0]) == math.Float64bits(c[1]) || c[0] != c[0] && c[1] != c[1], "%v %d %d: %v", level, rows, n, c)
				}
			}
		}
	}
}

// Rows that are measured while others are scaled come out as those that are not.
func TestRowsNormed(t *testing.T) {
	r := rand.New(rand.NewPCG(39, 40))
	for _, n := range []int{16, 32, 48, 64, 80, 256, 1008, 1024} {
		rows := 1 + r.IntN(4)
		x, w, b := rough(r, rows*n), rough(r, n), rough(r, n)
		for i := range x {
			if r.IntN(2) == 0 || x[i]-x[i] != 0 {
				x[i] = float32(r.NormFloat64() * 3)
			}
		}
		if n == 80 {
			x[5] = float32(math.NaN())
		}
		want := make([]float32, len(x))
		for at := 0; at < len(x); at += n {
			row := x[at : at+n]
			mean := rowcol.RowTotal(cpu.Generic, row) / float64(n)
			scale := 1 / math.Sqrt(rowcol.RowSquares(cpu.Generic, row, mean)/float64(n)+1e-5)
			rowcol.RowNormed(cpu.Generic, want[at:], row, w, b, mean, scale, false)
		}
		for _, level := range kerneltest.VecLevels() {
			for _, stream := range []bool{false, true} {
				got := array.Raw[float32](array.New(array.F32, len(x)))
				if rowcol.RowsNormed(level, got, x, w, b, 1e-5, stream) {
					kerneltest.RequireSame(t, want, got, level, n, stream)
				}
			}
		}
		require.False(t, rowcol.RowsNormed(cpu.Generic, want, x, w, b, 1e-5, false))
	}
}

// Matrices beyond the second cache are reduced in other blocks to the same bits.
func TestFarReductions(t *testing.T) {
	r := rand.New(rand.NewPCG(35, 36))
	for _, s := range [][2]int{{37, 9001}, {9001, 37}, {5000, 64}, {67, 4100}} {
		x := array.FromSlice(rough(r, s[0]*s[1]), s[0], s[1])
		for _, kind := range []string{"sum", "prod", "max", "min"} {
			for dim := range 2 {
				run := func(level cpu.Level) []float32 {
					kerneltest.UseLevel(t, level)
					out := array.New(array.F32, s[1-dim])
					Reduce{Kind: kind, Dims: []int{dim}}.Run(&par.Workspace{}, []*array.Array{out}, []*array.Array{x})
					return array.Raw[float32](out)
				}
				want := run(cpu.Generic)
				for _, l := range kerneltest.Levels() {
					kerneltest.RequireSame(t, want, run(l), l.String(), s[0])
				}
			}
		}
	}
}

// Every level computes rows of softmax to the same bits, past the caches too.
func TestSoftmaxRows(t *testing.T) {
	r := rand.New(rand.NewPCG(37, 38))
	for _, n := range []int{1, 2, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 80, 96, 100, 112, 128, 129, 200, 256, 1000, 1024} {
		for range 6 {
			rows := 1 + r.IntN(5)
			x := rough(r, rows*n)
			if r.IntN(2) == 0 {
				for i := range x {
					x[i] = float32(r.NormFloat64() * 20)
				}
			}
			for _, logs := range []bool{false, true} {
				want := make([]float32, len(x))
				rowcol.RowsSoftmax(cpu.Generic, want, x, n, logs, false)
				for _, level := range kerneltest.VecLevels() {
					for _, stream := range []bool{false, true} {
						for _, skip := range []int{0, 1} {
							buf := array.Raw[float32](array.New(array.F32, len(x)+skip+1))
							buf[len(x)+skip] = 7
							got := buf[skip : len(x)+skip]
							rowcol.RowsSoftmax(level, got, x, n, logs, stream)
							kerneltest.RequireSame(t, want, got, level, n, stream)
							require.Equal(t, float32(7), buf[len(x)+skip])
						}
					}
				}
			}
		}
	}
}
