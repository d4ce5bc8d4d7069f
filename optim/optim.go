package optim

import (
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/tensor"
)

// Optimiser says how one parameter follows its gradient.
type Optimiser interface {
	// Slots are the names of the tensors that are kept for each parameter. They have its type
	// and are zero before the first step.
	Slots() []string
	// Update returns the value of the parameter after a step. It sets slots of u to what the
	// next step is to find in them; those that it does not set stay.
	Update(u *Update) *tensor.Tensor
	// Check returns what is wrong with the settings, nil for nothing.
	Check() error
}

// Update is one step of one parameter.
type Update struct {
	// Param and Grad are the parameter and its gradient, of one type.
	Param, Grad *tensor.Tensor
	// Step is the number of the step, from 1 on: f64[].
	Step *tensor.Tensor
	// Factor is what schedules make of the learning rate: f64[].
	Factor *tensor.Tensor

	slots map[string]*tensor.Tensor
}

// NewUpdate returns the step of a parameter whose slots have these values.
func NewUpdate(param, grad, step, factor *tensor.Tensor, slots map[string]*tensor.Tensor) *Update {
	return &Update{param, grad, step, factor, slots}
}

// Slot returns the value of a slot: that of before the step, or what was set.
func (u *Update) Slot(name string) *tensor.Tensor {
	s := u.slots[name]
	if s == nil {
		panic(mistake("the optimiser uses the slot " + strconv.Quote(name) + ", which Slots does not name"))
	}
	return s
}

// Set sets a slot.
func (u *Update) Set(name string, v *tensor.Tensor) {
	u.Slot(name)
	u.slots[name] = v
}

// Rate returns a learning rate after the schedule, in the parameter's element type.
func (u *Update) Rate(base float64) *tensor.Tensor { return u.Number(u.Factor.MulScalar(base)) }

// Number casts a number that was computed of Step or Factor, in f64, to the parameter's element
// type.
func (u *Update) Number(v *tensor.Tensor) *tensor.Tensor { return v.Cast(u.Param.DType()) }

// decayed returns the gradient with the part that pulls the parameter to 0.
func (u *Update) decayed(weight float64) *tensor.Tensor {
	if weight == 0 {
		return u.Grad
	}
	return u.Grad.Add(u.Param.MulScalar(weight))
}

// follow moves a slot towards v: slot·beta + v·(1-beta).
func (u *Update) follow(slot string, beta float64, v *tensor.Tensor) *tensor.Tensor {
	s := u.Slot(slot).MulScalar(beta).Add(v.MulScalar(1 - beta))
	u.Set(slot, s)
	return s
}

// correction is 1 - beta^step, which undoes that an average began at 0: f64[].
func (u *Update) correction(beta float64) *tensor.Tensor {
	return u.Step.RPowScalar(beta).RSubScalar(1)
}

func mistake(msg string) *diag.Error { return diag.New(BadSetting, msg) }

// setting is a number of an optimiser and what it may be.
type setting struct {
	name  string
	value float64
	ok    bool
	want  string
}

func positive(name string, v float64) setting { return setting{name, v, v > 0, "a number above 0"} }
func atLeast0(name string, v float64) setting {
	return setting{name, v, v >= 0, "0 or a number above it"}
}
func part(name string, v float64) setting {
	return setting{name, v, v >= 0 && v < 1, "a number from 0 to below 1"}
}

// check returns all mistakes of settings.
func check(optimiser string, list ...setting) error {
	var errs diag.List
	for _, s := range list {
		if !s.ok || s.value-s.value != 0 {
			errs.Add(mistake(optimiser + ": " + s.name + " is " + strconv.FormatFloat(s.value, 'g', -1, 64) + ", expected " + s.want))
		}
	}
	return errs.Err()
}

// given returns v, or a default where v is 0.
func given(v, def float64) float64 {
	if v == 0 {
		return def
	}
	return v
}
