// Package closures has functions that return function literals.
package closures

import (
	"log"

	"github.com/gofx-dev/gofx/tensor"
)

type tt = tensor.Tensor

// Net is captured.
type Net struct {
	W     *tt
	Scale float64
}

// Config is captured as it is.
type Config struct{ Low, High float64 }

func Captures(m *Net, c Config, verbose bool) func(x *tt) *tt {
	return func(x *tt) *tt {
		if verbose {
			log.Print("step")
		}
		return x.Mul(m.W).MulScalar(c.High - c.Low)
	}
}

func Counts() func(x *tt) *tt {
	n := 0
	return func(x *tt) *tt {
		n++
		return x.AddScalar(n)
	}
}

func Inner() func(x *tt) *tt {
	by := 2.0
	return func(x *tt) *tt {
		func() { by *= 2 }()
		return x.MulScalar(by)
	}
}

func Sibling() (*func(), func(x *tt) *tt) {
	by := 2.0
	raise := func() { by++ }
	return &raise, func(x *tt) *tt { return x.MulScalar(by) }
}

func Loops(list []float64) (f func(x *tt) *tt) {
	total := 0.0
	for _, v := range list {
		total += v
		f = func(x *tt) *tt { return x.MulScalar(total) }
	}
	return f
}

func Before(by float64) func(x *tt) *tt {
	if by == 0 {
		by = 1
	}
	by *= 2
	return func(x *tt) *tt { return x.MulScalar(by) }
}

func Elements() func(x *tt) *tt {
	var c Config
	set(&c.Low)
	return func(x *tt) *tt { return x.MulScalar(c.Low) }
}

func set(x *float64) { *x = 2 }

// Net has a method that returns a closure.
func (m *Net) Bound() func(x *tt) *tt { return func(x *tt) *tt { return x.Mul(m.W) } }

var Variable = func(m *Net, x *tt) *tt { return x.MulScalar(m.Scale) }

var Made = Before(2)

func None(x *tt) *tt { return x }

func Both() (a, b func()) { return nil, nil }

func Nothing() func() { return nil }

func Foreign() func(*tt) *tt { return tensor.Relu }

func After() func(x *tt) *tt {
	by := 2.0
	f := func(x *tt) *tt { return x.MulScalar(by) }
	by = 3
	return f
}
