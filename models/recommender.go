package models

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// DeepRecommender is the autoencoder of ratings of Kuchaiev and Ginsburg,
// arXiv:1708.01715, with the names of its authors' code and a decoder of its own
// weights.
type DeepRecommender struct {
	EncodeW, EncodeB []*tensor.Tensor // [out, in] and [out]
	DecodeW, DecodeB []*tensor.Tensor
}

// NewDeepRecommender returns the network for so many items, with zero weights.
func NewDeepRecommender(items int) *DeepRecommender {
	m := &DeepRecommender{}
	m.EncodeW, m.EncodeB = layers(items, 512, 512, 1024)
	m.DecodeW, m.DecodeB = layers(1024, 512, 512, items)
	return m
}

// layers returns weights and biases that lead from each width to the next.
func layers(widths ...int) (w, b []*tensor.Tensor) {
	for i, out := range widths[1:] {
		w = append(w, tensor.StateParam(array.New(array.F32, out, widths[i])))
		b = append(b, tensor.StateParam(array.New(array.F32, out)))
	}
	return w, b
}

// Forward takes ratings x [N, items], 0 where there is none, to ratings of all items.
func (m *DeepRecommender) Forward(x *tensor.Tensor) *tensor.Tensor {
	for i, w := range m.EncodeW {
		x = tensor.Selu(tensor.Linear(x, w, m.EncodeB[i]))
	}
	for i, w := range m.DecodeW {
		x = tensor.Selu(tensor.Linear(x, w, m.DecodeB[i]))
	}
	return x
}

// DLRM is the recommender of Naumov et al., arXiv:1906.00091, with the names of
// its authors' code: it predicts from numbers and from rows of tables.
type DLRM struct {
	EmbL       []*nn.EmbeddingBag
	BotL, TopL *nn.Sequential
}

// DLRMTables are the numbers of rows of the tables of the reference.
var DLRMTables = []int{1000, 500, 2000, 50, 300, 10, 4000, 700}

// NewDLRM returns a network with tables of so many rows and zero weights.
func NewDLRM(rows []int) *DLRM {
	const width = 16
	m := &DLRM{BotL: nn.NewSequential(linear(13, 64), nn.NewReLU(), linear(64, 32), nn.NewReLU(), linear(32, width), nn.NewReLU())}
	for _, n := range rows {
		m.EmbL = append(m.EmbL, nn.NewEmbeddingBag(n, width, nn.Mode("sum"), nn.NoInit()))
	}
	pairs := len(rows) * (len(rows) + 1) / 2
	m.TopL = nn.NewSequential(linear(width+pairs, 64), nn.NewReLU(), linear(64, 32), nn.NewReLU(), linear(32, 1), nn.NewSigmoid())
	return m
}

// Forward takes numbers dense [N, 13] and row numbers sparse [N, tables, K] (i64),
// of which each table adds up its K, to probabilities [N, 1].
func (m *DLRM) Forward(dense, sparse *tensor.Tensor) *tensor.Tensor {
	x := nn.Run(m.BotL, dense)
	features := []*tensor.Tensor{x}
	for i, table := range m.EmbL {
		features = append(features, table.Forward(sparse.Select(1, i)))
	}
	t := tensor.Stack(features, 1)                                         // [N, features, width]
	products := tensor.Bmm(t, t.Transpose(1, 2))                           // of all pairs
	products = products.Flatten(1, 2).IndexSelect(below(len(features)), 1) // of each pair once
	return nn.Run(m.TopL, tensor.Cat([]*tensor.Tensor{x, products}, 1))
}

// below returns the places below the diagonal of a matrix of n rows, row by row.
func below(n int) *tensor.Tensor {
	var at []int64
	for i := range n {
		for j := range i {
			at = append(at, int64(i*n+j))
		}
	}
	return tensor.FromSlice(at, len(at))
}
