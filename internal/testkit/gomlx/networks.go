package main

import (
	"math"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	. "github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	"github.com/gomlx/gomlx/pkg/ml/layers/activations"
)

// networks are the losses, by the names of passes/grad's smallNetworks.
var networks = map[string]func(x []*Node) *Node{
	"regression": func(x []*Node) *Node { return ReduceAllMean(Square(Sub(linear(x[0], x[2], x[3]), x[1]))) },
	"classifier": func(x []*Node) *Node {
		logits := linear(Tanh(linear(x[0], x[2], x[3])), x[4], x[5])
		chosen := Mul(LogSoftmax(logits, -1), OneHot(x[1], logits.Shape().Dimensions[1], logits.DType()))
		return Neg(ReduceAllMean(ReduceSum(chosen, -1)))
	},
	"normed": func(x []*Node) *Node {
		h := normal(activations.Gelu(linear(x[0], x[1], x[2])), row(x[3], 2), row(x[4], 2), -1)
		return ReduceAllSum(Sin(linear(h, x[5], nil)))
	},
	"convolved": convolved,
	"attention": attention,
	"recurrent": recurrent,
	"memory":    memory,
	"batched": func(x []*Node) *Node {
		h := conv(x[0], x[1], 2, 0)
		h = normal(h, Reshape(x[2], 1, -1, 1, 1), Reshape(x[3], 1, -1, 1, 1), 0, 2, 3)
		return ReduceAllSum(Sin(ReduceMean(activations.Swish(h), 2, 3)))
	},
	"words": func(x []*Node) *Node {
		h := ReduceMean(Gather(x[1], InsertAxes(x[0], -1)), 1)
		z := linear(h, x[2], nil)
		most := StopGradient(ReduceAndKeep(z, ReduceMax, -1))
		total := Add(Log(ReduceSum(Exp(Sub(z, most)), -1)), Squeeze(most, -1))
		softplus := Add(Max(h, ZerosLike(h)), Log1P(Exp(Neg(Abs(h)))))
		return Add(ReduceAllSum(total), ReduceAllMean(softplus))
	},
	"gated": func(x []*Node) *Node {
		mean := ReduceAndKeep(Square(x[0]), ReduceMean, -1)
		h := Mul(Div(x[0], Sqrt(AddScalar(mean, 1e-6))), row(x[1], 2))
		h = linear(Mul(activations.Swish(linear(h, x[2], nil)), linear(h, x[3], nil)), x[4], nil)
		return ReduceAllSum(Sin(Add(x[0], h)))
	},
}

// row is a vector as an operand of so many dimensions, of which it is the last.
func row(x *Node, rank int) *Node { return ExpandLeftToRank(x, rank) }

// linear multiplies rows of matrices by the rows of w.
func linear(x, w, b *Node) *Node {
	equation := "bi,oi->bo"
	if x.Rank() == 3 {
		equation = "bti,oi->bto"
	}
	y := Einsum(equation, x, w)
	if b != nil {
		y = Add(y, row(b, y.Rank()))
	}
	return y
}

func normal(x, w, b *Node, axes ...int) *Node {
	away := Sub(x, ReduceAndKeep(x, ReduceMean, axes...))
	variance := ReduceAndKeep(Square(away), ReduceMean, axes...)
	return Add(Mul(Div(away, Sqrt(AddScalar(variance, 1e-5))), w), b)
}

// conv multiplies patches: the pure Go backend lacks the reversal that the gradient of a
// convolution takes, and the padding that the gradient of a slice takes.
func conv(x, w *Node, stride, pad int) *Node {
	d, k := x.Shape().Dimensions, w.Shape().Dimensions
	for axis := 2; axis < 4 && pad > 0; axis++ {
		size := append([]int{}, x.Shape().Dimensions...)
		size[axis] = pad
		edge := Zeros(x.Graph(), shapes.Make(x.DType(), size...))
		x = Concatenate([]*Node{edge, x, edge}, axis)
	}
	height, width := d[2]+2*pad, d[3]+2*pad
	rows, cols := (height-k[2])/stride+1, (width-k[3])/stride+1
	var at [][]int64
	for p := range rows * cols {
		for t := range k[2] * k[3] {
			at = append(at, []int64{int64((p/cols*stride+t/k[3])*width + p%cols*stride + t%k[3])})
		}
	}
	pixels := Reshape(TransposeAllAxes(x, 2, 3, 0, 1), height*width, d[0], d[1])
	patches := Reshape(Gather(pixels, Const(x.Graph(), at)), rows*cols, k[2]*k[3], d[0], d[1])
	y := Einsum("ptnc,oct->nop", patches, Reshape(w, k[0], k[1], -1))
	return Reshape(y, d[0], k[0], rows, cols)
}

func convolved(x []*Node) *Node {
	h := Add(conv(x[0], x[1], 1, 1), Reshape(x[2], 1, -1, 1, 1))
	h = Max(h, ZerosLike(h))
	d := h.Shape().Dimensions
	h = ReduceMax(Reshape(h, d[0], d[1], d[2]/2, 2, d[3]/2, 2), 3, 5)
	return ReduceAllMean(Sin(linear(Reshape(h, d[0], -1), x[3], nil)))
}

func attention(x []*Node) *Node {
	q, k, v := linear(x[0], x[1], nil), linear(x[0], x[2], nil), linear(x[0], x[3], nil)
	d := q.Shape().Dimensions
	s := MulScalar(Einsum("bqi,bki->bqk", q, k), 1/math.Sqrt(float64(d[2])))
	seen := BroadcastToShape(InsertAxes(LowerTriangular(q.Graph(), d[1]), 0), shapes.Make(dtypes.Bool, d[0], d[1], d[1]))
	s = Where(seen, s, BroadcastToShape(Const(q.Graph(), -1e300), s.Shape()))
	return ReduceAllSum(Sin(Einsum("bqk,bki->bqi", Softmax(s, -1), v)))
}

// part is element i along the first axis.
func part(x *Node, i int) *Node {
	return Squeeze(Gather(x, Const(x.Graph(), [][]int64{{int64(i)}})), 0)
}

func recurrent(x []*Node) *Node {
	var h *Node
	for t := range x[0].Shape().Dimensions[0] {
		next := linear(part(x[0], t), x[1], x[3])
		if h != nil {
			next = Add(next, linear(h, x[2], nil))
		}
		h = Tanh(next)
	}
	return ReduceAllMean(Sin(h))
}

func memory(x []*Node) *Node {
	n := x[2].Shape().Dimensions[1]
	gates := func(w *Node) *Node {
		return Reshape(w, append([]int{4}, append([]int{n}, w.Shape().Dimensions[1:]...)...)...)
	}
	wi, wh, bi, bh := gates(x[1]), gates(x[2]), gates(x[3]), gates(x[4])
	var h, c *Node
	for t := range x[0].Shape().Dimensions[0] {
		now := part(x[0], t)
		gate := func(i int) *Node {
			y := Add(linear(now, part(wi, i), part(bi, i)), row(part(bh, i), 2))
			if h != nil {
				y = Add(y, linear(h, part(wh, i), nil))
			}
			return y
		}
		in, forget, new, out := Sigmoid(gate(0)), Sigmoid(gate(1)), Tanh(gate(2)), Sigmoid(gate(3))
		next := Mul(in, new)
		if c != nil {
			next = Add(next, Mul(forget, c))
		}
		c = next
		h = Mul(out, Tanh(c))
	}
	return Add(ReduceAllSum(Sin(h)), ReduceAllSum(Square(c)))
}
