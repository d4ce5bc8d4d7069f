package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

const replaceable = `graph net(%x: f32[N,4], %y: f32[M,4], %i: i64[N], %p: bool[]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%y, 0)
  %fc = call_module[block.fc](%x) : f32[N,4] in "block" at "net.go:7"
  %act = call_module[block.act](%fc) : f32[N,4] in "block" at "net.go:8"
  %exp = call_method[exp](%act) : f32[N,4] in "block" at "net.go:9"
  %big = call_function[nonzero](%i) : i64[K,1]
  symbol K = dim(%big, 0)
  %mul = call_function[mul](%exp, %act)
  %cond = call_function[cond](%p, %mul) {
    region a(%q: f32[N,4]) {
      %neg = call_function[neg](%q)
      return %neg
    }
    region b(%q: f32[N,4]) {
      return %q
    }
  }
  return %cond, %big
}
param block.fc.weight : f32[4,4]
module block.fc = linear (weight=block.fc.weight, bias=_)
module block.act = relu ()
`

func replaceableGraph(t *testing.T) *graph.Graph {
	text := replaceable
	m, err := graph.Parse([]byte("gofx 1\n\n"+text), "net.fx")
	require.NoError(t, err)
	return m.Graph
}

func TestReplaceWith_keepsTheGraphWhole(t *testing.T) {
	g := replaceableGraph(t)
	replace := func(name string, o *op.Op, attrs ...any) *graph.Node {
		old := g.Find(name)
		if old == nil {
			old = g.Find("cond").Regions()[0].Find(name)
		}
		pos, uses := old.Pos(), old.NumUses()
		by, err := old.ReplaceWith(o, attrs...)
		require.NoError(t, err)
		require.True(t, old.Erased())
		require.Equal(t, pos, by.Pos())
		require.Equal(t, uses, by.NumUses())
		require.Same(t, o, by.Op())
		return by
	}
	require.Equal(t, graph.CallMethod, replace("exp", std.Tanh).Opcode())
	act := replace("act", std.Gelu, std.GeluAttrs{Approximate: "tanh"})
	require.Equal(t, graph.CallFunction, act.Opcode())
	require.Equal(t, "block.act", act.Scope().Path)
	replace("mul", std.Add)
	replace("neg", std.Exp)
	require.Empty(t, graph.Lint(g))

	fc := replace("fc", std.Matmul)
	require.Equal(t, "block.fc.weight", fc.Arg(1).Target())
	require.Equal(t, "block.fc", fc.Scope().Path)
	require.Empty(t, graph.Lint(g), g.String())
}

func TestReplaceWith_refusesWhatWouldBreakTheGraph(t *testing.T) {
	unit := op.NewAdHoc("example.com/replace", "unit", op.Args("x"), false, false, nil, op.Declared{})
	for name, c := range map[string]struct {
		node  string
		o     *op.Op
		attrs []any
		code  diag.Code
		msg   string
	}{
		"an input":             {"x", std.Relu, nil, graph.BadReplace, "%x calls no known operator"},
		"no operator":          {"exp", nil, nil, graph.BadReplace, "the new operator is nil"},
		"control flow":         {"cond", std.Relu, nil, graph.BadReplace, "cond and relu are not both ordinary operators: make the new call with a Cursor"},
		"another type":         {"exp", std.Sum, nil, graph.BadReplace, "sum gives f32[], expected f32[N,4] as its users do"},
		"another element type": {"exp", std.Isnan, nil, graph.BadReplace, "isnan gives bool[N,4], expected f32[N,4] as its users do"},
		"too few operands":     {"exp", std.Add, nil, op.OperandCount, ""},
		"too many operands":    {"mul", std.Exp, nil, op.OperandCount, ""},
		"wrong operands":       {"exp", std.BitwiseNot, nil, op.DTypeMismatch, ""},
		"wrong attributes":     {"exp", std.Gelu, []any{std.TransposeAttrs{}}, op.BadAttr, ""},
		"several attributes":   {"exp", std.Gelu, []any{std.GeluAttrs{}, std.GeluAttrs{}}, op.BadAttr, "several attribute structs are given, expected at most one"},
		"less is known":        {"big", std.Isnan, nil, graph.BadReplace, ""},
		"a view":               {"exp", std.Transpose, []any{std.TransposeAttrs{Dim0: 0, Dim1: 0}}, graph.BadReplace, ""},
		"effects":              {"exp", unit, nil, graph.BadReplace, "unit has other effects than exp"},
	} {
		t.Run(name, func(t *testing.T) {
			g := replaceableGraph(t)
			before := g.Module().String()
			_, err := g.Find(c.node).ReplaceWith(c.o, c.attrs...)
			var e *diag.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.code, e.Code, e)
			if c.msg != "" {
				require.Equal(t, c.msg, e.Msg)
			}
			require.Equal(t, c.node, e.Node)
			require.Equal(t, g.Find(c.node).Pos(), e.Pos)
			require.Equal(t, before, g.Module().String())
		})
	}
	n := replaceableGraph(t).Find("exp")
	_, err := n.ReplaceWith(std.Tanh)
	require.NoError(t, err)
	_, err = n.ReplaceWith(std.Tanh)
	require.ErrorContains(t, err, "%exp has been erased")
}

// What the operator needs of sizes becomes a guard, unless the graph relies on the contrary.
func TestReplaceWith_relatesSizes(t *testing.T) {
	g := replaceableGraph(t)
	_, err := g.Find("mul").ReplaceWith(std.Matmul)
	require.NoError(t, err)
	require.Equal(t, "4 == N", g.Guards()[0].Relation.String())
	require.Empty(t, graph.Lint(g))

	g = replaceableGraph(t)
	g.AddGuard(shape.Sym("N"), shape.Const(5), nil)
	before := g.Module().String()
	_, err = g.Find("mul").ReplaceWith(std.Matmul)
	require.Error(t, err)
	require.Equal(t, before, g.Module().String())
}
