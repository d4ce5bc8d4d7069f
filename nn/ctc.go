package nn

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/tensor"
)

// CTCLoss is torch.nn.CTCLoss: the negative logarithm of the probability that a sequence of
// distributions gives to a sequence of labels, summed over all alignments of the two (Graves et al.,
// "Connectionist Temporal Classification", 2006). Labels may stand for several steps, with steps
// of the class Blank between them.
type CTCLoss struct {
	Blank        int       // the class of no label
	ZeroInfinity bool      // labels that do not fit into their steps count 0 instead of +Inf
	Reduction    Reduction // Mean divides each loss by the number of its labels first
}

// NewCTCLoss returns the loss with PyTorch's defaults: the blank is class 0, the reduction the mean.
func NewCTCLoss() *CTCLoss { return &CTCLoss{} }

// impossible is the logarithm of the probability of what cannot be: infinity has no derivative that is
// a number.
const impossible = -1e30

// Forward takes logarithms of probabilities [T,N,C] of T steps, labels [N,S], integers without Blank, the number of
// steps of each sequence [N], at most T, and of its labels [N], at most S. What lies after them is not read. Rows whose
// labels do not fit into their steps have the loss +Inf and no gradient.
func (m *CTCLoss) Forward(logp, labels, steps, counts *tensor.Tensor) *tensor.Tensor {
	if logp.Rank() != 3 || labels.Rank() != 2 || steps.Rank() != 1 || counts.Rank() != 1 {
		panic(badLoss("the operands have the ranks "+ranks(logp, labels, steps, counts)+", expected 3, 2, 1, 1",
			"give logarithms of probabilities [T,N,C], labels [N,S], and the numbers of steps and of labels [N]"))
	}
	path := m.path(labels, counts)
	at := path.Unsqueeze(0).Expand(logp.Size(0), path.Size(0), path.Size(1))
	emitted := logp.Gather(at, 2).Clamp(impossible, nil) // [T,N,2S+1]
	none := tensor.FullLike(emitted.Select(0, 0).Narrow(1, 0, 1), impossible)
	enter := skips(path, emitted)
	begun := tensor.Arange(path.Size(1)).LtScalar(2).LogicalAnd(tensor.Arange(path.Size(1)).Lt(labelled(counts)))
	first := tensor.WhereScalar(begun, emitted.Select(0, 0), impossible)
	late := tensor.Arange(emitted.Size(0)).Unsqueeze(1).Ge(steps) // [T,N]
	last, _ := tensor.Scan(func(carry, slices []*tensor.Tensor) (next, out []*tensor.Tensor) {
		stay, is, over := carry[0], slices[0], slices[1]
		one := tensor.Cat([]*tensor.Tensor{none, stay.Slice(1, 0, -1)}, 1)
		two := tensor.Cat([]*tensor.Tensor{none, one.Slice(1, 0, -1)}, 1).Add(enter)
		moved := stay.Logaddexp(one).Logaddexp(two).Add(is)
		return []*tensor.Tensor{tensor.Where(over.Unsqueeze(1), stay, moved)}, nil
	}, []*tensor.Tensor{first}, []*tensor.Tensor{emitted.Slice(0, 1, logp.Size(0)), late.Slice(0, 1, logp.Size(0))})
	return m.reduced(ends(last[0], counts), counts)
}

func ranks(list ...*tensor.Tensor) (s string) {
	for i, x := range list {
		if i > 0 {
			s += ", "
		}
		s += strconv.Itoa(x.Rank())
	}
	return s
}

// path returns the labels with a blank before, between and after them, [N,2S+1].
func (m *CTCLoss) path(labels, counts *tensor.Tensor) *tensor.Tensor {
	blank := tensor.FullLike(labels, m.Blank)
	pairs := tensor.Stack([]*tensor.Tensor{blank, labels}, 2).Flatten(1, 2)
	after := tensor.FullLike(counts.Cast(labels.DType()), m.Blank).Unsqueeze(1) // also where S is 0
	return tensor.Cat([]*tensor.Tensor{pairs, after}, 1)
}

// labelled is 2·count+1 of each row, [N,1]: how much of its path a row has.
func labelled(counts *tensor.Tensor) *tensor.Tensor {
	return counts.MulScalar(2).AddScalar(1).Unsqueeze(1)
}

// skips is 0 where a path may go on to a label from the one before without the blank between, which
// differ then, else impossible, [N,2S+1] in the type of emitted.
func skips(path, emitted *tensor.Tensor) *tensor.Tensor {
	before := path.Pad(2, 0).Narrow(1, 0, path.Size(1))
	label := tensor.Arange(path.Size(1)).RemainderScalar(2).EqScalar(1)
	free := label.LogicalAnd(path.Ne(before)).LogicalAnd(tensor.Arange(path.Size(1)).GeScalar(3))
	return tensor.WhereScalar(free, emitted.Select(0, 0).ZerosLike(), impossible)
}

// ends is the logarithm of the probability of paths that end at the last label or the blank after it.
func ends(last, counts *tensor.Tensor) *tensor.Tensor {
	at := labelled(counts).SubScalar(1)
	blank := last.Gather(at, 1)
	label := last.Gather(at.SubScalar(1).Clamp(0, nil), 1)
	return tensor.Where(at.GtScalar(0), blank.Logaddexp(label), blank).Squeeze(1)
}

func (m *CTCLoss) reduced(logp, counts *tensor.Tensor) *tensor.Tensor {
	fits := logp.GtScalar(impossible / 2)
	otherwise := math.Inf(1)
	if m.ZeroInfinity {
		otherwise = 0
	}
	loss := tensor.WhereScalar(fits, logp.Neg(), otherwise)
	if m.Reduction == Mean {
		loss = loss.Div(counts.Clamp(1, nil).Cast(loss.DType()))
	}
	return m.Reduction.of(loss)
}
