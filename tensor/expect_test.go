package tensor_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/tensor"
)

func TestExpect(t *testing.T) {
	x, y := mat(2, 3, 1, 2, 3, 4, 5, 6), vec(1, 2)
	for _, types := range []string{"f32[2,3]; f32[2]", "f32[N,3]; f32[N]", "f32[N,M]; f32[M-1]", "f32[?,3]; f32[*]", "f32[N,N+1]; f32[?]"} {
		require.NotPanics(t, func() { tensor.Expect(types, x, y) }, types)
	}
	require.NotPanics(t, func() { tensor.Expect("f32[9]; f32[2]", nil, y) }, "absent")
	for types, msg := range map[string]string{
		"f32[7,3]; f32[2]":   "input 0 is f32[2,3], the program was captured for f32[7,3]",
		"f64[2,3]; f32[2]":   "input 0 is f32[2,3], the program was captured for f64[2,3]",
		"f32[2]; f32[2]":     "input 0 is f32[2,3], the program was captured for f32[2]",
		"f32[N,3]; f32[N+1]": "input 1 is f32[2], the program was captured for f32[N+1]",
		"f32[N,M]; f32[M]":   "input 1 is f32[2], the program was captured for f32[M]",
	} {
		e := failure(t, func() { tensor.Expect(types, x, y) })
		require.Equal(t, kernel.CodeArgument, e.Code, types)
		require.Equal(t, msg, e.Msg)
	}
	require.Equal(t, kernel.CodeArgument, failure(t, func() { tensor.Expect("f32[2,3]; f32[2]; f32[1]", x, y) }).Code)
}
