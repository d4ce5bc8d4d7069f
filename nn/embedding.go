package nn

import (
	"strconv"

	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/tensor"
)

// Embedding is torch.nn.Embedding: rows of Weight [NumEmbeddings, EmbeddingDim]
// by integers x of any shape.
type Embedding struct {
	leaf
	NumEmbeddings, EmbeddingDim int
	PaddingIdx                  *int // the row that is not trained, nil for none
	Weight                      *tensor.Tensor
}

// NewEmbedding returns a table of n rows of width dim.
func NewEmbedding(n, dim int, opts ...EmbeddingOption) *Embedding {
	s := embeddingSettings("embedding", n, dim, opts)
	m := &Embedding{NumEmbeddings: n, EmbeddingDim: dim, Weight: zeros(n, dim)}
	start(m, &s)
	if s.paddingIdx != nil {
		i := rowOf(*s.paddingIdx, n)
		m.PaddingIdx = &i
		if !s.noInit {
			Constant(m.Weight.Select(0, i), 0)
		}
	}
	return m
}

func embeddingSettings(name string, n, dim int, opts []EmbeddingOption) settings {
	var s settings
	for _, o := range opts {
		o.embedding(&s)
	}
	if n < 0 || dim < 0 {
		refuse(name, "the table has the size "+strconv.Itoa(n)+" by "+strconv.Itoa(dim)+", expected no negative number", "")
	}
	return s
}

// PaddingIdx makes the row of that index (negative from the end) of an Embedding start at zero, and
// leaves it out of training: its gradient is zero.
func PaddingIdx(i int) EmbeddingOption { return bagOption(func(s *settings) { s.paddingIdx = &i }) }

// Mode sets what an EmbeddingBag does with its rows: "mean" (the default), "sum"
// or "max".
func Mode(mode string) EmbeddingOption { return bagOption(func(s *settings) { s.mode = mode }) }

// rowOf is a padding index from the start of n rows.
func rowOf(i, n int) int {
	at := i
	if i < 0 {
		at += n
	}
	if at < 0 || at >= n {
		refuse("embedding", "the padding index is "+strconv.Itoa(i)+", expected less than "+strconv.Itoa(n)+" rows", "")
	}
	return at
}

// Forward returns the rows that x names. With a padding index, rows of the padding are constants for
// gradients; a graph that is optimised for inference has no calls for that.
func (m *Embedding) Forward(x *tensor.Tensor) *tensor.Tensor {
	y := tensor.Leaf(m, &tensor.Bound{Op: std.Embedding, Attrs: op.None{}, Names: justWeight, Params: []*tensor.Tensor{m.Weight}, Inputs: 1}, x)[0]
	if m.PaddingIdx == nil {
		return y
	}
	return tensor.Where(x.EqScalar(*m.PaddingIdx).Unsqueeze(-1), y.Detach(), y)
}

// ResetParameters draws normally distributed rows.
func (m *Embedding) ResetParameters(s *Source) { s.Normal(m.Weight, 0, 1) }

// EmbeddingBag is torch.nn.EmbeddingBag: mean, sum or maximum of rows of Weight.
type EmbeddingBag struct {
	leaf
	NumEmbeddings, EmbeddingDim int
	Mode                        string // "" and "mean", "sum", "max"
	IncludeLastOffset           bool
	Weight                      *tensor.Tensor
}

// NewEmbeddingBag returns a table of n rows of width dim.
func NewEmbeddingBag(n, dim int, opts ...EmbeddingOption) *EmbeddingBag {
	s := embeddingSettings("embedding_bag", n, dim, opts)
	if s.paddingIdx != nil {
		refuse("embedding_bag", "a padding index is set, expected none for bags", "set PaddingIdx of an Embedding, or leave the index out of the bags")
	}
	m := &EmbeddingBag{NumEmbeddings: n, EmbeddingDim: dim, Mode: s.mode, Weight: zeros(n, dim)}
	start(m, &s)
	return m
}

func (m *EmbeddingBag) attrs() tensor.EmbeddingBagAttrs {
	a := tensor.EmbeddingBagAttrs{Mode: m.Mode, IncludeLastOffset: m.IncludeLastOffset}
	if m.Mode == "mean" {
		a.Mode = ""
	}
	return a
}

// Forward returns one row for each row of the integers x [B, N].
func (m *EmbeddingBag) Forward(x *tensor.Tensor) *tensor.Tensor {
	return tensor.Leaf(m, &tensor.Bound{Op: std.EmbeddingBag, Attrs: m.attrs(), Names: justWeight, Params: []*tensor.Tensor{m.Weight}, Inputs: 1}, x)[0]
}

// Bags returns one row for each bag of the integers x [N], where bag i starts at
// offsets[i]. perSample [N] weights the rows of mode "sum"; it may be nil. The
// call is recorded as a function, because the weight stands between its inputs.
func (m *EmbeddingBag) Bags(x, offsets, perSample *tensor.Tensor) *tensor.Tensor {
	return tensor.EmbeddingBag(x, m.Weight, offsets, perSample, m.attrs())
}

// ResetParameters draws normally distributed rows.
func (m *EmbeddingBag) ResetParameters(s *Source) { s.Normal(m.Weight, 0, 1) }
