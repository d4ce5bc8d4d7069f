package kerneltest

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// GuardedFloats returns n random floats with a page that faults right after them, or
// right before them.
func GuardedFloats(t *testing.T, r *rand.Rand, n int, before bool) []float32 {
	page := syscall.Getpagesize()
	size := (4*n + page - 1) / page * page
	mem, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Munmap(mem) })
	require.NoError(t, syscall.Mprotect(mem[:page], syscall.PROT_NONE))
	require.NoError(t, syscall.Mprotect(mem[page+size:], syscall.PROT_NONE))
	at := page + size - 4*n
	if before {
		at = page
	}
	s := unsafe.Slice((*float32)(unsafe.Pointer(&mem[at])), n)
	for i := range s {
		s[i] = float32(r.NormFloat64())
	}
	return s
}
