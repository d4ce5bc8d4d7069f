package nn

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/named"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tensor"
)

// Reduction says what a loss makes of the losses of single elements.
type Reduction uint8

// The reductions. BatchMean, of KLDivLoss alone, divides the sum by the size of the first
// dimension.
const (
	Mean Reduction = iota
	Sum
	None
	BatchMean
)

// of applies the reduction to losses of elements.
func (r Reduction) of(loss *tensor.Tensor) *tensor.Tensor {
	switch r {
	case Mean:
		return loss.Mean()
	case Sum:
		return loss.Sum()
	case None:
		return loss
	case BatchMean:
		return loss.Sum().Div(countAlong(loss, 0))
	}
	panic(badLoss("the reduction is unknown", "use nn.Mean, nn.Sum or nn.None"))
}

func badLoss(msg, hint string) *diag.Error {
	return (&diag.Error{Code: op.BadAttr, Op: "loss", Msg: msg, Hint: hint}).At(diag.Here())
}

// countAlong returns the size of a dimension as a number of x's type, which follows the size of
// each run.
func countAlong(x *tensor.Tensor, dim int) *tensor.Tensor {
	for i := x.Rank() - 1; i >= 0; i-- {
		if i != dim {
			x = x.Select(i, 0)
		}
	}
	return x.OnesLike().Sum()
}

// Loss compares the results of a model with targets.
type Loss interface {
	Forward(x, target *tensor.Tensor) *tensor.Tensor
}

// losses are those of two operands, by PyTorch's names of their functions.
var losses = []named.Entry[Loss]{
	{Name: "cross_entropy", Value: NewCrossEntropyLoss()},
	{Name: "nll", Value: NewNLLLoss()},
	{Name: "bce", Value: NewBCELoss()},
	{Name: "bce_with_logits", Value: NewBCEWithLogitsLoss()},
	{Name: "mse", Value: NewMSELoss()},
	{Name: "l1", Value: NewL1Loss()},
	{Name: "smooth_l1", Value: NewSmoothL1Loss()},
	{Name: "huber", Value: NewHuberLoss()},
	{Name: "kl_div", Value: NewKLDivLoss()},
}

// LossNames lists the losses that ParseLoss knows.
func LossNames() []string { return named.Names(losses) }

// ParseLoss returns a loss by its name, with settings in parentheses after it:
// "cross_entropy(label_smoothing=0.1)". Settings have the names of the fields in lower case. Its
// error (FX2005) names all that is wrong.
func ParseLoss(text string) (Loss, error) {
	return named.Make(op.BadAttr, "loss", text, losses)
}

// CrossEntropyLoss is torch.nn.CrossEntropyLoss: the negative logarithm of the probability that
// logits give to the right class.
type CrossEntropyLoss struct {
	Weight         *tensor.Tensor `fx:",buffer"` // of the classes, f32[C]; nil: all are 1
	IgnoreIndex    int            // targets with this label count nothing
	LabelSmoothing float64        // the part of the probability that is spread over all classes
	Reduction      Reduction
}

// NewCrossEntropyLoss returns the loss with PyTorch's defaults: the mean, and -100 for targets
// that are ignored.
func NewCrossEntropyLoss() *CrossEntropyLoss { return &CrossEntropyLoss{IgnoreIndex: -100} }

// Forward takes logits [N,C], [N,C,d1,...] or [C], and as targets the classes, integers [N],
// [N,d1,...] or [], or probabilities of the logits' shape. A label that is no class is refused
// when the loss is computed. The mean over targets of which all are ignored is NaN.
func (m *CrossEntropyLoss) Forward(logits, target *tensor.Tensor) *tensor.Tensor {
	logp := logits.LogSoftmax(classAxis(logits))
	if target.DType().IsFloat() {
		return m.soft(logp, target)
	}
	t := newTargets(logp, target, m.Weight, m.IgnoreIndex)
	loss := t.reduce(t.nll(), m.Reduction)
	if m.LabelSmoothing == 0 {
		return loss
	}
	all := logp
	if m.Weight != nil {
		all = logp.Mul(alongClasses(m.Weight, logp))
	}
	spread := t.masked(all.Mean(t.axis).Neg())
	return loss.MulScalar(1 - m.LabelSmoothing).Add(t.reduce(spread, m.Reduction).MulScalar(m.LabelSmoothing))
}

// soft is the loss for probabilities as targets.
func (m *CrossEntropyLoss) soft(logp, target *tensor.Tensor) *tensor.Tensor {
	axis := classAxis(logp)
	if e := m.LabelSmoothing; e > 0 {
		classes := target.OnesLike().SumWith(axis, tensor.ReduceAttrs{KeepDim: true})
		target = target.MulScalar(1 - e).Add(classes.RDivScalar(e))
	}
	terms := logp.Mul(target)
	if m.Weight != nil {
		terms = terms.Mul(alongClasses(m.Weight, logp))
	}
	return m.Reduction.of(terms.Sum(axis).Neg())
}

// NLLLoss is torch.nn.NLLLoss: CrossEntropyLoss of logarithms of probabilities.
type NLLLoss struct {
	Weight      *tensor.Tensor `fx:",buffer"` // of the classes, f32[C]; nil: all are 1
	IgnoreIndex int
	Reduction   Reduction
}

// NewNLLLoss returns the loss with PyTorch's defaults.
func NewNLLLoss() *NLLLoss { return &NLLLoss{IgnoreIndex: -100} }

// Forward takes logarithms of probabilities and classes, as CrossEntropyLoss takes logits.
func (m *NLLLoss) Forward(logp, target *tensor.Tensor) *tensor.Tensor {
	t := newTargets(logp, target, m.Weight, m.IgnoreIndex)
	return t.reduce(t.nll(), m.Reduction)
}

// targets are labels of logarithms of probabilities.
type targets struct {
	logp   *tensor.Tensor
	axis   int
	label  *tensor.Tensor // a class, also where the target is ignored
	ignore *tensor.Tensor // bools
	weight *tensor.Tensor // of each target, 0 for those that are ignored
}

func newTargets(logp, target, weights *tensor.Tensor, ignored int) *targets {
	t := &targets{logp: logp, axis: classAxis(logp)}
	target = target.Cast(array.I64)
	t.ignore = target.EqScalar(ignored)
	t.label = target.MaskedFill(t.ignore, 0)
	if weights == nil {
		t.weight = t.ignore.LogicalNot().Cast(logp.DType())
	} else {
		flat := weights.Cast(logp.DType()).Gather(t.label.Reshape(-1), 0)
		t.weight = flat.ViewAs(t.label).MaskedFill(t.ignore, 0)
	}
	return t
}

// nll returns the losses of the targets, with their weights.
func (t *targets) nll() *tensor.Tensor {
	picked := t.logp.Gather(t.label.Unsqueeze(t.axis), t.axis).Squeeze(t.axis)
	return t.masked(picked.Neg().Mul(t.weight))
}

// masked makes 0 of losses of targets that are ignored, also of those that are infinite.
func (t *targets) masked(loss *tensor.Tensor) *tensor.Tensor { return loss.MaskedFill(t.ignore, 0) }

// reduce divides a mean by the weights of the targets.
func (t *targets) reduce(loss *tensor.Tensor, r Reduction) *tensor.Tensor {
	if r == Mean {
		return loss.Sum().Div(t.weight.Sum())
	}
	return r.of(loss)
}

// classAxis returns the axis of the classes.
func classAxis(x *tensor.Tensor) int { return min(x.Rank()-1, 1) }

// alongClasses gives weights of classes the shape in which they broadcast to x.
func alongClasses(weights, x *tensor.Tensor) *tensor.Tensor {
	for range x.Rank() - 1 - classAxis(x) {
		weights = weights.Unsqueeze(-1)
	}
	return weights.Cast(x.DType())
}

// BCELoss is torch.nn.BCELoss: the cross entropy of probabilities of two classes. Its
// logarithms are at least -100. Where a probability is 0 or 1 the gradient is that of the
// other logarithm alone, where PyTorch divides by 1e-12.
type BCELoss struct {
	Weight    *tensor.Tensor `fx:",buffer"` // of the elements, broadcast; nil: all are 1
	Reduction Reduction
}

// NewBCELoss returns the loss with PyTorch's defaults.
func NewBCELoss() *BCELoss { return &BCELoss{} }

// Forward takes probabilities and targets, both in [0,1] and of one shape.
func (m *BCELoss) Forward(p, target *tensor.Tensor) *tensor.Tensor {
	yes, no := cutLog(p), cutLog(p.RSubScalar(1))
	loss := target.Mul(yes).Add(target.RSubScalar(1).Mul(no)).Neg()
	return m.Reduction.of(weighed(loss, m.Weight))
}

// cutLog is max(log(p), -100), whose gradient at 0 is 0.
func cutLog(p *tensor.Tensor) *tensor.Tensor {
	positive := p.GtScalar(0)
	log := tensor.Where(positive, p, p.OnesLike()).Log().Clamp(-100, nil)
	zero := p.EqScalar(0)
	// The logarithm of a number below 0 is NaN, as PyTorch refuses it.
	log = tensor.Where(positive, log, p.FullLike(math.NaN()))
	return log.MaskedFill(zero, -100)
}

func weighed(loss, weight *tensor.Tensor) *tensor.Tensor {
	if weight == nil {
		return loss
	}
	return loss.Mul(weight)
}

// BCEWithLogitsLoss is torch.nn.BCEWithLogitsLoss: BCELoss of sigmoid(x), computed without the
// probabilities.
type BCEWithLogitsLoss struct {
	Weight    *tensor.Tensor `fx:",buffer"` // of the elements, broadcast; nil: all are 1
	PosWeight *tensor.Tensor `fx:",buffer"` // of positive targets, broadcast; nil: all are 1
	Reduction Reduction
}

// NewBCEWithLogitsLoss returns the loss with PyTorch's defaults.
func NewBCEWithLogitsLoss() *BCEWithLogitsLoss { return &BCEWithLogitsLoss{} }

// Forward takes logits and targets in [0,1] of one shape.
func (m *BCEWithLogitsLoss) Forward(x, target *tensor.Tensor) *tensor.Tensor {
	log := x.Logsigmoid()
	if m.PosWeight != nil {
		log = log.Mul(m.PosWeight.SubScalar(1).Mul(target).AddScalar(1))
	}
	loss := target.RSubScalar(1).Mul(x).Sub(log)
	return m.Reduction.of(weighed(loss, m.Weight))
}

// MSELoss is torch.nn.MSELoss: squares of differences.
type MSELoss struct{ Reduction Reduction }

// NewMSELoss returns the loss with PyTorch's defaults.
func NewMSELoss() *MSELoss { return &MSELoss{} }

// Forward takes tensors of one shape.
func (m *MSELoss) Forward(x, target *tensor.Tensor) *tensor.Tensor {
	return m.Reduction.of(x.Sub(target).Square())
}

// L1Loss is torch.nn.L1Loss: absolute differences.
type L1Loss struct{ Reduction Reduction }

// NewL1Loss returns the loss with PyTorch's defaults.
func NewL1Loss() *L1Loss { return &L1Loss{} }

// Forward takes tensors of one shape.
func (m *L1Loss) Forward(x, target *tensor.Tensor) *tensor.Tensor {
	return m.Reduction.of(x.Sub(target).Abs())
}

// HuberLoss is torch.nn.HuberLoss: half the square of a difference up to Delta, linear after it.
type HuberLoss struct {
	Delta     float64
	Reduction Reduction
}

// NewHuberLoss returns the loss with PyTorch's default Delta of 1.
func NewHuberLoss() *HuberLoss { return &HuberLoss{Delta: 1} }

// Forward takes tensors of one shape.
func (m *HuberLoss) Forward(x, target *tensor.Tensor) *tensor.Tensor {
	if !(m.Delta > 0) {
		panic(badLoss("delta is not positive", "PyTorch's default is 1"))
	}
	return m.Reduction.of(huber(x.Sub(target), m.Delta))
}

// huber is d²/2 where |d| is at most delta, else delta·(|d| - delta/2).
func huber(d *tensor.Tensor, delta float64) *tensor.Tensor {
	far := d.Abs()
	return tensor.Where(far.LeScalar(delta), d.Square().MulScalar(0.5), far.SubScalar(delta/2).MulScalar(delta))
}

// SmoothL1Loss is torch.nn.SmoothL1Loss: HuberLoss divided by Beta; for a Beta of 0 it is L1Loss.
type SmoothL1Loss struct {
	Beta      float64
	Reduction Reduction
}

// NewSmoothL1Loss returns the loss with PyTorch's default Beta of 1.
func NewSmoothL1Loss() *SmoothL1Loss { return &SmoothL1Loss{Beta: 1} }

// Forward takes tensors of one shape.
func (m *SmoothL1Loss) Forward(x, target *tensor.Tensor) *tensor.Tensor {
	d := x.Sub(target)
	switch {
	case !(m.Beta >= 0):
		panic(badLoss("beta is negative", "PyTorch's default is 1"))
	case m.Beta == 0:
		return m.Reduction.of(d.Abs())
	}
	far := d.Abs()
	near := d.Square().MulScalar(0.5).DivScalar(m.Beta)
	return m.Reduction.of(tensor.Where(far.LtScalar(m.Beta), near, far.SubScalar(m.Beta/2)))
}

// KLDivLoss is torch.nn.KLDivLoss: the Kullback-Leibler divergence of logarithms of
// probabilities from target probabilities.
type KLDivLoss struct {
	LogTarget bool // targets are logarithms of probabilities, too
	Reduction Reduction
}

// NewKLDivLoss returns the loss with PyTorch's defaults; the divergence as it is defined has the
// reduction BatchMean.
func NewKLDivLoss() *KLDivLoss { return &KLDivLoss{} }

// Forward takes logarithms of probabilities, and targets of one shape with them.
func (m *KLDivLoss) Forward(logp, target *tensor.Tensor) *tensor.Tensor {
	if m.LogTarget {
		return m.Reduction.of(target.Exp().Mul(target.Sub(logp)))
	}
	zero := target.EqScalar(0)
	entropy := target.Mul(tensor.Where(zero, target.OnesLike(), target).Log())
	return m.Reduction.of(entropy.Sub(target.Mul(logp)))
}

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

// TripletMarginLoss is torch.nn.TripletMarginLoss: by how much the distance of an anchor to a
// negative example is not Margin greater than that to a positive one.
type TripletMarginLoss struct {
	Margin    float64
	P, Eps    float64 // of PairwiseDistance
	Swap      bool    // the distance of the two examples counts, where it is less
	Reduction Reduction
}

// NewTripletMarginLoss returns the loss with PyTorch's defaults: margin 1, norm 2.
func NewTripletMarginLoss() *TripletMarginLoss {
	return &TripletMarginLoss{Margin: 1, P: 2, Eps: 1e-6}
}

// Forward takes tensors [N,D] or [D].
func (m *TripletMarginLoss) Forward(anchor, positive, negative *tensor.Tensor) *tensor.Tensor {
	d := &PairwiseDistance{P: m.P, Eps: m.Eps}
	near, far := d.Forward(anchor, positive), d.Forward(anchor, negative)
	if m.Swap {
		far = far.Minimum(d.Forward(positive, negative))
	}
	return m.Reduction.of(near.Sub(far).AddScalar(m.Margin).Clamp(0, nil))
}
