package fxsteady

import (
	"math/rand"
	"os"
	"strconv"
	"time"

	"github.com/gofx-dev/gofx/tensor"
)

type net struct {
	Scales map[string]*tensor.Tensor
	Tiles  map[[2]int]*tensor.Tensor `fx:"-"`
	calls  int
	seen   int
	rng    *rand.Rand
}

func (m *net) Forward(x *tensor.Tensor) *tensor.Tensor {
	for _, s := range m.Scales {
		x = x.Mul(s) // want `FX1044: two traces of a function differ: x.Mul is called in the order of a map`
	}
	for k := range m.Scales {
		x = x.Mul(m.Scales[k]) // want `FX1044`
	}
	for _, s := range m.Tiles {
		x = x.Mul(s) // want `FX1044`
	}
	var parts []*tensor.Tensor
	for range m.Scales {
		parts = append(parts, x) // want `FX1044: .*: append is called in the order of a map`
	}
	x = x.MulScalar(rand.Float64())                 // want `FX1044: .*: rand.Float64 differs from call to call`
	x = x.AddScalar(float64(time.Now().Unix()) / 2) // want `FX1044: .*: time.Now`
	n, _ := strconv.Atoi(os.Getenv("N"))
	x = x.AddScalar(n)              // want `FX1044: .*: os.Getenv`
	x = x.Reshape(rand.Intn(3), -1) // want `FX1044: .*: rand.Intn`
	m.calls++
	x = x.MulScalar(m.calls)         // want `FX1044: .*: a counter`
	x = x.MulScalar(m.rng.Float64()) // want `FX1044: .*: a random number of a generator`
	return m.quiet(tensor.Cat(append(parts, x), 0))
}

func (m *net) quiet(x *tensor.Tensor) *tensor.Tensor {
	for k, s := range m.Scales {
		if k == "a" {
			x = x.Mul(s)
		}
	}
	total := 0.0
	for _, s := range m.Scales {
		total += s.Item()
		s.AddScalarInPlace(1)
	}
	r := rand.New(rand.NewSource(1))
	x = x.MulScalar(r.Float64())
	start := time.Now()
	x = x.MulScalar(total)
	m.seen++
	_ = time.Since(start)
	return x
}
