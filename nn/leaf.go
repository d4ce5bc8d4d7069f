package nn

import (
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tensor"
)

// Module is a module with one input and one result, which containers hold.
type Module interface {
	// Forward computes the module's result.
	Forward(x *tensor.Tensor) *tensor.Tensor
}

// leaf is embedded in every module of one operator. Its byte gives modules
// without settings an address of their own, which is what tells them apart.
type leaf struct{ _ byte }

func (leaf) library() {}

// isLeaf is implemented by the modules that embed leaf.
type isLeaf interface{ library() }

// apply calls a leaf without parameters.
func apply(m any, o *op.Op, attrs any, x *tensor.Tensor) *tensor.Tensor {
	return tensor.Leaf(m, &tensor.Bound{Op: o, Attrs: attrs, Inputs: 1}, x)[0]
}

var (
	weightBias  = []string{"weight", "bias"}
	justWeight  = []string{"weight"}
	statsAffine = []string{"running_mean", "running_var", "weight", "bias"}
)

// weighted calls a leaf whose parameters are weight and bias.
func weighted(m any, o *op.Op, attrs any, x, weight, bias *tensor.Tensor) *tensor.Tensor {
	return tensor.Leaf(m, &tensor.Bound{Op: o, Attrs: attrs, Names: weightBias,
		Params: []*tensor.Tensor{weight, bias}, Inputs: 1}, x)[0]
}
