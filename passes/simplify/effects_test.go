package simplify_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	_ "github.com/gofx-dev/gofx/internal/testkit/stale"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/tensor"
)

// writers are programs in which an operator of a user's writes memory in places that a
// pass has to look for: each has a read before the write and one after it.
var writers = []struct{ name, text string }{
	{"in a sub-graph", `graph g(%x: f32[3]) {
  %a = call_function[zeros]() {size=[3]}
  %b = call_function[zeros]() {size=[3]}
  %r = call_function[exp](%a)
  %c = call_function[call](%a, %x) {graph="sub"}
  %s = call_function[exp](%a)
  %y = call_function[cat]([%a, %b, %r, %s, %c]) {dim=0}
  return %y
}
subgraph sub(%to: f32[3], %from: f32[3]) {
  %p = call_function[PUT](%to, %from)
  return %p
}
`},
	{"in a body", `graph g(%x: f32[3]) {
  %a = call_function[zeros]() {size=[3]}
  %b = call_function[zeros]() {size=[3]}
  %q = call_function[full]() {size=[], value=1, dtype=bool}
  %r = call_function[exp](%a)
  %c = call_function[cond](%q, %a, %x) {
    region then(%to: f32[3], %from: f32[3]) {
      %p = call_function[PUT](%to, %from)
      return (%p)
    }
    region else(%to_1: f32[3], %from_1: f32[3]) {
      return (%from_1)
    }
  }
  %d = call_function[getitem](%c) {index=0}
  %s = call_function[exp](%a)
  %y = call_function[cat](%a, %b, %r, %s, %d) {dim=0}
  return %y
}
`},
	{"a parameter of a module", `graph g(%x: f32[3]) {
  %a = get_attr[w] : f32[3]
  %r = call_function[exp](%a)
  %p = call_module[counter](%x)
  %s = call_function[exp](%a)
  %b = get_attr[w] : f32[3]
  %y = call_function[cat](%b, %r, %s, %p) {dim=0}
  return %y
}
param w : f32[3] buffer
module counter = PUTTO (w=w)
`},
	{"state in a body that is given it", `graph g(%x: f32[3]) {
  %a = get_attr[w] : f32[3]
  %q = call_function[full]() {size=[], value=1, dtype=bool}
  %r = call_function[exp](%a)
  %c = call_function[cond](%q, %a, %x) {
    region then(%to: f32[3], %from: f32[3]) {
      %p = call_function[PUT](%to, %from)
      return (%p)
    }
    region else(%to_1: f32[3], %from_1: f32[3]) {
      return (%from_1)
    }
  }
  %d = call_function[getitem](%c) {index=0}
  %s = call_function[exp](%a)
  %y = call_function[cat](%a, %r, %s, %d) {dim=0}
  return %y
}
param w : f32[3] buffer
`},
}

// TestEffects_writesOfUsersOperators compares two runs of a program, which share its state,
// before and after each pass.
func TestEffects_writesOfUsersOperators(t *testing.T) {
	for _, c := range writers {
		of := func() *graph.Module {
			text := strings.NewReplacer("PUTTO", putTo.Key(), "PUT", put.Key(), "[%a, %b, %r, %s, %c]", "%a, %b, %r, %s, %c").Replace(c.text)
			m, err := graph.Parse([]byte("gofx 1\n\n"+text), c.name)
			require.NoError(t, err, c.name)
			if p := m.Param("w"); p != nil {
				q := *p
				q.Value = tensor.FromSlice([]float32{1, 2, 3}).Array()
				m.SetParam(q)
			}
			require.NoError(t, graph.Lint(m.Graph).Err(), c.name)
			return m
		}
		twice := func(m *graph.Module) (all []float32) {
			p := interp.Interpreter{State: interp.NewState(graph.Clone(m))}
			for range 2 {
				out, err := p.Run(context.Background(), tensor.FromSlice([]float32{1, 2, 3}))
				require.NoError(t, err, c.name)
				all = append(all, tensor.Data[float32](out[0])...)
			}
			return all
		}
		want := twice(of())
		for _, p := range append(fx.Optimise(), simplify.Inline) {
			m := of()
			_, err := passes.Run(context.Background(), m, []passes.Pass{p}, passes.Options{})
			require.NoError(t, err, c.name)
			got := twice(m)
			if len(got) != len(want) || !equal(got, want) {
				t.Errorf("%s: %s gives %v, want %v\n%s", c.name, p.Name, got, want, m)
			}
		}
	}
}

func equal(a, b []float32) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
