package graph_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/cases"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/shape"
)

// regions returns the graphs of bodies, at any depth.
func regions(m *graph.Module) (list []*graph.Graph) {
	for n := range m.All() {
		list = append(list, n.Regions()...)
	}
	return list
}

// TestOutlineInBodies outlines nodes of the bodies of programs with control flow, and
// inlines them again.
func TestOutlineInBodies(t *testing.T) {
	var list []cases.Case
	for _, c := range cases.Everything() {
		if c.Regions {
			list = append(list, c)
		}
	}
	outlined := 0
	rapid.Check(t, func(t *rapid.T) {
		c := list[rapid.IntRange(0, len(list)-1).Draw(t, "case")]
		first, err := c.Module(context.Background())
		require.NoError(t, err)
		m, before := stateOfItsOwn(first), stateOfItsOwn(first)
		for range rapid.IntRange(1, 3).Draw(t, "times") {
			g := rapid.SampledFrom(regions(m)).Draw(t, "body")
			if g.Len() == len(g.Inputs())+1 {
				continue
			}
			text := m.String()
			call, err := graph.Outline("part", some(t, g))
			if err != nil {
				require.ErrorIs(t, err, graph.BadOutline)
				require.Equal(t, text, m.String())
				continue
			}
			require.NotNil(t, call.Callee())
			outlined++
		}
		same := func(what string) {
			require.NoError(t, graph.Lint(m.Graph).Err(), "%s %s\n%s", c.Name, what, m)
			again, err := graph.Parse([]byte(m.String()), "again.fx")
			require.NoError(t, err, "%s", m)
			equal, diff := graph.EqualModules(again, m)
			require.True(t, equal, diff)
			a, b := stateOfItsOwn(m), stateOfItsOwn(before)
			for _, in := range c.Inputs {
				x := make([]*array.Array, len(in))
				for i := range in {
					x[i] = in[i].Array()
				}
				d := fxtest.SameArrays(interpret(t, b, x), interpret(t, a, x))
				require.Empty(t, d, "%s %s\n%s", c.Name, what, m)
			}
		}
		same("outlined")
		inlineAll(t, m)
		same("inlined")
	})
	require.Positive(t, outlined)
}

// stateOfItsOwn copies a module with the values of its buffers.
func stateOfItsOwn(m *graph.Module) *graph.Module {
	c := graph.Clone(m)
	for _, p := range c.Params() {
		q := *p
		if q.Value != nil {
			q.Value = array.Clone(q.Value)
		}
		c.SetParam(q)
	}
	return c
}

// TestOutlineCapturesSizes outlines a node of a body that speaks of a size which only
// the graph around has: the body captures a value with that size.
func TestOutlineCapturesSizes(t *testing.T) {
	text := `
graph g(%p: bool[], %x: f32[N], %y: f32[M,2]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%y, 0)
  %c = call_function[cond](%p, %y) : (f32[M,2]) {
    region yes(%a: f32[M,2]) {
      %s = call_function[scan](%a, %a) {carry=1, seqs=1} : (f32[M,2]) {
        region body(%t: f32[M,2], %row: f32[2]) {
          %z = call_function[ones]() {size=[N,2]} : f32[N,2]
          %k = call_function[sum](%z) {dim=[0]} : f32[2]
          %r = call_function[add](%t, %k) : f32[M,2]
          return (%r)
        }
      }
      %s0 = call_function[getitem](%s) {index=0} : f32[M,2]
      return (%s0)
    }
    region no(%a: f32[M,2]) {
      return (%a)
    }
  }
  %c0 = call_function[getitem](%c) {index=0} : f32[M,2]
  return %c0
}
`
	m := read(t, text)
	c := m.Graph.Find("c")
	body := c.Regions()[0].Find("s").Regions()[0]
	call, err := graph.Outline("part", []*graph.Node{body.Find("z"), body.Find("k")})
	require.NoError(t, err)
	require.NoError(t, graph.Lint(m.Graph).Err(), "%s", m)
	require.Len(t, call.Args(), 1)
	require.Equal(t, 3, c.NumArgs(), "x goes on through both bodies")
	in := []*array.Array{array.Scalar(true), array.New(array.F32, 5), array.New(array.F32, 3, 2)}
	require.Empty(t, fxtest.SameArrays(interpret(t, read(t, text), in), interpret(t, m, in)))

	m = read(t, text)
	body = m.Graph.Find("c").Regions()[0].Find("s").Regions()[0]
	body.Find("z").SetType(shape.TensorType(array.F32, shape.Of(shape.Sym("N"), shape.Sym("Q"))))
	before := m.String()
	_, err = graph.Outline("part", []*graph.Node{body.Find("z"), body.Find("k")})
	require.ErrorIs(t, err, graph.BadOutline)
	require.ErrorContains(t, err, "the size Q")
	require.Equal(t, before, m.String(), "what was captured is released")
}
