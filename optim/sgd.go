package optim

import (
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/tensor"
)

// SGD is torch.optim.SGD: stochastic gradient descent.
type SGD struct {
	LR          float64
	Momentum    float64
	Dampening   float64 // of the gradient in the momentum
	Nesterov    bool
	WeightDecay float64
}

// Slots implements Optimiser.
func (o SGD) Slots() []string {
	if o.Momentum == 0 {
		return nil
	}
	return []string{"momentum_buffer"}
}

// Check implements Optimiser.
func (o SGD) Check() error {
	var errs diag.List
	errs.Add(check("SGD", positive("LR", o.LR), atLeast0("Momentum", o.Momentum), atLeast0("WeightDecay", o.WeightDecay), atLeast0("Dampening", o.Dampening)))
	if o.Nesterov && (o.Momentum == 0 || o.Dampening != 0) {
		errs.Add(mistake("SGD: Nesterov is set, expected a Momentum and no Dampening with it"))
	}
	return errs.Err()
}

// Update implements Optimiser.
func (o SGD) Update(u *Update) *tensor.Tensor {
	d := u.decayed(o.WeightDecay)
	if o.Momentum != 0 {
		buf := u.Slot("momentum_buffer").MulScalar(o.Momentum).Add(o.damped(u, d))
		u.Set("momentum_buffer", buf)
		if o.Nesterov {
			d = d.Add(buf.MulScalar(o.Momentum))
		} else {
			d = buf
		}
	}
	return u.Param.Sub(d.Mul(u.Rate(o.LR)))
}

// damped is what a step adds to the momentum: the first one the whole gradient.
func (o SGD) damped(u *Update, d *tensor.Tensor) *tensor.Tensor {
	if o.Dampening == 0 {
		return d
	}
	return tensor.Where(u.Step.EqScalar(1), d, d.MulScalar(1-o.Dampening))
}

// RMSprop is torch.optim.RMSprop: gradients divided by the root of their mean square (Hinton,
// Neural Networks for Machine Learning, lecture 6a).
type RMSprop struct {
	LR          float64
	Alpha       float64 // of the mean square; 0 stands for 0.99
	Eps         float64 // 0 stands for 1e-8
	WeightDecay float64
	Momentum    float64
	Centered    bool // the mean is taken off the mean square
}

// Slots implements Optimiser.
func (o RMSprop) Slots() []string {
	list := []string{"square_avg"}
	if o.Momentum != 0 {
		list = append(list, "momentum_buffer")
	}
	if o.Centered {
		list = append(list, "grad_avg")
	}
	return list
}

// Check implements Optimiser.
func (o RMSprop) Check() error {
	return check("RMSprop", positive("LR", o.LR), part("Alpha", o.Alpha), atLeast0("Eps", o.Eps), atLeast0("WeightDecay", o.WeightDecay), atLeast0("Momentum", o.Momentum))
}

// Update implements Optimiser.
func (o RMSprop) Update(u *Update) *tensor.Tensor {
	alpha := given(o.Alpha, 0.99)
	g := u.decayed(o.WeightDecay)
	square := u.follow("square_avg", alpha, g.Square())
	if o.Centered {
		square = square.Sub(u.follow("grad_avg", alpha, g).Square())
	}
	d := g.Div(square.Sqrt().AddScalar(given(o.Eps, 1e-8)))
	if o.Momentum != 0 {
		d = u.Slot("momentum_buffer").MulScalar(o.Momentum).Add(d)
		u.Set("momentum_buffer", d)
	}
	return u.Param.Sub(d.Mul(u.Rate(o.LR)))
}
