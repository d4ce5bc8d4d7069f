package optim

import "github.com/gofx-dev/gofx/tensor"

// Adam is torch.optim.Adam (Kingma and Ba, arXiv:1412.6980).
type Adam struct {
	LR           float64
	Beta1, Beta2 float64 // of the averages; 0 stands for 0.9 and 0.999
	Eps          float64 // 0 stands for 1e-8
	WeightDecay  float64 // added to the gradient; see AdamW
	AMSGrad      bool    // divides by the greatest mean square so far
}

// AdamW is torch.optim.AdamW: Adam whose weight decay acts on the parameter itself (Loshchilov
// and Hutter, arXiv:1711.05101). PyTorch's default decay is 0.01.
type AdamW Adam

// RAdam is torch.optim.RAdam, Adam that waits until the variance of its steps is known (Liu et
// al., arXiv:1908.03265).
type RAdam struct {
	LR           float64
	Beta1, Beta2 float64 // 0 stands for 0.9 and 0.999
	Eps          float64 // 0 stands for 1e-8
	WeightDecay  float64 // added to the gradient
}

// LAMB is Adam whose step for each parameter is scaled to the parameter's norm, for large
// batches (You et al., arXiv:1904.00962, algorithm 2). A parameter or step of norm 0 is not
// scaled.
type LAMB struct {
	LR           float64
	Beta1, Beta2 float64 // 0 stands for 0.9 and 0.999
	Eps          float64 // 0 stands for 1e-6
	WeightDecay  float64
}

// betas returns the settings of averages with their defaults.
func betas(beta1, beta2 float64) (b1, b2 float64) { return given(beta1, 0.9), given(beta2, 0.999) }

func checkAdam(name string, lr, beta1, beta2, eps, decay float64) error {
	return check(name, positive("LR", lr), part("Beta1", beta1), part("Beta2", beta2), atLeast0("Eps", eps), atLeast0("WeightDecay", decay))
}

var averages = []string{"exp_avg", "exp_avg_sq"}

// Slots implements Optimiser.
func (o Adam) Slots() []string {
	if o.AMSGrad {
		return []string{"exp_avg", "exp_avg_sq", "max_exp_avg_sq"}
	}
	return averages
}

// Check implements Optimiser.
func (o Adam) Check() error { return checkAdam("Adam", o.LR, o.Beta1, o.Beta2, o.Eps, o.WeightDecay) }

// Update implements Optimiser.
func (o Adam) Update(u *Update) *tensor.Tensor { return o.step(u, u.Param, u.decayed(o.WeightDecay)) }

// step moves p along the gradient g.
func (o Adam) step(u *Update, p, g *tensor.Tensor) *tensor.Tensor {
	b1, b2 := betas(o.Beta1, o.Beta2)
	m, v := u.follow("exp_avg", b1, g), u.follow("exp_avg_sq", b2, g.Square())
	if o.AMSGrad {
		v = u.Slot("max_exp_avg_sq").Maximum(v)
		u.Set("max_exp_avg_sq", v)
	}
	c, eps, size := u.correction(b2).Sqrt(), given(o.Eps, 1e-8), u.Factor.MulScalar(o.LR)
	if p.DType().Size() < 4 { // eps·c may be 0 in halves
		root := v.Sqrt().Div(u.Number(c)).AddScalar(eps)
		return p.Sub(m.Div(root).Mul(u.Number(size.Div(u.correction(b1)))))
	}
	// The root's correction is in eps and in the size of the step: to divide each element by it
	// takes longer than to load the element.
	root := v.Sqrt().Add(u.Number(c.MulScalar(eps)))
	return p.Sub(m.Div(root).Mul(u.Number(size.Mul(c).Div(u.correction(b1)))))
}

// Slots implements Optimiser.
func (o AdamW) Slots() []string { return Adam(o).Slots() }

// Check implements Optimiser.
func (o AdamW) Check() error {
	return checkAdam("AdamW", o.LR, o.Beta1, o.Beta2, o.Eps, o.WeightDecay)
}

// Update implements Optimiser.
func (o AdamW) Update(u *Update) *tensor.Tensor {
	p := u.Param
	if o.WeightDecay != 0 {
		p = p.Mul(u.Number(u.Factor.MulScalar(o.LR * o.WeightDecay).RSubScalar(1)))
	}
	return Adam(o).step(u, p, u.Grad)
}

// Slots implements Optimiser.
func (o RAdam) Slots() []string { return averages }

// Check implements Optimiser.
func (o RAdam) Check() error { return checkAdam("RAdam", o.LR, o.Beta1, o.Beta2, o.Eps, o.WeightDecay) }

// Update implements Optimiser.
func (o RAdam) Update(u *Update) *tensor.Tensor {
	b1, b2 := betas(o.Beta1, o.Beta2)
	g := u.decayed(o.WeightDecay)
	m, v := u.follow("exp_avg", b1, g), u.follow("exp_avg_sq", b2, g.Square())
	most := 2/(1-b2) - 1
	power := u.Step.RPowScalar(b2)
	length := u.Step.Mul(power).Div(power.RSubScalar(1)).MulScalar(2).RSubScalar(most)
	known := length.GtScalar(5)
	// Where the variance is not known, 6 stands for the length, whose root is real.
	length = tensor.Where(known, length, length.FullLike(6.0))
	rectify := length.SubScalar(4).Mul(length.SubScalar(2)).MulScalar(most).Div(length.MulScalar((most - 4) * (most - 2))).Sqrt()
	scale := u.Number(rectify.Mul(u.correction(b2).Sqrt()))
	adapted := v.Sqrt().AddScalar(given(o.Eps, 1e-8)).Reciprocal().Mul(scale)
	step := m.Mul(u.Number(u.Factor.MulScalar(o.LR).Div(u.correction(b1))))
	return u.Param.Sub(tensor.Where(known, step.Mul(adapted), step))
}

// Slots implements Optimiser.
func (o LAMB) Slots() []string { return averages }

// Check implements Optimiser.
func (o LAMB) Check() error { return checkAdam("LAMB", o.LR, o.Beta1, o.Beta2, o.Eps, o.WeightDecay) }

// Update implements Optimiser.
func (o LAMB) Update(u *Update) *tensor.Tensor {
	b1, b2 := betas(o.Beta1, o.Beta2)
	m, v := u.follow("exp_avg", b1, u.Grad), u.follow("exp_avg_sq", b2, u.Grad.Square())
	m, v = m.Div(u.Number(u.correction(b1))), v.Div(u.Number(u.correction(b2)))
	r := m.Div(v.Sqrt().AddScalar(given(o.Eps, 1e-6)))
	if o.WeightDecay != 0 {
		r = r.Add(u.Param.MulScalar(o.WeightDecay))
	}
	p, s := u.Param.Square().Sum().Sqrt(), r.Square().Sum().Sqrt()
	usable := p.GtScalar(0).LogicalAnd(s.GtScalar(0))
	ratio := tensor.Where(usable, p.Div(tensor.Where(usable, s, s.OnesLike())), p.OnesLike())
	return u.Param.Sub(r.Mul(ratio).Mul(u.Rate(o.LR)))
}
