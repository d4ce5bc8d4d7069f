package cpu_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
)

// guarded are graphs in which sizes are equal by a guard only, which no symbol can be solved from.
var guarded = []struct {
	name, text string
	joined     bool
	fit        [][]int
}{
	{"a half of a pooled axis", `
graph net(%x: f32[N,C,M]) {
  %a = call_function[max_pool1d](%x) {kernel_size=[2]} : f32[N,C,M//2]
  %w = get_attr[w] : f32[4]
  %b = call_function[add](%a, %w) : f32[N,C,4]
  %c = call_function[cat](%a, %b) : f32[2*N,C,4]
  %y = call_function[relu](%c) : f32[2*N,C,4]
  return %y
}
param w : f32[4]
`, true, [][]int{{2, 3, 8}, {1, 1, 9}, {0, 3, 8}}},
	{"the result has the other size", `
graph net(%x: f32[2,3,M]) {
  %a = call_function[max_pool1d](%x) {kernel_size=[2]} : f32[2,3,M//2]
  %w = get_attr[w] : f32[4]
  %b = call_function[mul](%a, %w) : f32[2,3,4]
  %c = call_function[cat](%b, %a, %b) : f32[6,3,4]
  %y = call_function[softmax](%c) {dim=2} : f32[6,3,4]
  return %y
}
param w : f32[4]
`, true, [][]int{{2, 3, 8}, {2, 3, 9}}},
	{"two guards", `
graph net(%x: f32[A,B]) {
  %a = call_function[reshape](%x) {shape=[A//2,2,B//3,3]} : f32[A//2,2,B//3,3]
  %s = call_function[sum](%a) {dim=[1,3]} : f32[A//2,B//3]
  %w = get_attr[w] : f32[3,2]
  %b = call_function[add](%s, %w) : f32[3,2]
  %c = call_function[cat](%s, %b) : f32[A//2+3,2]
  %d = call_function[cat](%c, %b) : f32[A//2+6,2]
  %y = call_function[relu](%d) : f32[A//2+6,2]
  return %y
}
param w : f32[3,2]
`, true, [][]int{{6, 6}}},
	{"along another axis", `
graph net(%x: f32[1,M]) {
  %a = call_function[max_pool1d](%x) {kernel_size=[2]} : f32[1,M//2]
  %w = get_attr[w] : f32[1,4]
  %b = call_function[add](%a, %w) : f32[1,4]
  %c = call_function[cat](%a, %b) {dim=1} : f32[1,M//2+4]
  %y = call_function[cumsum](%c) {dim=1} : f32[1,M//2+4]
  return %y
}
param w : f32[1,4]
`, true, [][]int{{1, 8}, {1, 9}}},
	{"a product", `
graph net(%x: f32[A,B]) {
  %a = call_function[reshape](%x) {shape=[A*B]} : f32[A*B]
  %w = get_attr[w] : f32[12]
  %e = call_function[exp](%a) : f32[A*B]
  %b = call_function[add](%e, %w) : f32[12]
  %c = call_function[stack](%e, %b) : f32[2,12]
  %d = call_function[cat](%c, %c) : f32[4,12]
  %y = call_function[softmax](%d) {dim=1} : f32[4,12]
  return %y
}
param w : f32[12]
`, false, [][]int{{3, 4}, {12, 1}, {2, 6}}},
}

func TestSizesThatGuardsMakeEqual(t *testing.T) {
	for _, c := range guarded {
		t.Run(c.name, func(t *testing.T) {
			m := module(t, c.text)
			require.NotEmpty(t, m.Graph.Guards())
			for _, o := range []lowering.Options{{}, {Donate: []int{0}}} {
				e, err := cpu.Compile(m, o)
				require.NoError(t, err)
				require.Equal(t, c.joined, strings.Contains(e.Plan().String(), "joined"), e.Plan().String())
			}
			var g op.Gen
			for _, s := range c.fit {
				in := []*array.Array{g.Normal(s...)}
				agrees(t, c.name, m, interpret(t, m, in...), in)
			}
			e := compile(t, m, lowering.Options{})
			in := []*array.Array{g.Normal([]int{2, 3, 11}[3-len(c.fit[0]):]...)}
			_, err := e.Run(t.Context(), in)
			require.Error(t, err)
		})
	}
}
