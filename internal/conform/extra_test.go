package conform

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/conform/userop"
	"github.com/gofx-dev/gofx/internal/fxtest"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// extra is a graph that generated code runs besides samples and cases.
type extra struct {
	name   string
	m      *graph.Module
	inputs [][]*array.Array
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
	return all
}

// elementTypes has an input and a result of every element type.
func elementTypes() extra {
	g := graph.New("types")
	e := extra{name: "types", m: graph.NewModule(g), inputs: make([][]*array.Array, 2)}
	c := g.At()
	var gen op.Gen
	var in, out []*graph.Node
	s := &graph.Structure{Kind: graph.Results}
	for i, d := range array.DTypes() {
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
		out = append(out, c.Function(std.Flip, std.FlipAttrs{Dims: op.IntList(0)}, x))
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
	return extra{"userop", gm.Module, [][]*array.Array{{g.Normal(3, 4), g.Normal(4)}}}
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
				fxtest.Same(t, fmt.Sprintf("%s, inputs %d\n%s", pkg, k, e.m), arrays(want), got[fmt.Sprintf("%s/%d", pkg, k)])
			}
		})
	}
	return checks
}
