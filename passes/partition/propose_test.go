package partition_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/partition"
)

// named is a predicate of what has one of some operators.
func named(ops ...string) partition.Supports {
	return func(n *graph.Node) (bool, string) {
		return n.Op() != nil && slices.Contains(ops, n.Op().Name), "only " + strings.Join(ops, ", ")
	}
}

// order checks what a proposal promises, by means of its own: it follows operands
// from node to node.
type order struct {
	t     require.TestingT
	g     *graph.Graph
	part  map[*graph.Node]int
	parts int
}

func newOrder(t require.TestingT, g *graph.Graph, p *partition.Proposal, supports partition.Supports) *order {
	o := &order{t: t, g: g, part: map[*graph.Node]int{}, parts: len(p.Parts)}
	for k, part := range p.Parts {
		require.NotEmpty(t, part.Nodes)
		for _, n := range part.Nodes {
			_, twice := o.part[n]
			require.False(t, twice, "parts overlap")
			if o.part[n] = k; n.Op() != op.GetItem {
				ok, _ := supports(n)
				require.True(t, ok, "%s", n)
			}
		}
	}
	left := map[*graph.Node]bool{}
	for _, l := range p.Left {
		require.NotEmpty(t, l.Reason)
		left[l.Node] = true
	}
	for n := range g.Nodes() {
		if n.Op() == op.GetItem {
			k, in := o.part[n.Arg(0)]
			mine, too := o.part[n]
			require.Equal(t, in, too)
			require.Equal(t, k, mine)
		} else if n.Opcode().IsCall() {
			_, in := o.part[n]
			require.NotEqual(t, in, left[n], "%s is in a part, or left", n)
		}
	}
	return o
}

// cyclic reports whether parts need each other once those of the list are one.
func (o *order) cyclic(merged ...int) bool {
	unit := func(n *graph.Node) any {
		k, in := o.part[n]
		if !in {
			return n
		}
		if slices.Contains(merged, k) {
			return merged[0]
		}
		return k
	}
	needs := map[any][]any{}
	for n := range o.g.Nodes() {
		for a := range n.Inputs() {
			if unit(a) != unit(n) {
				needs[unit(n)] = append(needs[unit(n)], unit(a))
			}
		}
	}
	const open, done = 1, 2
	state := map[any]int{}
	var visit func(u any) bool
	visit = func(u any) bool {
		if state[u] != 0 {
			return state[u] == open
		}
		state[u] = open
		if slices.ContainsFunc(needs[u], visit) {
			return true
		}
		state[u] = done
		return false
	}
	for u := range needs {
		if visit(u) {
			return true
		}
	}
	return false
}

// fewest is the number of parts below which nothing can go: the most stretches of
// supported nodes on one way through the graph.
func (o *order) fewest() int {
	most, all := map[*graph.Node]int{}, 0
	for n := range o.g.Nodes() {
		_, mine := o.part[n]
		best := 0
		for a := range n.Inputs() {
			k := most[a]
			if _, theirs := o.part[a]; mine && !theirs {
				k++
			}
			best = max(best, k)
		}
		if mine && best == 0 {
			best = 1
		}
		most[n], all = best, max(all, best)
	}
	return all
}

func (o *order) check() {
	require.False(o.t, o.cyclic(-1), "%s", o.g)
	require.Equal(o.t, o.fewest(), o.parts, "%s", o.g)
	for a := range o.parts {
		for b := range a {
			require.True(o.t, o.cyclic(a, b), "parts %d and %d could be one\n%s", a, b, o.g)
		}
	}
}

// sometimes supports a share of the nodes, chosen by their names.
func sometimes(seed uint64, share int) partition.Supports {
	return func(n *graph.Node) (bool, string) {
		h := seed
		for _, c := range n.Name() {
			h = (h ^ uint64(c)) * 0x100000001b3
		}
		return int(h>>33%100) < share, "not today"
	}
}

// 2,000 random graphs, each under a predicate of its own: parts are convex, as few as
// can be and maximal, and the graph of calls gives the original's results in the
// interpreter, printed and parsed, and in plans.
func TestProposeRandom(t *testing.T) {
	graphs := 2000
	if testing.Short() {
		graphs = 200
	}
	random := rapid.Custom(fxtest.RandomGraph)
	parts := 0
	for seed := range graphs {
		m := random.Example(seed)
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		supports := sometimes(r.Uint64(), []int{0, 30, 50, 70, 90, 100}[r.IntN(6)])
		p, err := partition.Propose(m.Graph, supports, partition.Options{})
		require.NoError(t, err)
		newOrder(t, m.Graph, p, supports).check()
		least := r.IntN(4)
		few, err := partition.Propose(m.Graph, supports, partition.Options{Min: least})
		require.NoError(t, err)
		for _, part := range few.Parts {
			calls := slices.DeleteFunc(slices.Clone(part.Nodes), func(n *graph.Node) bool { return n.Op() == op.GetItem })
			require.GreaterOrEqual(t, len(calls), least)
		}
		r.Shuffle(len(p.Parts), func(i, k int) { p.Parts[i], p.Parts[k] = p.Parts[k], p.Parts[i] })
		parts += len(p.Parts)
		same(t, m, p.Parts, seed)
	}
	require.Greater(t, parts, graphs*9/10)
}

// same fuses parts of a module and requires what it computed before.
func same(t *testing.T, m *graph.Module, parts []partition.Part, seed int) {
	in, err := passes.Inputs(m.Graph, map[string]int{"N": 1 + seed%fxtest.MaxN}, uint64(seed))
	require.NoError(t, err)
	want, before := run(t, m, in), m.String()
	calls, err := partition.Fuse(m, parts...)
	require.NoError(t, err, "%d\n%s", seed, before)
	require.Len(t, calls, len(parts))
	for i, c := range calls {
		require.Equal(t, parts[i].Name, c.Callee().Name)
		require.Equal(t, m, c.Graph().Module())
	}
	require.NoError(t, graph.Lint(m.Graph).Err(), "%d\n%s", seed, m)
	again, err := graph.Parse([]byte(m.String()), "again.fx")
	require.NoError(t, err)
	for _, p := range m.Params() {
		again.SetParam(*p)
	}
	exe, err := cpu.Compile(m, lowering.Options{Exact: true, Threads: 1})
	require.NoError(t, err)
	planned, err := exe.Run(ctx, in)
	require.NoError(t, err)
	for engine, got := range map[string][]*array.Array{"interpreter": run(t, m, in), "text": run(t, again, in), "plan": planned} {
		if d := fxtest.SameArrays(want, got); d != "" {
			t.Fatalf("%d, %s: %s\n%s\n%s", seed, engine, d, before, m)
		}
	}
}

const diamond = `graph g(%x: f32[2]) {
  %a = call_function[relu](%x)
  %b = call_function[exp](%a)
  %c = call_function[relu](%a)
  %d = call_function[add](%b, %c)
  return %d
}
`

// A node without support between two others parts them; what stands next to them goes with
// the first.
func TestProposeParts(t *testing.T) {
	for _, c := range []struct{ name, body, ops, want string }{
		{"around", "%a = call_function[relu](%x)\n%b = call_function[exp](%a)\n%c = call_function[add](%b, %a)\nreturn %c", "relu add", "part0: %a\npart1: %c\n"},
		{"beside", "%a = call_function[relu](%x)\n%b = call_function[exp](%x)\n%c = call_function[add](%b, %a)\nreturn %c", "relu add", "part0: %a %c\n"},
		{"both sides", "%a = call_function[relu](%x)\n%b = call_function[exp](%x)\n%c = call_function[relu](%x)\nreturn (%a, %b, %c)", "relu", "part0: %a %c\n"},
		{"empty", "%a = call_function[exp](%x)\nreturn %a", "relu", ""},
		{"no calls", "return %x", "relu", ""},
		{"whole", "%a = call_function[exp](%x)\n%b = call_function[relu](%a)\nreturn %b", "relu exp", "part0: %a %b\n"},
		{"tuple", "%a = call_function[relu](%x)\n%t = call_function[split](%a) {sizes=[1,1], dim=0}\n%l = call_function[getitem](%t) {index=0}\n%r = call_function[exp](%l)\nreturn %r", "split relu",
			"part0: %a %t %l\n"},
		{"state sinks", "%a = call_function[relu](%x)\n%o = call_function[ones]() {size=[2]}\n%n = call_function[relu](%o)\n%b = call_function[exp](%a)\n%c = call_function[add](%b, %n)\nreturn %c", "relu add ones",
			"part0: %a\npart1: %o %n %c\n"},
		{"fork", "%a = call_function[relu](%x)\n%b = call_function[relu](%a)\n%c = call_function[exp](%a)\n%d = call_function[relu](%c)\nreturn (%b, %d)", "relu", "part0: %a %b\npart1: %d\n"},
		{"join", "%a = call_function[relu](%x)\n%b = call_function[exp](%a)\n%c = call_function[relu](%x)\n%d = call_function[add](%b, %c)\nreturn %d", "relu add", "part0: %a %c\npart1: %d\n"},
		{"stairs", "%a = call_function[relu](%x)\n%b = call_function[exp](%a)\n%c = call_function[relu](%b)\n%d = call_function[exp](%c)\n%e = call_function[relu](%d)\n%f = call_function[add](%e, %a)\nreturn %f", "relu add",
			"part0: %a\npart1: %c\npart2: %e %f\n"},
		{"left first", "%a = call_function[exp](%x)\n%b = call_function[relu](%a)\n%c = call_function[relu](%x)\n%d = call_function[add](%b, %c)\nreturn %d", "relu add", "part0: %b %c %d\n"},
		{"dead", "%a = call_function[relu](%x)\n%b = call_function[exp](%x)\nreturn %x", "relu", "part0: %a\n"},
	} {
		m := parsed("graph g(%x: f32[2]) {\n" + c.body + "\n}\n")
		supports := named(strings.Fields(c.ops)...)
		p, err := partition.Propose(m.Graph, supports, partition.Options{})
		require.NoError(t, err)
		text := ""
		for l := range strings.Lines(p.String()) {
			if !strings.HasPrefix(l, "left") {
				text += l
			}
		}
		require.Equal(t, c.want, text, c.name)
		newOrder(t, m.Graph, p, supports).check()
		_, err = partition.Fuse(m, p.Parts...)
		require.NoError(t, err, c.name)
		require.NoError(t, graph.Lint(m.Graph).Err())
	}
}

func TestProposeLimits(t *testing.T) {
	m := parsed(diamond)
	p, err := partition.Propose(m.Graph, named("relu", "add"), partition.Options{Name: "npu", Min: 2})
	require.NoError(t, err)
	require.Equal(t, `npu0: %a %c
left: %b: only relu, add
left: %d: the part would have 1 calls that count, expected 2 or more
`, p.String())
	p, err = partition.Propose(m.Graph, named("relu", "add"), partition.Options{Min: 1, Counts: func(n *graph.Node) bool { return n.Op().Name == "add" }})
	require.NoError(t, err)
	require.Len(t, p.Parts, 1)
	require.Equal(t, "part0", p.Parts[0].Name)
	require.Equal(t, "d", p.Parts[0].Nodes[0].Name())

	veto := func(n *graph.Node) (bool, string) { return n.Name() != "c", "not this one" }
	p, err = partition.Propose(m.Graph, partition.All(partition.Any(named("relu"), named("add")), veto), partition.Options{})
	require.NoError(t, err)
	require.Equal(t, "part0: %a\npart1: %d\nleft: %b: only relu; only add\nleft: %c: not this one\n", p.String())
}

// A predicate that panics is an error about the node; the module stays.
func TestPropose_predicatesThatPanic(t *testing.T) {
	m := parsed(diamond)
	before := m.String()
	_, err := partition.Propose(m.Graph, func(n *graph.Node) (bool, string) { return []bool{true}[len(n.Name())], "" }, partition.Options{})
	require.ErrorIs(t, err, passes.Panicked)
	require.ErrorContains(t, err, "node %a: relu: the function that chooses a part panicked: runtime error: index out of range")
	require.ErrorContains(t, err, "propose_test.go")
	_, err = partition.Split(m, func(n *graph.Node) string { panic("oh") })
	require.ErrorIs(t, err, passes.Panicked)
	require.Equal(t, before, m.String())
}

func TestFuseRefuses(t *testing.T) {
	m := parsed(diamond)
	before := m.String()
	find := func(names ...string) (list []*graph.Node) {
		for _, n := range names {
			list = append(list, m.Graph.Find(n))
		}
		return list
	}
	part := func(name string, nodes ...string) partition.Part {
		return partition.Part{Name: name, Nodes: find(nodes...)}
	}
	other := parsed(diamond)
	for why, parts := range map[string][]partition.Part{
		"node %b: exp: part q: %b is in part p, too":                   {part("p", "a", "b"), part("q", "b", "c")},
		"no nodes are given":                                           {part("p")},
		"is no node of the module":                                     {{Name: "p", Nodes: []*graph.Node{other.Graph.Find("a")}}},
		"%a -> %b -> %d leaves the nodes and comes back":               {part("p", "a", "d")},
		"%x is an input or the output, which stay where they are":      {part("p", "x")},
		"the way %a -> %q -> %b -> %d leaves the nodes and comes back": {part("q", "b", "c"), part("p", "a", "d")},
	} {
		_, err := partition.Fuse(m, parts...)
		require.ErrorIs(t, err, graph.BadOutline, why)
		require.ErrorContains(t, err, why)
		require.Equal(t, before, m.String())
	}
	calls, err := partition.Fuse(m)
	require.NoError(t, err)
	require.Empty(t, calls)
}

// Proposals are the same from run to run.
func TestPropose_isDeterministic(t *testing.T) {
	random := rapid.Custom(fxtest.RandomGraph)
	for seed := range 50 {
		m := random.Example(seed)
		var first string
		for i := range 5 {
			p, err := partition.Propose(m.Graph, sometimes(uint64(seed), 60), partition.Options{})
			require.NoError(t, err)
			if i == 0 {
				first = p.String()
			}
			require.Equal(t, first, p.String())
		}
	}
}

// chain is a graph of n elementwise calls in a row, every k-th one an exp, with branches.
func chain(n, every int) *graph.Module {
	var b strings.Builder
	b.WriteString("graph g(%v0: f32[4]) {\n")
	for i := 1; i <= n; i++ {
		switch {
		case i%every == 0:
			fmt.Fprintf(&b, "%%v%d = call_function[exp](%%v%d)\n", i, i-1)
		case i%7 == 0:
			fmt.Fprintf(&b, "%%v%d = call_function[add](%%v%d, %%v%d)\n", i, i-1, max(i-30, 0))
		default:
			fmt.Fprintf(&b, "%%v%d = call_function[relu](%%v%d)\n", i, i-1)
		}
	}
	fmt.Fprintf(&b, "return %%v%d\n}\n", n)
	return parsed(b.String())
}

func TestProposeLongChain(t *testing.T) {
	m := chain(3000, 50)
	p, err := partition.Propose(m.Graph, named("relu", "add"), partition.Options{})
	require.NoError(t, err)
	require.Len(t, p.Parts, 60)
	same(t, m, p.Parts, 1)
	require.Len(t, m.Subs(), 60)
}

// BenchmarkPropose is torch.fx's hard case: a chain in which every 50th node is not
// supported.
func BenchmarkPropose(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		m := chain(n, 50)
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				if _, err := partition.Propose(m.Graph, named("relu", "add"), partition.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkFuse proposes and makes the sub-graphs.
func BenchmarkFuse(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		m := chain(n, 50)
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				c := graph.Clone(m)
				b.StartTimer()
				p, err := partition.Propose(c.Graph, named("relu", "add"), partition.Options{})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := partition.Fuse(c, p.Parts...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
