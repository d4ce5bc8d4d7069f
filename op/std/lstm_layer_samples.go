package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
)

// layerArgs makes operands of lstm_layer, T steps of a batch N, with 3 features and 4 units.
func layerArgs(g *op.Gen, t, n int) []*array.Array {
	return append([]*array.Array{g.Normal(t, n, 3), g.Normal(n, 4), g.Normal(n, 4)},
		g.Uniform(-1, 1, 16, 3), g.Uniform(-1, 1, 16, 4), g.Uniform(-1, 1, 16), g.Uniform(-1, 1, 16))
}

// layerGradArgs makes operands of lstm_layer_grad with all gradients.
func layerGradArgs(g *op.Gen, t, n int) []*array.Array {
	return []*array.Array{g.Uniform(0, 1, t, n, 16), g.Normal(t, n, 4), g.Normal(n, 4), g.Uniform(-1, 1, 16, 4),
		g.Normal(t, n, 4), g.Normal(t, n, 4), g.Normal(t, n, 16)}
}

// but returns a list with some elements absent.
func but(in []*array.Array, absent ...int) []*array.Array {
	in = append([]*array.Array(nil), in...)
	for _, i := range absent {
		in[i] = nil
	}
	for len(in) > 0 && in[len(in)-1] == nil {
		in = in[:len(in)-1]
	}
	return in
}

func stridedAll(g *op.Gen, in []*array.Array) []*array.Array {
	in = append([]*array.Array(nil), in...)
	for i, a := range in {
		in[i] = g.Strided(a)
	}
	return in
}

func lstmLayerSamples(g *op.Gen) []op.Sample {
	plain, back := layerArgs(g, 3, 2), LstmLayerAttrs{Reverse: true}
	return []op.Sample{
		okCall("plain", LstmLayerAttrs{}, plain...),
		okCall("reverse", back, plain...),
		okCall("from zeros", LstmLayerAttrs{}, but(plain, 1, 2)...),
		okCall("a state", back, but(plain, 2)...),
		okCall("no bias", LstmLayerAttrs{}, but(plain, 1, 2, 5, 6)...),
		okCall("the other bias", LstmLayerAttrs{}, but(plain, 5)...),
		okCall("one step", LstmLayerAttrs{}, layerArgs(g, 1, 3)...),
		okCall("no step", LstmLayerAttrs{}, layerArgs(g, 0, 3)...),
		okCall("empty batch", LstmLayerAttrs{}, layerArgs(g, 2, 0)...),
		okCall("strided", LstmLayerAttrs{}, stridedAll(g, plain)...),
		okCall("f64", back, castAll(array.F64, plain)...),
		okCall("bf16", LstmLayerAttrs{}, castAll(array.BF16, plain)...),
	}
}

func lstmLayerGradSamples(g *op.Gen) []op.Sample {
	plain, back := layerGradArgs(g, 3, 2), LstmLayerAttrs{Reverse: true}
	return []op.Sample{
		okCall("plain", LstmLayerAttrs{}, plain...),
		okCall("reverse", back, plain...),
		okCall("of the output", LstmLayerAttrs{}, but(plain, 2, 5, 6)...),
		okCall("of cells", back, but(plain, 4, 6)...),
		okCall("of gates", LstmLayerAttrs{}, but(plain, 2, 4, 5)...),
		okCall("of nothing", LstmLayerAttrs{}, but(plain, 4, 5, 6)...),
		okCall("one step", LstmLayerAttrs{}, layerGradArgs(g, 1, 3)...),
		okCall("no step", LstmLayerAttrs{}, layerGradArgs(g, 0, 3)...),
		okCall("empty batch", LstmLayerAttrs{}, layerGradArgs(g, 2, 0)...),
		okCall("strided", LstmLayerAttrs{}, stridedAll(g, plain)...),
		okCall("f64", back, castAll(array.F64, plain)...),
		okCall("bf16", LstmLayerAttrs{}, castAll(array.BF16, plain)...),
	}
}

// badAt makes bad samples of one operand exchanged.
func badAt(right []*array.Array, attrs any) func(name string, code diag.Code, at int, a *array.Array) op.BadSample {
	return func(name string, code diag.Code, at int, a *array.Array) op.BadSample {
		in := append([]*array.Array(nil), right...)
		in[at] = a
		return op.BadSample{Name: name, Attrs: attrs, In: in, Code: code}
	}
}

func lstmLayerBad(g *op.Gen) []op.BadSample {
	right := layerArgs(g, 3, 2)
	bad := badAt(right, LstmLayerAttrs{})
	return []op.BadSample{
		bad("features", op.SizeMismatch, 0, g.Normal(3, 2, 4)),
		bad("rank of x", op.RankMismatch, 0, g.Normal(3, 3)),
		bad("rows of weight_hh", op.SizeMismatch, 4, g.Normal(15, 4)),
		bad("size of a bias", op.SizeMismatch, 5, g.Normal(4)),
		bad("size of h0", op.SizeMismatch, 1, g.Normal(3, 4)),
		bad("rank of c0", op.RankMismatch, 2, g.Normal(1, 2, 4)),
		bad("types", op.DTypeMismatch, 3, array.Cast(right[3], array.F64)),
		bad("integers", op.DTypeMismatch, 0, g.Int(9, 3, 2, 3)),
	}
}

func lstmLayerGradBad(g *op.Gen) []op.BadSample {
	right := layerGradArgs(g, 3, 2)
	bad := badAt(right, LstmLayerAttrs{})
	return []op.BadSample{
		bad("gates", op.SizeMismatch, 0, g.Normal(3, 2, 12)),
		bad("rank of cells", op.RankMismatch, 1, g.Normal(3, 4)),
		bad("size of c0", op.SizeMismatch, 2, g.Normal(3, 4)),
		bad("rows of weight_hh", op.SizeMismatch, 3, g.Normal(15, 4)),
		bad("size of a gradient", op.SizeMismatch, 4, g.Normal(2, 2, 4)),
		bad("types", op.DTypeMismatch, 3, array.Cast(right[3], array.F64)),
		bad("integers", op.DTypeMismatch, 0, g.Int(9, 3, 2, 16)),
	}
}
