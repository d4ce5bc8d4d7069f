package graph_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

type labelAttrs struct {
	Label string
	Count int
}

// label has an attribute that is any string.
var label = op.Define("label", op.Spec[labelAttrs]{Doc: "label returns x.", In: op.Args("x"),
	Infer:  func(_ *op.Infer, _ labelAttrs, in []shape.Type) (shape.Type, error) { return in[0], nil },
	Kernel: func(labelAttrs, []shape.Type) kernel.Step { return &kernel.Copy{} }})

// awkward are texts that mean something to the text form, or to a part of it.
var awkward = []string{"a\\", "\\", `C:\dir\`, "dir/", "/", "//", "a//b", "a //b", "a // b {", "\"", "\\\"", "`", "'", "\n", "a\nb", "\r", "\r\n", "\t", " ", "", " a ", "\x00", "\xff", "a\xc3", "\u2028",
	"\ufeff", "\ufffd", "{", "}", "(", "]", "%x", "_", "nil", "struct", "map", "in", "at", "return", "graph", "region", "live", "buffer", "selector", "type", "x:1", "x:1:2", "x:", ":1", "x:-1",
	"x:99999999999999999999", "a:1\\", "1", "-", "+", "~", "@", "$", ".", "a=b", "a,b", "N", "é", "日本", "\U0010ffff", "true", "array", "opaque", "?", "#", "a;b", "*/", "/*"}

// anyText returns arbitrary bytes, or an awkward text.
func anyText(r *rand.Rand) string {
	if r.IntN(2) == 0 {
		return awkward[r.IntN(len(awkward))]
	}
	b := make([]byte, r.IntN(12))
	for i := range b {
		b[i] = byte(r.IntN(256))
		if r.IntN(3) == 0 {
			b[i] = "\\/:\"%_.- {}\n\r\t"[r.IntN(14)]
		}
	}
	return string(b)
}

// anyModule has such texts wherever a text can be. next returns them.
func anyModule(next func() string) *graph.Module {
	some := func() string { return next() + "x" } // where an empty text means absence
	g := graph.New(next())
	m := graph.NewModule(g)
	m.Type = next()
	t := shape.TensorType(array.F32, shape.ConstDims(2))
	param, buffer, leaf := some(), "b"+some(), some()
	m.SetParam(graph.Param{Path: param, Type: t, Selector: next()})
	m.SetParam(graph.Param{Path: buffer, Type: t, Buffer: true, Selector: next()})
	m.SetBound(leaf, graph.Bound{Op: label, Attrs: labelAttrs{Label: next()}, Type: next(), Selector: next()})
	m.SetBound(leaf+"2", graph.Bound{Op: label, Attrs: labelAttrs{}, Params: []string{param}, Names: []string{some()}})
	at := func() *graph.Cursor {
		c := g.At()
		c.SetScope(g.Scope(graph.Scope{Path: next(), Type: next()}))
		return c
	}
	x := at().Placeholder(next(), t, next())
	y := at().Placeholder(next(), t, nil)
	a := at().Function(label, labelAttrs{Label: next(), Count: 3}, x)
	b := at().GetAttr(param)
	c := at().Module(leaf, y)
	d := at().Module(leaf + "2")
	at().GetAttr(buffer).SetLive(true)
	for range 2 {
		g.NoteSpecialisation(graph.Specialisation{What: next()})
	}
	at().Output(&graph.Structure{Kind: graph.Results, Type: next(), Fields: []*graph.Structure{
		{Kind: graph.StructOf, Type: next(), Keys: []string{next(), "k" + some()}, Fields: []*graph.Structure{graph.Leaf(0), graph.Leaf(1)}},
		{Kind: graph.MapOf, Type: next(), Keys: []string{next()}, Fields: []*graph.Structure{graph.Leaf(2)}},
		{Kind: graph.SliceOf, Type: next(), Fields: []*graph.Structure{graph.Leaf(3), {Kind: graph.NoValue}}},
	}}, a, b, c, d)
	return m
}

// texts lists every text of a module.
func texts(m *graph.Module) []string {
	out := []string{m.Graph.Name, m.Type}
	for _, p := range m.Params() {
		out = append(out, p.Path, p.Selector, p.Type.String())
	}
	for path, b := range m.Bounds() {
		out = append(out, path, b.Type, b.Selector, b.Op.Codec().Print(b.Attrs))
		out = append(append(out, b.Params...), b.Names...)
	}
	for _, s := range m.Graph.Specialisations() {
		out = append(out, s.What)
	}
	var structure func(s *graph.Structure)
	structure = func(s *graph.Structure) {
		if s == nil {
			return
		}
		out = append(append(out, s.Type), s.Keys...)
		for _, f := range s.Fields {
			structure(f)
		}
	}
	for n := range m.Graph.Nodes() {
		out = append(out, n.Name(), n.Target(), n.Scope().Path, n.Scope().Type)
		if s, ok := n.Default().(string); ok {
			out = append(out, s)
		}
		if n.Attrs() != nil {
			out = append(out, n.Attrs().(labelAttrs).Label)
		}
		structure(n.Structure())
	}
	return out
}

func TestEveryStringReadsBack(t *testing.T) {
	check := func(m *graph.Module) {
		text := graph.Print(m, graph.PrintOptions{Positions: true})
		got, err := graph.Parse([]byte(text), "t.fx")
		require.NoError(t, err, "%s", text)
		require.Equal(t, texts(m), texts(got), "%s", text)
		same, diff := graph.Equal(m.Graph, got.Graph)
		require.True(t, same, "%s\n%s", diff, text)
		require.Equal(t, text, graph.Print(got, graph.PrintOptions{Positions: true}))
	}
	for _, s := range awkward {
		check(anyModule(func() string { return s }))
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		check(anyModule(func() string { return anyText(r) }))
	}
}

func TestEveryPositionReadsBack(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	numbers := []int{0, 1, 2, 41, math.MaxInt32, -1, math.MinInt, math.MaxInt}
	pick := func() int { return numbers[r.IntN(len(numbers))] }
	within := func(n int) int {
		if n < 0 || n > math.MaxInt32 {
			return 0
		}
		return n
	}
	check := func(file, function string, base bool) {
		pos := diag.Pos{File: file, Func: function, Line: pick(), Col: pick()}
		g := graph.New("g")
		x := g.At().Placeholder("x", shape.TensorType(array.F32, shape.ConstDims(2)), nil)
		c := g.At()
		c.SetStaticPos(pos)
		n := c.Function(label, labelAttrs{}, x)
		c.Output(nil, n)
		g.NoteSpecialisation(graph.Specialisation{What: "w", Pos: pos})
		text := graph.PrintGraph(g, graph.PrintOptions{Positions: true, BaseNames: base})
		m, err := graph.Parse([]byte(text), "t.fx")
		require.NoError(t, err, "%+v:\n%s", pos, text)
		require.Equal(t, text, graph.PrintGraph(m.Graph, graph.PrintOptions{Positions: true}))
		if base || file == "" {
			return
		}
		pos.Line, pos.Col = within(pos.Line), max(0, within(pos.Col))
		require.Equal(t, pos, m.Graph.Find(n.Name()).Pos(), "%s", text)
		require.Equal(t, pos, m.Graph.Specialisations()[0].Pos, "%s", text)
	}
	for _, base := range []bool{false, true} {
		for _, s := range awkward {
			check(s, s, base)
		}
		for range 400 {
			check(anyText(r), anyText(r), base)
		}
	}
}

func TestNumbersAsDefaultsReadBack(t *testing.T) {
	for _, v := range []any{0, -1, math.MaxInt64, math.MinInt64, uint64(math.MaxUint64), 1.5, 1e300, math.Inf(1), math.Inf(-1), -0.5, true, false, 1e-5, float64(3)} {
		g := graph.New("g")
		g.At().Output(nil, g.At().Placeholder("x", shape.TensorType(array.F32, shape.ConstDims()), v))
		m, err := graph.Parse([]byte(g.String()), "t.fx")
		require.NoError(t, err, "%v", v)
		require.Equal(t, v, m.Graph.First().Default())
	}
}

func TestNamesOfSymbolsAreChecked(t *testing.T) {
	g := graph.New("g")
	x := g.At().Placeholder("x", shape.TensorType(array.F32, shape.ConstDims(2)), nil)
	for _, name := range []string{"", "a b", "N)", "1", "é", "a\nb", strings.Repeat("n", 257)} {
		require.Panics(t, func() { g.DefineSymbol(name, x, 0) }, "%q", name)
	}
	require.Empty(t, g.Symbols())
}
