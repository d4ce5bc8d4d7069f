package fusion_test

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/fusion"
	"github.com/gofx-dev/gofx/tensor"
)

// fold runs a fusion on a network and prints the calls that are left.
func fold(net any, typ string, p passes.Pass) {
	gm, err := fx.Trace(context.Background(), net, fx.Input("x", typ))
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := gm.Apply(context.Background(), []fx.Pass{p}, fx.PassOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for n := range gm.Graph.Nodes() {
		if n.Opcode().IsCall() {
			fmt.Println(n.Text())
		}
	}
	for _, e := range report.Passes[0].Refused {
		why, _, _ := strings.Cut(e.Why, " at ") // the line of the model
		fmt.Println(e.Node, "stays:", why)
	}
}

func Example_convBN() {
	fold(nn.NewSequential(nn.NewConv2d(3, 4, 3), nn.NewBatchNorm2d(4), nn.NewReLU()), "f32[N,3,8,8]", fusion.ConvBN)
	// Output:
	// %_0 = call_module[0_folded](%x) : f32[N,4,6,6]
	// %_2 = call_module[2](%_0) : f32[N,4,6,6]
}

// both uses the convolution's own result, too.
type both struct {
	Conv *nn.Conv2d
	Bn   *nn.BatchNorm2d
}

func (m *both) Forward(x *tensor.Tensor) *tensor.Tensor {
	y := m.Conv.Forward(x)
	return m.Bn.Forward(y).Add(y)
}

// What is left alone says why.
func Example_convBN_refused() {
	fold(&both{nn.NewConv2d(3, 4, 3), nn.NewBatchNorm2d(4)}, "f32[N,3,8,8]", fusion.ConvBN)
	// Output:
	// %conv = call_module[conv](%x) : f32[N,4,6,6]
	// %bn = call_module[bn](%conv) : f32[N,4,6,6]
	// %add = call_method[add](%bn, %conv) : f32[N,4,6,6]
	// %bn stays: the result of %conv is also used by %add
}

func Example_linearBN() {
	fold(nn.NewSequential(nn.NewLinear(8, 4), nn.NewBatchNorm1d(4)), "f32[N,8]", fusion.LinearBN)
	// Output: %_0 = call_module[0_folded](%x) : f32[N,4]
}

// recognise runs one of the recognisers, or all, on a function of tensors of one
// type and prints the calls that are left.
func recognise(f any, typ string, list ...passes.Pass) {
	gm, err := fx.Trace(context.Background(), f, fx.Input("x", typ))
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := gm.Apply(context.Background(), list, fx.PassOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	for n := range gm.Graph.Nodes() {
		if n.Opcode().IsCall() {
			fmt.Println(n.Text())
		}
	}
}

func Example_attention() {
	recognise(func(x *tensor.Tensor) *tensor.Tensor {
		i := tensor.Arange(x.Size(1))
		later := i.Unsqueeze(0).Gt(i.Unsqueeze(1))
		scores := x.Matmul(x.Transpose(-1, -2)).DivScalar(8)
		return scores.MaskedFill(later, math.Inf(-1)).Softmax(-1).Matmul(x)
	}, "f32[N,S,64]", fusion.Attention)
	// Output:
	// %scaled_dot_product_attention = call_function[scaled_dot_product_attention](%x, %x, %x) {is_causal=true, scale=0.125} : f32[N,S,64]
}

func Example_layerNorm() {
	recognise(func(x *tensor.Tensor) *tensor.Tensor {
		keep := tensor.ReduceAttrs{KeepDim: true}
		d := x.Sub(x.MeanWith(-1, keep))
		return d.Div(d.PowScalar(2).MeanWith(-1, keep).AddScalar(1e-5).Sqrt())
	}, "f32[N,64]", fusion.LayerNorm)
	// Output: %layer_norm = call_function[layer_norm](%x, _, _) {normalized_shape=[64], eps=1e-05} : f32[N,64]
}

func Example_rmsNorm() {
	recognise(func(x *tensor.Tensor) *tensor.Tensor {
		return x.Mul(x.Square().MeanWith(-1, tensor.ReduceAttrs{KeepDim: true}).AddScalar(1e-6).Rsqrt())
	}, "f32[N,64]", fusion.RmsNorm)
	// Output: %rms_norm = call_function[rms_norm](%x, _) {normalized_shape=[64], eps=1e-06} : f32[N,64]
}

func Example_softmax() {
	recognise(func(x *tensor.Tensor) *tensor.Tensor {
		keep := tensor.ReduceAttrs{KeepDim: true}
		e := x.Sub(x.AmaxWith(0, keep)).Exp()
		return e.Div(e.SumWith(0, keep))
	}, "f32[N,64]", fusion.Softmax)
	// Output: %softmax = call_function[softmax](%x) : f32[N,64]
}

func Example_gelu() {
	recognise(func(x *tensor.Tensor) *tensor.Tensor {
		inner := x.Add(x.PowScalar(3).MulScalar(0.044715)).MulScalar(math.Sqrt(2 / math.Pi))
		return x.MulScalar(0.5).Mul(inner.Tanh().AddScalar(1))
	}, "f32[N,64]", fusion.Gelu)
	// Output: %gelu = call_function[gelu](%x) {approximate="tanh"} : f32[N,64]
}

func Example_silu() {
	recognise(func(x *tensor.Tensor) *tensor.Tensor { return x.Mul(x.Sigmoid()) }, "f32[N,64]", fusion.Silu)
	// Output: %silu = call_function[silu](%x) : f32[N,64]
}

func Example_hardswish() {
	recognise(func(x *tensor.Tensor) *tensor.Tensor {
		return x.Mul(x.AddScalar(3).Relu6()).DivScalar(6)
	}, "f32[N,64]", fusion.Hardswish)
	// Output: %hardswish = call_function[hardswish](%x) : f32[N,64]
}

// All recognisers in turn.
func ExampleRecognisers() {
	recognise(func(x *tensor.Tensor) *tensor.Tensor {
		h := x.Mul(x.Sigmoid())
		return h.Matmul(h.Transpose(-1, -2)).Softmax(-1).Matmul(h)
	}, "f32[N,64]", fusion.Recognisers()...)
	// Output:
	// %silu = call_function[silu](%x) : f32[N,64]
	// %scaled_dot_product_attention = call_function[scaled_dot_product_attention](%silu, %silu, %silu) {scale=1.0} : f32[N,64]
}

// A normalisation before a convolution cannot be folded into it.
func ExampleBNAffine() {
	norm := nn.NewBatchNorm2d(4)
	gm, err := fx.Trace(context.Background(), func(x *tensor.Tensor) *tensor.Tensor { return norm.Forward(x).Relu() }, fx.Input("x", "f32[N,4,8,8]"))
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := gm.Apply(context.Background(), []fx.Pass{fusion.BNAffine}, fx.PassOptions{}); err != nil {
		fmt.Println(err)
	}
	for n := range gm.Graph.Nodes() {
		if n.Opcode().IsCall() {
			fmt.Println(n.Op())
		}
	}
	// Output:
	// mul
	// add
	// relu
}

// Layers of one value become one layer, whose result is split.
func Example_mergeLinear() {
	query, key := nn.NewLinear(8, 4), nn.NewLinear(8, 6)
	gm, err := fx.Trace(context.Background(), func(x *tensor.Tensor) (q, k *tensor.Tensor) { return query.Forward(x), key.Forward(x) },
		fx.Input("x", "f32[N,8]"))
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := gm.Apply(context.Background(), []fx.Pass{fusion.MergeLinear}, fx.PassOptions{Numeric: &passes.Numeric{}})
	fmt.Println(r.Matches("merge-linear"), err)
	for n := range gm.Graph.Nodes() {
		if n.Opcode().IsCall() && n.Op() != op.GetItem {
			fmt.Println(n.Op(), n.Type())
		}
	}
	// Output:
	// 2 <nil>
	// linear f32[N,10]
	// split (f32[N,4], f32[N,6])
}

// Products by one matrix become one product.
func Example_mergeMatmul() {
	gm, err := fx.Trace(context.Background(), func(x, y, w *tensor.Tensor) (a, b *tensor.Tensor) { return x.Matmul(w), y.Matmul(w) },
		fx.Input("x", "f32[2,8]"), fx.Input("y", "f32[1,8]"), fx.Input("w", "f32[8,4]"))
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := gm.Apply(context.Background(), []fx.Pass{fusion.MergeMatmul}, fx.PassOptions{Numeric: &passes.Numeric{}})
	fmt.Println(r.Matches("merge-matmul"), err)
	for n := range gm.Graph.Nodes() {
		if n.Opcode().IsCall() && n.Op() != op.GetItem {
			fmt.Println(n.Op(), n.Type())
		}
	}
	// Output:
	// 2 <nil>
	// cat f32[3,8]
	// matmul f32[3,4]
	// split (f32[2,4], f32[1,4])
}

// Elements are added to a value, not to zeros that are then added to it.
func Example_scatterAdd() {
	gm, err := fx.Trace(context.Background(), func(x, index, src *tensor.Tensor) *tensor.Tensor {
		return x.Add(x.ZerosLike().ScatterAdd(index, src, 0))
	}, fx.Input("x", "f32[9,4]"), fx.Input("index", "i64[2,4]"), fx.Input("src", "f32[2,4]"))
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := gm.Apply(context.Background(), []fx.Pass{fusion.ScatterAdd}, fx.PassOptions{})
	fmt.Println(r.Matches("scatter-add"), err)
	for n := range gm.Graph.Nodes() {
		if n.Opcode().IsCall() {
			fmt.Println(n.Op(), n.Type())
		}
	}
	// Output:
	// 1 <nil>
	// scatter_add f32[9,4]
}

// A product by a transposed weight is a linear layer.
func Example_linear() {
	w := tensor.Param(array.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3))
	gm, err := fx.Trace(context.Background(), func(x *tensor.Tensor) *tensor.Tensor { return x.Matmul(w.T()) }, fx.Input("x", "f32[9,3]"))
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := gm.Apply(context.Background(), []fx.Pass{fusion.Linear}, fx.PassOptions{Numeric: &passes.Numeric{}})
	fmt.Println(r.Matches("linear"), err)
	for n := range gm.Graph.Nodes() {
		if n.Opcode().IsCall() {
			fmt.Println(n.Op(), n.Type())
		}
	}
	// Output:
	// 1 <nil>
	// linear f32[9,2]
}
