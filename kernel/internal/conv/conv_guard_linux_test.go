package conv

import (
	"math"
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// No access leaves an operand, on either side: such an access would fault.
func TestConvGuardPages(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	kerneltest.EachLevel(t, func(t *testing.T) {
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
	v := conv32{g: geom.NewSpatial([]int{size, size}, []int{out, out}, []int{kernel, kernel}, at, []int{pad, pad}, nil),
		batch: 1, groups: groups, perGroup: chans / groups, outPerGroup: outChans / groups}
	v.src, v.weight = kerneltest.GuardedFloats(t, r, chans*size*size, before), kerneltest.GuardedFloats(t, r, outChans*v.perGroup*kernel*kernel, before)
	v.dst = kerneltest.GuardedFloats(t, r, outChans*out*out, before)
	bias, residual := kerneltest.GuardedFloats(t, r, outChans, before), kerneltest.GuardedFloats(t, r, len(v.dst), before)
	v.end = gemm.Finish{BiasRow: bias, Residual: residual, Ldr: out * out}.With(operand.Epilogue{Act: operand.ActReLU})
	want := v
	want.dst = make([]float32, len(v.dst))
	want.runGo(&par.Workspace{})
	if cpu.Host.Level == cpu.Generic {
		v.runGo(&par.Workspace{})
	} else {
		v.run(&par.Workspace{})
	}
	require.InDeltaSlice(t, want.dst, v.dst, 1e-4)
	if !hasConvTile(cpu.Host.Level) || v.perGroup == 1 && groups > 1 {
		return
	}
	m, k := v.outPerGroup, v.perGroup*v.g.Taps
	if spansFit(cpu.Host.Level, &v.g, v.outPerGroup, v.perGroup) {
		n := gemm.PackedRows(cpu.Host.Level, m, k)
		v.packed = kerneltest.GuardedFloats(t, r, groups*n, before)
		for g := range groups {
			gemm.PackWhole(&par.Workspace{}, cpu.Host.Level, v.packed[g*n:(g+1)*n], v.weight[g*m*k:(g+1)*m*k], k, false, m, k)
		}
		clear(v.dst)
		v.run(&par.Workspace{})
		require.InDeltaSlice(t, want.dst, v.dst, 1e-4)
	}
	n := gemm.PackedRowsLen(cpu.Host.Level, m, k)
	v.rows, v.packed = true, kerneltest.GuardedFloats(t, r, groups*n, before)
	for g := range groups {
		packRowsWeight(&par.Workspace{}, cpu.Host.Level, v.packed[g*n:(g+1)*n], v.weight[g*m*k:(g+1)*m*k], m, k)
	}
	clear(v.dst)
	v.run(&par.Workspace{})
	require.InDeltaSlice(t, want.dst, v.dst, 1e-4)
}

// A prologue leaves no operand either, and gives the bits of its twin.
func TestPreparedGuardPages(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, before := range []bool{false, true} {
			r := rand.New(rand.NewPCG(2, 1))
			for _, plane := range []int{1, 7, 8, 16, 49, 64, 65, 196} {
				j := prepareJob{level: cpu.Host.Level, plane: plane, lo: -0.5, hi: 2}
				j.src, j.dst = kerneltest.GuardedFloats(t, r, 3*plane, before), kerneltest.GuardedFloats(t, r, 3*plane, before)
				j.factor, j.term = kerneltest.GuardedFloats(t, r, 3, before), kerneltest.GuardedFloats(t, r, 3, before)
				j.src[plane-1] = float32(math.NaN())
				want := j
				want.dst = make([]float32, 3*plane)
				want.slow(0, 3)
				j.Do(0, 3)
				for i, v := range want.dst {
					require.Equal(t, math.Float32bits(v), math.Float32bits(j.dst[i]), "plane %d, element %d", plane, i)
				}
			}
		}
	})
}
