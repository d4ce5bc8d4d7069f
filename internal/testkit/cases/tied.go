package cases

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
)

// Tie is a graph in which one parameter, or one value, is several operands.
type Tie struct{ Name, Text string }

// Module parses the graph; its parameters have values from 0.5 to 1.5, so that they serve as variances.
func (c Tie) Module() (*graph.Module, error) {
	m, err := graph.Parse([]byte("gofx 1\n"+c.Text), "tied.fx")
	if err != nil {
		return nil, err
	}
	var gen op.Gen
	for _, p := range m.Params() {
		d, dims, _ := p.Type.Concrete()
		q := *p
		q.Value = array.Cast(gen.Uniform(0.5, 1.5, dims...), d)
		m.SetParam(q)
	}
	return m, nil
}

// Ties returns graphs that passes may take apart in one place only: a change for one operand must
// not affect another.
var Ties = []Tie{
	{"weight and bias of a norm", `graph g(%x: f32[3,4]) {
  %g = get_attr[g]
  %w = get_attr[w]
  %n = call_function[layer_norm](%x, %g, %g) {normalized_shape=[4]}
  %y = call_function[linear](%n, %w)
  return %y
}
param g : f32[4]
param w : f32[5,4]`},
	{"weight and bias of a norm, read twice", `graph g(%x: f32[3,4]) {
  %g = get_attr[g]
  %h = get_attr[g]
  %w = get_attr[w]
  %n = call_function[layer_norm](%x, %g, %h) {normalized_shape=[4]}
  %y = call_function[linear](%n, %w, %g)
  return %y
}
param g : f32[4]
param w : f32[4,4]`},
	{"a norm of its own weight", `graph g(%x: f32[3,4]) {
  %g = get_attr[g]
  %w = get_attr[w]
  %n = call_function[layer_norm](%g, %g, %g) {normalized_shape=[4]}
  %y = call_function[linear](%n, %w)
  %z = call_function[add](%x, %y)
  return %z
}
param g : f32[4]
param w : f32[4,4]`},
	{"a norm shared by two layers of one weight", `graph g(%x: f32[3,4]) {
  %g = get_attr[g]
  %w = get_attr[w]
  %n = call_function[layer_norm](%x, %g) {normalized_shape=[4]}
  %y = call_function[linear](%n, %w)
  %z = call_function[linear](%n, %w)
  %s = call_function[sub](%y, %z)
  return %s, %y
}
param g : f32[4]
param w : f32[5,4]`},
	{"two norms of one weight", `graph g(%x: f32[3,4]) {
  %g = get_attr[g]
  %w = get_attr[w]
  %v = get_attr[v]
  %n = call_function[layer_norm](%x, %g, %g) {normalized_shape=[4]}
  %y = call_function[linear](%n, %w)
  %m = call_function[layer_norm](%y, %g) {normalized_shape=[4]}
  %z = call_function[linear](%m, %v)
  return %z
}
param g : f32[4]
param w : f32[4,4]
param v : f32[4,4]`},
	{"one weight for two layers in a row", `graph g(%x: f32[3,4]) {
  %w = get_attr[w]
  %b = get_attr[b]
  %y = call_function[linear](%x, %w, %b)
  %r = call_function[relu](%y)
  %z = call_function[linear](%r, %w, %b)
  return %z
}
param w : f32[4,4]
param b : f32[4]`},
	{"a layer of its own weight", `graph g(%x: f32[4,4]) {
  %w = get_attr[w]
  %v = get_attr[v]
  %y = call_function[linear](%w, %w)
  %r = call_function[relu](%y)
  %z = call_function[linear](%r, %v)
  %s = call_function[mul](%z, %x)
  return %s
}
param w : f32[4,4]
param v : f32[4,4]`},
	{"a layer whose input is its weight", `graph g(%x: f32[4,4]) {
  %a = call_function[relu](%x)
  %y = call_function[linear](%a, %a)
  %z = call_function[matmul](%y, %y)
  return %z
}`},
	{"a batch norm of one vector", `graph g(%x: f32[2,3,5,5]) {
  %w = get_attr[w]
  %v = get_attr[v]
  %c = call_function[conv2d](%x, %w, %v)
  %n = call_function[batch_norm](%c, %v, %v, %v, %v)
  %r = call_function[relu](%n)
  return %r
}
param w : f32[4,3,3,3]
param v : f32[4]`},
	{"one convolution and one batch norm, called twice", `graph g(%x: f32[2,3,4,4]) {
  %w = get_attr[w]
  %v = get_attr[v]
  %m = get_attr[m]
  %c = call_function[conv2d](%x, %w)
  %n = call_function[batch_norm](%c, %m, %v, %v, %m)
  %d = call_function[conv2d](%n, %w)
  %o = call_function[batch_norm](%d, %m, %v, %v, %m)
  %s = call_function[add](%o, %c)
  return %s
}
param w : f32[3,3,1,1]
param v : f32[3]
param m : f32[3]`},
	{"a layer and a norm of one vector", `graph g(%x: f32[5,4]) {
  %w = get_attr[w]
  %v = get_attr[v]
  %y = call_function[linear](%x, %w, %v)
  %n = call_function[batch_norm](%y, %v, %v, %v, %v)
  return %n
}
param w : f32[4,4]
param v : f32[4]`},
	{"residuals of themselves", `graph g(%x: f32[5,4]) {
  %w = get_attr[w]
  %y = call_function[linear](%x, %w)
  %s = call_function[add](%y, %y)
  %r = call_function[relu](%s)
  %t = call_function[mul](%r, %r)
  %c = call_function[cat](%t, %t, %t) {dim=1}
  %d = call_function[sub](%c, %c)
  %e = call_function[maximum](%c, %c)
  %z = call_function[add](%d, %e)
  return %z, %c
}
param w : f32[4,4]`},
	{"a residual that is the layer's input", `graph g(%x: f32[1,4,5,5]) {
  %w = get_attr[w]
  %a = call_function[relu](%x)
  %c = call_function[conv2d](%a, %w) {padding=[1,1]}
  %s = call_function[add](%c, %a)
  %d = call_function[conv2d](%s, %w) {padding=[1,1]}
  %t = call_function[add](%s, %d)
  %u = call_function[add](%t, %t)
  return %u
}
param w : f32[4,4,3,3]`},
	{"a bias that is added twice", `graph g(%x: f32[5,4]) {
  %w = get_attr[w]
  %b = get_attr[b]
  %y = call_function[linear](%x, %w, %b)
  %s = call_function[add](%y, %b)
  %t = call_function[mul](%s, %b)
  %u = call_function[add](%b, %t)
  return %u
}
param w : f32[4,4]
param b : f32[4]`},
	{"attention of one value", `graph g(%x: f32[1,2,6,8]) {
  %a = call_function[scaled_dot_product_attention](%x, %x, %x)
  %b = call_function[scaled_dot_product_attention](%a, %x, %a) {is_causal=true}
  return %b
}`},
	{"products of one value by one weight", `graph g(%x: f32[8,8]) {
  %w = get_attr[w]
  %q = call_function[linear](%x, %w)
  %k = call_function[linear](%x, %w)
  %v = call_function[linear](%q, %w)
  %s = call_function[matmul](%q, %w)
  %u = call_function[matmul](%q, %q)
  %t = call_function[add](%k, %v)
  %r = call_function[sub](%s, %u)
  return %t, %r
}
param w : f32[8,8]`},
	{"a table that is also a weight", `graph g(%i: i64[3]) {
  %w = get_attr[w]
  %e = call_function[embedding](%i, %w)
  %y = call_function[linear](%e, %w)
  %t = call_function[t](%w)
  %z = call_function[matmul](%e, %t)
  %s = call_function[add](%y, %z)
  return %s, %y
}
param w : f32[7,4]`},
	{"a network of which all weights are one", `graph g(%x: f32[2,3,4]) {
  %h = get_attr[h]
  %w = get_attr[w]
  %b = get_attr[b]
  %s = call_function[gru](%x, %h, %w, %w, %b, %b)
  %y = call_function[getitem](%s) {index=0}
  return %y
}
param h : f32[1,3,4]
param w : f32[12,4]
param b : f32[12]`},
	{"norms of themselves", `graph g(%x: f32[3,4]) {
  %g = get_attr[g]
  %k = get_attr[k]
  %m = call_function[mean](%x) {dim=[1], keep_dim=true}
  %d = call_function[sub](%x, %m)
  %s = call_function[mul](%d, %d)
  %v = call_function[mean](%s) {dim=[1], keep_dim=true}
  %e = call_function[add](%v, %k)
  %q = call_function[sqrt](%e)
  %n = call_function[div](%d, %q)
  %y = call_function[mul](%n, %g)
  %z = call_function[add](%y, %g)
  return %z
}
param g : f32[4]
param k : f32[1]`},
}
