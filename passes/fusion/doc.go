// Package fusion holds the passes that merge several operators into one: batch
// norms into the convolution or linear layer before them, and recognisers,
// which find calls that together compute an attention, norm, activation or softmax and
// replace them by that operator. Each reports why it leaves a candidate alone, and how far results may
// move. It refuses a rewrite that would change results beyond that.
//
// They run after functionalize and before decompose, which takes their operators
// apart. The recognisers also run after const-fold, cse and dce, which reduce
// the number of spellings. Unlike the other passes they name operators; they change
// no types and know nothing of targets. Read batchnorm.go first, of the recognisers
// activation.go.
package fusion

import "github.com/gofx-dev/gofx/passes"

// Recognisers returns the passes that replace several calls by the one operator that they
// compute together, in an order in which each sees the operators of those before it.
func Recognisers() []passes.Pass {
	return []passes.Pass{Softmax, Attention, LayerNorm, RmsNorm, Gelu, Silu, Hardswish}
}
