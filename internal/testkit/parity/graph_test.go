package parity

import (
	"context"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/draw"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

func init() { area("2.2", graphRows, lintRows) }

var graphRows = []row{
	{id: "41", input: "a graph made by a cursor alone", outcome: "it runs", on: in(graph.New, (*graph.Cursor).Placeholder, (*graph.Cursor).Function, (*graph.Cursor).Output, graph.NewModule), test: func(t *testing.T) {
		g := graph.New("built")
		c := g.At()
		x := c.Placeholder("x", pair, nil)
		c.Output(nil, c.Function(std.Neg, nil, x))
		require.Equal(t, []float32{-1, 2}, values(t, graph.NewModule(g), vector(1, -2)))
	}},
	{id: "42b", input: "nodes called `func`, `len`, `range`, `true`, printed as Go", outcome: "the source parses", on: in(codegen.Module), test: func(t *testing.T) {
		m := parse(t, chain)
		for i, n := range []string{"x", "a", "b", "c"} {
			m.Graph.Find(n).Rename([]string{"func", "len", "range", "true"}[i])
		}
		files, err := codegen.Module(m, codegen.ModuleOptions{Package: "p"})
		require.NoError(t, err)
		source := false
		for _, f := range files.List {
			if strings.HasSuffix(f.Name, ".go") {
				_, err := parser.ParseFile(token.NewFileSet(), f.Name, f.Data, 0)
				require.NoError(t, err)
				source = true
			}
		}
		require.True(t, source)
	}},
	{id: "52a", input: "a copy of 100,000 calls in a row", outcome: "no limit of depth; both graphs are equal", on: in((*graph.Graph).Clone), test: func(t *testing.T) {
		g := graph.New("long")
		n := g.At().Placeholder("x", pair, nil)
		for range 100_000 {
			n = g.At().Function(std.Neg, nil, n)
		}
		g.At().Output(nil, n)
		c := g.Clone()
		require.Equal(t, g.Len(), c.Len())
		equal, diff := graph.Equal(g, c)
		require.True(t, equal, diff)
	}},
	{id: "52b", input: "a copy edited, then the original", outcome: "neither sees the other's edits", on: in(graph.Clone), test: func(t *testing.T) {
		m := parse(t, chain)
		c := graph.Clone(m)
		text := m.String()
		require.Equal(t, text, c.String())
		c.Graph.Find("c").SetArg(0, c.Graph.Find("x"))
		require.Equal(t, text, m.String())
		require.NoError(t, m.Graph.Erase(m.Graph.Output()))
		require.NotNil(t, c.Graph.Output())
	}},
	{id: "53", input: "a copy of a module with a leaf and parameters", outcome: "it has the leaf, the tensors and the Go type", on: in(graph.Clone), test: func(t *testing.T) {
		m := linear(t)
		m.Type = "example.com/net.Net"
		c := graph.Clone(m)
		equal, diff := graph.EqualModules(m, c)
		require.True(t, equal, diff)
		require.Equal(t, values(t, m, tensor.Ones(1, 2)), values(t, c, tensor.Ones(1, 2)))
	}},
	{id: "59b", input: "`draw.Table` of a graph", outcome: "a line for each node: opcode, name, target, operands", on: in(draw.Table), test: func(t *testing.T) {
		lines := strings.Split(strings.TrimSpace(draw.Table(linear(t))), "\n")
		found := false
		for _, l := range lines {
			found = found || strings.Contains(l, "call_module") && strings.Contains(l, "fc")
		}
		require.True(t, found, lines)
	}},
	{id: "59c", input: "`String` of a graph and of a module", outcome: "the text form, which parses to the same", on: in((*graph.Graph).String, graph.Print, graph.Parse), test: func(t *testing.T) {
		m := linear(t)
		require.Contains(t, m.Graph.String(), "%fc = call_module[fc](%x) : f32[N,2]")
		again, err := graph.Parse([]byte(graph.Print(m, graph.PrintOptions{Positions: true})), "again.fx")
		require.NoError(t, err)
		equal, diff := graph.EqualModules(m, again)
		require.True(t, equal, diff)
	}},
	{id: "62", input: "a module saved and loaded", outcome: "types, positions and scopes are there", on: in(graph.Save, graph.Load), test: func(t *testing.T) {
		m, dir := linear(t), t.TempDir()
		require.NoError(t, graph.Save(dir, m))
		again, err := graph.Load(dir)
		require.NoError(t, err)
		fc := again.Graph.Find("fc")
		require.Equal(t, "f32[N,2]", fc.Type().String())
		require.Equal(t, 41, fc.Pos().Line)
		require.Equal(t, graph.Scope{Path: "fc", Type: "nn.Linear"}, fc.Scope())
	}},
	{id: "65", input: "a model that returns a struct, captured, copied and printed", outcome: "the names of the fields are there", on: in(fx.Trace, graph.Clone), test: func(t *testing.T) {
		type result struct{ Logits, Hidden *tensor.Tensor }
		gm, err := fx.Trace(context.Background(), func(x *tensor.Tensor) result { return result{x.Neg(), x} }, fx.Input("x", "f32[2]"))
		require.NoError(t, err)
		out := graph.Clone(gm.Module).Graph.Output()
		require.Equal(t, []string{"Logits", "Hidden"}, out.Structure().Keys)
		require.Contains(t, out.Text(), "{Logits: %neg, Hidden: %x}")
	}},
	{id: "44d", input: "a value used before it is made; two values that need each other", outcome: "`Sort` moves the one node that must; the cycle is named with its path, nothing moves", on: in((*graph.Graph).Sort), test: func(t *testing.T) {
		g := parse(t, chain).Graph
		n := g.Before(g.Output()).Function(std.Neg, nil, g.Find("x"))
		g.Find("a").SetArg(0, n)
		moved, err := g.Sort()
		require.NoError(t, err)
		require.Equal(t, 1, moved)
		require.Equal(t, "x neg a b c output", order(g))
		n.SetArg(0, g.Find("b"))
		_, err = g.Sort()
		require.ErrorIs(t, err, graph.CyclicGraph)
		require.ErrorContains(t, err, "%neg needs %b needs %a needs %neg")
		require.Equal(t, "x neg a b c output", order(g))
	}},
	{id: "44e", input: "edits, then an error, a panic, or a graph that is broken", outcome: "the module and its nodes are what they were", on: in(graph.Edit), test: func(t *testing.T) {
		m := linear(t)
		text, first := m.String(), m.Graph.First()
		edits := func(then func(g *graph.Graph) error) error {
			return graph.Edit(m, func(g *graph.Graph) error {
				y := g.Find("y")
				y.ReplaceUses(g.Find("fc"), nil)
				require.NoError(t, g.Erase(y))
				m.DropUnused()
				return then(g)
			})
		}
		require.Error(t, edits(func(g *graph.Graph) error { return g.Erase(g.First()) }))
		require.Error(t, edits(func(*graph.Graph) error { panic("oh") }))
		require.ErrorIs(t, edits(func(g *graph.Graph) error { return g.Erase(g.Output()) }), graph.EditBroke)
		require.Equal(t, text, m.String())
		require.True(t, first == m.Graph.First())
		require.NoError(t, edits(func(*graph.Graph) error { return nil }))
		require.Nil(t, m.Param("spare"))
	}},
}

// faults are the ways of breaking a graph that Lint finds, each by the code given.
func fault(code diag.Code, breaks func(m *graph.Module)) func(t *testing.T) {
	return func(t *testing.T) {
		m := linear(t)
		require.Empty(t, graph.Lint(m.Graph))
		l := graph.NewLinter(m.Graph)
		defer l.Close()
		require.Empty(t, l.Check())
		breaks(m)
		require.True(t, graph.Lint(m.Graph).Is(code), "%v", graph.Lint(m.Graph))
		require.Equal(t, graph.Lint(m.Graph), l.Check())
	}
}

var lintRows = []row{
	{id: "55a", input: "an operand of another graph", outcome: "FX3005", on: in(graph.Lint, (*graph.Linter).Check), test: fault(graph.ForeignNode, func(m *graph.Module) {
		m.Graph.Find("y").SetArg(0, graph.New("other").At().Placeholder("z", pair, nil))
	})},
	{id: "55b", input: "an operand that has been erased", outcome: "FX3005", on: in(graph.Lint, (*graph.Linter).Check), test: fault(graph.ForeignNode, func(m *graph.Module) {
		n := m.Graph.Before(m.Graph.Output()).Function(std.Neg, nil, m.Graph.Find("x"))
		_ = m.Graph.Erase(n)
		m.Graph.Find("y").SetArg(0, n)
	})},
	{id: "55c", input: "a value used before it is made", outcome: "FX3004", on: in(graph.Lint, (*graph.Linter).Check), test: fault(graph.BrokenOrder, func(m *graph.Module) {
		m.Graph.Find("fc").SetArg(0, m.Graph.Find("y"))
	})},
	{id: "55d", input: "a parameter that is not in the module", outcome: "FX3011", on: in(graph.Lint, (*graph.Linter).Check), test: fault(graph.MissingParam, func(m *graph.Module) {
		m.Graph.Before(m.Graph.Output()).GetAttr("none")
	})},
	{id: "55e", input: "a leaf that is not in the module", outcome: "FX3012", on: in(graph.Lint, (*graph.Linter).Check), test: fault(graph.MissingModule, func(m *graph.Module) {
		m.Graph.Find("fc").SetModule("none")
	})},
	{id: "55f", input: "no output; a second one; a node after it", outcome: "FX3002, FX3007", on: in(graph.Lint, (*graph.Linter).Check), test: func(t *testing.T) {
		fault(graph.NoOutput, func(m *graph.Module) { _ = m.Graph.Erase(m.Graph.Output()) })(t)
		fault(graph.OutputPlace, func(m *graph.Module) { m.Graph.At().Output(nil, m.Graph.Find("x")) })(t)
		fault(graph.OutputPlace, func(m *graph.Module) { m.Graph.At().Function(std.Neg, nil, m.Graph.Find("x")) })(t)
	}},
	{id: "55g", input: "an input after a call", outcome: "FX3006", on: in(graph.Lint, (*graph.Linter).Check), test: fault(graph.LatePlaceholder, func(m *graph.Module) {
		m.Graph.Before(m.Graph.Output()).Placeholder("late", pair, nil)
	})},
	{id: "55h", input: "a type that the operands do not give; a required operand taken away", outcome: "FX3015, FX3019", on: in(graph.Lint, (*graph.Linter).Check), test: func(t *testing.T) {
		fault(graph.TypeDisagrees, func(m *graph.Module) { m.Graph.Find("y").SetType(pair) })(t)
		fault(graph.BadOperandCount, func(m *graph.Module) { m.Graph.Find("y").SetArg(0, nil) })(t)
	}},
	{id: "55i", input: "a size that nothing defines", outcome: "FX3013", on: in(graph.Lint, (*graph.Linter).Check), test: fault(graph.UndefinedSymbol, func(m *graph.Module) {
		m.Graph.Find("y").SetType(shape.TensorType(pair.DType(), shape.Of(shape.Sym("Q"), shape.Const(2))))
	})},
	{id: "55j", input: "two nodes with one name", none: "names are made unique by every method that sets one; a text with two is refused when it is read"},
}
