package graphtable_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen/graphtable"
	"github.com/gofx-dev/gofx/codegen/kernelstyle"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/lowering/generated"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/tensor"
)

// recorded are the graphs of a small program with sizes that differ, and their plans.
func recorded(t *testing.T) (*generated.Graphs, []graphtable.Planned) {
	s := lazy.New(lazy.Options{Record: true})
	defer func() { require.NoError(t, s.Close()) }()
	for n := range 4 {
		s.In(tensor.Ones(n + 2)).MulScalar(float64(n) + 2).Exp().Sum().Item()
	}
	g, modules := s.Recorded()
	var plans []graphtable.Planned
	for _, m := range modules {
		o := lowering.Options{Exact: true}
		ready, err := lowering.Prepare(m, o)
		require.NoError(t, err)
		p, err := cpu.Plan(ready, o)
		require.NoError(t, err)
		plans = append(plans, graphtable.Planned{Plan: p, State: ready.Values()})
	}
	return g, plans
}

// A graph that updates a parameter in its memory prints so, and the table says where.
func TestPrint_updates(t *testing.T) {
	s := lazy.New(lazy.Options{Record: true, Donate: true, Synchronous: true})
	defer func() { require.NoError(t, s.Close()) }()
	w := tensor.Param(array.FromSlice([]float32{1, 2, 3}))
	for range 4 {
		w.SubInPlace(s.In(tensor.Ones(3)).Mul(w).MulScalar(0.5))
		require.NoError(t, s.Barrier())
	}
	g, modules := s.Recorded()
	require.Len(t, g.List, 1)
	require.Equal(t, []lowering.Into{{Result: 0, Input: 0}}, g.List[0].Into)
	o := lowering.Options{Exact: true, Into: g.List[0].Into}
	ready, err := lowering.Prepare(modules[0], o)
	require.NoError(t, err)
	p, err := cpu.Plan(ready, o)
	require.NoError(t, err)
	files, left, err := graphtable.Print(g, []graphtable.Planned{{Plan: p, State: ready.Values()}}, graphtable.Options{})
	require.NoError(t, err)
	require.Empty(t, left)
	require.Regexp(t, `Into: +\[\]lowering.Into\{\{\s*Input: +0,\s*Result: +0,?\s*\}\}`, string(files.Get(graphtable.File)))
	code := string(files.Get("graph1.go"))
	require.Contains(t, code, `c.Updated("x0", x0, x1)`)
	require.Contains(t, code, ".Storage().Bump()")
	require.Regexp(t, `func \(m \*Graph1\) ForwardInto\(ctx context.Context, x0, x1 array.Dense\[float32\]\)`, code)
}

// texts are the constants of a table, by name.
func texts(t *testing.T, file []byte) map[string]string {
	f, err := parser.ParseFile(token.NewFileSet(), graphtable.File, file, parser.ParseComments)
	require.NoError(t, err)
	found := map[string]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 {
			if l, ok := v.Values[0].(*ast.BasicLit); ok && l.Kind == token.STRING {
				text, err := strconv.Unquote(l.Value)
				require.NoError(t, err)
				found[v.Names[0].Name] = text
			}
		}
		return true
	})
	return found
}

func TestPrint(t *testing.T) {
	g, plans := recorded(t)
	require.Len(t, g.List, 3)
	g.List[1].Text += "`\r\x00é" // as a text with names of other people may have
	files, left, err := graphtable.Print(g, plans, graphtable.Options{})
	require.NoError(t, err)
	require.Empty(t, left)
	found := texts(t, files.Get(graphtable.File))
	for i, name := range []string{"graph1Text", "graph2Text", "graph3Text"} {
		require.Equal(t, g.List[i].Text, found[name])
	}
	require.Regexp(t, `Numbers: +\[\]int\{0\},\n\t+Sizes: +\[\]\[\]int\{\{2\}, \{3\}, \{4\}, \{5\}\}`, string(files.Get(graphtable.File)))
	require.Contains(t, string(files.Get("graph3.go")), "func NewGraph3(find func(name string) (*array.Array, error), pack func(kernel.Packer, *array.Array) *array.Array, threads int) (*Graph3, error)")

	again, _, err := graphtable.Print(g, plans, graphtable.Options{})
	require.NoError(t, err)
	require.Equal(t, files, again)
	ejected, _, err := graphtable.Print(g, plans, graphtable.Options{Eject: true, Package: "mine"})
	require.NoError(t, err)
	require.NotContains(t, string(ejected.Get(graphtable.File)), "DO NOT EDIT")
	require.Contains(t, string(ejected.Get(graphtable.File)), "package mine")
}

// A graph that cannot be printed is left out of the table.
func TestPrint_leavesOut(t *testing.T) {
	g, plans := recorded(t)
	plans[1].Plan = &plan.Plan{}
	files, left, err := graphtable.Print(g, plans, graphtable.Options{})
	require.NoError(t, err)
	require.Len(t, left, 1)
	require.ErrorIs(t, left[1], kernelstyle.CodeResults)
	require.NotContains(t, texts(t, files.Get(graphtable.File)), "graph2Text")
	require.Nil(t, files.Get("graph2.go"))
	_, _, err = graphtable.Print(g, plans[:1], graphtable.Options{})
	require.ErrorIs(t, err, diag.Internal)
}
