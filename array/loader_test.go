package array_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

func TestLoader_listsEverything(t *testing.T) {
	cause := errors.New("cause")
	x := array.New(array.F32, 2)
	l := array.LoaderOf(func(name string) (*array.Array, error) {
		switch name {
		case "x":
			return x, nil
		case "y":
			return nil, cause
		}
		return nil, nil
	})
	var a *array.Array
	l.Tensor(&a, "x", array.F32, 2)
	require.Same(t, x, a)
	require.NoError(t, l.Err())
	l.Tensor(&a, "x", array.F32, 2, 1)
	l.Tensor(&a, "x", array.I32, 2)
	l.Tensor(&a, "y", array.F32, 2)
	l.Tensor(&a, "z", array.F32)
	require.ErrorIs(t, l.Err(), cause)
	var list diag.List
	require.ErrorAs(t, l.Err(), &list)
	var got []string
	for _, e := range list {
		got = append(got, e.Error())
	}
	require.Len(t, got, 4)
	require.Equal(t, `tensor "x" is f32[2], expected f32[2,1] [FX8022]`, got[0])
	require.Equal(t, `tensor "x" is f32[2], expected i32[2] [FX8022]`, got[1])
	require.Equal(t, `tensor "z" is missing, expected f32[] [FX8020]`, got[3])

	var sizes array.Loader
	sizes.Tensor(&a, "x", array.F32, 1<<20, 1<<20)
	require.Equal(t, []int{1 << 20, 1 << 20}, a.Shape())
	require.NoError(t, sizes.Err())
}
