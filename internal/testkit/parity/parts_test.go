package parity

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/partition"
	"github.com/gofx-dev/gofx/passes/schedule"
)

func init() { area("2.7", partRows, deviceRows) }

// has accepts calls of operators by name.
func has(ops ...string) partition.Supports {
	return func(n *graph.Node) (bool, string) {
		return slices.Contains(ops, n.Op().Name), "no unit for " + n.Op().Name
	}
}

// partsOf proposes parts and writes them down: "a b | d".
func partsOf(t *testing.T, m *graph.Module, s partition.Supports, o partition.Options) string {
	t.Helper()
	p, err := partition.Propose(m.Graph, s, o)
	require.NoError(t, err)
	var list []string
	for _, part := range p.Parts {
		var names []string
		for _, n := range part.Nodes {
			names = append(names, n.Name())
		}
		list = append(list, strings.Join(names, " "))
	}
	return strings.Join(list, " | ")
}

// toy is a target that has some operators of the CPU.
type toy struct{ supports partition.Supports }

func (toy) Name() string { return "toy" }

func (d toy) Supports(n *graph.Node) (bool, string) { return d.supports(n) }

func (d toy) Compile(m *graph.Module, o lowering.Options) (lowering.Executable, error) {
	return cpu.Target{}.Compile(m, o)
}

var partRows = []row{
	{id: "121a", input: "graphs in which a call that is not supported stands before, between, next to and after others, with two ways around it, with getitem, with small parts", outcome: "the sets of calls, to the node: convex, as few as can be, none smaller than asked for", on: in(partition.Propose), test: func(t *testing.T) {
		for _, c := range []struct {
			lines, want string
			least       int
		}{
			{"  %a = call_function[neg](%x)\n  %b = call_function[neg](%a)\n  return %b", "a b", 0},
			{"  %a = call_function[exp](%x)\n  %b = call_function[neg](%a)\n  return %b", "b", 0},
			{"  %a = call_function[neg](%x)\n  %b = call_function[exp](%a)\n  %c = call_function[neg](%b)\n  return %c", "a | c", 0},
			{"  %a = call_function[neg](%x)\n  %b = call_function[exp](%a)\n  %c = call_function[neg](%b)\n  return %c", "", 2},
			{"  %a = call_function[neg](%x)\n  %b = call_function[exp](%a)\n  %c = call_function[add](%a, %b)\n  return %c", "a | c", 0},
			{"  %a = call_function[neg](%x)\n  %b = call_function[exp](%x)\n  %c = call_function[add](%a, %b)\n  return %c", "a c", 0},
			{"  %a = call_function[neg](%x)\n  %b = call_function[neg](%y)\n  return %a, %b", "a b", 0},
			{"  %a = call_function[split](%x) {sizes=[1,3]}\n  %b = call_function[getitem](%a) {index=0}\n  %c = call_function[neg](%b)\n  return %c", "a b c", 0},
			{"  %a = call_function[neg](%x)\n  %b = call_function[exp](%a)\n  %c = call_function[neg](%y)\n  %d = call_function[add](%c, %b)\n  return %d", "a c | d", 0},
		} {
			m := body(t, c.lines)
			for range 3 {
				require.Equal(t, c.want, partsOf(t, m, has("neg", "add", "split"), partition.Options{Min: c.least}), c.lines)
			}
		}
	}},
	{id: "121b", input: "100 random graphs, by a random half of the operators", outcome: "parts that can all be sub-graphs; the graph computes what it did", on: in(partition.Propose, partition.Fuse), test: func(t *testing.T) {
		rapid.Check(t, func(r *rapid.T) {
			m := fxtest.RandomGraph(r)
			want, salt := interpreted(t, m, 2), rapid.IntRange(0, 3).Draw(r, "salt")
			p, err := partition.Propose(m.Graph, func(n *graph.Node) (bool, string) { return (len(n.Op().Name)+salt)%2 == 0, "not today" }, partition.Options{})
			require.NoError(t, err)
			calls, err := partition.Fuse(m, p.Parts...)
			require.NoError(t, err)
			require.Equal(t, len(p.Parts), len(calls))
			require.Positive(t, len(p.Parts)+len(p.Left))
			require.Empty(t, graph.Lint(m.Graph))
			near(t, want, interpreted(t, m, 2), 0)
		})
	}},
	{id: "121c", input: "a chain of 20,000 calls of which every 50th is not supported", outcome: "400 parts, in one go", on: in(partition.Propose, partition.Fuse), test: func(t *testing.T) {
		m := body(t, "  return %x")
		n := m.Graph.Inputs()[0]
		c := m.Graph.Before(m.Graph.Output())
		for i := range 20_000 {
			o := std.Neg
			if i%50 == 49 {
				o = std.Exp
			}
			n = c.Function(o, nil, n)
		}
		m.Graph.Output().SetArg(0, n)
		p, err := partition.Propose(m.Graph, has("neg"), partition.Options{})
		require.NoError(t, err)
		require.Len(t, p.Parts, 400)
		require.Len(t, p.Left, 400)
		calls, err := partition.Fuse(m, p.Parts...)
		require.NoError(t, err)
		require.Len(t, calls, 400)
	}},
	{id: "122", input: "sets of calls in any order: in a row, side by side, the whole graph; sets that overlap, are empty, of another graph, or need each other", outcome: "a call for each; refused with the node or the way, and nothing is changed", on: in(partition.Fuse), test: func(t *testing.T) {
		text := "  %a = call_function[neg](%x)\n  %b = call_function[exp](%a)\n  %c = call_function[tanh](%y)\n  %d = call_function[add](%b, %c)\n  return %d"
		part := func(m *graph.Module, names string) partition.Part {
			p := partition.Part{Name: "p"}
			for _, n := range strings.Fields(names) {
				p.Nodes = append(p.Nodes, m.Graph.Find(n))
			}
			return p
		}
		for _, sets := range []string{"a b", "b a", "a c", "a b c d", "d c b a", "a b,c d", "c,a"} {
			m := body(t, text)
			want := interpreted(t, m, 1)
			var parts []partition.Part
			for _, s := range strings.Split(sets, ",") {
				parts = append(parts, part(m, s))
			}
			calls, err := partition.Fuse(m, parts...)
			require.NoError(t, err, sets)
			require.Len(t, calls, len(parts))
			near(t, want, interpreted(t, m, 1), 0)
		}
		m, other := body(t, text), body(t, text)
		before := m.String()
		for _, parts := range [][]partition.Part{
			{part(m, "a b"), part(m, "b c")}, {part(m, "")}, {part(other, "a")}, {part(m, "a d")}, {part(m, "a x")},
		} {
			_, err := partition.Fuse(m, parts...)
			require.ErrorContains(t, err, "FX3044")
			require.Equal(t, before, m.String())
		}
	}},
	{id: "123", input: "a graph split over a target with some operators and the CPU", outcome: "parts that alternate, what the first target does not run with the reason and the line, the values that are handed over, counted in bytes", on: in(lowering.Split.Pieces, (*lowering.Pieces).Stats, (*lowering.Pieces).Transfers), test: func(t *testing.T) {
		m := body(t, "  %a = call_function[neg](%x)\n  %b = call_function[exp](%a) at \"m.go:4\"\n  %c = call_function[neg](%b)\n  %d = call_function[add](%c, %a)\n  return %d")
		e, err := lowering.Split{First: toy{has("neg", "add")}, Rest: cpu.Target{}}.Pieces(m, lowering.Options{Exact: true})
		require.NoError(t, err)
		defer e.Close()
		in, err := passes.Inputs(m.Graph, nil, 3)
		require.NoError(t, err)
		out, err := e.Run(context.Background(), in)
		require.NoError(t, err)
		near(t, interpreted(t, m, 3), out, 0)
		s := e.Stats()
		require.Len(t, s.Parts, 3)
		require.Equal(t, "exp", s.Fallback[0].Source.Op)
		require.Equal(t, 4, s.Fallback[0].Pos.Line)
		require.Contains(t, s.Fallback[0].Reason, "no unit for exp")
		require.Equal(t, int64(1), s.Runs)
		require.Positive(t, s.In.Bytes)
		require.NotEmpty(t, e.Transfers())
	}},
	{id: "125", input: "predicates joined: all of them, one of them, a veto by name, one of element types, of the bodies of a branch", outcome: "accepted and refused as joined, with the reasons", on: in(partition.All, partition.Any, partition.Deep), test: func(t *testing.T) {
		m := body(t, "  %a = call_function[neg](%x)\n  %b = call_function[exp](%a)\n  %c = call_function[tanh](%b)\n  return %c")
		veto := func(n *graph.Node) (bool, string) { return n.Name() != "a", "vetoed" }
		floats := func(n *graph.Node) (bool, string) { return n.Type().DType().IsFloat(), "no floats" }
		require.Equal(t, "b", partsOf(t, m, partition.All(has("neg", "exp"), veto, floats), partition.Options{}))
		require.Equal(t, "a b c", partsOf(t, m, partition.Any(has("neg"), has("exp", "tanh")), partition.Options{}))
		_, why := partition.All(has("neg", "exp"), veto)(m.Graph.Find("a"))
		require.Equal(t, "vetoed", why)
		_, why = partition.Any(has("neg"), has("exp"))(m.Graph.Find("c"))
		require.Equal(t, 2, strings.Count(why, "no unit for tanh"))
		gm := capture(t, clipped, fx.Input("x", "f32[N]"))
		ok, why := partition.Deep(has("cond", "while"))(sole(t, gm.Module, "while"))
		require.False(t, ok)
		require.Contains(t, why, "no unit for")
	}},
}

// threeLayers takes 64 bytes for each of two weights and 16 for each value.
const threeLayers = `graph g(%x: f32[1,4]) {
  %w0 = get_attr[w0] : f32[4,4]
  %a = call_function[linear](%x, %w0) : f32[1,4]
  %b = call_function[linear](%a, %w0) : f32[1,4]
  %w1 = get_attr[w1] : f32[4,4]
  %c = call_function[linear](%b, %w1) : f32[1,4]
  return %c
}
param w0 : f32[4,4]
param w1 : f32[4,4]
`

// fleet has devices with so many bytes each; 0 is without bound.
func fleet(bytes ...int64) (f schedule.Fleet) {
	for i, b := range bytes {
		f.Devices = append(f.Devices, schedule.Device{On: schedule.Resource("gpu" + string(rune('0'+i))), Memory: b})
	}
	return f
}

var deviceRows = []row{
	{id: "126a", input: "three layers on devices of one size and of others; none; too small ones; one call that fits nowhere", outcome: "devices filled in order, memory counted to the byte; refused with the call, what it takes and what there is", on: in(schedule.Fleet.BySize, (*schedule.Placement).Where), test: func(t *testing.T) {
		m := parse(t, threeLayers)
		for _, c := range []struct {
			bytes []int64
			want  string
		}{
			{[]int64{0}, "000"},
			{[]int64{112, 96}, "001"},
			{[]int64{96, 200}, "011"},
			{[]int64{500, 500}, "000"},
		} {
			p, err := fleet(c.bytes...).BySize(m.Graph)
			require.NoError(t, err, "%v", c.bytes)
			where := ""
			for _, name := range []string{"a", "b", "c"} {
				r := string(p.Where(m.Graph.Find(name)))
				where += r[len(r)-1:]
			}
			require.Equal(t, c.want, where, "%v", c.bytes)
			require.LessOrEqual(t, p.Memory["gpu0"], max(c.bytes[0], 500))
		}
		for want, f := range map[string]schedule.Fleet{"no devices": fleet(), "%a takes 96 bytes": fleet(50, 50), "%c": fleet(112)} {
			_, err := f.BySize(m.Graph)
			require.ErrorIs(t, err, schedule.NoPlacement)
			require.ErrorContains(t, err, want)
		}
	}},
	{id: "126b", input: "two branches that take a second each on two devices, with a cheap and with a costly link; the longest way of a schedule", outcome: "side by side; on one device; the critical path", on: in(schedule.Fleet.ByCost, schedule.Simulate), test: func(t *testing.T) {
		m := body(t, "  %a = call_function[neg](%x)\n  %b = call_function[exp](%x)\n  %c = call_function[add](%a, %b)\n  return %c")
		machine := schedule.Machine{Cost: func(n *graph.Node) time.Duration {
			if n.Opcode().IsCall() {
				return time.Second
			}
			return 0
		}}
		p, err := fleet(0, 0).ByCost(m.Graph, machine)
		require.NoError(t, err)
		require.NotEqual(t, p.Where(m.Graph.Find("a")), p.Where(m.Graph.Find("b")))
		require.Equal(t, 2*time.Second, p.Makespan)
		slow := schedule.Link{Latency: time.Minute}
		machine.Links = map[schedule.Way]schedule.Link{{From: "gpu0", To: "gpu1"}: slow, {From: "gpu1", To: "gpu0"}: slow}
		p, err = fleet(0, 0).ByCost(m.Graph, machine)
		require.NoError(t, err)
		require.Equal(t, p.Where(m.Graph.Find("a")), p.Where(m.Graph.Find("b")))
		require.Equal(t, 3*time.Second, p.Makespan)
		line, err := schedule.Simulate(m.Graph, machine)
		require.NoError(t, err)
		require.Equal(t, 2*time.Second, line.Critical)
		require.Equal(t, 3*time.Second, line.Makespan)
	}},
}
