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
					guardConv(t, r, s[0], s[1], s[2], s[3], s[4], s[5], pad, before, false)
					if cpu.HasPairs() {
						guardConv(t, r, s[0], s[1], s[2], s[3], s[4], s[5], pad, before, true)
					}
				}
			}
		}
	})
}

// guardConv has so many channels, of words of two bf16 with pairs.
func guardConv(t *testing.T, r *rand.Rand, chans, outChans, size, kernel, stride, groups, pad int, before, pairs bool) {
	out := (size+2*pad-kernel)/stride + 1
	at := []int{stride, stride}
	v := conv32{g: geom.NewSpatial([]int{size, size}, []int{out, out}, []int{kernel, kernel}, at, []int{pad, pad}, nil),
		batch: 1, groups: groups, perGroup: chans / groups, outPerGroup: outChans / groups, pairs: pairs}
	v.src, v.weight = kerneltest.GuardedFloats(t, r, chans*size*size, before), kerneltest.GuardedFloats(t, r, outChans*v.perGroup*kernel*kernel, before)
	if pairs {
		v.channels = 2 * v.perGroup
		kerneltest.Words(r, v.src)
		kerneltest.Words(r, v.weight)
	}
	v.dst = kerneltest.GuardedFloats(t, r, outChans*out*out, before)
	bias, residual := kerneltest.GuardedFloats(t, r, outChans, before), kerneltest.GuardedFloats(t, r, len(v.dst), before)
	v.end = gemm.Finish{BiasRow: bias, Residual: residual, Ldr: out * out}.With(operand.Epilogue{Act: operand.ActReLU})
	want := v
	want.dst = make([]float32, len(v.dst))
	want.runGo(&par.Workspace{})
	switch {
	case pairs: // the weights of which are always packed
		v.packedProducts(t, r, before)
	case cpu.Host.Level == cpu.Generic:
		v.runGo(&par.Workspace{})
	default:
		v.run(&par.Workspace{})
	}
	require.InDeltaSlice(t, want.dst, v.dst, 1e-4)
	if !hasConvTile(cpu.Host.Level) || v.depthwise32(cpu.Host.Level) {
		return
	}
	if spansFit(v.level(), &v.g, v.outPerGroup, v.perGroup) {
		v.pack(t, r, before, gemm.PackedRows, func(dst, src []float32, m, k int) {
			gemm.PackWhole(&par.Workspace{}, v.level(), dst, src, k, false, m, k)
		})
		clear(v.dst)
		v.run(&par.Workspace{})
		require.InDeltaSlice(t, want.dst, v.dst, 1e-4)
	}
	v.rows = true
	v.pack(t, r, before, gemm.PackedRowsLen, func(dst, src []float32, m, k int) { packRowsWeight(&par.Workspace{}, v.level(), dst, src, m, k) })
	clear(v.dst)
	v.run(&par.Workspace{})
	require.InDeltaSlice(t, want.dst, v.dst, 1e-4)
}

// pack packs the weight of each group in a layout.
func (v *conv32) pack(t *testing.T, r *rand.Rand, before bool, size func(l cpu.Level, m, k int) int, pack func(dst, src []float32, m, k int)) {
	m, k := v.outPerGroup, v.perGroup*v.g.Taps
	n := size(v.level(), m, k)
	v.packed = kerneltest.GuardedFloats(t, r, v.groups*n, before)
	for g := range v.groups {
		pack(v.packed[g*n:(g+1)*n], v.weight[g*m*k:(g+1)*m*k], m, k)
	}
}

// packedProducts computes the convolution by products with a packed weight, whatever would be faster.
func (v *conv32) packedProducts(t *testing.T, r *rand.Rand, before bool) {
	v.pack(t, r, before, gemm.PackedRows, func(dst, src []float32, m, k int) {
		gemm.PackWhole(&par.Workspace{}, v.level(), dst, src, k, false, m, k)
	})
	v.products(&par.Workspace{}, v.level())
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
