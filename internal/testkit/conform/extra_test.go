package conform

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/conform/userop"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/partition"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// extra is a graph that generated code runs besides samples and cases.
type extra struct {
	name   string
	m      *graph.Module
	inputs [][]*array.Array
	near   bool // products of packed weights round otherwise
}

// randomPackages is how many random graphs are printed and built in each style.
const randomPackages = 10

func extras(t testing.TB) []extra {
	t.Helper()
	all := []extra{elementTypes(), userOperators(t)}
	random := rapid.Custom(fxtest.RandomGraph)
	for i := range randomPackages {
		e := extra{name: fmt.Sprintf("random%d", i), m: random.Example(1000 + i)}
		for _, n := range []int{1, 4} {
			in, err := passes.Inputs(e.m.Graph, map[string]int{"N": n}, uint64(n))
			require.NoError(t, err)
			e.inputs = append(e.inputs, in)
		}
		all = append(all, e)
	}
	for i := range partedPackages {
		all = append(all, parted(t, i))
	}
	return append(all, partedBert(t))
}

// partedBert is a small encoder whose products and the operators next to them are parts.
func partedBert(t testing.TB) extra {
	model := models.NewBert(models.BertConfig{VocabSize: 11, MaxPositions: 6, TypeVocabSize: 2, HiddenSize: 8, NumLayers: 2,
		NumHeads: 2, IntermediateSize: 16, LayerNormEps: 1e-12})
	gm, err := fx.Trace(ctx, model, fx.Input("input_ids", "i64[N,S]"), fx.Input("attention_mask", "i64[N,S]"))
	require.NoError(t, err)
	var g op.Gen
	for _, p := range gm.Params() {
		array.Copy(p.Value, g.Normal(p.Value.Shape()...))
	}
	p, err := partition.Propose(gm.Graph, func(n *graph.Node) (bool, string) {
		return n.Op().Class == op.Contraction || n.Op() == std.Add || n.Op() == std.Reshape, "no product"
	}, partition.Options{})
	require.NoError(t, err)
	require.Greater(t, len(p.Parts), 4)
	_, err = partition.Fuse(gm.Module, p.Parts...)
	require.NoError(t, err)
	ids, mask := array.FromSlice([]int64{1, 5, 9, 0, 2, 10}, 2, 3), array.FromSlice([]int64{1, 1, 1, 1, 1, 0}, 2, 3)
	return extra{"partedbert", gm.Module, [][]*array.Array{{ids, mask}}, true}
}

// partedPackages is how many random graphs are cut into parts.
const partedPackages = 6

// parted is a random graph of which about half of the calls are in sub-graphs.
func parted(t testing.TB, i int) extra {
	e := extra{name: fmt.Sprintf("parted%d", i), m: rapid.Custom(fxtest.RandomGraph).Example(2000 + i)}
	p, err := partition.Propose(e.m.Graph, func(n *graph.Node) (bool, string) {
		return (len(n.Name())+i)%2 == 0, "the other half"
	}, partition.Options{})
	require.NoError(t, err)
	_, err = partition.Fuse(e.m, p.Parts...)
	require.NoError(t, err)
	for _, n := range []int{1, 4} {
		in, err := passes.Inputs(e.m.Graph, map[string]int{"N": n}, uint64(n))
		require.NoError(t, err)
		e.inputs = append(e.inputs, in)
	}
	return e
}

// elementTypes has an input and a result of every element type.
func elementTypes() extra {
	g := graph.New("types")
	e := extra{name: "types", m: graph.NewModule(g), inputs: make([][]*array.Array, 2)}
	c := g.At()
	var gen op.Gen
	var in, out []*graph.Node
	s := &graph.Structure{Kind: graph.Results}
	for i, d := range append(array.DTypes(), array.NarrowDTypes()...) {
		x := c.Placeholder("x_"+d.String(), shape.TensorType(d, shape.Of(shape.Sym("N"), shape.Const(2))), nil)
		if i == 0 {
			g.DefineSymbol("N", x, 0)
		}
		in = append(in, x)
		s.Fields = append(s.Fields, graph.Leaf(i))
		for k := range e.inputs {
			e.inputs[k] = append(e.inputs[k], array.Cast(gen.Int(100, k*3, 2), d))
		}
	}
	for _, x := range in {
		out = append(out, c.Function(std.Flip, tensor.FlipAttrs{Dims: tensor.Ints(0)}, x))
	}
	c.Output(s, out...)
	return e
}

// userOperators calls operators of another package, each defined by one line.
func userOperators(t testing.TB) extra {
	t.Helper()
	gm, err := fx.Trace(ctx, func(x, y *tensor.Tensor) *tensor.Tensor {
		return tensor.CallOp(userop.Hypot, nil, tensor.CallOp(userop.Swoosh, nil, x), y)
	}, fx.Input("x", "f32[N,4]"), fx.Input("y", "f32[4]"))
	require.NoError(t, err)
	var g op.Gen
	return extra{"userop", gm.Module, [][]*array.Array{{g.Normal(3, 4), g.Normal(4)}}, false}
}

func addExtras(t *testing.T, p *program, engine string, generate generator) (checks []func(*testing.T, map[string][]*array.Array)) {
	for _, e := range extras(t) {
		pkg := engine + e.name
		files, err := generate(e.m, pkg)
		require.NoError(t, err, "%s\n%s", pkg, e.m)
		p.add(pkg, files, e.inputs...)
		checks = append(checks, func(t *testing.T, got map[string][]*array.Array) {
			for k, in := range e.inputs {
				want, err := fx.NewGraphModule(e.m).Run(ctx, tensors(in)...)
				require.NoError(t, err)
				same := fxtest.Same
				if e.near {
					same = fxtest.Close
				}
				same(t, fmt.Sprintf("%s, inputs %d\n%s", pkg, k, e.m), arrays(want), got[fmt.Sprintf("%s/%d", pkg, k)])
			}
		})
	}
	return checks
}
