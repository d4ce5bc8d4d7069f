package program

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/opcode"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/vmath"
)

// guarded returns n floats between pages that must not be touched, at their end
// or at their start.
func guarded(t *testing.T, n int, atEnd bool) []float32 {
	page := syscall.Getpagesize()
	inner := (4*n + page - 1) / page * page
	mem, err := syscall.Mmap(-1, 0, inner+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, syscall.Munmap(mem)) })
	require.NoError(t, syscall.Mprotect(mem[:page], syscall.PROT_NONE))
	require.NoError(t, syscall.Mprotect(mem[page+inner:], syscall.PROT_NONE))
	f := viewAs[float32](mem[page : page+inner])
	if atEnd {
		f = f[len(f)-n:]
	}
	return f[:n:n]
}

// TestStripsStayInside runs a program and a function on operands between guard pages, the longest
// of which are asked for ahead of their use.
func TestStripsStayInside(t *testing.T) {
	defer cpu.UseCaches(cpu.UseCaches(kerneltest.Caches[0]))
	p := chain(32)
	for _, level := range kerneltest.VecLevels() {
		for _, n := range []int{1, 7, 8, 63, 64, 65, 127, 128, 129, 1000, 1024, 1500, 5000} {
			for _, atEnd := range []bool{false, true} {
				var in []*array.Array
				for i := range 9 {
					s := guarded(t, n, atEnd)
					operand.FillBlock(s, float32(i+1))
					in = append(in, array.FromSlice(s, n))
				}
				out := []*array.Array{array.FromSlice(guarded(t, n, atEnd), n)}
				want := []*array.Array{array.New(array.F32, n)}
				w := &par.Workspace{}
				require.True(t, p.runStrips(level, w, wholeOut(out), in, 0, n))
				p.run(cpu.Generic, w, wholeOut(want), in, 0, n)
				kerneltest.RequireEqualArrays(t, want[0], out[0], level, n)
				vmath.ApplyFunction(level, opcode.OpTanh, array.Raw[float32](out[0]), array.Raw[float32](in[3]))
			}
		}
	}
}
