package app

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/npy"
)

// twice is a model that doubles a and passes n on.
var twice = Model{Name: "twice", Inputs: []ValueInfo{{"a", "f32[N]"}, {"n", "i64[M]"}}, Outputs: []ValueInfo{{"y", "f32[N]"}, {"n", "i64[M]"}},
	Run: func(_ context.Context, in []*array.Array) ([]*array.Array, error) {
		if in[0] == nil || in[1] == nil {
			return nil, errors.New("an input is nil")
		}
		y := array.Clone(in[0])
		for i := range array.Data[float32](y) {
			array.Data[float32](y)[i] *= 2
		}
		return []*array.Array{y, in[1]}, nil
	}}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "a.npy"), filepath.Join(dir, "y.npy")
	require.NoError(t, npy.WriteFile(in, array.FromSlice([]float32{1, 2.5}, 2)))
	var text bytes.Buffer
	require.NoError(t, Run(t.Context(), twice, []string{"-in", "a=" + in, "-in", "n=ramp:9", "-out", "y=" + out}, &text))
	require.Contains(t, text.String(), "y tensor([2., 5.])\nn tensor([0, 1, 2, 3, 4, 5, 6, 0, 1])\n")
	y, err := npy.ReadFile(out)
	require.NoError(t, err)
	require.Equal(t, []float32{2, 5}, array.Data[float32](y))
}

func TestRunRefuses(t *testing.T) {
	for _, c := range []struct {
		want string
		args []string
	}{
		{"an input is nil", nil},
		{`unexpected argument "more"`, []string{"more"}},
		{`no "b", expected one of a f32[N], n i64[M]`, []string{"-in", "b=x.npy"}},
		{"expected NAME=FILE.npy", []string{"-in", "a"}},
		{`no "a", expected one of y f32[N], n i64[M]`, []string{"-out", "a=x.npy"}},
		{"-in a: ", []string{"-in", "a=absent.npy"}},
		{`"3,-1" is no list of sizes`, []string{"-in", "a=ramp:3,-1"}},
		{`"1000000,1000000" is no list of sizes`, []string{"-in", "a=ramp:1000000,1000000"}},
		{`"9223372036854775807,9223372036854775807" is no list`, []string{"-in", "a=ramp:9223372036854775807,9223372036854775807"}},
		{`"" is no list of sizes`, []string{"-in", "a=ramp:"}},
	} {
		require.ErrorContains(t, Run(t.Context(), twice, c.args, io.Discard), c.want)
	}
}
