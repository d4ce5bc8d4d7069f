package conv

import (
	"math/rand/v2"
	"runtime/debug"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// A packed weight times few positions agrees with the convolution in Go, reads
// and writes nothing outside its operands and does not depend on threads.
func TestGemv(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	kerneltest.EachLevel(t, func(t *testing.T) {
		if cpu.Host.Level == cpu.Generic {
			t.Skip("level generic is the reference itself")
		}
		r := rand.New(rand.NewPCG(1, 1))
		sizes := []int{1, 5, 14, 15, 29, 43, 57, 70, 113}
		for i, m := range sizes {
			for n, k := range []int{1, 2, 3, 7, 8, 9, 255, 300, 1000} {
				floats := func(n int) []float32 { return kerneltest.GuardedFloats(t, r, n, i%2 == 0) }
				cols := 1 + (n+i)%5
				v := conv32{g: geom.NewSpatial([]int{1, cols}, []int{1, cols}, []int{1, 1}, nil, nil, nil),
					batch: 1 + i%2, groups: 1 + n%2, perGroup: k, outPerGroup: m}
				chans := v.groups * m
				v.weight = floats(chans * k)
				size := gemm.PackedRows(cpu.Host.Level, m, k)
				v.packed = floats(v.groups * size)
				for g := range v.groups {
					gemm.PackWhole(&par.Workspace{}, cpu.Host.Level, v.packed[g*size:(g+1)*size], v.weight[g*m*k:(g+1)*m*k], k, false, m, k)
				}
				v.src, v.dst = floats(v.batch*v.groups*k*cols), floats(v.batch*chans*cols)
				v.end = gemm.Finish{BiasRow: floats(chans), Ldr: cols}
				if n%3 > 0 {
					v.end.ScaleRow = floats(chans)
				}
				if n%4 > 1 {
					v.end.Residual = floats(len(v.dst))
				}
				v.end = v.end.With(operand.Epilogue{Act: operand.Activation((i + n) % 4), Lo: -3, Hi: 5})
				want := v
				want.dst, want.packed = make([]float32, len(v.dst)), nil
				want.runGo(&par.Workspace{})
				v.run(&par.Workspace{})
				require.InDeltaSlice(t, want.dst, v.dst, 1e-3, "%d %d %d", m, k, cols)
				again := v
				again.dst = make([]float32, len(v.dst))
				again.run(&par.Workspace{Threads: 3})
				require.Equal(t, v.dst, again.dst)
				if !hasConvTile(cpu.Host.Level) || cols > gemm.GemvCols {
					continue
				}
				size = gemm.PackedRowsLen(cpu.Host.Level, m, k)
				again.rows, again.packed, again.dst = true, floats(v.groups*size), floats(len(v.dst))
				for g := range v.groups {
					packRowsWeight(&par.Workspace{}, cpu.Host.Level, again.packed[g*size:(g+1)*size], v.weight[g*m*k:(g+1)*m*k], m, k)
				}
				require.True(t, again.dense())
				one := &par.Workspace{}
				again.run(one)
				require.Equal(t, again.scratch(cpu.Host.Level, true), one.HighWater())
				require.InDeltaSlice(t, want.dst, again.dst, 1e-3, "dense %d %d %d", m, k, cols)
				dst := again.dst
				again.dst = make([]float32, len(v.dst))
				again.run(&par.Workspace{Threads: 3})
				require.Equal(t, dst, again.dst)
			}
		}
	})
}

func TestGemvDoesNotAllocate(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		s := ConvPacked{Channels: 40, Kernel: []int{1, 1}, In: []int{1, 1}}
		p := array.New(array.F32, PackedConvLen(s.Conv, s.In, []int{40, 300, 1, 1}))
		x := array.New(array.F32, 1, 300, 1, 1)
		kerneltest.RequireNoAllocs(t, s, []*array.Array{array.New(array.F32, 1, 40, 1, 1)}, []*array.Array{x, p, nil, nil, nil})
	})
}

// BenchmarkGemv has weights in a near cache, and as many weights of a size as take 8 and 96 MiB, one
// after the other: from a last cache and from memory.
func BenchmarkGemv(b *testing.B) {
	for _, s := range [][2]int{{168, 672}, {672, 168}, {1920, 80}, {80, 1920}, {240, 960}, {6, 144}} {
		for _, dense := range []bool{false, true} {
			for _, mib := range []int{0, 8, 96} {
				name := strconv.Itoa(s[0]) + "x" + strconv.Itoa(s[1]) + map[bool]string{true: "/dense"}[dense] + "/" + strconv.Itoa(mib) + "MiB"
				b.Run(name, func(b *testing.B) { benchGemv(b, s[0], s[1], mib<<20/(4*s[0]*s[1]), dense) })
			}
		}
	}
}

func benchGemv(b *testing.B, m, k, weights int, dense bool) {
	v := conv32{g: geom.NewSpatial([]int{1, 1}, []int{1, 1}, []int{1, 1}, nil, nil, nil), batch: 1, groups: 1, perGroup: k, outPerGroup: m, rows: dense}
	size := max(gemm.PackedRows(cpu.Host.Level, m, k), gemm.PackedRowsLen(cpu.Host.Level, m, k))
	if dense {
		size = gemm.PackedRowsLen(cpu.Host.Level, m, k)
	}
	all := make([]float32, max(weights, 1)*size)
	for i := range all {
		all[i] = float32(i % 7)
	}
	v.src, v.dst = make([]float32, k), make([]float32, m)
	v.end = gemm.Finish{BiasRow: make([]float32, m), Ldr: 1}.With(operand.Epilogue{Act: operand.ActReLU})
	w := &par.Workspace{}
	b.SetBytes(int64(4 * m * k))
	at := 0
	for b.Loop() {
		v.packed = all[at : at+size]
		if at += size; at == len(all) {
			at = 0
		}
		v.run(w)
	}
}
