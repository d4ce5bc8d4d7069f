package rnn

import (
	"math"
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
)

// Cells compute the same results as their twins, also for NaN, and touch
// nothing outside their operands.
func TestCells(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	special := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 1e-30, -1e-30, 1e-40, 0.3, -0.3, 60, -60, 88, -88, 500, -500}
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, before := range []bool{false, true} {
			r := rand.New(rand.NewPCG(7, 8))
			for _, n := range []int{1, 3, 8, 15, 16, 17, 40, 256} {
				draw := func(n int, scale float32) []float32 {
					s := kerneltest.GuardedFloats(t, r, n, before)
					for i := range s {
						s[i] *= scale
						if r.IntN(8) == 0 {
							s[i] = float32(special[r.IntN(len(special))])
						}
					}
					return s
				}
				x, s, h, c, y := draw(4*n, 3), draw(3*n, 3), draw(n, 1), draw(n, 1), draw(n, 1)
				for i, v := range c {
					c[i] = max(-1e30, min(1e30, v))
				}
				wantX, wantH, wantC := wide64(x), wide64(h), wide64(c)
				lstmCell(cpu.Generic, wantX, n, wantH, wantC)
				lstmCell32(cpu.Host.Level, x, n, h, c, y)
				requireNear(t, wantH, h)
				requireNear(t, wantC, c)
				requireNear(t, wantH, y)
				x, h = draw(3*n, 3), draw(n, 1)
				for i, v := range s { // a gate of 0 in f32 times infinity is NaN, one of 1e-100 in f64 is not
					s[i] = max(-1e30, min(1e30, v))
				}
				wantX, wantH = wide64(x), wide64(h)
				gruCell(cpu.Generic, wantX, wide64(s), n, wantH)
				gruCell32(cpu.Host.Level, x, s, n, h, y)
				requireNear(t, wantH, h)
				requireNear(t, wantH, y)
			}
		}
	})
}

// A cell that keeps its gates computes what its twin does, and leaves the state before it.
func TestCellsKept(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	special := []float32{0, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 1e-30, 88, -88, 500}
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, at := range []bool{false, true} {
			r := rand.New(rand.NewPCG(7, 8))
			for _, n := range []int{1, 3, 8, 15, 16, 17, 40, 256} {
				x, c, next, y := kerneltest.GuardedFloats(t, r, 4*n, at), kerneltest.GuardedFloats(t, r, n, at), kerneltest.GuardedFloats(t, r, n, at), kerneltest.GuardedFloats(t, r, n, at)
				for i := range x {
					if r.IntN(8) == 0 {
						x[i] = special[r.IntN(len(special))]
					}
				}
				wantX, wantH, wantC, before := wide64(x), make([]float64, n), wide64(c), wide64(c)
				lstmCell(cpu.Generic, wantX, n, wantH, wantC)
				lstmCellKept32(cpu.Host.Level, x, c, next, y)
				require.Equal(t, before, wide64(c))
				requireNear(t, wantC, next)
				requireNear(t, wantH, y)
				requireNear(t, wantX, x)
			}
		}
	})
}

// The way back computes what its twin does, from gates as they are, and touches nothing
// outside its operands.
func TestCellsBack(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	special := []float32{0, 1, float32(math.NaN()), 1e-30, 0.5}
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, at := range []bool{false, true} {
			r := rand.New(rand.NewPCG(7, 8))
			for _, n := range []int{1, 3, 8, 15, 16, 17, 40, 256} {
				draw := func(n int) []float32 {
					s := kerneltest.GuardedFloats(t, r, n, at)
					for i := range s {
						if r.IntN(8) == 0 {
							s[i] = special[r.IntN(len(special))]
						}
					}
					return s
				}
				x, before, cells, h, c, sums := draw(4*n), draw(n), draw(n), draw(n), draw(n), draw(4*n)
				wantC, wantSums := wide64(c), wide64(sums)
				lstmCellBack(cpu.Generic, wide64(x), wide64(before), wide64(cells), wide64(h), wantC, wantSums, nil)
				lstmCellBack32(cpu.Host.Level, x, before, cells, h, c, sums)
				requireNear(t, wantC, c)
				requireNear(t, wantSums, sums)
			}
		}
	})
}

// Small outputs keep their relative precision.
func TestCellsSmall(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, v := range []float32{1e-3, 1e-6, -1e-9, 1e-20, -1e-37} {
			h, c, y := []float32{0}, []float32{0}, []float32{0}
			lstmCell32(cpu.Host.Level, []float32{100, 0, v, 100}, 1, h, c, y)
			require.InEpsilon(t, math.Tanh(float64(v)), c[0], 1e-6)
			require.InEpsilon(t, math.Tanh(math.Tanh(float64(v))), h[0], 1e-6)
		}
	})
}

// A closed gate lets nothing through of a huge state, and NaN of an infinite one,
// as zero times infinity is NaN.
func TestCellsClosed(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		inf := float32(math.Inf(1))
		for _, gate := range []float32{-90, -104, -1e30, -inf} {
			for _, open := range []float32{100, inf} {
				h, c, y := []float32{0, 0}, []float32{1e37, inf}, []float32{0, 0}
				lstmCell32(cpu.Host.Level, []float32{open, open, gate, gate, 0.5, 0.5, open, open}, 2, h, c, y)
				require.InDelta(t, math.Tanh(0.5), c[0], 1e-6, "gate %v", gate)
				require.True(t, c[1] != c[1] && h[1] != h[1] && y[1] != y[1], "gate %v: %v", gate, c[1])
				h = []float32{1e37, -inf}
				gruCell32(cpu.Host.Level, []float32{0, 0, gate, gate, 0.5, 0.5}, make([]float32, 6), 2, h, y)
				require.InDelta(t, math.Tanh(0.5), h[0], 1e-6, "gate %v", gate)
				require.True(t, h[1] != h[1] && y[1] != y[1], "gate %v: %v", gate, h[1])
				h = []float32{0.25, 0.25}
				gruCell32(cpu.Host.Level, []float32{gate, gate, 0, 0, 0.5, 0.5}, []float32{0, 0, 0, 0, 1e37, inf}, 2, h, y)
				require.InDelta(t, (math.Tanh(0.5)+0.25)/2, h[0], 1e-6, "gate %v", gate)
				require.True(t, h[1] != h[1], "gate %v: %v", gate, h[1])
			}
		}
	})
}

func wide64(x []float32) []float64 {
	w := make([]float64, len(x))
	for i, v := range x {
		w[i] = float64(v)
	}
	return w
}

func requireNear(t *testing.T, want []float64, got []float32) {
	t.Helper()
	for i, v := range want {
		g := float64(got[i])
		if math.IsNaN(v) && math.IsNaN(g) || v == g {
			continue
		}
		require.LessOrEqual(t, math.Abs(v-g), 1e-6*max(1, math.Abs(v)), "element %d: got %v, want %v", i, g, v)
	}
}

func TestStateDots(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, before := range []bool{false, true} {
			r := rand.New(rand.NewPCG(7, 8))
			for _, k := range []int{1, 7, 8, 16, 33, 256} {
				for _, groups := range []int{1, 2, 5} {
					for _, back := range []bool{false, true} {
						n, ld := groups*DotsGroup, k+r.IntN(3)
						h, w, c := kerneltest.GuardedFloats(t, r, k, before), kerneltest.GuardedFloats(t, r, (n-1)*ld+k, before), kerneltest.GuardedFloats(t, r, n, before)
						want := wide64(c)
						for i := range want {
							for p, v := range h {
								want[i] += float64(v) * float64(w[i*ld+p])
							}
						}
						StateDots32(cpu.Host.Level, groups, h, w, ld, c, back)
						for i, v := range want {
							require.InDelta(t, v, c[i], 1e-4)
						}
					}
				}
			}
		}
	})
}
