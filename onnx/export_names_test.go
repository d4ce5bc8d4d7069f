package onnx_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/ort"
	"github.com/gofx-dev/gofx/onnx"
)

const threeInputs = `graph g(%a_0: f32[N,2], %b: f32[N,2], %const: f32[1,2]) {
  symbol N = dim(%a_0, 0)
  %x = call_function[add](%a_0, %b) : f32[N,2]
  %k = call_function[add](%x) {other=2} : f32[N,2]
  %y = call_function[mul](%k, %const) : f32[N,2]
  return %y, %b
}
`

// Names of inputs that the options give stay as they are, whatever else the file names.
func TestExportKeepsNamesOfInputs(t *testing.T) {
	m := fromText(t, threeInputs)
	for _, x := range []struct{ given, want []string }{
		{nil, []string{"a_0", "b", "const"}},
		{[]string{"a:0", "scope/b:1", "x"}, []string{"a:0", "scope/b:1", "x"}},
		{[]string{"a:0", "", "const"}, []string{"a:0", "b", "const"}},
		{[]string{"a:0"}, []string{"a_0", "b", "const"}},
	} {
		var b bytes.Buffer
		require.NoError(t, onnx.Export(&b, m, onnx.ExportOptions{Inputs: x.given, Outputs: []string{"y:0", "b:2"}}))
		f, err := onnx.Parse(b.Bytes(), "names.onnx")
		require.NoError(t, err)
		require.Equal(t, x.want, f.Inputs())
		require.Equal(t, []string{"y:0", "b:2"}, f.Outputs())
		back, err := f.Import(onnx.Options{})
		require.NoError(t, err)
		in := []*array.Array{counted(3, 2), counted(3, 2), counted(1, 2)}
		want, err := run(m, in)
		require.NoError(t, err)
		got, err := run(back, in)
		require.NoError(t, err)
		require.True(t, array.Equal(want[0], got[0]))
		t.Run("ONNX Runtime", func(t *testing.T) {
			results, err := ort.Start(t).Run(ort.Model{Data: b.Bytes(), Plain: true}, ort.Inputs{x.want[0]: in[0], x.want[1]: in[1], x.want[2]: in[2]})
			require.NoError(t, err)
			require.True(t, array.Equal(want[0], results[0][0]))
			require.True(t, array.Equal(want[1], results[0][1]))
		})
	}
}
