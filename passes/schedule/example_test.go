package schedule_test

import (
	"context"
	"fmt"
	"time"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/schedule"
	"github.com/gofx-dev/gofx/tensor"
)

// A lookup on another host, written before dense work of this one, which it makes wait.
const lookup = `gofx 1

graph lookup(%ids: f32[2], %dense: f32[2]) {
  %far = call_function[tanh](%ids)
  %wide = call_function[exp](%far)
  %bottom = call_function[relu](%dense)
  %top = call_function[add](%wide, %bottom)
  return %top
}
`

var elsewhere = schedule.Place("place", "Gives the lookup to the other host.", func(n *graph.Node) schedule.Resource {
	if n.Op() == std.Tanh {
		return "remote"
	}
	return schedule.Host
})

var machine = schedule.Machine{
	Cost: func(n *graph.Node) time.Duration {
		if n.Opcode().IsCall() {
			return 100 * time.Microsecond
		}
		return 0
	},
	Links: map[schedule.Way]schedule.Link{{From: "remote", To: schedule.Host}: {Latency: 50 * time.Microsecond}},
}

// The wait comes as late as the host's other work allows.
func ExampleOverlap() {
	m, _ := graph.Parse([]byte(lookup), "lookup.fx")
	report, err := passes.Run(context.Background(), m, []passes.Pass{elsewhere, schedule.Overlap(machine)}, passes.Options{})
	fmt.Println(err, report.Matches("overlap"))
	for n := range m.Graph.Nodes() {
		fmt.Println(n)
	}
	// Output:
	// <nil> 1
	// %ids
	// %dense
	// %far
	// %bottom
	// %wait
	// %wide
	// %top
	// %output
}

func ExampleSimulate() {
	m, _ := graph.Parse([]byte(lookup), "lookup.fx")
	_, _ = passes.Run(context.Background(), m, []passes.Pass{elsewhere, schedule.Overlap(machine)}, passes.Options{})
	line, err := schedule.Simulate(m.Graph, machine)
	fmt.Println(line, err)
	// Output:
	// host   ##################+........##################################### 300µs
	// remote ##################+............................................. 100µs
	// makespan 350µs, critical path 350µs
	//  <nil>
}

// Run computes what the interpreter computes, with the remote work on a goroutine.
func ExampleRun() {
	m, _ := graph.Parse([]byte(lookup), "lookup.fx")
	_, _ = passes.Run(context.Background(), m, []passes.Pass{elsewhere, schedule.Overlap(machine)}, passes.Options{})
	p := &interp.Interpreter{State: interp.NewState(m)}
	out, err := schedule.Run(context.Background(), p, tensor.Zeros(2), tensor.FromSlice([]float32{-1, 2}))
	fmt.Println(tensor.Data[float32](out[0]), err)
	// Output: [1 3] <nil>
}

func ExampleCheck() {
	m, _ := graph.Parse([]byte(lookup), "lookup.fx")
	schedule.On.Set(m.Graph.Find("far"), "remote")
	fmt.Println(schedule.Check(m.Graph))
	// Output:
	// node %wide: exp: operand %far is made on remote and not waited for [FX3060]
	//     hint: run the pass schedule.Overlap, or put wait between them
}

func ExamplePlace() {
	m, _ := graph.Parse([]byte(lookup), "lookup.fx")
	_, err := passes.Run(context.Background(), m, []passes.Pass{elsewhere}, passes.Options{})
	on, _ := schedule.On.Get(m.Graph.Find("far"))
	fmt.Println(on, err)
	// Output: remote <nil>
}

// A fleet places a graph by the memory of its devices, or by time.
func ExampleFleet() {
	m, _ := graph.Parse([]byte(lookup), "lookup.fx")
	fleet := schedule.Fleet{Devices: []schedule.Device{{On: "gpu0", Memory: 32}, {On: "gpu1"}}}
	size, err := fleet.BySize(m.Graph)
	fmt.Println(size.Where(m.Graph.Find("wide")), size.Where(m.Graph.Find("top")), size.Memory, err)
	cost, err := fleet.ByCost(m.Graph, machine)
	fmt.Println(cost.Makespan, cost.Memory, err)
	// Output:
	// gpu0 gpu1 map[gpu0:24 gpu1:32] <nil>
	// 300µs map[gpu0:24 gpu1:32] <nil>
}
