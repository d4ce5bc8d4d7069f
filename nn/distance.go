package nn

import (
	"github.com/gofx-dev/gofx/tensor"
)

// CosineSimilarity is torch.nn.CosineSimilarity: the cosine of the angle between two tensors along
// axis Dim. Norms below Eps count as Eps.
type CosineSimilarity struct {
	Dim int
	Eps float64
}

// NewCosineSimilarity returns the similarity along an axis, with PyTorch's Eps of 1e-8; PyTorch's
// default axis is 1.
func NewCosineSimilarity(dim int) *CosineSimilarity { return &CosineSimilarity{dim, 1e-8} }

// Forward returns the similarities of x and y, which broadcast; the axis is gone.
func (m *CosineSimilarity) Forward(x, y *tensor.Tensor) *tensor.Tensor {
	x, y = x.Normalize(2, m.Dim, m.Eps), y.Normalize(2, m.Dim, m.Eps)
	return x.Mul(y).Sum(m.Dim)
}

// PairwiseDistance is torch.nn.PairwiseDistance: the P-norm of x - y + Eps along the last axis.
type PairwiseDistance struct {
	P, Eps  float64
	KeepDim bool
}

// NewPairwiseDistance returns the distance of a norm, with PyTorch's Eps of 1e-6; PyTorch's default
// norm is 2.
func NewPairwiseDistance(p float64) *PairwiseDistance { return &PairwiseDistance{P: p, Eps: 1e-6} }

// Forward returns the distances of x and y, which broadcast.
func (m *PairwiseDistance) Forward(x, y *tensor.Tensor) *tensor.Tensor {
	return x.Sub(y).AddScalar(m.Eps).NormWith(m.P, -1, tensor.NormAttrs{KeepDim: m.KeepDim})
}
