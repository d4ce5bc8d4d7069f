package fx_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

// capture traces for the examples, which show graphs and not how to treat errors.
func capture(fn any, opts ...fx.Option) *fx.GraphModule {
	gm, err := fx.Trace(context.Background(), fn, opts...)
	if err != nil {
		panic(err)
	}
	return gm
}

// calls returns the opcode, target and type of every node that is a call.
func calls(gm *fx.GraphModule) string {
	var b strings.Builder
	for n := range gm.Graph.Nodes() {
		if n.Opcode().IsCall() {
			fmt.Fprintf(&b, "%s[%s] %s\n", n.Opcode(), n.Target(), n.Type())
		}
	}
	return b.String()
}

// All mistakes of a model come in one error, each with its line and a cure.
func ExampleTrace_mistakes() {
	model := func(x *tensor.Tensor) *tensor.Tensor {
		if x.Sum().Item() > 0 { // the data are not there while tracing
			x = x.Neg()
		}
		return x.Matmul(tensor.Ones(4, 2)) // 3 columns, 4 rows
	}
	_, err := fx.Trace(context.Background(), model, fx.Input("x", "f32[N,3]"))
	var list diag.List
	errors.As(err, &list)
	for _, e := range list {
		fmt.Println(e.Code, e.Op, e.Msg)
	}
	// Output:
	// FX1004 item the model reads the data of a traced tensor (Item), which exists only at run time
	// FX2001 matmul x [N,3] has 3 columns, y [4,2] has 4 rows
}

func ExampleInput() {
	attend := func(q, k *tensor.Tensor) *tensor.Tensor { return q.Matmul(k.Transpose(-2, -1)) }
	gm := capture(attend, fx.Input("query", "f32[N,S,64]"), fx.Input("key", "f32[N,T,64]"))
	fmt.Println(gm.Graph.Inputs(), gm.Graph.Output().Arg(0).Type())

	// Unknown sizes stay unknown.
	fmt.Println(capture(attend, fx.Input("q", "f32[*]")).Graph.Output().Arg(0).Type())
	// Output:
	// [%query %key] f32[N,S,T]
	// f32[*]
}

func ExampleInputDefault() {
	model := func(x, scale *tensor.Tensor) *tensor.Tensor { return x.Mul(scale) }
	gm := capture(model, fx.Input("x", "f32[N]"),
		fx.InputDefault("scale", "f32[]", array.Scalar(float32(10))))

	x := tensor.FromSlice([]float32{1, 2})
	for _, in := range [][]*tensor.Tensor{{x, nil}, {x, tensor.Scalar(float32(3))}} {
		out, err := gm.Run(context.Background(), in...)
		fmt.Println(tensor.Data[float32](out[0]), err)
	}
	// Output:
	// [10 20] <nil>
	// [3 6] <nil>
}

// Arguments that are no tensors are fixed in the graph.
func ExampleArgs() {
	model := func(x *tensor.Tensor, power int, double bool) *tensor.Tensor {
		for range power - 1 {
			x = x.Mul(x)
		}
		if double {
			x = x.MulScalar(2)
		}
		return x
	}
	fmt.Print(calls(capture(model, fx.Args(nil, 3, true))))
	// Output:
	// call_method[mul] ?[*]
	// call_method[mul] ?[*]
	// call_method[mul] ?[*]
}

// The values of a variadic parameter follow one by one.
func ExampleArgs_variadic() {
	concat := func(xs ...*tensor.Tensor) *tensor.Tensor { return tensor.Cat(xs, 0) }
	m := fx.Meta("f32[N,4]")
	fmt.Print(calls(capture(concat, fx.Args(m, m, m))))
	// Output: call_function[cat] f32[3*N,4]
}

// Meta gives the type of a tensor inside an argument of any kind.
func ExampleMeta() {
	type batch struct{ Ids, Mask *tensor.Tensor }
	model := func(b batch) *tensor.Tensor { return b.Ids.Mul(b.Mask) }
	gm := capture(model, fx.Args(batch{fx.Meta("i64[N,S]"), fx.Meta("i64[N,S]")}))
	fmt.Print(calls(gm))
	// Output: call_method[mul] i64[N,S]
}

// Root gives the paths of a module's tensors to a function over it.
func ExampleRoot() {
	net := &Net{nn.NewLinear(4, 3), nn.NewLinear(3, 2)}
	half := func(x *tensor.Tensor) *tensor.Tensor { return net.Fc1.Forward(x) }
	for _, p := range capture(half, fx.Root(net)).Params() {
		fmt.Println(p.Path, p.Selector, p.TypeOf())
	}
	// Output:
	// fc1.weight m.Fc1.Weight f32[3,4]
	// fc1.bias m.Fc1.Bias f32[3]
}

// Features is a method that can be captured as Forward can.
func (m *Net) Features(x *tensor.Tensor) *tensor.Tensor { return m.Fc1.Forward(x).Tanh() }

func ExampleMethod() {
	net := &Net{nn.NewLinear(4, 3), nn.NewLinear(3, 2)}
	fmt.Print(calls(capture(net, fx.Method("Features"), fx.Input("x", "f32[N,4]"))))
	// Output:
	// call_module[fc1] f32[N,3]
	// call_method[tanh] f32[N,3]
}

func ExampleName() {
	gm := capture(func(x *tensor.Tensor) *tensor.Tensor { return x.Relu() }, fx.Name("clamp"))
	fmt.Println(gm.Graph.Name)
	// Output: clamp
}

// Leaf keeps modules of the user's own as one call each.
func ExampleLeaf() {
	type twice struct{ First, Second *Net }
	net := &twice{&Net{nn.NewLinear(4, 4), nn.NewLinear(4, 4)}, &Net{nn.NewLinear(4, 4), nn.NewLinear(4, 4)}}
	forward := func(x *tensor.Tensor) *tensor.Tensor { return nn.Run(net.Second, nn.Run(net.First, x)) }
	gm := capture(forward, fx.Root(net), fx.Leaf(func(m any, path string, library bool) bool {
		return library || path == "first"
	}))
	fmt.Print(calls(gm))
	// Output:
	// call_module[first] ?
	// call_module[second.fc1] ?
	// call_method[relu] ?
	// call_module[second.fc2] ?
}

func ExampleFlat() {
	net := &Net{nn.NewLinear(4, 3), nn.NewLinear(3, 2)}
	fmt.Print(capture(net, fx.Flat(), fx.Name("net"), fx.Input("x", "f32[N,4]")).Graph)
	// Output:
	// gofx 1
	//
	// graph net(%x: f32[N,4]) {
	//   symbol N = dim(%x, 0)
	//   %fc1_weight = get_attr[fc1.weight] : f32[3,4]
	//   %fc1_bias = get_attr[fc1.bias] : f32[3]
	//   %linear = call_function[linear](%x, %fc1_weight, %fc1_bias) : f32[N,3]
	//   %relu = call_method[relu](%linear) : f32[N,3]
	//   %fc2_weight = get_attr[fc2.weight] : f32[2,3]
	//   %fc2_bias = get_attr[fc2.bias] : f32[2]
	//   %linear_1 = call_function[linear](%relu, %fc2_weight, %fc2_bias) : f32[N,2]
	//   return %linear_1
	// }
}

// Trace calls a function again to see that it gives the same graph: one that ranges
// over a map does not. The map of a closure is found by trying often enough.
func ExampleSteady() {
	scales := map[string]float64{"coarse": 0.5, "fine": 2}
	model := func(x *tensor.Tensor) *tensor.Tensor {
		for _, s := range scales {
			x = x.MulScalar(s).AddScalar(1)
		}
		return x
	}
	_, err := fx.Trace(context.Background(), model, fx.Steady(tracer.Steadiness{Times: 1000}))
	fmt.Println(errors.Is(err, tracer.Unsteady))
	// Output: true
}

// With sets fields that have no option of their own: here sizes that the model asks
// for.
func ExampleWith() {
	model := func(x *tensor.Tensor) *tensor.Tensor { return x.DivScalar(x.Dim(0)) }
	gm := capture(model, fx.Input("x", "f32[N,4]"), fx.With(func(t *tracer.Tracer) {
		t.SizeOf = func(_ *graph.Node, axis int) (int, bool) { return 8, axis == 0 }
	}))
	_, err := gm.Run(context.Background(), tensor.Ones(3, 4))
	fmt.Println(err)
	// Output:
	// node %x: input "x" is f32[3,4]: the graph needs N (axis 0, here 3) equal to 8 [FX1022]
	//     required by %x
	//     hint: give other sizes, or capture the graph again for these
}

func ExampleGraphModule() {
	ctx := context.Background()
	gm := capture(func(x, y *tensor.Tensor) (sum, product *tensor.Tensor) { return x.Add(y), x.Mul(y) })
	x, y := tensor.FromSlice([]float32{1, 2}), tensor.FromSlice([]float32{3, 4})

	out, err := gm.Run(ctx, x, y) // mistakes are errors
	fmt.Println(tensor.Data[float32](out[0]), tensor.Data[float32](out[1]), err)

	fmt.Println(len(gm.Call(x, y))) // for use inside models: mistakes panic

	_, err = gm.Run(ctx, x)
	fmt.Println(err)
	// Output:
	// [4 6] [3 8] <nil>
	// 2
	// node %arg1: input "arg1" is missing [FX1020]
}

// A captured graph stands where a layer does, and is traced through.
func ExampleGraphModule_Forward() {
	inner := capture(nn.NewLinear(3, 2), fx.Input("x", "f32[N,3]"))
	outer := capture(func(x *tensor.Tensor) *tensor.Tensor { return inner.Forward(x).Relu() }, fx.Root(inner), fx.Input("x", "f32[N,3]"))
	fmt.Print(calls(outer))

	inner.Walk(func(i tensor.Item) bool {
		if i.Tensor != nil {
			fmt.Println(i.Path, i.Tensor.Type())
		}
		return true
	})
	fmt.Println(inner.State().Tensor("bias").Type())
	// Output:
	// call_module[linear] f32[N,2]
	// call_method[relu] f32[N,2]
	// weight f32[2,3]
	// bias f32[2]
	// f32[2]
}

// A parameter that is replaced counts from the next run on.
func ExampleGraphModule_parameters() {
	gm := capture(nn.NewLinear(2, 1, nn.NoInit()))
	x := tensor.Ones(1, 2)
	fmt.Println(gm.Forward(x).Item())

	p := *gm.Param("weight")
	p.Value = array.FromSlice([]float32{3, 4}, 1, 2)
	gm.SetParam(p)
	fmt.Println(gm.Forward(x).Item())
	// Output:
	// 0
	// 7
}

func ExampleNewGraphModule() {
	gm := capture(func(x *tensor.Tensor) *tensor.Tensor { return x.Neg() })
	again := fx.NewGraphModule(gm.Module)
	fmt.Println(again.Forward(tensor.Scalar(float32(2))).Item())
	// Output: -2
}

// Apply runs a pipeline of passes; Pipeline makes one of names.
func ExamplePipeline() {
	net := nn.NewSequential(nn.NewConv2d(3, 8, 3), nn.NewBatchNorm2d(8), nn.NewReLU())
	gm := capture(net, fx.Input("x", "f32[N,3,16,16]"))

	list, err := fx.Pipeline("conv-bn,drop-unused")
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := gm.Apply(context.Background(), list, fx.PassOptions{})
	fmt.Println(report.Matches("conv-bn"), err)
	fmt.Print(calls(gm))

	_, err = fx.Pipeline("decompose,conv-bn")
	fmt.Println(err)
	// Output:
	// 1 <nil>
	// call_module[0_folded] f32[N,8,14,14]
	// call_module[2] f32[N,8,14,14]
	// pass conv-bn runs after decompose, expected it before: batch_norm is composite, its decomposition is not recognised [FX3020]
	//     hint: exchange them
}

// Passes are in an order that can run.
func ExamplePasses() {
	for _, p := range fx.Passes() {
		if strings.HasSuffix(p.Name, "-bn") {
			fmt.Println(p.Name+":", p.Doc)
		}
	}
	// Output:
	// conv-bn: Folds batch normalisation into the weights of the convolution before it.
	// linear-bn: Folds batch normalisation into the weights of the linear layer before it.
}

// Split cuts a network into sub-graphs and calls of them; it computes the same.
func ExampleSplit() {
	net := nn.NewSequential(nn.NewLinear(2, 3), nn.NewReLU(), nn.NewLinear(3, 1))
	gm := capture(net, fx.Input("x", "f32[N,2]"))
	x := tensor.FromSlice([]float32{1, 2}, 1, 2)
	before := gm.Forward(x)
	calls, err := fx.Split(gm, func(n *graph.Node) string {
		if n.Target() == "2" {
			return "head"
		}
		return "body"
	})
	for _, c := range calls {
		fmt.Println(c, c.Callee().Len(), "nodes")
	}
	fmt.Println(before.String() == gm.Forward(x).String(), err)
	// Output:
	// %body 4 nodes
	// %head 3 nodes
	// true <nil>
}

// AllPasses has those that change numbers, too.
func ExampleAllPasses() {
	for _, p := range fx.AllPasses()[len(fx.Passes()):] {
		fmt.Println(p.Name+":", p.Doc)
	}
	// Output:
	// half: Computes products and what follows them in f16, with casts around.
	// bfloat: Computes products and what follows them in bf16, with casts around.
}

// Expect makes a fusion that disappears an error, which says why.
func ExampleExpect() {
	net := nn.NewSequential(nn.NewConv2d(1, 2, 3), nn.NewReLU(), nn.NewBatchNorm2d(2))
	gm := capture(net, fx.Name("net"), fx.Input("x", "f32[N,1,8,8]"))
	list, _ := fx.Pipeline("conv-bn")
	for _, demand := range []fx.PassOptions{
		{Expect: []passes.Expectation{fx.Expect("conv-bn", 1)}},
		{Expect: []passes.Expectation{fx.ExpectAtLeast("conv-bn", 0)}},
	} {
		_, err := gm.Apply(context.Background(), list, demand)
		fmt.Println(err)
	}
	// Output:
	// matched 0 times, expected 1 [FX3025]
	//     while running pass conv-bn
	// <nil>
}

// Functions of package tensor are patterns and replacements as they are; options
// that they take are left out.
func ExampleReplace_functions() {
	gm := capture(func(x *tensor.Tensor) *tensor.Tensor { return x.Relu().Neg() })
	smooth := fx.Replace("smooth", tensor.Relu, tensor.Gelu)
	if _, err := gm.Apply(context.Background(), []fx.Pass{smooth}, fx.PassOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(calls(gm))
	// Output:
	// call_function[gelu] ?[*]
	// call_method[neg] ?[*]
}

// A Rewrite is Replace with more choices: other spellings, and a condition.
func ExampleRewrite() {
	silu := fx.Rewrite{
		Name: "silu", Doc: "Writes x·sigmoid(x) as silu.",
		Pattern:     func(x *tensor.Tensor) *tensor.Tensor { return x.Mul(x.Sigmoid()) },
		Or:          []any{func(x *tensor.Tensor) *tensor.Tensor { return x.Sigmoid().Mul(x) }},
		Replacement: func(x *tensor.Tensor) *tensor.Tensor { return x.Silu() },
		Where: func(m *passes.Match) string {
			if m.Inputs[0].Opcode() == graph.Placeholder {
				return "inputs are left alone"
			}
			return ""
		},
	}
	gm := capture(func(x *tensor.Tensor) *tensor.Tensor {
		y := x.Sigmoid().Mul(x)
		return y.Sigmoid().Mul(y)
	})
	report, err := gm.Apply(context.Background(), []fx.Pass{passes.Rule(silu)}, fx.PassOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range report.Passes[0].Refused {
		fmt.Println(e.Node, e.Why)
	}
	fmt.Print(calls(gm))
	// Output:
	// %mul matched 2 of 2: inputs are left alone
	// call_method[sigmoid] ?[*]
	// call_method[mul] ?[*]
	// call_function[silu] ?[*]
}

// Save writes graph and weights into a folder; Load gives a module that runs,
// without the Go code of the network.
func ExampleSave() {
	dir, err := os.MkdirTemp("", "gofx")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	net := nn.NewLinear(2, 1, nn.NoInit())
	nn.Constant(net.Weight, 2)
	fmt.Println(fx.Save(dir, capture(net, fx.Input("x", "f32[N,2]"))))

	gm, err := fx.Load(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(gm.Forward(tensor.Ones(1, 2)).Item())
	// Output:
	// <nil>
	// 4
}

// The default pipeline of kernel-style code.
func ExampleOptimise() {
	for _, p := range fx.Optimise() {
		fmt.Print(p.Name, " ")
	}
	// Output: functionalize identity algebra linear conv-bn linear-bn bn-affine const-fold cse dce softmax attention layer-norm rms-norm gelu silu hardswish scatter-add moves drop-unused
}
