package packs_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/internal/packs"
)

func weight() *array.Array { return array.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3) }

func of(a *array.Array) *packs.Packed { return packs.Of(&kernel.Workspace{}, kernel.PackLinear{}, a) }

// Two users of a tensor have one array, until it is written.
func TestOf(t *testing.T) {
	w := weight()
	one, two := of(w), of(w)
	require.Same(t, one, two)
	require.Same(t, one.Value(), two.Value())
	require.Equal(t, 1, packs.Forms(w))
	array.Data[float32](w)[0] = 9 // without a word
	three := of(w)
	require.NotSame(t, one, three)
	require.Equal(t, 1, packs.Forms(w), "what was is not found")
	require.NotSame(t, one, of(weight()), "another tensor with the same elements")

	one.Release()
	two.Release()
	require.Equal(t, 1, packs.Forms(w))
	three.Retain()
	three.Release()
	require.Equal(t, 1, packs.Forms(w))
	three.Release()
	require.Zero(t, packs.Forms(w))
}

// Views of a tensor and other packers are other forms of it.
func TestOf_forms(t *testing.T) {
	w := weight()
	list := []*packs.Packed{of(w), of(array.Permute(w, 1, 0)), packs.Of(&kernel.Workspace{}, kernel.PackLinear{Transposed: true}, w)}
	require.Equal(t, 3, packs.Forms(w))
	runtime.KeepAlive(list)
}

// What is dropped without Release is found no more.
func TestOf_keepsNothing(t *testing.T) {
	w := weight()
	of(w)
	for range 3 {
		runtime.GC()
	}
	require.Zero(t, packs.Forms(w))
}

func ExamplePacked() {
	w := array.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	p := packs.Of(&kernel.Workspace{}, kernel.PackLinear{}, w)
	defer p.Release()
	again := packs.Of(&kernel.Workspace{}, kernel.PackLinear{}, w)
	defer again.Release()
	fmt.Println(p.Value() == again.Value(), packs.Forms(w))
	// Output: true 1
}
