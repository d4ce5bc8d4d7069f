package schedule_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/schedule"
)

const layered = `gofx 1

graph g(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %w0 = get_attr[w0] : f32[4,4]
  %a = call_function[linear](%x, %w0) : f32[N,4]
  %b = call_function[linear](%a, %w0) : f32[N,4]
  %w1 = get_attr[w1] : f32[4,4]
  %c = call_function[linear](%b, %w1) : f32[N,4]
  %t = call_function[split](%c) {sizes=[2,2], dim=1}
  %l = call_function[getitem](%t) {index=0}
  %d = call_function[relu](%l) : f32[N,2]
  return %d
}
param w0 : f32[4,4]
param w1 : f32[4,4]
`

func devices(bytes ...int64) (f schedule.Fleet) {
	for i, m := range bytes {
		f.Devices = append(f.Devices, schedule.Device{On: schedule.Resource(fmt.Sprint("gpu", i)), Memory: m})
	}
	f.Sizes = map[string]int{"N": 2}
	return f
}

func layeredGraph(t *testing.T) *graph.Graph {
	m, err := graph.Parse([]byte(layered), "layered.fx")
	require.NoError(t, err)
	return m.Graph
}

// Memory is counted to the byte: weights once, values where they are made and where
// they are given.
func TestBySize(t *testing.T) {
	g := layeredGraph(t)
	w, v := int64(4*4*4), int64(2*4*4) // a weight, a value
	for _, c := range []struct {
		memory []int64
		where  string
		used   []int64
	}{
		{[]int64{0}, "0000", []int64{2*w + 5*v + v/2}},
		{[]int64{2*w + 5*v + v/2, 0}, "0000", []int64{2*w + 5*v + v/2, 0}},
		{[]int64{2*w + 5*v + v/2 - 1, 1000}, "0001", []int64{2*w + 5*v, v/2 + v/2}},
		{[]int64{w + 3*v, 1000}, "0011", []int64{w + 3*v, w + 3*v + v/2}},
		{[]int64{w + 2*v, w + 2*v, 1000}, "0122", []int64{w + 2*v, w + 2*v, w + 3*v + v/2}},
	} {
		p, err := devices(c.memory...).BySize(g)
		require.NoError(t, err, "%v", c.memory)
		where := ""
		for _, name := range []string{"a", "b", "c", "d"} {
			r := string(p.Where(g.Find(name)))
			where += r[len(r)-1:]
		}
		require.Equal(t, c.where, where, "%v", c.memory)
		for i, want := range c.used {
			require.Equal(t, want, p.Memory[schedule.Resource(fmt.Sprint("gpu", i))], "%v, device %d", c.memory, i)
		}
	}
}

func TestNoPlacement(t *testing.T) {
	g := layeredGraph(t)
	for _, c := range []struct {
		f    schedule.Fleet
		want string
	}{
		{schedule.Fleet{}, "there are no devices"},
		{schedule.Fleet{Devices: []schedule.Device{{}, {On: "a"}, {}}, Sizes: map[string]int{"N": 1}}, "device host is listed twice"},
		{devices(4), "%a takes 128 bytes with its operands, device gpu0 has 4"},
		{devices(128, 4), "%b takes 128 bytes with its operands, device gpu1 has 4"},
		{devices(128, 128), "%c finds no room on any device: of their memory is used gpu0 128 of 128, gpu1 128 of 128"},
		{schedule.Fleet{Devices: devices(0).Devices}, "%x is f32[N,4], expected a size in bytes"},
	} {
		_, err := c.f.BySize(g)
		require.ErrorIs(t, err, schedule.NoPlacement)
		require.ErrorContains(t, err, c.want)
		_, err = c.f.ByCost(g, schedule.Machine{})
		require.ErrorIs(t, err, schedule.NoPlacement)
	}
}

// A placement is written down by Place, and cuts the graph by partition.Split.
func TestPlacementIsPlaced(t *testing.T) {
	m, err := graph.Parse([]byte(layered), "layered.fx")
	require.NoError(t, err)
	p, err := devices(192, 0).BySize(m.Graph)
	require.NoError(t, err)
	_, err = passes.Run(context.Background(), m, []passes.Pass{schedule.Place("size", "By size.", p.Where), schedule.Overlap(schedule.Machine{})}, passes.Options{})
	require.NoError(t, err)
	r, _ := schedule.On.Get(m.Graph.Find("c"))
	require.EqualValues(t, "gpu1", r)
	_, err = schedule.Simulate(m.Graph, schedule.Machine{})
	require.NoError(t, err)
}

// Costs decide: work that takes long goes where it is fast, unless the way there takes longer; two
// chains go to two devices.
func TestByCost(t *testing.T) {
	m, err := graph.Parse([]byte(`gofx 1

graph g(%x: f32[1000]) {
  %a = call_function[exp](%x)
  %b = call_function[exp](%a)
  %c = call_function[tanh](%x)
  %d = call_function[tanh](%c)
  %e = call_function[add](%b, %d)
  return %e
}
`), "g.fx")
	require.NoError(t, err)
	g := m.Graph
	f := devices(0, 0)
	machine := schedule.Machine{Cost: func(n *graph.Node) time.Duration {
		if !n.Opcode().IsCall() {
			return 0
		}
		return 100 * time.Microsecond
	}}
	p, err := f.ByCost(g, machine)
	require.NoError(t, err)
	require.Equal(t, 300*time.Microsecond, p.Makespan)
	require.NotEqual(t, p.Where(g.Find("b")), p.Where(g.Find("d")))
	require.Equal(t, p.Where(g.Find("a")), p.Where(g.Find("b")))

	// The way between them takes longer than the work.
	slow := machine
	slow.Links = map[schedule.Way]schedule.Link{{From: "gpu0", To: "gpu1"}: {Bandwidth: 1e6}, {From: "gpu1", To: "gpu0"}: {Bandwidth: 1e6}}
	p, err = f.ByCost(g, slow)
	require.NoError(t, err)
	require.Equal(t, 500*time.Microsecond, p.Makespan)
	require.Equal(t, p.Where(g.Find("b")), p.Where(g.Find("d")))

	// One device is fast at one operator.
	mixed := machine
	mixed.Cost = func(n *graph.Node) time.Duration {
		on, _ := schedule.On.Get(n)
		switch {
		case !n.Opcode().IsCall():
			return 0
		case n.Op().Name == "tanh" && on == "gpu0":
			return time.Millisecond
		}
		return 100 * time.Microsecond
	}
	p, err = f.ByCost(g, mixed)
	require.NoError(t, err)
	require.EqualValues(t, "gpu1", p.Where(g.Find("c")))
	require.EqualValues(t, "gpu1", p.Where(g.Find("d")))
	require.Equal(t, 300*time.Microsecond, p.Makespan)

	// Memory goes before time.
	tight := devices(16_000, 0)
	p, err = tight.ByCost(g, machine)
	require.NoError(t, err)
	require.LessOrEqual(t, p.Memory["gpu0"], int64(16_000))
}

// ByCost is compared with the best of all placements on small random graphs.
func TestByCost_isNearTheBest(t *testing.T) {
	random := rapid.Custom(fxtest.RandomGraph)
	graphs, sum := 0, 0.0
	for seed := range 400 {
		m := random.Example(seed)
		var calls []*graph.Node
		for n := range m.Graph.Nodes() {
			if n.Opcode().IsCall() && n.Op() != op.GetItem {
				calls = append(calls, n)
			}
		}
		if len(calls) < 3 || len(calls) > 8 {
			continue
		}
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		costs := map[string]time.Duration{}
		for _, n := range calls {
			for _, d := range []string{"gpu0", "gpu1"} {
				costs[d+n.Name()] = time.Duration(1 + r.IntN(100))
			}
		}
		link := schedule.Link{Latency: time.Duration(r.IntN(60))}
		machine := schedule.Machine{
			Cost: func(n *graph.Node) time.Duration {
				on, _ := schedule.On.Get(n)
				return costs[string(on)+n.Name()]
			},
			Links: map[schedule.Way]schedule.Link{{From: "gpu0", To: "gpu1"}: link, {From: "gpu1", To: "gpu0"}: link, {From: "gpu0"}: link, {From: "gpu1"}: link, {To: "gpu0"}: link, {To: "gpu1"}: link},
		}
		f := devices(0, 0)
		f.Sizes["N"] = 3
		p, err := f.ByCost(m.Graph, machine)
		require.NoError(t, err)
		best := time.Duration(1 << 60)
		for set := range 1 << len(calls) {
			at := 0
			everywhere := schedule.Place("try", "Tries one.", func(n *graph.Node) schedule.Resource {
				if n.Op() == op.GetItem {
					return schedule.Host
				}
				at++
				return schedule.Resource(fmt.Sprint("gpu", set>>(at-1)&1))
			})
			c := graph.Clone(m)
			_, err := everywhere.Run(passes.NewCtx(context.Background(), c), c.Graph)
			require.NoError(t, err)
			best = min(best, schedule.Clock(c.Graph, machine))
		}
		require.GreaterOrEqual(t, p.Makespan, best, "%d", seed)
		graphs++
		sum += float64(p.Makespan) / float64(best)
	}
	t.Logf("%d graphs, %.3f of the best on average", graphs, sum/float64(graphs))
	require.Greater(t, graphs, 50)
	require.Less(t, sum/float64(graphs), 1.1)
}
