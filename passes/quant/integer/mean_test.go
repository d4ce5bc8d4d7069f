package integer_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/quanttest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant/integer"
)

// TestMeans_stayInIntegers takes means of dimensions of images, of tokens, of all.
func TestMeans_stayInIntegers(t *testing.T) {
	for _, c := range []struct{ x, attrs, why string }{
		{"u8[2,3,4,5]", "{dim=[2,3]}", ""},
		{"i8[2,3,4,5]", "{dim=[-1,-2],keep_dim=true}", ""},
		{"u8[N,3,4,5]", "{dim=[2,3]}", ""},
		{"u8[2,3,4]", "{dim=[2]}", ""},
		{"i8[2,3,4,5,6]", "{dim=[2,3,4],keep_dim=true}", ""},
		{"u8[2,7,N]", "{dim=[1]}", ""},
		{"i8[2,3,4,5]", "{dim=[3]}", ""},
		{"u8[2,3,4,5]", "{dim=[0,2],keep_dim=true}", ""},
		{"u8[2,3]", "", ""},
		{"i8[2,3]", "{dim=[0,1],keep_dim=true,dtype=f32}", ""},
		{"u8[9]", "", ""},
		{"u8[]", "", ""},
		{"u8[2,3,N,5]", "{dim=[2,3]}", "not known"},
		{"u8[2,3,N]", "", "not known"},
		{"u8[2,0,3]", "{dim=[1]}", "or 0"},
		{"u8[2,3]", "{dim=[0],dtype=f64}", "computes f64"},
	} {
		d := c.x[:2]
		text := `graph net(%q: ` + c.x + `) {
  %s = get_attr[s] : f32[]
  %z = get_attr[z] : ` + d + `[]
  %r = get_attr[r] : f32[]
  %x = call_function[dequantize](%q, %s, %z)
  %m = call_function[mean](%x) ` + c.attrs + `
  %y = call_function[quantize](%m, %r, %z)
  return %y
}
param s : f32[]
param z : ` + d + `[]
param r : f32[]
`
		if strings.Contains(c.attrs, "f64") {
			text = strings.Replace(text, "quantize](%m", "quantize](%n", 1)
			text = strings.Replace(text, "  %y =", "  %n = call_function[cast](%m) {dtype=f32}\n  %y =", 1)
		}
		m := quanttest.Parse(t, text)
		m.Param("s").Value, m.Param("r").Value = array.Scalar(float32(0.02)), array.Scalar(float32(0.004))
		plain := graph.Clone(m)
		r := quanttest.Pipeline(t, m, integer.Lower)
		in, err := passes.Inputs(m.Graph, map[string]int{"N": 3}, 5)
		require.NoError(t, err)
		if c.why != "" {
			require.NotEmpty(t, r.Passes[0].Refused, c.x+c.attrs)
			require.Contains(t, r.Passes[0].Refused[0].Why, c.why)
			require.Equal(t, 1, quanttest.Calls(m.Graph, std.Mean))
			continue
		}
		require.Equal(t, 1, quanttest.Calls(m.Graph, std.QAvgPool), c.x+c.attrs)
		require.Zero(t, quanttest.Calls(m.Graph, std.Dequantize)+quanttest.Calls(m.Graph, std.Quantize))
		got := quanttest.Interpret(t, m, in...)
		near(t, c.x+c.attrs, quanttest.Interpret(t, plain, in...)[0], got[0])
		e, err := cpu.Compile(m, lowering.Options{})
		require.NoError(t, err)
		planned, err := e.Run(ctx, in)
		require.NoError(t, err)
		require.Equal(t, array.Bytes(got[0]), array.Bytes(planned[0]), c.x+c.attrs)
		require.NoError(t, e.Close())
	}
}

// TestMeans_otherTypesStayInFloats has values of 16 bits, and floats of 16 bits.
func TestMeans_otherTypesStayInFloats(t *testing.T) {
	for _, c := range []struct{ q, f, why string }{
		{"i16", "f32", "from i16, expected u8 or i8"},
		{"u8", "f16", "to f16, expected f32"},
	} {
		text := strings.NewReplacer("Q", c.q, "F", c.f).Replace(`graph net(%q: Q[4,8]) {
  %s = get_attr[s] : F[]
  %w = get_attr[w] : Q[4,8]
  %x = call_function[dequantize](%q, %s)
  %v = call_function[dequantize](%w, %s)
  %y = call_function[linear](%x, %v)
  %r = call_function[relu](%y)
  %t = call_function[tanh](%x)
  %a = call_function[add](%x, %t)
  %o = call_function[quantize](%r, %s) {dtype=Q}
  %p = call_function[quantize](%a, %s) {dtype=Q}
  return (%o, %p)
}
param s : F[]
param w : Q[4,8]
`)
		m := quanttest.Parse(t, text)
		before := m.String()
		r := quanttest.Pipeline(t, m, integer.Lower)
		require.Equal(t, before, m.String())
		require.NotEmpty(t, r.Passes[0].Refused)
		require.Contains(t, r.Passes[0].Refused[0].Why, c.why)
	}
	// What is of 8 bits does not become a table of 16.
	m := quanttest.Parse(t, `graph net(%q: u8[4]) {
  %s = get_attr[s] : f32[]
  %x = call_function[dequantize](%q, %s)
  %t = call_function[tanh](%x)
  %y = call_function[quantize](%t, %s) {dtype=i16}
  return %y
}
param s : f32[]
`)
	before := m.String()
	r := quanttest.Pipeline(t, m, integer.Lower)
	require.Equal(t, before, m.String())
	require.Contains(t, r.Passes[0].Refused[0].Why, "not quantised to 8 bits")
}
