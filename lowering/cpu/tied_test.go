package cpu_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// TestOneValueIsTwoOperands calls operators with one input, and with one weight, as two operands.
func TestOneValueIsTwoOperands(t *testing.T) {
	tied := 0
	for _, o := range op.All() {
		if o.Structural() || o.AdHoc {
			continue
		}
		t.Run(o.Key(), func(t *testing.T) {
			samples := o.Samples()
			for _, s := range samples[:min(len(samples), 4)] {
				for j := range s.In {
					for i := range j {
						if s.In[i] == nil || s.In[j] == nil || !shape.TypeOf(s.In[i]).Same(shape.TypeOf(s.In[j])) {
							continue
						}
						in := slices.Clone(s.In)
						in[j] = in[i]
						want, err := o.Eval(&kernel.Workspace{}, s.Attrs, in)
						if err != nil {
							continue // an index out of range, say
						}
						tied++
						name := s.Name + ", operand " + strconv.Itoa(j) + " is " + strconv.Itoa(i)
						for _, weight := range []bool{false, true} {
							m, given := together(t, o, s.Attrs, in, i, j, weight)
							agrees(t, name, m, want, given)
						}
					}
				}
			}
		})
	}
	require.Greater(t, tied, 300)
}

// together returns a module of one call whose operands i and j are one value, a weight or an input.
func together(t *testing.T, o *op.Op, attrs any, in []*array.Array, i, j int, weight bool) (m *graph.Module, given []*array.Array) {
	g := graph.New("one")
	m = graph.NewModule(g)
	c := g.At()
	c.OnError = func(err error) { require.NoError(t, err) }
	args := make([]*graph.Node, len(in))
	for k, a := range in {
		if a != nil && k != j && !(weight && k == i) {
			args[k] = c.Placeholder("x"+strconv.Itoa(k), shape.TypeOf(a), nil)
			given = append(given, a)
		}
	}
	if weight {
		m.SetParam(graph.Param{Path: "w", Value: in[i]})
		args[i] = c.GetAttr("w")
	}
	args[j] = args[i]
	call := c.Function(o, attrs, args...)
	n, tuple := o.NumResults(attrs)
	if !tuple {
		c.Output(nil, call)
		return m, given
	}
	s := &graph.Structure{Kind: graph.Results}
	var items []*graph.Node
	for k := range n {
		items = append(items, c.ItemNode(call, k))
		s.Fields = append(s.Fields, graph.Leaf(k))
	}
	c.Output(s, items...)
	return m, given
}
