package optim_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/optim"
	"github.com/gofx-dev/gofx/tensor"
)

// Lion is an optimiser of one's own (Chen et al., arXiv:2302.06675): it follows the sign of an
// average.
type Lion struct{ LR float64 }

func (o Lion) Slots() []string { return []string{"momentum"} }

func (o Lion) Check() error { return nil }

func (o Lion) Update(u *optim.Update) *tensor.Tensor {
	m := u.Slot("momentum")
	u.Set("momentum", m.MulScalar(0.99).Add(u.Grad.MulScalar(0.01)))
	direction := m.MulScalar(0.9).Add(u.Grad.MulScalar(0.1)).Sign()
	return u.Param.Sub(direction.Mul(u.Rate(o.LR)))
}

func ExampleOptimiser() {
	one := tensor.Scalar(1.0)
	u := optim.NewUpdate(tensor.FromSlice([]float32{1, 2}), tensor.FromSlice([]float32{3, -4}), one, one,
		map[string]*tensor.Tensor{"momentum": tensor.Zeros(2)})
	fmt.Println(Lion{LR: 0.5}.Update(u))
	// Output:
	// tensor([0.5000, 2.5000])
}

func ExampleRule() {
	rule := optim.Rule{
		Optimiser: optim.AdamW{LR: 1e-3, WeightDecay: 0.01},
		Groups: []optim.Group{
			{Params: []string{"*.bias"}, Optimiser: optim.AdamW{LR: 1e-3}},
			{Params: []string{"embedding.*"}}, // frozen
		},
		Schedule: optim.WarmUp(100, 0, optim.Cosine(900, 0.1)),
		ClipNorm: 1,
	}
	fmt.Printf("%T %v\n", rule.For("fc.weight"), rule.For("embedding.weight"))
	fmt.Println(rule.Check([]string{"fc.weight", "fc.bias", "embedding.weight"}))
	// Output:
	// optim.AdamW <nil>
	// <nil>
}

func ExampleSchedule() {
	s := optim.WarmUp(2, 0, optim.Cosine(2, 0))
	for step := range 5 {
		fmt.Printf("%.2f ", s(tensor.Scalar(float64(step))).Item())
	}
	// Output:
	// 0.00 0.50 1.00 0.50 0.00
}
