package quant_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/tensor"
)

// classifier is a small network.
type classifier struct{ Fc1, Fc2 *nn.Linear }

func (m *classifier) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Fc2.Forward(m.Fc1.Forward(x).Relu()).Softmax(-1)
}

// captured returns the classifier, captured and with everything folded and fused.
func captured() *fx.GraphModule {
	ctx := context.Background()
	net := &classifier{nn.NewLinear(8, 16), nn.NewLinear(16, 4)}
	gm, err := fx.Trace(ctx, net, fx.Input("x", "f32[N,8]"))
	if err == nil {
		_, err = gm.Apply(ctx, fx.Optimise(), fx.PassOptions{})
	}
	if err != nil {
		panic(err)
	}
	return gm
}

// inputs yields batches to calibrate with; a program reads its own data here.
func inputs(yield func([]*array.Array, error) bool) {
	gen := passes.Random{State: 1}
	for range 4 {
		if !yield([]*array.Array{gen.Array(array.F32, 2, 8)}, nil) {
			return
		}
	}
}

func Example() {
	ctx := context.Background()
	gm := captured()
	config := &quant.Config{Global: quant.Setting{Mode: quant.Static}}
	backend := cpu.QuantBackend()

	if _, err := gm.Apply(ctx, []fx.Pass{quant.Prepare(config, backend)}, fx.PassOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	n, err := quant.Calibrate(ctx, gm.Module, inputs, quant.CalibrateOptions{})
	fmt.Println(n, "batches", err)
	if _, err := gm.Apply(ctx, []fx.Pass{quant.Convert(config, backend)}, fx.PassOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range gm.Params() {
		fmt.Println(p.Path, p.TypeOf())
	}
	// Output:
	// 4 batches <nil>
	// fc1.bias f32[16]
	// fc2.bias f32[4]
	// quantised.x.scale f32[]
	// quantised.x.zero u8[]
	// quantised.relu.scale f32[]
	// quantised.relu.zero u8[]
	// fc1.weight_quantised i8[16,8]
	// fc1.weight_scale f32[16]
	// fc2.weight_quantised i8[4,16]
	// fc2.weight_scale f32[4]
}

func ExampleResolve() {
	config := &quant.Config{Global: quant.Setting{Mode: quant.Static}}
	plan, err := quant.Resolve(captured().Module, config, cpu.QuantBackend())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(plan)
	for _, e := range plan.Refusals() {
		fmt.Println("refused:", e.Node, e.Why[0])
	}
	// Output:
	// plan for cpu: 3 of 4 operators quantised
	// %x        value              any by global     u8 affine, histogram
	// %fc1      linear             static by global  static
	// %fc1      weight fc1.weight  any by global     i8 symmetric channel, min_max
	// %relu     relu               static by global  static                         Q06 fused: computed with %fc1
	// %relu     value              any by global     u8 affine, histogram
	// %fc2      linear             static by global  static                         Q05 float result
	// %fc2      weight fc2.weight  any by global     i8 symmetric channel, min_max
	// %softmax  softmax            static by global  float                          Q11 no form: cpu has none of softmax
	// refused: softmax Q11 no form: cpu has none of softmax
}

func ExampleParseConfig() {
	config, err := quant.ParseConfig([]byte(`{
  "global": {"mode": "static"},
  "rules": [{"scope": "fc2", "mode": "weight_only", "weight": {"granularity": "tensor"}}],
  "exclude": [{"op": "softmax"}],
  "strict": true
}`), "quant.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(config.Rules[0].Selector, config.Rules[0].Mode)
	_, err = quant.ParseConfig([]byte(`{"global": {"mod": "static"}}`), "quant.json")
	fmt.Println(strings.Split(err.Error(), "\n")[0])
	// Output:
	// scope fc2 weight_only
	// quant.json:1:13: global has no field "mod", expected one of activation, mode, weight [FX6001]
}

// A strict configuration is granted as a whole, or not at all.
func ExampleConfig() {
	config := &quant.Config{Global: quant.Setting{Mode: quant.Static}, Strict: true}
	_, err := quant.Resolve(captured().Module, config, cpu.QuantBackend())
	fmt.Println(strings.Contains(err.Error(), "cpu grants float: Q11 no form"))
	config.Exclude = []quant.Selector{{Op: "softmax"}}
	_, err = quant.Resolve(captured().Module, config, cpu.QuantBackend())
	fmt.Println(err)
	// Output:
	// true
	// <nil>
}

// Weights alone need no calibration; neither does mode dynamic.
func ExampleConvert() {
	gm := captured()
	config := &quant.Config{Global: quant.Setting{Mode: quant.WeightOnly, Weight: quant.Scheme{Bits: 4, Granularity: quant.PerGroup, Group: 8}}}
	backend := &quant.Backend{Name: "edge", Operators: []quant.Operator{{
		Op: std.Linear, Modes: []quant.Mode{quant.WeightOnly},
		Weight: quant.Weight{Operand: 1, DTypes: []array.DType{array.U8}, Bits: []int{8, 4}, GroupOf: 8},
	}}}
	if _, err := gm.Apply(context.Background(), []fx.Pass{quant.Convert(config, backend)}, fx.PassOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range gm.Params() {
		fmt.Println(p.Path, p.TypeOf())
	}
	// Output:
	// fc1.bias f32[16]
	// fc2.bias f32[4]
	// fc1.weight_quantised u8[16,4]
	// fc1.weight_scale f32[16,1]
	// fc1.weight_zero u8[16,1]
	// fc2.weight_quantised u8[4,8]
	// fc2.weight_scale f32[4,2]
	// fc2.weight_zero u8[4,2]
}

// Prepare adds observers, which are nodes like others.
func ExamplePrepare() {
	gm := captured()
	config := &quant.Config{
		Global: quant.Setting{Mode: quant.Static, Activation: quant.Scheme{Observer: quant.Observer{Kind: quant.MinMax}}},
	}
	report, err := gm.Apply(context.Background(), []fx.Pass{quant.Prepare(config, cpu.QuantBackend())}, fx.PassOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range report.Passes[0].Log {
		fmt.Println(e.Node, e.Why)
	}
	for n := range gm.Graph.Nodes() {
		if n.Scope().Path == "quant.x" {
			fmt.Println(n.Text())
		}
	}
	// Output:
	// %x observed: u8 affine, min_max
	// %relu observed: u8 affine, min_max
	// %quant_x_seen = get_attr[quant.x.seen] : f64[2] in "quant.x" "quant.Observer"
	// %observe = call_function[observe](%x, %quant_x_seen) : f64[2] in "quant.x" "quant.Observer"
	// %assign = call_function[assign](%quant_x_seen, %observe) : f64[2] in "quant.x" "quant.Observer"
}

// Any engine calibrates: here the plan of the prepared graph.
func ExampleCalibrate() {
	ctx := context.Background()
	gm := captured()
	config := &quant.Config{Global: quant.Setting{Mode: quant.Static}}
	if _, err := gm.Apply(ctx, []fx.Pass{quant.Prepare(config, cpu.QuantBackend())}, fx.PassOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	engine, err := cpu.Compile(gm.Module, lowering.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = quant.Calibrate(ctx, gm.Module, inputs, quant.CalibrateOptions{Engine: engine, Progress: func(batches int) error {
		if batches == 2 {
			return fmt.Errorf("stopped; gm can be saved, loaded and calibrated on")
		}
		return nil
	}})
	fmt.Println(err)
	n, err := quant.Calibrate(ctx, gm.Module, inputs, quant.CalibrateOptions{}) // passes over what has been seen
	fmt.Println(n, err)
	// Output:
	// stopped; gm can be saved, loaded and calibrated on
	// 4 <nil>
}

func ExampleReason() {
	for _, r := range quant.Reasons() {
		if r.Refusal() {
			fmt.Println("the first that strict configurations refuse:", r)
			break
		}
	}
	// Output: the first that strict configurations refuse: Q11 no form
}

func ExampleBackend_Operator() {
	linear := cpu.QuantBackend().Operator(std.Linear)
	fmt.Println(linear.Modes, linear.Weight.Bits)
	fmt.Println(cpu.QuantBackend().Operator(std.Softmax))
	// Output:
	// [static dynamic weight_only] [8 4]
	// <nil>
}
