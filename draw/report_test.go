package draw_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/draw"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/opdoc"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
)

// pageData is the data of a page as it stands in it, by the fields that the tests look at.
type pageData struct {
	Strings []string
	Nodes   [][]json.RawMessage
	Blocks  [][]json.RawMessage
	Files   []struct {
		Name  string
		Lines map[string]string
	}
	Stages []struct {
		Name   string
		Nodes  []int
		Root   int
		Events []struct {
			K    string
			N, B int
			W    string
		}
	}
	Sizes   map[string]int
	Origin  string
	Tensors [][]any
	Docs    map[string][2]string
}

func dataOf(t require.TestingT, page []byte) (d pageData) {
	_, text, ok := strings.Cut(string(page), `id="data">`)
	require.True(t, ok)
	text, _, ok = strings.Cut(text, "</script>")
	require.True(t, ok)
	require.NoError(t, json.Unmarshal([]byte(text), &d))
	return d
}

// nodeAt is a node of a stage.
type nodeAt struct {
	index, uid int
	name       string
	args       []int
}

// stage lists the nodes of a stage by name.
func (d pageData) stage(t require.TestingT, k int) map[string]nodeAt {
	out := map[string]nodeAt{}
	list := d.Stages[k].Nodes
	for i := 0; i < len(list); i += 2 {
		for k := range list[i+1] {
			n := nodeAt{index: list[i] + k}
			f := d.Nodes[n.index]
			var name int
			require.NoError(t, json.Unmarshal(f[0], &n.uid))
			require.NoError(t, json.Unmarshal(f[1], &n.args))
			require.NoError(t, json.Unmarshal(f[2], &name))
			n.name = d.Strings[name]
			out[n.name] = n
		}
	}
	return out
}

// leaves counts how often the tree of a block has each node.
func (d pageData) leaves(t require.TestingT, block int, out map[int]int) {
	var items []int
	require.NoError(t, json.Unmarshal(d.Blocks[block][5], &items))
	for _, i := range items {
		if i >= 0 {
			out[i]++
		} else {
			d.leaves(t, -1-i, out)
		}
	}
}

// report runs passes and records them.
func report(t require.TestingT, m *graph.Module, o draw.Options, list ...passes.Pass) []byte {
	r := draw.NewReport(m, o)
	_, err := passes.Run(context.Background(), m, list, passes.Options{OnPass: r.OnPass})
	require.NoError(t, err)
	return r.HTML()
}

// idle is a pass that changes nothing.
func idle(name string) passes.Pass {
	return passes.Pass{Name: name, Run: func(*passes.Ctx, *graph.Graph) (bool, error) { return false, nil }}
}

// swap replaces all calls of neg by abs, erases all of exp, and leaves relu as it is.
var swap = passes.EachNode("swap", "", func(c *passes.Ctx, n *graph.Node) error {
	switch n.Op() {
	case std.Neg:
		return c.Replace(n, n.Graph().Before(n).Function(std.Abs, nil, n.Arg(0)), "abs is as good")
	case std.Exp:
		n.ReplaceUses(n.Arg(0), nil)
		return c.Erase(n, "not wanted")
	case std.Relu:
		c.Refuse(n, "relu is fine")
	}
	return nil
})

// TestStagesKnowTheirNodes follows nodes through a pass.
func TestStagesKnowTheirNodes(t *testing.T) {
	k := newMaker()
	x := k.call("a", std.Relu, k.call("a", std.Neg, k.input("x")))
	m := k.done(t, k.call("b", std.Tanh, k.call("b", std.Exp, x)))
	d := dataOf(t, report(t, m, draw.Options{}, idle("one"), swap, idle("two")))
	require.Len(t, d.Stages, 4)
	before, after := d.stage(t, 0), d.stage(t, 2)
	require.Equal(t, before, d.stage(t, 1))
	require.Equal(t, after, d.stage(t, 3))
	require.Equal(t, d.Stages[0].Root, d.Stages[1].Root)
	require.Equal(t, before["neg"].uid, after["abs"].uid, "what replaced a node is the node, changed")
	require.NotEqual(t, before["neg"].index, after["abs"].index)
	require.Equal(t, before["relu"], nodeAt{before["relu"].index, after["relu"].uid, "relu", after["relu"].args}, "unchanged, on an operand that keeps its number")
	require.Equal(t, before["relu"].index, after["relu"].index)
	require.NotContains(t, after, "exp")
	require.Equal(t, before["tanh"].uid, after["tanh"].uid)
	require.NotEqual(t, before["tanh"].index, after["tanh"].index, "it reads another node")
	var log []string
	for _, e := range d.Stages[2].Events {
		log = append(log, fmt.Sprint(e.K, " ", e.N, " ", e.B, " ", e.W))
	}
	require.Equal(t, []string{
		fmt.Sprint("replaced ", before["neg"].uid, " ", before["neg"].uid, " abs is as good"),
		fmt.Sprint("erased ", before["exp"].uid, " -1 not wanted"),
		fmt.Sprint("refused ", before["relu"].uid, " -1 relu is fine"),
	}, log)
}

// TestPagesStaySmall bounds the bytes that nodes and passes add to a page: it is
// kept with the results of other people's tests.
func TestPagesStaySmall(t *testing.T) {
	build := func(nodes, idles int, also ...passes.Pass) int {
		k := newMaker()
		x := k.input("x")
		for i := range nodes {
			x = k.block(fmt.Sprintf("layer%d.%d", i/20, i%20), x)
		}
		for i := range idles {
			also = append(also, idle(fmt.Sprint("pass", i)))
		}
		return len(report(t, k.done(t, x), draw.Options{}, also...))
	}
	empty, thousand := build(0, 0), build(1000, 0)
	require.Less(t, empty, 150<<10)
	require.Less(t, (thousand-empty)/3000, 160, "bytes a node")
	require.Less(t, (build(1000, 20)-thousand)/20, 100, "bytes of a pass that changes nothing")
	require.Less(t, build(1000, 0, swap)-thousand, 1000*700, "a pass that changes a node in each of a thousand modules")
}

// TestPagesAreOneFile looks for addresses, for elements that load files, and for
// leftovers.
func TestPagesAreOneFile(t *testing.T) {
	m := load(t, "resblock.fx")
	page := string(draw.HTML(m, draw.Options{}))
	require.Empty(t, regexp.MustCompile(`(?i)https?:|//[a-z]+\.|\bsrc\s*=|href\s*=|@import|\burl\(|fetch\(|XMLHttpRequest|<link`).FindString(page))
	require.Contains(t, page, "default-src 'none'")
	require.NotContains(t, page, "{{")
	require.Contains(t, page, "stage_1_conv")
	require.Equal(t, page, string(draw.HTML(m, draw.Options{})))
	require.Equal(t, 2, strings.Count(page, "</script>"), "no text of the graph ends the program")
}

// TestEveryStageIsWhole holds for random graphs, some with regions, and for the results of passes
// on them.
func TestEveryStageIsWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := fxtest.RandomGraph(t)
		first := m.Graph.Clone()
		page := report(t, m, draw.Options{ShowConstants: rapid.Bool().Draw(t, "constants")}, swap, idle("idle"))
		d := dataOf(t, page)
		for k, g := range []*graph.Graph{first, m.Graph, m.Graph} {
			nodes, seen, tree := d.stage(t, k), map[int]bool{}, map[int]int{}
			d.leaves(t, d.Stages[k].Root, tree)
			for n := range g.Nodes() {
				if n.Opcode() != graph.GetAttr {
					require.Contains(t, nodes, n.Name())
				}
			}
			for _, n := range nodes {
				require.False(t, seen[n.uid], "two nodes of a stage have one number")
				seen[n.uid] = true
				require.Equal(t, 1, tree[n.uid], "%s stands in the tree once", n.name)
			}
			require.Len(t, tree, len(nodes))
			for _, n := range nodes {
				for _, a := range n.args {
					require.True(t, a == -1 || seen[a])
				}
			}
		}
	})
}

// TestSubGraphsAreOnThePage with their nodes, once, whatever they are called like.
func TestSubGraphsAreOnThePage(t *testing.T) {
	m := load(t, "calls.fx")
	d := dataOf(t, report(t, m, draw.Options{}, swap))
	require.Contains(t, d.Strings, "sub-graph layer")
	for k, want := range []string{"neg", "abs"} {
		nodes, tree := d.stage(t, k), map[int]int{}
		d.leaves(t, d.Stages[k].Root, tree)
		require.Len(t, tree, len(nodes))
		for _, name := range []string{"x", "layer.x", "layer.relu", "layer.c", "tail.x", "tail." + want, "c"} {
			require.Equal(t, 1, tree[nodes[name].uid], name)
		}
	}
	require.Equal(t, d.stage(t, 0)["tail.neg"].uid, d.stage(t, 1)["tail.abs"].uid, "what took its place")
}

// TestSourceLines: lines come from files that exist, and no folder of this machine is
// shown.
func TestSourceLines(t *testing.T) {
	k := newMaker()
	k.c.SetPos(k.g.Position(0, 3))
	m := k.done(t, k.call("", std.Relu, k.input("x"))) // the line of this call is not recorded, that of Position is
	page := draw.HTML(m, draw.Options{Source: os.ReadFile})
	d := dataOf(t, page)
	require.NotEmpty(t, d.Files)
	require.Equal(t, "draw_test/report_test.go", d.Files[0].Name)
	found := false
	for _, line := range d.Files[0].Lines {
		found = found || strings.Contains(line, "k.c.SetPos(k.g.Position(0, 3))")
	}
	require.True(t, found)
	wd, err := os.Getwd()
	require.NoError(t, err)
	require.NotContains(t, string(page), wd)
	bare := dataOf(t, draw.HTML(m, draw.Options{}))
	require.Empty(t, bare.Files[0].Lines)
	gone := dataOf(t, draw.HTML(m, draw.Options{Source: func(string) ([]byte, error) { return nil, os.ErrNotExist }}))
	require.Empty(t, gone.Files[0].Lines)
}

func TestCostCountsOperations(t *testing.T) {
	m := load(t, "resblock.fx")
	o := draw.Cost(m, map[string]int{"N": 2})
	require.Equal(t, 1.0, o.Marks["stem"].Heat)
	require.Regexp(t, `^[\d.]+ [kMG]?FLOP$`, o.Marks["stem"].Text)
	require.NotEqual(t, o.Marks["stem"].Text, draw.Cost(m, nil).Marks["stem"].Text)
	require.Contains(t, draw.DOT(m, draw.Options{Overlay: o}), o.Marks["stem"].Text)
}

// TestPagesDescribeWeights looks at the numbers of tensors before and after a pass.
func TestPagesDescribeWeights(t *testing.T) {
	m := load(t, "resblock.fx")
	scale := array.FromSlice([]float32{-1, 0, 1, float32(math.NaN())}, 4)
	m.SetParam(graph.Param{Path: "head.scale", Value: scale})
	large := array.New(array.F32, 10, 40_000)
	array.SetFloat64At(large, 0, 3)
	m.SetParam(graph.Param{Path: "unused", Value: large})
	turn := passes.Pass{Name: "turn", Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) {
		g.Module().SetParam(graph.Param{Path: "head.scale", Value: array.FromSlice([]float32{2, 2, 2, 2}, 4)})
		return true, nil
	}}
	d := dataOf(t, report(t, m, draw.Options{Origin: "net.npz"}, idle("idle"), turn))
	require.Equal(t, "net.npz", d.Origin)
	require.Len(t, d.Tensors, 3, "tensors without values are not described, an equal one once")
	by := map[string][]any{}
	for _, f := range d.Tensors {
		by[d.Strings[int(f[0].(float64))]+fmt.Sprint(f[1])] = f[2:]
	}
	counts := func(at map[int]float64) []any {
		list := make([]any, 24)
		for i := range list {
			list[i] = at[i]
		}
		return list
	}
	require.Equal(t, []any{4.0, 4.0, -1.0, 1.0, 0.0, 0.8165, 1.0, 1.0, []any{"-1", "0", "1", "NaN"}, counts(map[int]float64{0: 1, 12: 1, 23: 1})}, by["head.scale0"])
	require.Equal(t, []any{4.0, 4.0, 2.0, 2.0, 2.0, 0.0, 0.0, 0.0, []any{"2", "2", "2", "2"}, counts(map[int]float64{0: 4})}, by["head.scale2"])
	require.Equal(t, []any{400_000.0, 57143.0}, by["unused0"][:2], "every seventh")
	require.Equal(t, 3.0, by["unused0"][3])
	bare := dataOf(t, draw.HTML(load(t, "resblock.fx"), draw.Options{Origin: "net.npz"}))
	require.Empty(t, bare.Tensors)
	require.Empty(t, bare.Origin)
}

// TestPagesDocumentOperators has the references that fxgen ops prints.
func TestPagesDocumentOperators(t *testing.T) {
	d := dataOf(t, draw.HTML(load(t, "resblock.fx"), draw.Options{}))
	require.Equal(t, opdoc.Reference(std.Relu), d.Docs["relu"][0]+"\n\n"+d.Docs["relu"][1])
	require.Len(t, d.Docs, 6)
}
