package attention

import (
	"math"
	"math/rand/v2"
	"runtime/debug"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// The parts of attention compute the same results as their twins and touch
// nothing outside their operands.
func TestAttentionParts(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	kerneltest.EachLevel(t, func(t *testing.T) {
		l, lanes := cpu.Host.Level, attentionLanes(cpu.Host.Level)
		for _, before := range []bool{false, true} {
			r := rand.New(rand.NewPCG(7, 8))
			draw := func(n int) []float32 { return kerneltest.GuardedFloats(t, r, n, before) }
			for rows := 1; rows < 34; rows++ {
				for _, k := range []int{1, 3, 4, 6, 9, 64} {
					pad := r.IntN(3)
					a, b, c := draw((rows-1)*(k+pad)+k), draw(k*lanes), draw(rows*lanes)
					want := make([]float32, len(c))
					lanesProductGo(lanes, rows, k, a, k+pad, 1, b, want)
					scoreRows(l, lanes, rows, k, a, k+pad, b, c)
					require.InDeltaSlice(t, want, c, 1e-4)
					a = draw((k-1)*(rows+pad) + rows)
					for _, scale := range [][]float32{nil, draw(lanes)} {
						clear(want)
						if scale != nil {
							copy(want, c)
							scaleRowsGo(rows, want, scale)
						}
						lanesProductGo(lanes, rows, k, a, 1, rows+pad, b, want)
						mixRows(l, lanes, rows, k, a, rows+pad, b, c, scale)
						require.InDeltaSlice(t, want, c, 1e-4)
					}
				}
				checkSoftmaxRows(t, l, lanes, rows, draw(rows*lanes), draw(3*lanes))
				checkMaskRows(t, l, lanes, rows, draw)
			}
		}
	})
}

func checkSoftmaxRows(t *testing.T, l cpu.Level, lanes, rows int, c, state []float32) {
	inf := float32(math.Inf(1))
	for i := range c {
		c[i] *= 20
		switch {
		case i%17 == 3:
			c[i] = -inf
		case i%23 == 1:
			c[i] = -math.MaxFloat32
		}
		if i%lanes == 2 {
			c[i] = -inf
		}
	}
	for i := range state[:lanes] {
		if i%3 == 2 {
			state[i] = -inf
		}
		state[lanes+i] = float32(math.Abs(float64(state[lanes+i])))
	}
	wantC, want := append([]float32{}, c...), append([]float32{}, state...)
	attentionSoftmaxGo(lanes, rows, wantC, want)
	softmaxRows(l, lanes, rows, c, state)
	require.InDeltaSlice(t, wantC, c, 1e-6)
	for i, v := range want {
		if math.IsInf(float64(v), 0) {
			require.Equal(t, v, state[i])
			continue
		}
		require.InDelta(t, v, state[i], 1e-5*max(1, math.Abs(float64(v))))
	}
}

func checkMaskRows(t *testing.T, l cpu.Level, lanes, rows int, draw func(n int) []float32) {
	c, table := draw(rows*lanes), draw(lanes+rows)
	want := append([]float32{}, c...)
	for row := range rows {
		for i := range lanes {
			want[row*lanes+i] = min(want[row*lanes+i], table[rows-1-row+i])
		}
	}
	keepRows(l, lanes, rows, c, table, rows-1, -1)
	require.Equal(t, want, c)
	add := draw(rows * lanes)
	for i, v := range add {
		want[i] += v
	}
	addRowsOf(l, lanes, rows, c, add)
	require.Equal(t, want, c)
	scale := draw(lanes)
	scaleRowsGo(rows, want, scale)
	scaleRows(l, rows, c, scale)
	require.Equal(t, want, c)
}

// The whole of it keeps within operands, whose last rows end at a guard.
func TestAttentionGuard(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, before := range []bool{false, true} {
			r := rand.New(rand.NewPCG(7, 8))
			for _, s := range [][4]int{{1, 1, 1, 1}, {33, 65, 7, 16}, {40, 130, 16, 17}, {16, 64, 64, 64}} {
				for _, causal := range []bool{false, true} {
					c := &attentionCase{Attention: Attention{IsCausal: causal},
						out: guardedArray(t, r, before, s[0], s[3]), q: guardedArray(t, r, before, s[0], s[2]),
						k: guardedArray(t, r, before, s[1], s[2]), v: guardedArray(t, r, before, s[1], s[3])}
					if !causal {
						c.mask = guardedArray(t, r, before, s[0], s[1])
					}
					c.Run(&par.Workspace{}, []*array.Array{c.out}, c.in())
					kerneltest.RequireClose(t, c.want(), c.out)
				}
			}
		}
	})
}

func guardedArray(t *testing.T, r *rand.Rand, before bool, rows, cols int) *array.Array {
	data := kerneltest.GuardedFloats(t, r, rows*cols, before)
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&data[0])), 4*len(data))
	return array.Make(array.F32, []int{rows, cols}, []int{cols, 1}, 0, array.WrapBytes(bytes))
}
