package fx_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/passes"
)

// overWrites reads state before and after writes to it: through views, as the value of
// an assign, as operands and results of calls of sub-graphs.
var overWrites = map[string]string{
	"broadcast operand over write": `graph g(%x: f32[2,2]) {
  %a = get_attr[s] : f32[2,2]
  %o = call_function[slice](%a) {dim=0, start=0, stop=1, step=1} : f32[1,2]
  %t = call_function[t](%x) : f32[2,2]
  %m = call_function[mul](%t, %o) : f32[2,2]
  %w = call_function[assign](%a, %x) : f32[2,2]
  %r = call_function[t](%m) : f32[2,2]
  return (%r)
}
param s : f32[2,2] buffer
`,
	"products over write": `graph g(%x: f32[2,2]) {
  %a = get_attr[s] : f32[2,2]
  %v = get_attr[v] : f32[2,2]
  %u = get_attr[u] : f32[2,2]
  %m = call_function[linear](%a, %v) : f32[2,2]
  %w = call_function[assign](%a, %x) : f32[2,2]
  %n = call_function[linear](%a, %u) : f32[2,2]
  %mm = call_function[matmul](%a, %v) : f32[2,2]
  %y = call_function[neg](%x) : f32[2,2]
  %w2 = call_function[assign](%a, %y) : f32[2,2]
  %nn = call_function[matmul](%a, %u) : f32[2,2]
  return (%m, %n, %mm, %nn)
}
param s : f32[2,2] buffer
param v : f32[2,2]
param u : f32[2,2]
`,
	"value of assign": `graph g(%x: f32[2,2]) {
  %a = get_attr[s] : f32[2,2]
  %w = call_function[assign](%a, %x) : f32[2,2]
  %c = call_function[clone](%w) : f32[2,2]
  %n = call_function[neg](%x) : f32[2,2]
  %b = get_attr[s] : f32[2,2]
  %w2 = call_function[assign](%b, %n) : f32[2,2]
  %r = call_function[abs](%c) : f32[2,2]
  %r2 = call_function[relu](%c) : f32[2,2]
  return (%r, %r2)
}
param s : f32[2,2] buffer
`,
	"silu over write of view": `graph g(%x: f32[2,2]) {
  %a = get_attr[s] : f32[2,2]
  %v = call_function[t](%a) : f32[2,2]
  %s = call_function[sigmoid](%v) : f32[2,2]
  %w = call_function[assign](%a, %x) : f32[2,2]
  %r = call_function[mul](%v, %s) : f32[2,2]
  return (%r)
}
param s : f32[2,2] buffer
`,
	"silu over write of assigned": `graph g(%x: f32[2,2]) {
  %a = get_attr[s] : f32[2,2]
  %v = call_function[assign](%a, %x) : f32[2,2]
  %n = call_function[add](%x) {other=1} : f32[2,2]
  %s = call_function[sigmoid](%v) : f32[2,2]
  %w = call_function[assign](%a, %n) : f32[2,2]
  %r = call_function[mul](%v, %s) : f32[2,2]
  return (%r)
}
param s : f32[2,2] buffer
`,
	"cse in sub-graph over write": `graph g(%x: f32[2,2]) {
  %a = get_attr[s] : f32[2,2]
  %r = call_function[call](%a, %x) {graph="f"} : f32[2,2]
  return (%r)
}
subgraph f(%p: f32[2,2], %x: f32[2,2]) {
  %n = call_function[exp](%p) : f32[2,2]
  %a = get_attr[s] : f32[2,2]
  %v = call_function[assign](%a, %x) : f32[2,2]
  %n2 = call_function[exp](%p) : f32[2,2]
  %r = call_function[sub](%n, %n2) : f32[2,2]
  return %r
}
param s : f32[2,2] buffer
`,
	"clone in sub-graph over write": `graph g(%x: f32[2,2]) {
  %a = get_attr[s] : f32[2,2]
  %r = call_function[call](%a, %x) {graph="f"} : f32[2,2]
  return (%r)
}
subgraph f(%p: f32[2,2], %x: f32[2,2]) {
  %n = call_function[clone](%p) : f32[2,2]
  %a = get_attr[s] : f32[2,2]
  %v = call_function[assign](%a, %x) : f32[2,2]
  %r = call_function[exp](%n) : f32[2,2]
  return %r
}
param s : f32[2,2] buffer
`,
	"clone of what a call gives": `graph g(%x: f32[2,2]) {
  %r = call_function[call](%x) {graph="f"} : f32[2,2]
  %c = call_function[clone](%r) : f32[2,2]
  %n = call_function[exp](%r) : f32[2,2]
  %a = get_attr[s] : f32[2,2]
  %v = call_function[assign](%a, %x) : f32[2,2]
  %n2 = call_function[exp](%r) : f32[2,2]
  %n3 = call_function[exp](%c) : f32[2,2]
  return (%n, %n2, %n3)
}
subgraph f(%x: f32[2,2]) {
  %a = get_attr[s] : f32[2,2]
  return %a
}
param s : f32[2,2] buffer
`,
	"silu over call of a write": `graph g(%x: f32[2,2]) {
  %v = call_function[call](%x) {graph="f"} : f32[2,2]
  %s = call_function[sigmoid](%v) : f32[2,2]
  %a = get_attr[s] : f32[2,2]
  %w = call_function[assign](%a, %x) : f32[2,2]
  %r = call_function[mul](%v, %s) : f32[2,2]
  return (%r)
}
subgraph f(%x: f32[2,2]) {
  %a = get_attr[s] : f32[2,2]
  return %a
}
param s : f32[2,2] buffer
`,
	"silu over a loop that writes": `graph g(%x: f32[2,2]) {
  %a = get_attr[s] : f32[2,2]
  %v = call_function[t](%a) : f32[2,2]
  %s = call_function[sigmoid](%v) : f32[2,2]
  %q = call_function[scan](%x, %x) {carry=1, seqs=1} : (f32[2,2]) {
    region(%c: f32[2,2], %row: f32[2]) {
      %a = get_attr[s] : f32[2,2]
      %w = call_function[assign](%a, %c) : f32[2,2]
      return (%w)
    }
  }
  %q0 = call_function[getitem](%q) {index=0} : f32[2,2]
  %r = call_function[mul](%v, %s) : f32[2,2]
  return (%r, %q0)
}
param s : f32[2,2] buffer
`,
}

// No pass moves a read over a write, whatever way the value has come.
func TestPasses_keepReadsAfterWrites(t *testing.T) {
	square := func(v ...float32) *array.Array { return array.FromSlice(v, 2, 2) }
	load := func(text string) *graph.Module {
		m, err := graph.Parse([]byte("gofx 1\n\n"+text), "state.fx")
		require.NoError(t, err)
		for path, a := range map[string]*array.Array{"s": square(1, -2, 3, -4), "u": square(.5, 1, -3, 4), "v": square(2, 0, 1, -1)} {
			if p := m.Param(path); p != nil {
				m.SetParam(graph.Param{Path: path, Buffer: p.Buffer, Value: a})
			}
		}
		return m
	}
	run := func(m *graph.Module) (out []*array.Array) {
		p := interp.Interpreter{State: interp.NewState(m)}
		for range 2 {
			results, err := p.RunArrays(t.Context(), []*array.Array{square(.5, 1.5, -2.5, -.5)})
			require.NoError(t, err)
			for _, a := range results {
				out = append(out, array.Clone(a))
			}
		}
		return out
	}
	pipelines := map[string][]passes.Pass{"default": fx.Optimise(), "inlined": append(pipeline(t, "inline"), fx.Optimise()...)}
	for _, p := range fx.Passes() {
		pipelines[p.Name] = []passes.Pass{p}
	}
	for name, text := range overWrites {
		want := run(load(text))
		for pass, list := range pipelines {
			m := load(text)
			_, err := passes.Run(t.Context(), m, list, passes.Options{})
			if errors.Is(err, passes.MissingFact) {
				continue // the pass is for graphs without calls of sub-graphs
			}
			require.NoError(t, err)
			if d := fxtest.CloseArrays(want, run(m)); d != "" {
				t.Errorf("%s, %s: %s\n%s", name, pass, d, m)
			}
		}
	}
}

func pipeline(t *testing.T, names string) []passes.Pass {
	list, err := fx.Pipeline(names)
	require.NoError(t, err)
	return list
}
