package shard_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/shard"
	"github.com/gofx-dev/gofx/lowering/xla"
)

// smalls are programs that tried to break plans.
var smalls = []struct {
	name, text string
	layout     shard.Layout
	exchanges  int
}{
	{"a table that is read and multiplied by", `graph g(%i: i64[4], %x: f32[4,6]) {
  %t = get_attr[t] : f32[2,6]
  %e = call_function[embedding](%i, %t) : f32[4,6]
  %s = call_function[add](%e, %x) : f32[4,6]
  %u = get_attr[t] : f32[2,6]
  %y = call_function[linear](%s, %u) : f32[4,2]
  return %y
}
param t : f32[2,6]
`, shard.Layout{Weights: map[string]shard.Split{"t": {"b", ""}}}, 1},
	{"inputs that are outputs", `graph g(%x: f32[4,6], %y: f32[4]) {
  %z = call_function[neg](%x) : f32[4,6]
  return (%x, %z, %z, %x)
}
`, shard.Layout{Inputs: map[string]shard.Split{"x": {"a", "b"}}}, 0},
	{"a branch", `graph g(%p: bool[], %x: f32[4,6]) {
  %w = get_attr[w] : f32[6,6]
  %h = call_function[neg](%x) : f32[4,6]
  %c = call_function[cond](%p, %h, %w) : (f32[4,6]) {
    region yes(%a: f32[4,6], %b: f32[6,6]) {
      %m = call_function[matmul](%a, %b) : f32[4,6]
      return (%m)
    }
    region no(%a: f32[4,6], %b: f32[6,6]) {
      %u = get_attr[w] : f32[6,6]
      %m = call_function[matmul](%a, %u) : f32[4,6]
      return (%m)
    }
  }
  %y = call_function[getitem](%c) {index=0} : f32[4,6]
  %z = call_function[add](%y, %x) : f32[4,6]
  return %z
}
param w : f32[6,6]
`, shard.Layout{Inputs: map[string]shard.Split{"x": {"a", ""}}}, 1},
	{"members of a tuple", `graph g(%x: f32[4,6]) {
  %s = call_function[sort](%x) {dim=1} : (f32[4,6], i64[4,6])
  %v = call_function[getitem](%s) {index=0} : f32[4,6]
  %k = call_function[getitem](%s) {index=1} : i64[4,6]
  %g = call_function[gather](%v, %k) {dim=1} : f32[4,6]
  return %g
}
`, shard.Layout{Values: map[string]shard.Split{"v": {"a", ""}, "k": {"a", "b"}}}, 0},
	{"a value that is made of nothing", `graph g(%x: f32[4,6]) {
  %o = call_function[ones]() {size=[4,6]} : f32[4,6]
  %y = call_function[add](%x, %o) : f32[4,6]
  return %y
}
`, shard.Layout{Inputs: map[string]shard.Split{"x": {"a", "b"}}}, 0},
	{"nothing and one", `graph g(%x: f32[0,4], %y: f32[1,4]) {
  %z = call_function[cat](%x, %y) {dim=0} : f32[1,4]
  %s = call_function[squeeze](%z) : f32[4]
  %t = call_function[sum](%s) : f32[]
  %u = call_function[reshape](%t) {shape=[1,1]} : f32[1,1]
  return %u
}
`, shard.Layout{Inputs: map[string]shard.Split{"x": {"", "a"}}}, 1},
	{"the author's word against the sum's", `graph g(%x: f32[4,6], %w: f32[6,6]) {
  %y = call_function[matmul](%x, %w) : f32[4,6]
  %z = call_function[matmul](%y, %w) : f32[4,6]
  return %z
}
`, shard.Layout{Inputs: map[string]shard.Split{"x": {"", "b"}, "w": {"b", ""}}, Values: map[string]shard.Split{"y": {"", ""}}}, 2},
	{"heads that are joined behind the batch", `graph g(%x: f32[4,6,2]) {
  %f = call_function[reshape](%x) {shape=[24,2]} : f32[24,2]
  %n = call_function[neg](%f) : f32[24,2]
  %u = call_function[reshape](%n) {shape=[4,6,2]} : f32[4,6,2]
  return %u
}
`, shard.Layout{Inputs: map[string]shard.Split{"x": {"a", "b", ""}}}, 1},
	{"a parameter of a called module", `graph g(%x: f32[4,6]) {
  %y = call_module[fc](%x) : f32[4,2]
  return %y
}
module fc = linear (weight=fc.weight, bias=fc.bias)
param fc.weight : f32[2,6]
param fc.bias : f32[2]
`, shard.Layout{Weights: map[string]shard.Split{"fc.weight": {"", "b"}}, Values: map[string]shard.Split{"y": {"a", ""}}}, 1},
	{"a mean of a mean, and what is divided by it", `graph g(%x: f32[4,6]) {
  %m = call_function[mean](%x) {dim=[0], keep_dim=true} : f32[1,6]
  %v = call_function[var](%x) {dim=[1], keep_dim=true} : f32[4,1]
  %d = call_function[sub](%x, %m) : f32[4,6]
  %q = call_function[div](%d, %v) : f32[4,6]
  %l = call_function[logsumexp](%q) {dim=[0,1]} : f32[]
  return %l
}
`, shard.Layout{Inputs: map[string]shard.Split{"x": {"a", "b"}}}, 6},
}

// TestSmallPrograms: what they compute, what they exchange, and that programs are made of them.
func TestSmallPrograms(t *testing.T) {
	for _, c := range smalls {
		m := parsed(t, c.text)
		values := numbers(m)
		c.layout.Mesh = shard.Mesh{{Name: "a", Size: 2}, {Name: "b", Size: 2}}
		p, err := shard.Propagate(m, lowering.Options{}, c.layout)
		require.NoError(t, err, c.name)
		if !strings.Contains(c.text, "region") { // which the simulation has no steps for
			same(t, m, p, values)
		}
		require.Len(t, p.Exchanges, c.exchanges, "%s\n%s", c.name, p)
		_, err = xla.EmitSharded(p)
		require.NoError(t, err, c.name)
	}
}
