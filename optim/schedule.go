package optim

import (
	"math"

	"github.com/gofx-dev/gofx/tensor"
)

// Schedule makes the factor of the learning rates from the number of updates so far, f64[],
// which is 0 at the first: f64[], too. It is captured, so that the counter decides at each step.
type Schedule func(step *tensor.Tensor) *tensor.Tensor

// StepDecay multiplies by gamma after each size updates, as torch.optim.lr_scheduler.StepLR.
func StepDecay(size int, gamma float64) Schedule {
	return func(step *tensor.Tensor) *tensor.Tensor {
		return step.DivScalar(float64(max(size, 1))).Floor().RPowScalar(gamma)
	}
}

// Exponential multiplies by gamma after each update, as torch.optim.lr_scheduler.ExponentialLR.
func Exponential(gamma float64) Schedule {
	return func(step *tensor.Tensor) *tensor.Tensor { return step.RPowScalar(gamma) }
}

// Cosine goes from 1 to least along half a cosine in steps updates, and stays there (Loshchilov
// and Hutter, arXiv:1608.03983). PyTorch's CosineAnnealingLR, whose eta_min is least times the
// learning rate, rises again.
func Cosine(steps int, least float64) Schedule {
	return func(step *tensor.Tensor) *tensor.Tensor {
		return anneal(1, least, through(step, 0, float64(steps)))
	}
}

// WarmUp goes from first to 1 along a line in steps updates; from there on the other schedule
// begins. nil stands for 1.
func WarmUp(steps int, first float64, then Schedule) Schedule {
	return func(step *tensor.Tensor) *tensor.Tensor {
		up := through(step, 0, float64(steps)).MulScalar(1 - first).AddScalar(first)
		if then == nil {
			return up
		}
		later := then(step.SubScalar(float64(steps)).Clamp(0, nil))
		return tensor.Where(step.LtScalar(float64(steps)), up, later)
	}
}

// OneCycle rises from 1/div to 1 in the first part of steps updates, and falls to 1/(div·final)
// in the others, both along cosines, as torch.optim.lr_scheduler.OneCycleLR (Smith and Topin,
// arXiv:1708.07120). PyTorch's part is 0.3, its div 25 and its final 1e4; the optimiser's learning
// rate is PyTorch's max_lr.
func OneCycle(steps int, part, div, final float64) Schedule {
	return func(step *tensor.Tensor) *tensor.Tensor {
		peak := part*float64(steps) - 1
		last := float64(steps) - 1
		up := anneal(1/div, 1, through(step, 0, peak))
		down := anneal(1, 1/(div*final), through(step, peak, last))
		return tensor.Where(step.LeScalar(peak), up, down)
	}
}

// Times multiplies schedules.
func Times(list ...Schedule) Schedule {
	return func(step *tensor.Tensor) *tensor.Tensor {
		f := step.OnesLike()
		for _, s := range list {
			f = f.Mul(s(step))
		}
		return f
	}
}

// through is how far step has come from one number to another: from 0 to 1.
func through(step *tensor.Tensor, from, to float64) *tensor.Tensor {
	if !(to > from) {
		return step.OnesLike()
	}
	return step.SubScalar(from).DivScalar(to-from).Clamp(0, 1)
}

// anneal goes from one number to another along half a cosine.
func anneal(from, to float64, part *tensor.Tensor) *tensor.Tensor {
	return part.MulScalar(math.Pi).Cos().AddScalar(1).MulScalar((from - to) / 2).AddScalar(to)
}
