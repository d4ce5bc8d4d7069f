// Package fusion holds the passes that merge several operators into one: batch
// norms into the convolution or linear layer before them, and recognisers, which
// make one operator of the several that spell it out: attention, norms, activations,
// softmax. Each says of every candidate that it leaves alone why it does, and how
// far results may move; where they would change in earnest it refuses.
//
// They come behind functionalize and before decompose, which takes apart what they
// match or make; the recognisers behind const-fold, cse and dce, too, by which
// spellings become fewer. Unlike the other passes they name operators; they change
// no types and know nothing of targets. Read batchnorm.go first, of the recognisers
// activation.go.
package fusion

import "github.com/gofx-dev/gofx/passes"

// Recognisers returns the passes that make one operator of what spells it out, in
// an order in which each finds what the ones before it made.
func Recognisers() []passes.Pass {
	return []passes.Pass{Softmax, Attention, LayerNorm, RmsNorm, Gelu, Silu, Hardswish}
}
