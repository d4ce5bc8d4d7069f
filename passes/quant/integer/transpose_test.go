package integer_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/quanttest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/integer"
)

// transposed is a transposed convolution of quantised values, and quantised.
const transposed = `graph net(%q: XTYPE) {
  %s = get_attr[s] : f32[]
  %z = get_attr[z] : u8[]
  %w = get_attr[w] : WTYPE
  %t = get_attr[t] : TTYPE
  %v = get_attr[v] : VTYPE
  %b = get_attr[b] : f32[CHANNELS]
  %r = get_attr[r] : f32[]
  %x = call_function[dequantize](%q, %s, %z)
  %d = call_function[dequantize](%w, %t, %v) {axis=1}
  %c = call_function[conv_transpose2d](%x, %d, BIAS) ATTRS
  END
  return %y
}
param s : f32[]
param z : u8[]
param w : WTYPE
param t : TTYPE
param v : VTYPE
param b : f32[CHANNELS]
param r : f32[]
`

// TestTransposedConvolutions compares what becomes of them with floats.
func TestTransposedConvolutions(t *testing.T) {
	bytes, relu := "%y = call_function[quantize](%c, %r, %z)", "%a = call_function[relu6](%c)\n  %y = call_function[quantize](%a, %r, %z)"
	for _, c := range []struct{ x, w, scales, bias, attrs, end, why string }{
		{"u8[2,3,4,5]", "i8[3,6,2,2]", "6", "%b", "{stride=[2]}", bytes, ""},
		{"u8[N,3,H,5]", "i8[3,6,2,2]", "6", "%b", "{stride=[2]}", relu, ""},
		{"u8[2,3,4,5]", "u8[3,6,3,3]", "6", "%b", "{stride=[2],padding=[1],output_padding=[1]}", bytes, ""},
		{"u8[2,3,4,5]", "u8[3,6,3,3]", "", "_", "{stride=[2],padding=[1]}", relu, ""},
		{"u8[1,3,4,H]", "i8[3,6,4,3]", "6", "%b", "{stride=[3],padding=[2,0]}", bytes, ""},
		{"u8[2,3,4,5]", "i8[3,6,3,5]", "1", "_", "", bytes, ""},
		{"u8[2,3,4,5]", "i8[3,6,2,3]", "6", "%b", "{stride=[4],padding=[0,1]}", bytes, ""},
		{"u8[2,3,4,5]", "u8[3,6,3,2]", "6", "%b", "{stride=[2]}", "%y = call_function[neg](%c)", ""},
		{"u8[0,3,4,5]", "i8[3,6,2,2]", "6", "%b", "{stride=[2]}", bytes, ""},
		{"u8[2,3,4,5]", "i8[3,1,2,2]", "1", "%b", "{stride=[2]}", bytes, ""}, // one channel, of which a phase has four
		{"u8[2,3,4,5]", "u8[3,1,3,3]", "", "%b", "{stride=[3],padding=[1]}", "%y = call_function[neg](%c)", ""},
		{"u8[2,3,4,5]", "i8[3,3,2,2]", "3", "%b", "{stride=[2],groups=2}", bytes, "groups"},
		{"u8[2,3,4,5]", "i8[3,6,2,2]", "6", "%b", "{stride=[2],dilation=[2]}", bytes, "dilated"},
		{"u8[2,3,4,5]", "i8[3,6,2,2]", "6", "%b", "{stride=[2,1]}", bytes, "not 2 and 1"},
		{"u8[2,3,4,5]", "i8[3,6,2,2]", "6", "%b", "{stride=[2],output_padding=[1]}", bytes, "output_padding"},
		{"u8[3,4,5]", "i8[3,6,2,2]", "6", "%b", "{stride=[2]}", bytes, "without a batch"},
	} {
		x := c.x
		if strings.Contains(c.attrs, "groups") {
			x = strings.Replace(x, "2,3,", "2,4,", 1)
			c.w = "i8[4,3,2,2]"
		}
		channels := "6"
		if strings.Contains(c.w, "[3,1,") {
			channels = "1"
		}
		m := quanttest.Parse(t, strings.NewReplacer("CHANNELS", channels, "XTYPE", x, "WTYPE", c.w, "TTYPE", "f32["+c.scales+"]", "VTYPE", c.w[:2]+"["+c.scales+"]",
			"BIAS", c.bias, "ATTRS", c.attrs, "END", c.end).Replace(transposed))
		m.Param("s").Value, m.Param("r").Value = array.Scalar(float32(0.02)), array.Scalar(float32(0.05))
		for i := range m.Param("t").Value.Len() {
			array.SetFloat64At(m.Param("t").Value, i, 0.01+0.003*float64(i))
		}
		what := c.x + " " + c.w + " " + c.attrs
		plain := graph.Clone(m)
		r := quanttest.Pipeline(t, m, integer.Lower)
		if c.why != "" {
			require.NotEmpty(t, r.Passes[0].Refused, what)
			require.Contains(t, r.Passes[0].Refused[0].Why, c.why)
			require.Equal(t, 1, quanttest.Calls(m.Graph, std.ConvTranspose2d), what)
			continue
		}
		require.Equal(t, 1, quanttest.Calls(m.Graph, std.QConv2d), "%s\n%s", what, m)
		require.Zero(t, quanttest.Calls(m.Graph, std.Quantize)+quanttest.Calls(m.Graph, std.Dequantize), what)
		in, err := passes.Inputs(m.Graph, map[string]int{"N": 2, "H": 3}, 5)
		require.NoError(t, err)
		got := quanttest.Interpret(t, m, in...)
		near(t, what, quanttest.Interpret(t, plain, in...)[0], got[0])
		e, err := cpu.Compile(m, lowering.Options{})
		require.NoError(t, err)
		planned, err := e.Run(ctx, in)
		require.NoError(t, err)
		require.Equal(t, array.Bytes(array.Contiguous(got[0])), array.Bytes(planned[0]), what)
		require.NoError(t, e.Close())
	}
}

// BenchmarkUNet is the network in floats, in 8 bits, and in 8 bits except for its transposed
// convolutions.
func BenchmarkUNet(b *testing.B) {
	model := models.Lookup("unet")
	net := model.New()
	models.Synthetic(model, net, "gofx-1")
	gm, err := fx.Trace(ctx, net, fx.Input("x", "f32[1,3,192,192]"))
	require.NoError(b, err)
	_, err = gm.Apply(ctx, fx.Optimise(), fx.PassOptions{})
	require.NoError(b, err)
	gen := passes.Random{State: 9}
	x := gen.Array(array.F32, 1, 3, 192, 192)
	quantised := func(exclude ...quant.Selector) *graph.Module {
		m := graph.Clone(gm.Module)
		c := quanttest.Static()
		c.Exclude = exclude
		quanttest.Quantise(b, m, c, quanttest.Inputs([]*array.Array{x}))
		quanttest.Pipeline(b, m, integer.Lower)
		return m
	}
	for _, v := range []struct {
		name string
		m    *graph.Module
	}{{"f32", gm.Module}, {"int8", quantised()}, {"int8, transposed in f32", quantised(quant.Selector{Op: "conv_transpose2d"})}} {
		e, err := cpu.Compile(v.m, lowering.Options{Threads: 1})
		require.NoError(b, err)
		b.Run(v.name, func(b *testing.B) {
			for b.Loop() {
				_, err := e.Run(ctx, []*array.Array{x})
				require.NoError(b, err)
			}
		})
		require.NoError(b, e.Close())
	}
}
