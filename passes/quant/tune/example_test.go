package tune_test

import (
	"context"
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/quanttest"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/tune"
)

// twoLayers is a graph with known weights, prepared and calibrated.
func twoLayers() (float, calibrated *graph.Module, inputs [][]*array.Array) {
	float, err := graph.Parse([]byte(`gofx 1
graph net(%x: f32[1,2]) {
  %w1 = get_attr[w1] : f32[2,2]
  %h = call_function[linear](%x, %w1, _)
  %w2 = get_attr[w2] : f32[1,2]
  %y = call_function[linear](%h, %w2, _)
  return %y
}
param w1 : f32[2,2]
param w2 : f32[1,2]
`), "net.fx")
	if err != nil {
		panic(err)
	}
	float.SetParam(graph.Param{Path: "w1", Value: array.FromSlice([]float32{1, 0.3, -0.7, 0.2}, 2, 2)})
	float.SetParam(graph.Param{Path: "w2", Value: array.FromSlice([]float32{0.9, -0.1}, 1, 2)})
	for i := range 8 {
		inputs = append(inputs, []*array.Array{array.FromSlice([]float32{float32(i) / 7, 1 - float32(i*i)/20}, 1, 2)})
	}
	calibrated = graph.Clone(float)
	ctx, list := context.Background(), []passes.Pass{quant.Prepare(quanttest.Static(), cpu.QuantBackend())}
	if _, err := passes.Run(ctx, calibrated, list, passes.Options{}); err != nil {
		panic(err)
	}
	if _, err := quant.Calibrate(ctx, calibrated, quanttest.Inputs(inputs...), quant.CalibrateOptions{}); err != nil {
		panic(err)
	}
	return float, calibrated, inputs
}

// How far each value is from the float one.
func ExampleCompare() {
	ctx := context.Background()
	float, m, inputs := twoLayers()
	if _, err := passes.Run(ctx, m, []passes.Pass{quant.Convert(quanttest.Static(), cpu.QuantBackend())}, passes.Options{}); err != nil {
		panic(err)
	}
	q, err := tune.Compare(ctx, float, m, quanttest.Inputs(inputs...), nil)
	if err != nil {
		panic(err)
	}
	for _, l := range q.Layers {
		fmt.Println(l.Node, l.SQNR > 40, l.Largest < 0.01)
	}
	// Output:
	// h true true
	// y true true
}

// The fastest form whose results keep 50 dB.
func ExampleTrials_Mixed() {
	ctx := context.Background()
	_, m, inputs := twoLayers()
	trials, err := tune.NewTrials(ctx, m, quanttest.Static(), cpu.QuantBackend(), quanttest.Inputs(inputs...), nil)
	if err != nil {
		panic(err)
	}
	list, err := trials.Sensitivities(ctx, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(len(list), "operators, the most harmful one:", list[0].Node)
	c, err := trials.Mixed(ctx, tune.MixedOptions{Budget: 50})
	if err != nil {
		panic(err)
	}
	for _, s := range c.Exclude {
		fmt.Println(s)
	}
	mixed, err := trials.Convert(ctx, c.Exclude[0].Name)
	if err != nil {
		panic(err)
	}
	q, err := trials.Quality(ctx, mixed)
	fmt.Println(q > 50, err)
	// Output:
	// 2 operators, the most harmful one: h
	// name h
	// true <nil>
}

// What rounding shifts channels by is put into the biases.
func ExampleCorrectBias() {
	ctx := context.Background()
	float, m, inputs := twoLayers()
	if _, err := passes.Run(ctx, m, []passes.Pass{quant.Convert(quanttest.Static(), cpu.QuantBackend())}, passes.Options{}); err != nil {
		panic(err)
	}
	n, err := tune.CorrectBias(ctx, float, m, quanttest.Inputs(inputs...), nil)
	fmt.Println(n, "biases", err)
	// Output: 2 biases <nil>
}

// Before observers are added: equal ranges on both sides of a channel.
func ExampleEqualise() {
	m, _, _ := twoLayers()
	r, err := passes.Run(context.Background(), m, []passes.Pass{tune.Equalise}, passes.Options{})
	fmt.Println(r.Changed(), err)
	fmt.Printf("%.2f\n", array.Data[float32](m.Param("w1_equalised").Value))
	fmt.Printf("%.2f\n", array.Data[float32](m.Param("w2_equalised").Value))
	// Output:
	// true <nil>
	// [0.95 0.28 -0.26 0.08]
	// [0.95 -0.26]
}

// What a few channels of layer norms have too much goes to the weights after them.
func ExampleSmooth() {
	m, err := graph.Parse([]byte(`gofx 1
graph net(%x: f32[1,2]) {
  %g = get_attr[g] : f32[2]
  %n = call_function[layer_norm](%x, %g, _) {normalized_shape=[2]}
  %w = get_attr[w] : f32[1,2]
  %y = call_function[linear](%n, %w, _)
  return %y
}
param g : f32[2]
param w : f32[1,2]
`), "net.fx")
	if err != nil {
		panic(err)
	}
	m.SetParam(graph.Param{Path: "g", Value: array.FromSlice([]float32{16, 1}, 2)})
	m.SetParam(graph.Param{Path: "w", Value: array.FromSlice([]float32{1, 1}, 1, 2)})
	in := []*array.Array{array.FromSlice([]float32{1, -1}, 1, 2)}
	_, err = passes.Run(context.Background(), m, []passes.Pass{tune.Smooth(quanttest.Inputs(in), tune.SmoothOptions{})}, passes.Options{})
	fmt.Printf("%.2f %.2f %v\n", array.Data[float32](m.Param("g_smoothed").Value), array.Data[float32](m.Param("w_smoothed").Value), err)
	// Output: [4.00 1.00] [4.00 1.00] <nil>
}
