package cpu_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/op"
)

// shared are graphs with values that lie in the memory of others; want has the lines
// of their plans that say so.
var shared = []struct{ name, text, want string }{
	{"each concatenation is the beginning of the next", `
graph net(%x: f32[1,2,5]) {
  %a = call_function[softmax](%x) {dim=2} : f32[1,2,5]
  %b = call_function[log_softmax](%a) {dim=2} : f32[1,2,5]
  %c = call_function[cat](%a, %b) {dim=1} : f32[1,4,5]
  %d = call_function[softmax](%c) {dim=2} : f32[1,4,5]
  %e = call_function[cat](%a, %b, %d) {dim=1} : f32[1,8,5]
  %y = call_function[softmax](%e) {dim=1} : f32[1,8,5]
  return %y
}
`, `
temp a : f32[1,2,5] in e at 0
temp b : f32[1,2,5] in e at 40
temp c : f32[1,4,5] in e at 0
temp d : f32[1,4,5] in e at 80
2: c = joined Concat{Dim: 1} (a, b)
4: e = joined Concat{Dim: 1} (a, b, d)`},
	{"what has no memory of its own is copied", `
graph net(%x: f32[2,5]) {
  %a = call_function[softmax](%x) {dim=1} : f32[2,5]
  %t = call_function[transpose](%a) {dim0=0, dim1=1} : f32[5,2]
  %f = call_function[reshape](%x) {shape=[5,2]} : f32[5,2]
  %b = call_function[log_softmax](%f) {dim=1} : f32[5,2]
  %c = call_function[cat](%f, %b, %t, %b) {dim=0} : f32[20,2]
  %y = call_function[softmax](%c) {dim=1} : f32[20,2]
  return (%y, %a)
}
`, ``},
	{"some are copied, one is made in its place", `
graph net(%x: f32[2,5]) {
  %a = call_function[softmax](%x) {dim=1} : f32[2,5]
  %c = call_function[cat](%x, %a) {dim=0} : f32[4,5]
  %y = call_function[softmax](%c) {dim=1} : f32[4,5]
  return %y
}
`, `
temp a : f32[2,5] in c at 40
temp c_x : f32[2,5] in c at 0
2: c = joined Concat{} (c_x, a)`},
	{"slices that are not contiguous", `
graph net(%x: f32[N,2,5]) {
  symbol N = dim(%x, 0)
  %a = call_function[softmax](%x) {dim=2} : f32[N,2,5]
  %b = call_function[log_softmax](%a) {dim=2} : f32[N,2,5]
  %c = call_function[cat](%a, %b) {dim=1} : f32[N,4,5]
  %y = call_function[softmax](%c) {dim=2} : f32[N,4,5]
  return %y
}
`, ``},
	{"symbolic sizes, along the first axis", `
graph net(%x: f32[N,3]) {
  symbol N = dim(%x, 0)
  %a = call_function[softmax](%x) {dim=1} : f32[N,3]
  %b = call_function[log_softmax](%a) {dim=1} : f32[N,3]
  %c = call_function[cat](%b, %a) {dim=0} : f32[2*N,3]
  %y = call_function[softmax](%c) {dim=1} : f32[2*N,3]
  return %y
}
`, `
temp a : f32[N,3] in c at 12*N
temp b : f32[N,3] in c at 0
2: c = joined Concat{} (b, a)`},
	{"a chain in one place", `
graph net(%x: f32[N,3]) {
  symbol N = dim(%x, 0)
  %a = call_function[cumsum](%x) {dim=1} : f32[N,3]
  %b = call_function[exp](%a) : f32[N,3]
  %c = call_function[sum](%b) {dim=[1], keep_dim=true} : f32[N,1]
  %d = call_function[div](%b, %c) : f32[N,3]
  %y = call_function[cumsum](%d) {dim=1} : f32[N,3]
  return %y
}
`, `
temp b : f32[N,3] in a at 0
temp d : f32[N,3] in a at 0`},
	{"not over what a view shows later, or in the same step", `
graph net(%x: f32[3,3]) {
  %a = call_function[softmax](%x) {dim=1} : f32[3,3]
  %t = call_function[transpose](%a) {dim0=0, dim1=1} : f32[3,3]
  %b = call_function[add](%a, %t) : f32[3,3]
  %s = call_function[softmax](%b) {dim=1} : f32[3,3]
  %u = call_function[transpose](%s) {dim0=0, dim1=1} : f32[3,3]
  %e = call_function[exp](%s) : f32[3,3]
  %c = call_function[cumsum](%e) {dim=1} : f32[3,3]
  %y = call_function[matmul](%c, %u) : f32[3,3]
  return %y
}
`, ``},
	{"not over a part of what is read later", `
graph net(%x: f32[2,3]) {
  %a = call_function[softmax](%x) {dim=1} : f32[2,3]
  %e = call_function[exp](%a) : f32[2,3]
  %b = call_function[cumsum](%e) {dim=1} : f32[2,3]
  %c = call_function[cat](%a, %b) {dim=0} : f32[4,3]
  %y = call_function[softmax](%c) {dim=1} : f32[4,3]
  return %y
}
`, `
temp a : f32[2,3] in c at 0
temp b : f32[2,3] in c at 24
3: c = joined Concat{} (a, b)`},
	{"what is scattered into a value that nothing reads later is written there", `
graph net(%x: f32[2,3]) {
  %z = call_function[cumsum](%x) {dim=1} : f32[2,3]
  %i = call_function[full]() {size=[2,1], value=1, dtype=i64} : i64[2,1]
  %v = call_function[sum](%x) {dim=[1], keep_dim=true} : f32[2,1]
  %a = call_function[scatter_add](%z, %i, %v) {dim=1} : f32[2,3]
  %b = call_function[scatter](%a, %i, %v) {dim=1} : f32[2,3]
  %c = call_function[slice_scatter](%b, %v) {dim=1, start=2, stop=3} : f32[2,3]
  %y = call_function[cumsum](%c) {dim=1} : f32[2,3]
  return %y
}
`, `
temp a : f32[2,3] in z at 0
temp b : f32[2,3] in z at 0
temp c : f32[2,3] in z at 0`},
	{"but not over what is read later, or in the same step", `
graph net(%x: f32[3,3]) {
  %z = call_function[cumsum](%x) {dim=1} : f32[3,3]
  %i = call_function[full]() {size=[3,3], value=1, dtype=i64} : i64[3,3]
  %a = call_function[scatter_add](%z, %i, %x) {dim=1} : f32[3,3]
  %b = call_function[cumsum](%z) {dim=1} : f32[3,3]
  %t = call_function[transpose](%b) {dim0=0, dim1=1} : f32[3,3]
  %c = call_function[scatter_add](%b, %i, %t) {dim=0} : f32[3,3]
  %y = call_function[matmul](%a, %c) : f32[3,3]
  return %y
}
`, ``},
}

func TestValuesShareMemory(t *testing.T) {
	for _, c := range shared {
		t.Run(c.name, func(t *testing.T) {
			m := module(t, c.text)
			e := compile(t, m, lowering.Options{})
			var got []string
			for _, line := range strings.Split(e.Plan().String(), "\n") {
				line, _, _ = strings.Cut(strings.TrimSpace(line), ", steps")
				line, _, _ = strings.Cut(line, " # ")
				if strings.Contains(line, "joined") || strings.HasPrefix(line, "temp") && strings.Contains(line, " in ") {
					line, _, _ = strings.Cut(strings.Replace(line, " bytes", "", 1), ", "+"0 bytes")
					if strings.HasPrefix(line, "temp") {
						line = line[:strings.LastIndex(line, ", ")]
					}
					got = append(got, line)
				}
			}
			require.Equal(t, strings.TrimSpace(c.want), strings.Join(got, "\n"), e.Plan().String())
			var g op.Gen
			for _, n := range []int{3, 1, 0, 7} {
				var in []*array.Array
				for _, x := range m.Graph.Inputs() {
					var s []int
					for _, d := range x.Type().Dims().Slice() {
						k, err := d.Eval(plan.Values(map[string]int{"N": n}))
						require.NoError(t, err)
						s = append(s, k)
					}
					in = append(in, g.Normal(s...))
				}
				agrees(t, c.name, m, interpret(t, m, in...), in)
			}
		})
	}
}

// TestCheckFindsValuesInEachOthersMemory breaks plans in which values share memory.
func TestCheckFindsValuesInEachOthersMemory(t *testing.T) {
	find := func(p *plan.Plan, name string) *plan.Buffer {
		for i := range p.Buffers {
			if p.Buffers[i].Name == name {
				return &p.Buffers[i]
			}
		}
		return nil
	}
	for what, breakIt := range map[string]func(p *plan.Plan){
		"overwrites": func(p *plan.Plan) { find(p, "d").At, find(p, "d").Offset = find(p, "a").At, find(p, "a").Offset },
		"reaches out": func(p *plan.Plan) {
			b := find(p, "d")
			b.At, b.Offset = b.At.AddInt(64), b.Offset.AddInt(64)
		},
		"which lies elsewhere": func(p *plan.Plan) { find(p, "d").Within = false },
	} {
		e := compile(t, module(t, shared[0].text), lowering.Options{})
		require.NoError(t, e.Plan().Check())
		breakIt(e.Plan())
		require.ErrorContains(t, e.Plan().Check(), what)
	}
}
