package codegen_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant/integer"
)

// quantText is quantised in every way: layers with stored weights, a residual, a table,
// a pool, weights of 4 bits, scales that are computed.
const quantText = `
graph quantised(%x: f32[N,3,6,6]) {
  symbol N = dim(%x, 0)
  %s = get_attr[s_var] : f32[]
  %z = get_attr[z] : u8[]
  %sw = get_attr[sw_var] : f32[4]
  %w = get_attr[w] : i8[4,3,3,3]
  %b = get_attr[b] : f32[4]
  %sv = get_attr[sv_var] : f32[]
  %v = get_attr[v] : u8[4,4,1,1]
  %q = call_function[quantize](%x, %s, %z) : u8[N,3,6,6]
  %d = call_function[dequantize](%q, %s, %z) : f32[N,3,6,6]
  %dw = call_function[dequantize](%w, %sw) : f32[4,3,3,3]
  %c = call_function[conv2d](%d, %dw, %b) {padding=[1]} : f32[N,4,6,6]
  %r = call_function[relu](%c) : f32[N,4,6,6]
  %q1 = call_function[quantize](%r, %s) : u8[N,4,6,6]
  %d1 = call_function[dequantize](%q1, %s) : f32[N,4,6,6]
  %dv = call_function[dequantize](%v, %sv) : f32[4,4,1,1]
  %c2 = call_function[conv2d](%d1, %dv) : f32[N,4,6,6]
  %q2 = call_function[quantize](%c2, %s, %z) : u8[N,4,6,6]
  %d2 = call_function[dequantize](%q2, %s, %z) : f32[N,4,6,6]
  %a = call_function[add](%d1, %d2) : f32[N,4,6,6]
  %q3 = call_function[quantize](%a, %s, %z) : u8[N,4,6,6]
  %d3 = call_function[dequantize](%q3, %s, %z) : f32[N,4,6,6]
  %h = call_function[hardswish](%d3) : f32[N,4,6,6]
  %q4 = call_function[quantize](%h, %s, %z) : u8[N,4,6,6]
  %d4 = call_function[dequantize](%q4, %s, %z) : f32[N,4,6,6]
  %p = call_function[max_pool2d](%d4) {kernel_size=[3]} : f32[N,4,2,2]
  %f = call_function[flatten](%p) {start_dim=1, end_dim=-1} : f32[N,16]
  %u = call_function[dynamic_quantize](%f) : (u8[N,16], f32[], u8[])
  %uq = call_function[getitem](%u) {index=0} : u8[N,16]
  %us = call_function[getitem](%u) {index=1} : f32[]
  %uz = call_function[getitem](%u) {index=2} : u8[]
  %ud = call_function[dequantize](%uq, %us, %uz) : f32[N,16]
  %mw = get_attr[m] : i8[16,5]
  %dm = call_function[dequantize](%mw, %sv) : f32[16,5]
  %m = call_function[matmul](%ud, %dm) : f32[N,5]
  %four = get_attr[four] : u8[7,3]
  %fs = get_attr[fs_var] : f32[7,1]
  %y = call_function[int4_linear](%m, %four, %fs) {group=32} : f32[N,7]
  return %y, %f
}
param s_var : f32[]
param z : u8[]
param sw_var : f32[4]
param w : i8[4,3,3,3]
param b : f32[4]
param sv_var : f32[]
param v : u8[4,4,1,1]
param m : i8[16,5]
param four : u8[7,3]
param fs_var : f32[7,1]
`

// quantCase is the network of quant-lower.
func quantCase(t *testing.T, g *op.Gen) *kernelCase {
	m := kernelModule(t, quantText)
	for _, p := range m.Params() {
		q := *p
		switch q.Path {
		case "s_var":
			q.Value = array.Scalar(float32(0.02))
		case "z":
			q.Value = array.Scalar(uint8(120))
		default:
			if !q.Value.DType().IsFloat() {
				q.Value = array.Cast(g.Int(256, q.Value.Shape()...), q.Value.DType())
			} else if q.Path != "b" {
				q.Value = g.Uniform(0.001, 0.004, q.Value.Shape()...)
			}
		}
		m.SetParam(q)
	}
	_, err := passes.Run(background, m, []passes.Pass{integer.Lower}, passes.Options{})
	require.NoError(t, err)
	c := &kernelCase{name: "quantised", module: m, flat: true, symbols: []string{"N"}}
	for _, n := range []int{2, 1, 5} {
		c.inputs = append(c.inputs, []*array.Array{g.Normal(n, 3, 6, 6)})
		c.sizes = append(c.sizes, []int{n})
	}
	return c
}

// TestQuantisedPlan requires every layer of the network to be computed on bytes, and
// its weights to be packed, with the bits of the interpreter.
func TestQuantisedPlan(t *testing.T) {
	var g op.Gen
	c := quantCase(t, &g)
	generate(t, c)
	text := c.exec.Plan().String()
	for _, want := range []string{"QPackConv", "QPackLinear", "PackInt4", "QConv", "QAdd", "QTable", "QMaxPool", "QLinear", "Int4Linear"} {
		require.Contains(t, text, want)
	}
	run := &interp.Interpreter{State: interp.NewState(c.module)}
	for _, in := range c.inputs {
		want, err := run.RunArrays(background, in)
		require.NoError(t, err)
		got, err := c.exec.Run(background, in)
		require.NoError(t, err)
		for i := range want {
			require.Equal(t, array.Bytes(want[i]), array.Bytes(got[i]))
		}
	}
}
