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

func ExampleOneCycle() {
	schedules := map[string]optim.Schedule{
		"step":        optim.StepDecay(2, 0.5),
		"exponential": optim.Exponential(0.5),
		"one cycle":   optim.OneCycle(4, 0.5, 10, 10),
		"both":        optim.Times(optim.Exponential(0.5), optim.StepDecay(2, 0.5)),
	}
	for _, name := range []string{"step", "exponential", "one cycle", "both"} {
		fmt.Print(name, ":")
		for step := range 4 {
			fmt.Printf(" %.3f", schedules[name](tensor.Scalar(float64(step))).Item())
		}
		fmt.Println()
	}
	// Output:
	// step: 1.000 1.000 0.500 0.500
	// exponential: 1.000 0.500 0.250 0.125
	// one cycle: 0.100 1.000 0.505 0.010
	// both: 1.000 0.500 0.125 0.062
}

func ExampleNorm() {
	grads := []*tensor.Tensor{tensor.FromSlice([]float32{3}), tensor.FromSlice([]float32{0, 4})}
	fmt.Println(optim.Norm(grads).Item())
	for _, g := range (optim.Rule{ClipNorm: 1}).Clip(grads) {
		fmt.Printf("%.2f ", tensor.Data[float32](g))
	}
	// Output:
	// 5
	// [0.60] [0.00 0.80]
}

// An optimiser of the command line.
func ExampleParse() {
	o, err := optim.Parse("sgd(lr=0.1,momentum=0.9)")
	fmt.Printf("%+v %v\n", o, err)
	_, err = optim.Parse("adamw(wieght_decay=0.1)")
	fmt.Println(err)
	// Output:
	// {LR:0.1 Momentum:0.9 Dampening:0 Nesterov:false WeightDecay:0} <nil>
	// optimiser adamw has no setting "wieght_decay" [FX3101]
	//     hint: did you mean weight_decay?
}

// The optimisers of the command line.
func ExampleNames() {
	fmt.Println(optim.Names())
	// Output: [sgd momentum adam adamw radam rmsprop lamb]
}

// The schedule of the command line: factors of the learning rates at four updates.
func ExampleParseSchedule() {
	s, err := optim.ParseSchedule("warmup(steps=100) then cosine(steps=900,least=0.1)")
	for _, update := range []float64{0, 50, 100, 1000} {
		fmt.Printf("%.2f ", s(tensor.Scalar(update)).Item())
	}
	fmt.Println(err)
	_, err = optim.ParseSchedule("cosine")
	fmt.Println(err)
	// Output:
	// 0.00 0.50 1.00 0.10 <nil>
	// schedule cosine: steps is 0, expected a number of updates from 1 [FX3101]
	//     hint: write cosine(NAME=NUMBER,...); steps and sizes are numbers of updates, the others factors of the learning rates
}

// The schedules of the command line.
func ExampleScheduleNames() {
	fmt.Println(optim.ScheduleNames())
	// Output: [warmup cosine step exponential onecycle]
}
