package op

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// Sample is one valid call of an operator, for the conformance tests.
type Sample struct {
	Name  string // a few words: "broadcast", "negative axis"
	Attrs any
	In    []*array.Array // nil for absent operands
}

// BadSample is a call that the type rule must refuse with the given code.
type BadSample struct {
	Name  string
	Attrs any
	In    []*array.Array
	Code  diag.Code
}

// Samples returns the operator's valid sample calls, all with attributes.
func (o *Op) Samples() []Sample {
	if o.samples == nil {
		return nil
	}
	list := o.samples(&Gen{})
	for i := range list {
		if list[i].Attrs == nil {
			list[i].Attrs = o.codec.Zero()
		}
	}
	return list
}

// BadSamples returns the operator's calls that must be refused, all with attributes.
func (o *Op) BadSamples() []BadSample {
	if o.bad == nil {
		return nil
	}
	list := o.bad(&Gen{})
	for i := range list {
		if list[i].Attrs == nil {
			list[i].Attrs = o.codec.Zero()
		}
	}
	return list
}

// Gen makes the arrays of samples, the same on every run and machine.
type Gen struct{ n uint64 }

func (g *Gen) next() float64 {
	g.n++
	z := g.n * 0x9E3779B97F4A7C15
	z ^= z >> 30
	z *= 0xBF58476D1CE4E5B9
	z ^= z >> 27
	z *= 0x94D049BB133111EB
	z ^= z >> 31
	return float64(z>>11) * 0x1p-53
}

// Uniform returns floats in [lo, hi).
func (g *Gen) Uniform(lo, hi float64, shape ...int) *array.Array {
	a := array.New(array.F32, shape...)
	d := array.Data[float32](a)
	for i := range d {
		d[i] = float32(lo + (hi-lo)*g.next())
	}
	return a
}

// Normal returns floats of about unit variance, |v| < 3.5.
func (g *Gen) Normal(shape ...int) *array.Array {
	a := array.New(array.F32, shape...)
	d := array.Data[float32](a)
	for i := range d {
		s := 0.0
		for range 12 {
			s += g.next()
		}
		d[i] = float32(s - 6)
	}
	return a
}

// Int returns i64 values in [0, n).
func (g *Gen) Int(n int, shape ...int) *array.Array {
	a := array.New(array.I64, shape...)
	d := array.Data[int64](a)
	for i := range d {
		d[i] = int64(g.next() * float64(n))
	}
	return a
}

// Bool returns random bools.
func (g *Gen) Bool(shape ...int) *array.Array {
	a := array.New(array.Bool, shape...)
	d := array.Data[bool](a)
	for i := range d {
		d[i] = g.next() < 0.5
	}
	return a
}

// Special returns an f32 vector of NaN, infinities, zeros of both signs,
// denormals and ordinary numbers.
func (g *Gen) Special() *array.Array {
	return array.FromSlice([]float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0,
		float32(math.Copysign(0, -1)), 1e-42, -1e-42, 1, -1, 3.5, -2.25, 1e30, -1e30, 0.5, -0.5})
}

// Strided returns a with the same values, laid out with its axes reversed in
// memory, so that it is not contiguous.
func (g *Gen) Strided(a *array.Array) *array.Array {
	rev := make([]int, a.Rank())
	for i := range rev {
		rev[i] = a.Rank() - 1 - i
	}
	return array.Permute(array.Contiguous(array.Permute(a, rev...)), rev...)
}
