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
	for claims, msg := range map[string]string{
		"f32[7,3]; f32[2]":                          `input "0" is f32[2,3], expected f32[7,3]`,
		"a: f64[2,3]; f32[2]":                       `input "a" is f32[2,3], expected f64[2,3]`,
		"f32[2]; f32[2]":                            `input "0" is f32[2,3], expected f32[2]`,
		"f32[N,3]; f32[N+1]":                        `input "1" is f32[2], dimension 0 is expected to be N+1, which is 3 here`,
		"f32[N,M]; b: f32[M]":                       `input "b" is f32[2], dimension 0 is expected to be M, which is 3 here`,
		"a: f32[N,M]; b: f32[M]; M = dim(b, 0)":     `input "a" is f32[2,3], dimension 1 is expected to be M, which is 2 here`,
		"a: f32[N,M]; b: f32[K]; M % 2 == 0":        `input "a" is f32[2,3]: the graph needs M (axis 1, here 3) divisible by 2`,
		`"a;b": f32[N,M]; b: f32[K]; N > = 4`:       "",
		`"a;b": f32[N,M]; b: f32[K]; N >= 4 from f`: `input "a;b" is f32[2,3]: f needs N (axis 0, here 2) at least 4`,
	} {
		e := failure(t, func() { tensor.Expect(claims, x, y) })
		require.Equal(t, kernel.CodeArgument, e.Code, claims)
		if msg != "" {
			require.Equal(t, msg, e.Msg)
		}
	}
	require.Equal(t, kernel.CodeArgument, failure(t, func() { tensor.Expect("f32[2,3]; f32[2]; f32[1]", x, y) }).Code)
}
