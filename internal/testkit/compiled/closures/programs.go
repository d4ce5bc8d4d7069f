package closures

import (
	"errors"
	"log"

	"github.com/gofx-dev/gofx/tensor"
)

type tt = tensor.Tensor

// Model is what closures have captured.
type Model struct {
	W      *tt
	Scale  float64
	Steps  int
	Last   *tt
	Layers []*Layer
	Table  map[string]float64
	Debug  bool
}

// Layer is a layer of a Model.
type Layer struct{ B float64 }

// Apply adds the layer's number.
func (l *Layer) Apply(x *tt) *tt { return x.AddScalar(l.B) }

// Shift adds itself.
type Shift int

// Apply adds the number.
func (s Shift) Apply(x *tt) *tt { return x.AddScalar(int(s)) }

// Activation is a layer without weights.
type Activation interface{ Apply(*tt) *tt }

// Acts are functions that closures call.
var Acts = []func(*tt) *tt{tensor.Relu, triple}

func triple(x *tt) *tt { return x.MulScalar(3) }

// Step is the type of what NewLocal returns.
type Step func(x *tt) *tt

// Config is captured as it is.
type Config struct {
	Low, High float64
	Dims      [2]int
	On        bool
}

// NewStep returns the most common kind of closure.
func NewStep(m *Model, lr float32) func(x *tt) *tt {
	return func(x *tt) *tt { return x.Mul(m.W).MulScalar(float64(lr) * m.Scale) }
}

// NewMixed returns a closure with variables of all sizes, in another order than they are declared in.
func NewMixed(m *Model, on bool, small int8, name string, rate float32, c Config, act Activation, items []int, fn func(*tt) *tt, pair [2]float64) func(x *tt) *tt {
	return func(x *tt) *tt {
		if name == "twice" {
			x = x.MulScalar(2)
		}
		x = x.AddScalar(int(small)).MulScalar(c.High - c.Low)
		if on {
			x = act.Apply(x)
		}
		for _, v := range items {
			x = x.AddScalar(v)
		}
		if fn != nil {
			x = fn(x)
		}
		if c.On {
			x = x.AddScalar(c.Dims[1])
		}
		x = x.MulScalar(pair[0]).AddScalar(pair[1])
		for _, l := range m.Layers {
			x = l.Apply(x)
		}
		return x.MulScalar(float64(rate)).AddScalar(m.Table["bias"])
	}
}

// Mixed makes a model with layers, and a closure of it.
func Mixed(w *tt, items []int, on bool) (*Model, func(x *tt) *tt) {
	m := &Model{W: w, Scale: 1.5, Steps: 3, Layers: []*Layer{{2}, {3}}, Table: map[string]float64{"bias": 0.25}}
	var fn func(*tt) *tt
	if on {
		fn = Acts[0]
	}
	return m, NewMixed(m, on, -3, "twice", 0.5, Config{1, 3, [2]int{6, 7}, on}, Shift(4), items, fn, [2]float64{1.25, 2})
}

// NewCounter returns a closure that writes to what it has captured.
func NewCounter(m *Model, n *int) func(x *tt) (*tt, int) {
	return func(x *tt) (*tt, int) {
		m.Steps++
		*n += 2
		m.Last = x.Mul(m.W)
		return m.Last, *n
	}
}

var errNone = errors.New("no model")

// NewChecked returns two results.
func NewChecked(m *Model) (func(xs ...*tt) *tt, error) {
	if m == nil {
		return nil, errNone
	}
	return func(xs ...*tt) *tt { return tensor.Cat(xs, 0).MulScalar(m.Scale) }, nil
}

// Stepper is a method that returns a closure.
func (m *Model) Stepper(by int) func(x, y *tt) *tt {
	return func(x, y *tt) *tt { return x.MulScalar(by).Add(y.Mul(m.W)) }
}

// Plain has captured nothing.
var Plain = func(m *Model, x *tt) *tt { return x.Mul(m.W).AddScalar(m.Steps) }

// NewNested returns a closure that makes others of what it has captured.
func NewNested(m *Model, by float64) func(x *tt) *tt {
	scale := func(x *tt) *tt { return x.MulScalar(by) }
	return func(x *tt) *tt {
		add := func(x *tt) *tt { return x.AddScalar(by).Mul(m.W) }
		return add(scale(x))
	}
}

// NewCalls returns a closure that calls the function that it has captured.
func NewCalls(act func(*tt) *tt) func(x *tt) *tt {
	return func(x *tt) *tt { return act(x).AddScalar(1) }
}

// NewLogged returns a closure that logs where what it has captured says so.
func NewLogged(m *Model, verbose bool) func(x *tt) *tt {
	return func(x *tt) *tt {
		if verbose {
			log.Print("step", m.Steps)
		}
		return x.Mul(m.W)
	}
}

// NewLocal returns a closure that has captured what its maker has computed.
func NewLocal(m *Model, a, b float64) Step {
	w, sum := m.W.MulScalar(2), a+b
	low, high := bounds(a, b)
	return func(x *tt) *tt { return x.Mul(w).AddScalar(sum).Clamp(low, high) }
}

func bounds(a, b float64) (low, high float64) { return min(a, b), max(a, b) * 100 }

// NewRebound assigns its parameter before it makes the closure.
func NewRebound(m *Model, by float64) func(x *tt) *tt {
	if by == 0 {
		by = m.Scale
	}
	return func(x *tt) *tt { return x.MulScalar(by) }
}

// NewLooks returns a closure that looks at data where a length says so, and that has lists of its own.
func NewLooks(m *Model) func(x *tt) *tt {
	return func(x *tt) *tt {
		if len(m.Layers) > 2 {
			x = x.AddScalar(m.W.Sum().Item())
		}
		grids := [][]*tt{{x}, {m.W, x}}
		return tensor.Cat(grids[len(grids)-1], 0)
	}
}
