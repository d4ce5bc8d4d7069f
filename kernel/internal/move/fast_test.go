package move

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// randomBytes returns an array of random bits.
func randomBytes(r *rand.Rand, d array.DType, shape ...int) *array.Array {
	a := array.New(d, shape...)
	buf := a.Storage().Bytes()
	for i := range buf {
		buf[i] = byte(r.Uint32())
	}
	return a
}

// sameAsGo copies view at every level and compares with the copy of Go alone.
func sameAsGo(t *testing.T, view *array.Array, what ...any) {
	t.Helper()
	run := func() []byte {
		out := array.New(view.DType(), view.Shape()...)
		Copy{}.Run(&par.Workspace{}, []*array.Array{out}, []*array.Array{view})
		return out.Storage().Bytes()[:out.Len()*out.DType().Size()]
	}
	top := cpu.Host
	defer func() { cpu.Host = top }()
	cpu.Host.Level = cpu.Generic
	want := run()
	for _, l := range kerneltest.Levels()[1:] {
		cpu.Host.Level = l
		require.Equal(t, want, run(), append(what, l.String())...)
	}
}

// Transposes, rows, repeats and slices of every element size copy as Go's loops do.
func TestMoveAssembly(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	sizes := []int{1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 33, 49, 64, 65, 100}
	for _, d := range []array.DType{array.U8, array.F16, array.F32, array.F64} {
		for range 150 {
			m, n, k := sizes[r.IntN(len(sizes))], sizes[r.IntN(len(sizes))], 1+r.IntN(3)
			a := randomBytes(r, d, k, m, n)
			sameAsGo(t, array.Permute(a, 0, 2, 1), d, m, n)
			sameAsGo(t, array.Permute(a, 2, 0, 1), d, m, n)
			sameAsGo(t, array.Permute(a, 1, 0, 2), d, m, n)
			sameAsGo(t, array.Expand(randomBytes(r, d, m, 1, n), m, k, n), d, m, n)
			sameAsGo(t, array.Expand(randomBytes(r, d, k, m, 1), k, m, n), d, m, n)
			sameAsGo(t, array.Slice(a, 2, 0, n, 2), d, m, n)
		}
		big := randomBytes(r, d, 2, 300, 1031)
		sameAsGo(t, array.Permute(big, 2, 0, 1), d)
		sameAsGo(t, array.Expand(randomBytes(r, d, 40, 1), 40, 5000), d)
	}
}

// Results beyond the size from which they go past the caches are the same.
func TestMoveStreams(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	a := randomBytes(r, array.F32, 1040, 2064)
	sameAsGo(t, array.Permute(a, 1, 0))
	sameAsGo(t, array.Slice(a, 1, 3, 2050, 1))
	sameAsGo(t, array.Expand(array.Slice(a, 0, 1, 2, 1), 1100, 2064))
	sameAsGo(t, array.Expand(array.Slice(a, 1, 5, 6, 1), 1040, 2100))
	sameAsGo(t, array.Permute(randomBytes(r, array.F64, 1016, 1040), 1, 0))
	sameAsGo(t, array.Permute(randomBytes(r, array.F32, 1024, 1024), 1, 0))
}

// A layout that leaves its memory is refused before anything is touched.
func TestMoveWithin(t *testing.T) {
	var m Nest
	m.Push(4, 1, -3)
	dst, src := make([]uint32, 4), make([]uint32, 10)
	moveElems(dst, 0, src, 9, &m)
	require.Panics(t, func() { moveElems(dst, 0, src, 8, &m) })
	require.Panics(t, func() { moveElems(dst, 1, src, 9, &m) })
}
