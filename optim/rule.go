package optim

import (
	"path"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/tensor"
)

// Group has an optimiser of its own for some parameters.
type Group struct {
	// Params are paths, and patterns of path.Match for paths: "*.bias", "encoder.*". A * stands
	// for dots, too.
	Params []string
	// Optimiser is theirs; nil freezes them.
	Optimiser Optimiser
}

// Rule says how all parameters of a model follow their gradients.
type Rule struct {
	// Optimiser is that of the parameters that no group names.
	Optimiser Optimiser
	// Groups have other optimisers. A parameter belongs to the first group that names it, by any
	// of its paths where modules share it.
	Groups []Group
	// Schedule changes the learning rates of all optimisers; nil leaves them.
	Schedule Schedule
	// ClipValue cuts elements of gradients to ±ClipValue; 0 does not.
	ClipValue float64
	// ClipNorm scales all gradients together so that their norm is at most ClipNorm, as
	// torch.nn.utils.clip_grad_norm_; 0 does not. It comes after ClipValue.
	ClipNorm float64
	// Accumulate makes one update of the mean gradient of this many batches; 0 and 1 stand for
	// each batch.
	Accumulate int
	// Average keeps an exponential moving average of the parameters, which an update multiplies
	// by Average, below 1; 0 keeps none. It begins with the parameters after the first update.
	Average float64
}

// For returns the optimiser of a parameter, nil where it is frozen. A parameter that modules
// share has several paths.
func (r Rule) For(paths ...string) Optimiser {
	for _, g := range r.Groups {
		for _, p := range g.Params {
			if names(p, paths) {
				return g.Optimiser
			}
		}
	}
	return r.Optimiser
}

func matches(pattern, param string) bool {
	ok, err := path.Match(pattern, param)
	return err == nil && ok || pattern == param
}

// Check returns all that is wrong with the rule for a model with these parameters: settings, and
// patterns that name none.
func (r Rule) Check(params []string) error {
	var errs diag.List
	if r.Optimiser == nil && len(r.Groups) == 0 {
		errs.Add(mistake("the rule has no optimiser").WithHint("set Optimiser, to optim.AdamW{LR: 1e-3} for one"))
	}
	for _, o := range r.optimisers() {
		errs.Add(o.Check())
	}
	for _, g := range r.Groups {
		for _, p := range g.Params {
			if !names(p, params) {
				errs.Add(mistake("the group of " + strconv.Quote(p) + " has no parameters").WithHint("use paths of the model's parameters, or patterns such as \"*.bias\""))
			}
		}
	}
	switch {
	case !(r.ClipNorm >= 0) || !(r.ClipValue >= 0):
		errs.Add(mistake("a bound of gradients is negative, expected 0 or a number above it"))
	case r.Accumulate < 0:
		errs.Add(mistake("Accumulate is " + strconv.Itoa(r.Accumulate) + ", expected 0 or more batches"))
	case !(r.Average >= 0 && r.Average < 1):
		errs.Add(mistake("Average is " + strconv.FormatFloat(r.Average, 'g', -1, 64) + ", expected a number from 0 to below 1"))
	}
	return errs.Err()
}

func names(pattern string, params []string) bool {
	for _, p := range params {
		if matches(pattern, p) {
			return true
		}
	}
	return false
}

func (r Rule) optimisers() (list []Optimiser) {
	if r.Optimiser != nil {
		list = append(list, r.Optimiser)
	}
	for _, g := range r.Groups {
		if g.Optimiser != nil {
			list = append(list, g.Optimiser)
		}
	}
	return list
}

// Factor returns the factor of the learning rates, f64[], from the number of updates so far and
// a scale, both f64[].
func (r Rule) Factor(updates, scale *tensor.Tensor) *tensor.Tensor {
	if r.Schedule == nil {
		return scale
	}
	return r.Schedule(updates).Mul(scale)
}

// Clip returns gradients as the bounds leave them.
func (r Rule) Clip(grads []*tensor.Tensor) []*tensor.Tensor {
	out := append([]*tensor.Tensor(nil), grads...)
	if r.ClipValue > 0 {
		for i, g := range out {
			out[i] = g.Clamp(-r.ClipValue, r.ClipValue)
		}
	}
	if r.ClipNorm > 0 && len(out) > 0 {
		factor := Norm(out).AddScalar(1e-6).RDivScalar(r.ClipNorm).Clamp(nil, 1)
		for i, g := range out {
			out[i] = g.Mul(factor.Cast(g.DType()))
		}
	}
	return out
}

// Norm returns the norm of all elements of tensors together: one number of the first one's type.
func Norm(list []*tensor.Tensor) *tensor.Tensor {
	var sum *tensor.Tensor
	for _, g := range list {
		s := g.Square().Sum()
		if sum == nil {
			sum = s
		} else {
			sum = sum.Add(s.Cast(sum.DType()))
		}
	}
	return sum.Sqrt()
}
