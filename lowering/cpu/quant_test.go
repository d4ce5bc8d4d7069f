package cpu_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// stored is a call of an operator whose first operand is the input and whose others
// are parameters.
func stored(t *testing.T, o *op.Op, s op.Sample) *graph.Module {
	t.Helper()
	g := graph.New("stored")
	m := graph.NewModule(g)
	c := g.At()
	x := c.Placeholder("x", shape.TypeOf(s.In[0]), nil)
	in := []*graph.Node{x}
	for i, a := range s.In[1:] {
		if a == nil {
			in = append(in, nil)
			continue
		}
		path := "p" + strconv.Itoa(i)
		m.SetParam(graph.Param{Path: path, Value: a})
		in = append(in, c.GetAttr(path))
	}
	y := c.Function(o, s.Attrs, in...)
	results := []*graph.Node{y}
	if y.Type().Kind() == shape.Tuple {
		results = nil
		for i := range y.Type().Len() {
			results = append(results, c.ItemNode(y, i))
		}
	}
	c.Output(nil, results...)
	require.Empty(t, graph.Lint(g))
	return m
}

// TestQuantisedWeightsArePacked runs the samples of operators with quantised weights
// as layers: weights are packed once, and the bits are those of the operator.
func TestQuantisedWeightsArePacked(t *testing.T) {
	packs := map[*op.Op]string{std.QLinear: "QPackLinear", std.QMatmul: "QPackLinear", std.QConv1d: "QPackConv", std.QConv2d: "QPackConv",
		std.QConv3d: "QPackConv", std.Int4Linear: "PackInt4", std.QLstm: "QPackLinear", std.QGru: "QPackLinear"}
	for o, pack := range packs {
		for _, s := range o.Samples() {
			what := o.Name + ": " + s.Name
			want, err := o.Eval(&kernel.Workspace{}, s.Attrs, s.In)
			require.NoError(t, err, what)
			m := stored(t, o, s)
			if o != std.QMatmul || s.In[3].Rank() == 2 {
				ready, err := lowering.Prepare(m, lowering.Options{})
				require.NoError(t, err, what)
				p, err := cpu.Plan(ready, lowering.Options{})
				require.NoError(t, err, what)
				if a, ok := s.Attrs.(std.Int4LinearAttrs); !ok || s.In[0].Dim(-1)%a.Group != 0 {
					require.Contains(t, p.String(), pack, what)
				} else { // whole groups are read as they are
					require.NotContains(t, p.String(), pack, what)
				}
			}
			e, err := cpu.Compile(m, lowering.Options{})
			require.NoError(t, err, what)
			for range 2 {
				got, err := e.Run(context.Background(), []*array.Array{s.In[0]})
				require.NoError(t, err, what)
				for i := range want {
					require.Equal(t, array.Bytes(want[i]), array.Bytes(got[i]), what)
				}
			}
			require.NoError(t, e.Close())
		}
	}
}
