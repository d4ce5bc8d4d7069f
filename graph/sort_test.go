package graph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/shape"
)

// put gives the nodes of g the order of list, whatever Lint says of it.
func put(g *Graph, list []*Node) {
	for _, n := range list {
		g.unlink(n)
		g.insert(n, nil)
		n.changed()
	}
}

// dag draws a graph of calls with two operands each.
func dag(t *rapid.T, calls int) *Graph {
	g := New("dag")
	typ := shape.TensorType(array.F32, shape.ConstDims(2))
	pool := []*Node{g.At().Placeholder("x", typ, nil), g.At().Placeholder("y", typ, nil)}
	for range calls {
		pick := func() *Node { return pool[rapid.IntRange(0, len(pool)-1).Draw(t, "operand")] }
		pool = append(pool, g.At().Function(tAdd, nil, pick(), pick()))
	}
	g.At().Output(nil, pool[len(pool)-1])
	return g
}

func TestSortOrdersAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := dag(t, rapid.IntRange(0, 30).Draw(t, "calls"))
		want := g.Clone()
		nodes := slices.Collect(g.Nodes())
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		if rapid.Bool().Draw(t, "all") {
			r.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
		} else {
			for range rapid.IntRange(0, 3).Draw(t, "swaps") {
				i, j := r.IntN(len(nodes)), r.IntN(len(nodes))
				nodes[i], nodes[j] = nodes[j], nodes[i]
			}
		}
		if i, j := slices.Index(nodes, g.Inputs()[0]), slices.Index(nodes, g.Inputs()[1]); i > j {
			nodes[i], nodes[j] = nodes[j], nodes[i] // the order of inputs is the signature
		}
		put(g, nodes)
		sound := len(Lint(g)) == 0
		moved, err := g.Sort()
		require.NoError(t, err)
		require.Empty(t, Lint(g), "%s", g)
		require.Equal(t, sound, moved == 0)
		require.Equal(t, len(nodes)-common(nodes, slices.Collect(g.Nodes())), moved, "what stays in order was not moved")
		require.ElementsMatch(t, strings.Split(want.String(), "\n"), strings.Split(g.String(), "\n"), "operands are what they were")
		moved, err = g.Sort()
		require.NoError(t, err)
		require.Zero(t, moved)
	})
}

// common returns the length of a longest common subsequence.
func common(a, b []*Node) int {
	best := make([]int, len(b)+1)
	for _, x := range a {
		row := slices.Clone(best)
		for j, y := range b {
			if x == y {
				row[j+1] = best[j] + 1
			} else {
				row[j+1] = max(best[j+1], row[j])
			}
		}
		best = row
	}
	return best[len(b)]
}

// TestSortMovesTheFewest tries all orders of small graphs with one node that is too
// early.
func TestSortMovesTheFewest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := dag(t, 5)
		calls := slices.Collect(g.Nodes())[2:7]
		i := rapid.IntRange(0, 3).Draw(t, "early")
		late := calls[rapid.IntRange(i+1, 4).Draw(t, "late")]
		if reaches(late, calls[i]) {
			return
		}
		calls[i].SetArg(0, late)
		if other := calls[rapid.IntRange(i+1, 4).Draw(t, "other")]; rapid.Bool().Draw(t, "two") && !reaches(other, calls[i]) {
			calls[i].SetArg(1, other)
		}
		was := slices.Clone(calls)
		best := 0
		permutations(slices.Clone(calls), 0, func(order []*Node) {
			for k, n := range order {
				if slices.ContainsFunc(n.Args(), func(d *Node) bool { return slices.Index(order, d) >= k }) {
					return
				}
			}
			best = max(best, common(was, order))
		})
		moved, err := g.Sort()
		require.NoError(t, err)
		require.Equal(t, len(was)-best, moved, "%s", g)
	})
}

// reaches reports whether n is computed from d.
func reaches(n, d *Node) bool {
	return n == d || slices.ContainsFunc(n.Args(), func(a *Node) bool { return reaches(a, d) })
}

func permutations(list []*Node, k int, f func([]*Node)) {
	if k == len(list) {
		f(list)
	}
	for i := k; i < len(list); i++ {
		list[k], list[i] = list[i], list[k]
		permutations(list, k+1, f)
		list[k], list[i] = list[i], list[k]
	}
}

func TestSortNamesACycle(t *testing.T) {
	for _, size := range []int{5, 5000} { // found by repairing, and by sorting again
		g := long(size)
		first, last := g.Find("neg"), g.Find(fmt.Sprintf("neg_%d", size-1))
		nodes := slices.Collect(g.Nodes())
		slices.Reverse(nodes[1 : size+1])
		put(g, nodes)
		first.SetArg(0, last)
		before := slices.Collect(g.Nodes())
		_, err := g.Sort()
		require.ErrorIs(t, err, CyclicGraph)
		if size == 5 {
			require.ErrorContains(t, err, "%neg_1 needs %neg needs %neg_4 needs %neg_3 needs %neg_2 needs %neg_1")
		}
		require.True(t, slices.Equal(before, slices.Collect(g.Nodes())), "nothing moved")
		g.Find("neg_2").SetArg(0, g.Find("neg_2"))
		_, err = g.Sort()
		require.ErrorIs(t, err, CyclicGraph)
	}
	g := long(2)
	g.Find("neg").SetArg(0, g.Find("neg"))
	_, err := g.Sort()
	require.ErrorContains(t, err, ": %neg needs %neg")
}

func TestSortOfALongReversedGraph(t *testing.T) {
	g := long(20000)
	want := g.Clone()
	nodes := slices.Collect(g.Nodes())
	slices.Reverse(nodes)
	put(g, nodes)
	_, err := g.Sort()
	require.NoError(t, err)
	require.Equal(t, want.String(), g.String())
}

const stateful = `graph net(%x: f32[2]) {
  %a = get_attr[w] : f32[2]
  %old = call_function[@neg](%a) : f32[2]
  %set = call_function[assign](%a, %x) : f32[2]
  %b = get_attr[w] : f32[2]
  %new = call_function[@neg](%b) : f32[2]
  %n = call_function[@neg](%x) : f32[2]
  %sum = call_function[@add](%old, %new) : f32[2]
  return %sum
}
param w : f32[2] buffer
`

func TestMovesKeepStateAndSizesInOrder(t *testing.T) {
	m := parse(t, stateful)
	g, text := m.Graph, m.String()
	n := g.Find
	for _, c := range []struct{ node, at, past string }{
		{"sum", "old", "%old"}, {"old", "b", "%set"}, {"new", "set", "%b"}, {"b", "a", "%set"}, {"set", "a", "%a"}, {"set", "n", "%b"},
	} {
		err := n(c.at).Prepend(n(c.node))
		require.ErrorIs(t, err, BrokenOrder)
		require.ErrorContains(t, err, "cannot move past "+c.past)
		require.Equal(t, text, m.String())
	}
	require.NoError(t, n("a").Prepend(n("n")))
	require.NoError(t, n("set").Append(n("n")))
	require.NoError(t, n("set").Append(n("n")))
	require.NoError(t, n("n").Prepend(n("n")))
	require.True(t, n("set").Next() == n("n"))
	require.Empty(t, Lint(g))

	// A use that is too early moves, and the order of reads and writes stays.
	n("old").SetArg(0, n("n"))
	n("sum").SetArg(0, n("a"))
	put(g, []*Node{n("x"), n("a"), n("old"), n("n"), n("set"), n("new"), n("b"), n("sum"), n("output")})
	moved, err := g.Sort()
	require.NoError(t, err)
	require.Equal(t, 2, moved)
	require.True(t, n("a").Precedes(n("set")) && n("set").Precedes(n("b")))
	require.Empty(t, Lint(g))

	s := parse(t, sound).Graph
	s.Find("e").SetArg(0, s.Find("x"))
	s.Find("e").SetArg(1, s.Find("x"))
	s.Find("e").SetType(shape.TensorType(array.F32, shape.Of(shape.Sym("K"), shape.Const(4))))
	require.ErrorContains(t, s.Find("nz").Prepend(s.Find("e")), "one has a size of the other")
	put(s, []*Node{s.Find("p"), s.Find("x"), s.Find("w"), s.Find("a"), s.Find("b"), s.Find("c"), s.Find("e"), s.Find("s"), s.Find("d"), s.Find("nz"), s.Output()})
	_, err = s.Sort()
	require.NoError(t, err)
	require.True(t, s.Find("nz").Precedes(s.Find("e")))
}

func TestSetOrder(t *testing.T) {
	g := parse(t, sound).Graph
	text := g.String()
	nodes := slices.Collect(g.Nodes())
	swapped := func(a, b string) []*Node {
		list := slices.Clone(nodes)
		i, j := slices.Index(list, g.Find(a)), slices.Index(list, g.Find(b))
		list[i], list[j] = list[j], list[i]
		return list
	}
	for _, c := range []struct {
		order []*Node
		err   string
	}{
		{swapped("a", "b"), "%b comes before %a, which it uses"},
		{swapped("x", "w"), "%w is in the wrong place"},
		{swapped("e", "output"), "%output is in the wrong place"},
		{nodes[1:], "nodes, the graph"},
		{append(slices.Clone(nodes[1:]), nodes[1]), "is in the order twice"},
		{append(slices.Clone(nodes[1:]), g.Clone().First()), "is not in the graph"},
	} {
		_, err := g.SetOrder(c.order)
		require.ErrorContains(t, err, c.err)
		require.Equal(t, text, g.String())
	}
	moved, err := g.SetOrder(swapped("w", "a"))
	require.NoError(t, err)
	require.Equal(t, 1, moved)
	require.True(t, g.Find("a").Precedes(g.Find("w")))
	require.Empty(t, Lint(g))
	g.Find("e").SetType(shape.TensorType(array.F32, shape.Of(shape.Sym("K"), shape.Const(4))))
	_, err = g.SetOrder(swapped("e", "nz"))
	require.ErrorContains(t, err, "%e comes before %nz, whose size K it needs")
}

func TestMoveRefusesOtherPlaces(t *testing.T) {
	g := parse(t, sound).Graph
	text := g.String()
	for _, err := range []error{
		g.Find("w").Append(g.Find("x")),
		g.Find("x").Prepend(g.Find("w")),
		g.Output().Append(g.Find("e")),
		g.Find("e").Prepend(g.Output()),
	} {
		require.ErrorIs(t, err, BrokenOrder)
	}
	require.Equal(t, text, g.String())
	require.NoError(t, g.Find("p").Prepend(g.Find("x")), "inputs among themselves")
	other := g.Clone()
	require.ErrorIs(t, other.Find("b").Prepend(g.Find("e")), ForeignNode)
	require.ErrorIs(t, g.Find("b").Append(other.Find("e")), ForeignNode)
}

func BenchmarkSort(b *testing.B) {
	for _, size := range []int{1000, 100000} {
		g := long(size)
		n, at := g.Find("neg"), g.Find("neg_3")
		b.Run(fmt.Sprintf("one/nodes=%d", size), func(b *testing.B) {
			for b.Loop() {
				g.unlink(n)
				g.insert(n, at.next)
				if _, err := g.Sort(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLint(b *testing.B) {
	for _, size := range []int{1000, 100000} {
		g := long(size)
		n := g.Find("neg_500")
		typ := n.Type()
		b.Run(fmt.Sprintf("all/nodes=%d", size), func(b *testing.B) {
			for b.Loop() {
				if len(Lint(g)) > 0 {
					b.Fatal("faults")
				}
			}
		})
		l := NewLinter(g)
		l.Check()
		b.Run(fmt.Sprintf("one/nodes=%d", size), func(b *testing.B) {
			for b.Loop() {
				n.SetType(typ)
				if len(l.Check()) > 0 {
					b.Fatal("faults")
				}
			}
		})
		l.Close()
	}
}

// TestMovesKeepWhatViewsRead moves a read of a view past a write of the memory.
func TestMovesKeepWhatViewsRead(t *testing.T) {
	m := parse(t, `graph net(%p: bool[], %x: f32[2]) {
  %a = get_attr[w] : f32[2]
  %v = call_function[@view](%a) : f32[2]
  %before = call_function[@neg](%v) : f32[2]
  %set = call_function[assign](%a, %x) : f32[2]
  %after = call_function[@neg](%set) : f32[2]
  %c = call_function[cond](%p, %x) : f32[2] {
    region(%i: f32[2]) {
      %r = get_attr[w] : f32[2]
      return %r
    }
    region(%i: f32[2]) {
      return %i
    }
  }
  %d = call_function[cond](%p, %x) : f32[2] {
    region(%i: f32[2]) {
      return %i
    }
    region(%i: f32[2]) {
      return %i
    }
  }
  %s = call_function[@add](%before, %after) : f32[2]
  %u = call_function[@add](%c, %d) : f32[2]
  return %s, %u
}
param w : f32[2] buffer
`)
	g := m.Graph
	n := g.Find
	require.True(t, n("v").Op() == tView)
	require.ErrorIs(t, n("set").Append(n("before")), BrokenOrder)
	require.ErrorIs(t, n("set").Prepend(n("c")), BrokenOrder, "it reads the state inside")
	require.NoError(t, n("a").Prepend(n("d")), "it has no effect")
	require.NoError(t, n("c").Append(n("d")))

	// Sort may not exchange them either.
	n("set").SetArg(1, n("before"))
	put(g, []*Node{n("p"), n("x"), n("a"), n("v"), n("set"), n("before"), n("after"), n("c"), n("d"), n("s"), n("u"), n("output")})
	_, err := g.Sort()
	require.ErrorIs(t, err, CyclicGraph, "the write came before the read")
	put(g, []*Node{n("p"), n("x"), n("a"), n("v"), n("before"), n("set"), n("after"), n("u"), n("c"), n("d"), n("s"), n("output")})
	moved, err := g.Sort()
	require.NoError(t, err)
	require.Equal(t, 1, moved)
}
