package draw_test

import (
	"flag"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/draw"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(string(want), got))
}

func load(t *testing.T, name string) *graph.Module {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	m, err := graph.Parse(text, name)
	require.NoError(t, err)
	require.Empty(t, graph.Lint(m.Graph))
	return m
}

// maker makes graphs of f32[8] values in modules.
type maker struct {
	g *graph.Graph
	c *graph.Cursor
	m *graph.Module
}

func newMaker() *maker {
	g := graph.New("net")
	return &maker{g, g.At(), graph.NewModule(g)}
}

var vec = shape.TensorType(array.F32, shape.ConstDims(8))

func (k *maker) input(name string) *graph.Node { return k.c.Placeholder(name, vec, nil) }

func (k *maker) call(scope string, o *op.Op, args ...*graph.Node) *graph.Node {
	k.c.SetScope(k.g.Scope(graph.Scope{Path: scope, Type: "example.com/net." + strings.TrimRight(scope, "0123456789.")}))
	return k.c.Function(o, nil, args...)
}

func (k *maker) done(t require.TestingT, args ...*graph.Node) *graph.Module {
	k.c.SetScope(0)
	k.c.Output(nil, args...)
	require.Empty(t, graph.Lint(k.g))
	return k.m
}

// block is x + relu(neg(x)) in a module.
func (k *maker) block(scope string, x *graph.Node) *graph.Node {
	y := k.call(scope, std.Relu, k.call(scope, std.Neg, x))
	return k.call(scope, std.Add, y, x)
}

func TestGoldens(t *testing.T) {
	for _, c := range []struct {
		in, out string
		o       draw.Options
	}{
		{"resblock.fx", "resblock.dot", draw.Options{}},
		{"resblock.fx", "resblock.depth1.dot", draw.Options{Depth: 1, LeftToRight: true, NoTypes: true}},
		{"resblock.fx", "resblock.all.dot", draw.Options{ShowConstants: true, NoFold: true}},
		{"regions.fx", "regions.dot", draw.Options{}},
		{"regions.fx", "regions.depth1.dot", draw.Options{Depth: 1}},
		{"calls.fx", "calls.dot", draw.Options{}},
		{"calls.fx", "calls.depth1.dot", draw.Options{Depth: 1}},
	} {
		t.Run(c.out, func(t *testing.T) {
			dot := draw.DOT(load(t, c.in), c.o)
			parseDOT(t, dot)
			golden(t, c.out, dot)
			require.Equal(t, dot, draw.DOT(load(t, c.in), c.o), "the same graph gives the same bytes")
		})
	}
}

func TestTable(t *testing.T) {
	golden(t, "resblock.table", draw.Table(load(t, "resblock.fx")))
	golden(t, "regions.table", draw.Table(load(t, "regions.fx")))
	golden(t, "calls.table", draw.Table(load(t, "calls.fx")))
}

func TestConstantsAreHiddenUnlessAskedFor(t *testing.T) {
	m := load(t, "resblock.fx")
	hidden, shown := parseDOT(t, draw.DOT(m, draw.Options{})), parseDOT(t, draw.DOT(m, draw.Options{ShowConstants: true}))
	require.NotContains(t, hidden.nodes, "scale")
	require.Equal(t, "note", shown.nodes["scale"]["shape"])
	require.NotNil(t, shown.edge("scale", "scaled"))
	require.Contains(t, hidden.nodes["scaled"]["tooltip"], "head.scale f32[4]", "the reader still learns of it")
}

func TestLevelsOfModules(t *testing.T) {
	m := load(t, "resblock.fx")
	all := parseDOT(t, draw.DOT(m, draw.Options{}))
	outer := all.cluster("stage")
	require.NotNil(t, outer)
	require.NotNil(t, findCluster(outer.clusters, "stage.1 … stage.3  × 3"), "repetitions are drawn once")
	require.Nil(t, all.cluster("stage.2"))
	require.Contains(t, all.edge("add_1", "stage_1_conv").attrs, "constraint", "what goes from one repetition to the next")

	one := parseDOT(t, draw.DOT(m, draw.Options{Depth: 1}))
	require.Contains(t, one.nodes["module.stage"]["label"], "13 nodes")
	require.Nil(t, one.cluster("stage"))
	two := parseDOT(t, draw.DOT(m, draw.Options{Depth: 2}))
	require.Contains(t, two.nodes["module.stage.1"]["label"], "stage.1 … stage.3  × 3")
	require.Contains(t, two.nodes["module.stage.1"]["label"], "3 nodes each")
	require.NotNil(t, two.cluster("stage"))
}

func TestLargeGraphsStayReadable(t *testing.T) {
	const n = 5000
	ops := []*op.Op{std.Neg, std.Relu, std.Exp, std.Tanh, std.Abs, std.Sigmoid, std.Sqrt}
	deep := func(path func(i int) string, pick func(i int) *op.Op) *graph.Module {
		k := newMaker()
		x := k.input("x")
		for i := range n {
			x = k.call(path(i), pick(i), x)
		}
		return k.done(t, x)
	}
	// Operators in an order without repetition.
	varied := func(i int) *op.Op { return ops[(i*i/3+i/7)%len(ops)] }
	for name, m := range map[string]*graph.Module{
		"a few modules":  deep(func(i int) string { return fmt.Sprintf("layer%d.%d", i/500, i/25%20) }, varied),
		"many modules":   deep(func(i int) string { return fmt.Sprintf("layer%d", i/10) }, varied),
		"equal modules":  deep(func(i int) string { return fmt.Sprintf("layer%d", i/10) }, func(i int) *op.Op { return ops[i%5] }),
		"no modules":     deep(func(int) string { return "" }, varied),
		"one long chain": deep(func(int) string { return "" }, func(int) *op.Op { return std.Neg }),
	} {
		t.Run(name, func(t *testing.T) {
			g := parseDOT(t, draw.DOT(m, draw.Options{Depth: 1}))
			require.LessOrEqual(t, len(g.order), 200)
			require.Greater(t, len(g.order), 2)
			require.True(t, reaches(g, "x", "output"))
			require.False(t, cyclic(g))
		})
	}
}

// reaches reports whether there is a path between two nodes.
func reaches(g *dotGraph, from, to string) bool {
	seen, queue := map[string]bool{from: true}, []string{from}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, e := range g.edges {
			if from, to := e.ends(); from == at && !seen[to] {
				seen[to] = true
				queue = append(queue, to)
			}
		}
	}
	return seen[to]
}

// cyclic reports whether the edges within one repetition have a cycle.
func cyclic(g *dotGraph) bool {
	in, next := map[string]int{}, map[string][]string{}
	for _, e := range g.edges {
		if e.attrs["constraint"] != "false" {
			from, to := e.ends()
			in[to]++
			next[from] = append(next[from], to)
		}
	}
	var free []string
	for _, id := range g.order {
		if in[id] == 0 {
			free = append(free, id)
		}
	}
	for i := 0; i < len(free); i++ {
		for _, to := range next[free[i]] {
			if in[to]--; in[to] == 0 {
				free = append(free, to)
			}
		}
	}
	return len(free) != len(g.order)
}

func TestFoldingTellsBlocksApart(t *testing.T) {
	count := func(make func(k *maker, x *graph.Node) *graph.Node) (clusters int, g *dotGraph) {
		k := newMaker()
		m := k.done(t, make(k, k.input("x")))
		g = parseDOT(t, draw.DOT(m, draw.Options{}))
		return len(g.clusters), g
	}
	same, _ := count(func(k *maker, x *graph.Node) *graph.Node { return k.block("b.1", k.block("b.0", x)) })
	require.Equal(t, 1, same)
	names, g := count(func(k *maker, x *graph.Node) *graph.Node { return k.block("right", k.block("left", x)) })
	require.Equal(t, 2, names, "modules of different names are not repetitions")
	require.NotNil(t, g.cluster("left  net.left"))
	wiring, _ := count(func(k *maker, x *graph.Node) *graph.Node {
		y := k.block("b0", x)
		z := k.call("b1", std.Relu, k.call("b1", std.Neg, y))
		return k.call("b1", std.Add, z, z)
	})
	require.Equal(t, 2, wiring)
	ops, _ := count(func(k *maker, x *graph.Node) *graph.Node {
		y := k.block("b0", x)
		return k.call("b1", std.Add, k.call("b1", std.Tanh, k.call("b1", std.Neg, y)), y)
	})
	require.Equal(t, 2, ops)
	// The residual additions stand between the blocks.
	k := newMaker()
	x := k.input("x")
	for i := range 6 {
		scope := fmt.Sprintf("h.%d", i)
		x = k.call("", std.Add, x, k.call(scope, std.Tanh, k.call(scope, std.Neg, x)))
	}
	g = parseDOT(t, draw.DOT(k.done(t, x), draw.Options{}))
	require.Equal(t, 5, len(g.order), "input, output, two calls, one addition")
	require.NotNil(t, g.cluster("× 6"))
}

func TestModulesThatAreCalledTwiceOrMovedApart(t *testing.T) {
	k := newMaker()
	a := k.call("shared", std.Tanh, k.call("shared", std.Neg, k.input("x")))
	b := k.call("shared", std.Tanh, k.call("shared", std.Neg, k.call("", std.Exp, a)))
	g := parseDOT(t, draw.DOT(k.done(t, b), draw.Options{Depth: 1}))
	require.NotContains(t, g.nodes["module.shared"]["label"], "call 2")
	require.Contains(t, g.nodes["module.shared-2"]["label"], "shared (call 2)")
	require.False(t, cyclic(g))

	k = newMaker() // two independent modules, their nodes interleaved
	x := k.input("x")
	p, q := k.call("p", std.Neg, x), k.call("q", std.Exp, x)
	p, q = k.call("p", std.Tanh, p), k.call("q", std.Relu, q)
	g = parseDOT(t, draw.DOT(k.done(t, k.call("", std.Add, p, q)), draw.Options{Depth: 1}))
	require.Equal(t, []string{"x", "module.p", "module.q", "add", "output"}, g.order[:len(g.order)])
}

func TestTextIsEscaped(t *testing.T) {
	hostile := "a\"b\\N<c>&lt;\n\x00\xff\u202ed"
	k := newMaker()
	k.m.Type = hostile
	x := k.c.Placeholder(hostile, vec, nil)
	y := k.call(hostile, std.Relu, k.call(hostile, std.Neg, x))
	m := k.done(t, y)
	m.Graph.Name = hostile
	dot := draw.DOT(m, draw.Options{})
	g := parseDOT(t, dot)
	require.Contains(t, html.UnescapeString(g.attrs["label"]), `a"b\N<c>&lt;`)
	require.NotContains(t, dot, "\x00")
	require.NotContains(t, dot, "\u202e", "text that turns the writing direction")
	page := string(draw.HTML(m, draw.Options{}))
	require.NotContains(t, page, "<c>")
	require.Contains(t, page, `\u003cc\u003e`)
	require.Contains(t, draw.Table(m), "placeholder")
}

// TestBoxesSayHowLargeTheirWeightsAre looks at calls of modules and of functions.
func TestBoxesSayHowLargeTheirWeightsAre(t *testing.T) {
	m := load(t, "resblock.fx")
	hidden, shown := parseDOT(t, draw.DOT(m, draw.Options{})), parseDOT(t, draw.DOT(m, draw.Options{ShowConstants: true}))
	require.Contains(t, hidden.nodes["stem"]["label"], "\nweight f32[4,4,3,3]")
	require.Contains(t, shown.nodes["stem"]["label"], "\nweight f32[4,4,3,3]", "a module's tensor is no node")
	require.Contains(t, hidden.nodes["scaled"]["label"], "\nscale f32[4]")
	require.NotContains(t, shown.nodes["scaled"]["label"], "f32[4]", "the constant says so itself")
	require.Equal(t, op.Reduction, std.BatchNorm.Class)
}

// All looks of vertices and of edges are explained.
func TestLegend_hasTheLooksOfTheDrawing(t *testing.T) {
	legend := func(name string, o draw.Options) string {
		return parseDOT(t, draw.DOT(load(t, name), o)).attrs["label"]
	}
	for _, text := range []string{"input, output", "contraction", "elementwise", "value", "to the next repetition"} {
		require.Contains(t, legend("resblock.fx", draw.Options{}), ">"+text+" <")
	}
	require.NotContains(t, legend("resblock.fx", draw.Options{NoFold: true}), "repetition")
	require.NotContains(t, legend("resblock.fx", draw.Options{}), "constant")
	require.Contains(t, legend("resblock.fx", draw.Options{ShowConstants: true}), ">constant <")
	require.Contains(t, legend("resblock.fx", draw.Options{Depth: 1}), ">collapsed <")
	require.Contains(t, legend("regions.fx", draw.Options{}), ">to inputs of a region <")
}

// chainOf is a chain of calls in modules of twelve, with further edges.
func chainOf(t require.TestingT, n int, also ...[2]int) *graph.Module {
	ops := []*op.Op{std.Neg, std.Relu, std.Exp, std.Tanh, std.Abs, std.Sigmoid, std.Sqrt}
	k := newMaker()
	x := k.input("x")
	values := []*graph.Node{x}
	for i := range n {
		scope := fmt.Sprintf("part%c", 'a'+i/12)
		x = k.call(scope, ops[(i*i/3+i/7)%len(ops)], x)
		for _, e := range also {
			if e[1] == i {
				x = k.call(scope, std.Add, x, values[e[0]])
			}
		}
		values = append(values, x)
	}
	return k.done(t, x)
}

// wires lists the edges that leave a vertex at its side, and those that enter one there.
func wires(g *dotGraph) (leave, enter []dotEdge) {
	for _, e := range g.edges {
		if e.attrs["tailport"] != "" {
			leave = append(leave, e)
		}
		if e.attrs["headport"] != "" {
			enter = append(enter, e)
		}
	}
	return leave, enter
}

// TestLongDrawingsHaveColumns follows a chain from column to column.
func TestLongDrawingsHaveColumns(t *testing.T) {
	g := parseDOT(t, draw.DOT(chainOf(t, 20), draw.Options{}))
	leave, _ := wires(g)
	require.Empty(t, leave)
	long := chainOf(t, 120)
	g = parseDOT(t, draw.DOT(long, draw.Options{}))
	leave, enter := wires(g)
	require.Len(t, leave, 5)
	require.Len(t, enter, 5)
	for i := range leave {
		from, to := g.clusterOf(leave[i].from), g.clusterOf(enter[i].to)
		require.NotEqual(t, from, to, "modules stay whole")
	}
	require.True(t, reaches(g, "x", "output"))
	require.False(t, cyclic(g))
	for columns, wires := range map[int]int{1: 0, 2: 1, 5: 4} {
		g = parseDOT(t, draw.DOT(long, draw.Options{Columns: columns}))
		require.Equal(t, wires, strings.Count(draw.DOT(long, draw.Options{Columns: columns}), "tailport=e"))
		require.True(t, reaches(g, "x", "output"))
	}
}

// TestModulesContinue in the next column, each node in one of them.
func TestModulesContinue(t *testing.T) {
	k := newMaker()
	x := k.input("x")
	for range 20 {
		for _, o := range []*op.Op{std.Neg, std.Relu, std.Exp} {
			x = k.call("big", o, x)
		}
	}
	g := parseDOT(t, draw.DOT(k.done(t, x), draw.Options{Columns: 3, NoFold: true}))
	require.Len(t, g.clusters, 3)
	nodes := 0
	for i, c := range g.clusters {
		require.Equal(t, []string{"big  net.big", "big  net.big  (continued)", "big  net.big  (continued)"}[i], c.attrs["label"])
		nodes += len(c.nodes)
	}
	require.Equal(t, 60, nodes)
	require.True(t, reaches(g, "x", "output"))
}

// TestWires_shareTheLane: a value that is read twice in the next column, and once in the
// column after that, leaves its vertex once.
func TestWires_shareTheLane(t *testing.T) {
	m := chainOf(t, 72, [2]int{20, 30}, [2]int{20, 34}, [2]int{20, 60})
	g := parseDOT(t, draw.DOT(m, draw.Options{Columns: 3, NoTypes: true}))
	leave, enter := wires(g)
	require.Len(t, leave, 3, "the chain twice, and the value")
	require.Len(t, enter, 5)
	require.False(t, cyclic(g))
	branch := 0
	for _, n := range g.nodes {
		if n["width"] == "0.05" {
			branch++
		}
	}
	require.Equal(t, 2, branch, "both readers of the next column, below the turn to the column after it")
	require.True(t, reaches(g, "x", "output"))
	for _, e := range enter {
		require.True(t, reaches(g, "x", e.to))
	}
}

// TestCuts_areAtNarrowPlaces: where six values pass the middle, the cut is elsewhere.
func TestCuts_areAtNarrowPlaces(t *testing.T) {
	m := chainOf(t, 48, [2]int{18, 25}, [2]int{19, 25}, [2]int{20, 25}, [2]int{21, 25}, [2]int{22, 25}, [2]int{23, 25})
	leave, _ := wires(parseDOT(t, draw.DOT(m, draw.Options{Columns: 2})))
	require.Len(t, leave, 1)
}

func TestBrokenGraphsAreDrawn(t *testing.T) {
	g := graph.New("broken")
	graph.NewModule(g)
	c := g.At()
	x := c.Placeholder("x", shape.Type{}, nil)
	y := c.Module("no.such.module", x, nil)
	c.Output(nil, y, c.GetAttr("no.such.param"))
	require.NotEmpty(t, graph.Lint(g))
	d := parseDOT(t, draw.DOT(g.Module(), draw.Options{ShowConstants: true}))
	require.Len(t, d.order, 4)
	empty := graph.NewModule(graph.New(""))
	require.Zero(t, parseDOT(t, draw.DOT(empty, draw.Options{Depth: 1})).order)
	require.Contains(t, draw.Table(empty), "0 nodes")
}

// TestEveryNodeIsDrawnOnce holds for random graphs in random modules.
func TestEveryNodeIsDrawnOnce(t *testing.T) {
	ops := []*op.Op{std.Neg, std.Add, std.Relu}
	rapid.Check(t, func(t *rapid.T) {
		k := newMaker()
		values := []*graph.Node{k.input("x")}
		for range rapid.IntRange(1, 40).Draw(t, "nodes") {
			scope := rapid.SampledFrom([]string{"", "a", "a.0", "a.1", "b", "b.c.0", "b.c.1"}).Draw(t, "scope")
			o := rapid.SampledFrom(ops).Draw(t, "op")
			var args []*graph.Node
			for range o.In {
				args = append(args, rapid.SampledFrom(values).Draw(t, "operand"))
			}
			values = append(values, k.call(scope, o, args...))
		}
		m := k.done(t, values[len(values)-1])
		g := parseDOT(t, draw.DOT(m, draw.Options{NoFold: true}))
		require.Equal(t, m.Graph.Len(), len(g.order))
		pairs := map[string]bool{}
		for n := range m.Graph.Nodes() {
			require.Contains(t, g.nodes, n.Name())
			for a := range n.Inputs() {
				pairs[a.Name()+" "+n.Name()] = true
				require.NotNil(t, g.edge(a.Name(), n.Name()))
			}
		}
		require.Len(t, g.edges, len(pairs))
		for depth := range 4 {
			o := draw.Options{Depth: depth}
			folded := parseDOT(t, draw.DOT(m, o))
			require.LessOrEqual(t, len(folded.order), len(g.order))
			require.True(t, slices.Contains(folded.order, "output"))
			if reaches(g, "x", "output") {
				require.True(t, reaches(folded, "x", "output"))
			}
		}
	})
}
