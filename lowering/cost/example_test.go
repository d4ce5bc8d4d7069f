package cost_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cost"
	"github.com/gofx-dev/gofx/lowering/cpu"
)

func planned() *cost.Work {
	m, err := graph.Parse([]byte(`gofx 1
graph net(%x: f32[N,256]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[256,256]
  %h = call_function[linear](%x, %w, _)
  %y = call_function[relu](%h)
  return %y
}
param w : f32[256,256]
`), "net.fx")
	if err != nil {
		panic(err)
	}
	ready, err := lowering.Prepare(m, lowering.Options{})
	if err != nil {
		panic(err)
	}
	p, err := cpu.Plan(ready, lowering.Options{})
	if err != nil {
		panic(err)
	}
	w, err := cost.Of(p, map[string]int{"N": 64})
	if err != nil {
		panic(err)
	}
	return w
}

// The work of a run follows from the plan and the sizes.
func ExampleOf() {
	w := planned()
	for _, s := range w.Steps {
		fmt.Println(s.Nodes, s.Kind, s.Flops, s.Weights, s.Values)
	}
	fmt.Println(w.Memory.Weights, w.Memory.Inputs, w.Memory.Outputs)
	// Output:
	// [h y] LinearPacked 8404992 262144 131072
	// 262144 65536 65536
}

// A device is described by its peaks; without laws, times are those of the roofline.
func ExampleReadDevice() {
	d, err := cost.ReadDevice(strings.NewReader(`{
	"name": "small server", "threads": 1, "cores": 4, "flops": 1e11,
	"memory": [{"bytes": 1000000, "rate": 5e10}, {"rate": 1e10}]
}`), "server.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := d.Estimate(planned())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.Time, e.Steps[0].Memory)
	f, err := e.Fleet(cost.Load{Rate: 100000, Latency: time.Millisecond})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.Machines, f.Workers, f.Bound)
	// Output:
	// 84.049µs false
	// 3 4 processors
}

// Measured runs teach what steps really take.
func ExampleDevice_Calibrate() {
	d := &cost.Device{Name: "desk", Threads: 1, Float: 1e9, Memory: []cost.Level{{Rate: 1e9}}}
	var steps []cost.Step
	took := map[int]time.Duration{}
	for i := range 8 {
		steps = append(steps, cost.Step{At: i, Kind: "MatMul", Times: 1, Flops: int64(i+1) * 1e6, Values: 1000})
		took[i] = time.Duration(i+1) * 4 * time.Millisecond // a quarter of the peak
	}
	w := &cost.Work{Name: "measured", Steps: steps}
	d.Calibrate(d.Measured(w, took, 144*time.Millisecond))
	e, err := d.Estimate(&cost.Work{Steps: []cost.Step{{Kind: "MatMul", Times: 1, Flops: 1e8, Values: 1000}}})
	fmt.Println(e.Roof, e.Time.Round(time.Millisecond), err)
	// Output:
	// 100ms 400ms <nil>
}

// A step that two threads share in three chunks of equal length takes as long as two of them.
func ExampleCutting_Predict() {
	const each = 10 * time.Microsecond
	c := cost.Cutting{Threads: 2, Steps: []cost.Part{{
		Serial:  2 * time.Microsecond,
		Regions: []kernel.Region{{Threads: 2, Indices: 3, Chunks: 3, Took: []time.Duration{each, each, each}, Wall: 3 * each}},
	}}}
	s := c.Predict(cost.Handover{Call: time.Microsecond, Line: 100 * time.Nanosecond}, 0)
	fmt.Printf("%v in %d tiles, %.2f of both threads' time\n", s.Time, s.Tiles, s.Efficiency)
	// Output: 22.9µs in 3 tiles, 0.70 of both threads' time
}

// Of measurements of a step, medians count.
func ExampleMedian() {
	list := []cost.Part{{Serial: 3}, {Serial: 90}, {Serial: 2}}
	fmt.Println(cost.Median(list).Serial)
	// Output: 3ns
}
