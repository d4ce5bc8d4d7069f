package kernel

import (
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

// No access leaves an operand, on either side: such an access would fault.
func TestConvGuardPages(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	eachLevel(t, func(t *testing.T) {
		for _, before := range []bool{false, true} {
			r := rand.New(rand.NewPCG(1, 1))
			for _, s := range [][6]int{{3, 8, 9, 3, 1, 1}, {3, 15, 9, 3, 2, 1}, {4, 4, 21, 5, 1, 4}, {4, 8, 18, 3, 2, 4}, {5, 33, 7, 1, 1, 1}, {5, 33, 7, 1, 2, 1}, {2, 2, 5, 2, 1, 1}, {3, 15, 70, 3, 1, 1}, {5, 15, 67, 1, 1, 1}, {2, 15, 131, 3, 2, 1}} {
				for _, pad := range []int{0, s[3] / 2} {
					guardConv(t, r, s[0], s[1], s[2], s[3], s[4], s[5], pad, before)
				}
			}
		}
	})
}

func guardConv(t *testing.T, r *rand.Rand, chans, outChans, size, kernel, stride, groups, pad int, before bool) {
	out := (size+2*pad-kernel)/stride + 1
	at := []int{stride, stride}
	v := conv32{g: newSpatial([]int{size, size}, []int{out, out}, []int{kernel, kernel}, at, []int{pad, pad}, nil),
		batch: 1, groups: groups, perGroup: chans / groups, outPerGroup: outChans / groups}
	v.src, v.weight = guardedFloats(t, r, chans*size*size, before), guardedFloats(t, r, outChans*v.perGroup*kernel*kernel, before)
	v.dst = guardedFloats(t, r, outChans*out*out, before)
	bias, residual := guardedFloats(t, r, outChans, before), guardedFloats(t, r, len(v.dst), before)
	v.end = epilogue{biasRow: bias, residual: residual, ldr: out * out}.with(Epilogue{Act: ActReLU})
	want := v
	want.dst = make([]float32, len(v.dst))
	want.runGo(&Workspace{})
	if cpu.level == levelGeneric {
		v.runGo(&Workspace{})
	} else {
		v.run(&Workspace{})
	}
	require.InDeltaSlice(t, want.dst, v.dst, 1e-4)
	if !hasConvTile(cpu.level) || v.perGroup == 1 && groups > 1 {
		return
	}
	m, k := v.outPerGroup, v.perGroup*v.g.taps
	if spansFit(cpu.level, &v.g, v.perGroup) {
		n := packedRows(cpu.level, m, k)
		v.packed = guardedFloats(t, r, groups*n, before)
		for g := range groups {
			packWhole(&Workspace{}, cpu.level, v.packed[g*n:(g+1)*n], v.weight[g*m*k:(g+1)*m*k], k, false, m, k)
		}
		clear(v.dst)
		v.run(&Workspace{})
		require.InDeltaSlice(t, want.dst, v.dst, 1e-4)
	}
	n := packedRowsLen(cpu.level, m, k)
	v.rows, v.packed = true, guardedFloats(t, r, groups*n, before)
	for g := range groups {
		packRowsWeight(&Workspace{}, cpu.level, v.packed[g*n:(g+1)*n], v.weight[g*m*k:(g+1)*m*k], m, k)
	}
	clear(v.dst)
	v.run(&Workspace{})
	require.InDeltaSlice(t, want.dst, v.dst, 1e-4)
}
