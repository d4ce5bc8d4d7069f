package passes

import (
	"github.com/gofx-dev/gofx/diag"
)

// Before says that one pass must not run behind another, and why.
type Before struct {
	First, Then string
	Why         string
}

// Order lists the constraints between the built-in passes. Run refuses a
// pipeline that breaks one.
var Order = []Before{
	{"conv-bn", "decompose", "batch_norm is composite, its decomposition is not recognised"},
	{"linear-bn", "decompose", "batch_norm is composite, its decomposition is not recognised"},
	{"bn-affine", "decompose", "batch_norm is composite, its decomposition is not recognised"},
	{"conv-bn", "bn-affine", "what can be folded into a convolution is not taken apart"},
	{"linear-bn", "bn-affine", "what can be folded into a linear layer is not taken apart"},
	{"attention", "decompose", "scaled_dot_product_attention is composite"},
	{"conv-bn", "quant-prepare", "observers must see folded weights"},
	{"linear-bn", "quant-prepare", "observers must see folded weights"},
	{"conv-bn", "quant-convert", "weights are folded before they are quantised"},
	{"linear-bn", "quant-convert", "weights are folded before they are quantised"},
	{"conv-bn", "quant-equalise", "ranges are those of folded weights"},
	{"linear-bn", "quant-equalise", "ranges are those of folded weights"},
	{"quant-equalise", "quant-prepare", "observers must see equalised channels"},
	{"quant-smooth", "quant-prepare", "observers must see smoothed channels"},
	{"quant-equalise", "quant-convert", "weights are equalised before they are quantised"},
	{"quant-smooth", "quant-convert", "weights are smoothed before they are quantised"},
	{"quant-prepare", "quant-convert", "conversion reads what observers have seen"},
	{"quant-convert", "quant-lower", "integer operators are made of the quantised form"},
	{"softmax", "attention", "attention is recognised by its softmax"},
	{"functionalize", "quant-lower", "calls of modules hide their operands"},
	{"quant-lower", "decompose", "what stands between dequantize and quantize is one call"},
	{"functionalize", "decompose", "calls of modules hide their operands and are not decomposed"},
	{"functionalize", "const-fold", "what calls of modules compute from parameters alone is seen as operands only"},
}

// CheckOrder returns an error when a pipeline runs passes in an order that Order
// forbids.
func CheckOrder(pipeline []Pass) error {
	for _, o := range Order {
		then := false
		for _, p := range pipeline {
			if p.Name == o.First && then {
				return diag.New(BadPipeline, "pass "+o.First+" runs behind "+o.Then+", expected it before: "+o.Why).
					WithHint("exchange them")
			}
			then = then || p.Name == o.Then
		}
	}
	return nil
}
