package xla

import (
	"math"

	"github.com/gofx-dev/gofx/array"
)

// safe returns divisors by which integers can be divided, 1 in place of 0 and of -1, and
// where there was which.
func (c *call) safe(y *value) (z, zero, minus *value) {
	t := y.Type
	one := c.Const(t, 1)
	zero = c.Compare("EQ", y, c.Const(t, 0))
	z = c.Op("select", zero, one, y)
	if t.Elem.IsSigned() {
		minus = c.Compare("EQ", y, c.number(t, -1))
		z = c.Op("select", minus, one, z)
	}
	return z, zero, minus
}

// divide truncates integers; by zero it gives zero, and by -1 the negative, wrapped.
func divide(c *call, x []*value) *value {
	if x[0].Type.Elem.IsFloat() {
		return c.Op("divide", x...)
	}
	y, zero, minus := c.safe(x[1])
	q := c.Op("divide", x[0], y)
	if minus != nil {
		q = c.Op("select", minus, c.Op("negate", x[0]), q)
	}
	return c.Op("select", zero, c.Const(q.Type, 0), q)
}

func remainder(c *call, x []*value) *value {
	if x[0].Type.Elem.IsFloat() {
		return c.Op("remainder", x...)
	}
	y, zero, minus := c.safe(x[1])
	r := c.Op("remainder", x[0], y)
	none := c.Const(r.Type, 0)
	if minus != nil {
		r = c.Op("select", minus, none, r)
	}
	return c.Op("select", zero, none, r)
}

// signsDiffer tells where a remainder is not zero and has another sign than the divisor.
func (c *call) signsDiffer(r, y *value) *value {
	zero := c.Const(r.Type, 0)
	differ := c.Op("xor", c.Compare("LT", r, zero), c.Compare("LT", y, zero))
	return c.Op("and", c.Compare("NE", r, zero), differ)
}

func modulo(c *call, x []*value) *value {
	r := remainder(c, x)
	if d := r.Type.Elem; d.IsInt() && !d.IsSigned() {
		return r
	}
	return c.Op("select", c.signsDiffer(r, x[1]), c.Op("add", r, x[1]), r)
}

// floorDivide takes the quotient from the remainder, so that it agrees with modulo where
// a quotient rounds up to an integer.
func floorDivide(c *call, x []*value) *value {
	t := x[0].Type
	if t.Elem.IsInt() {
		q := divide(c, x)
		if !t.Elem.IsSigned() {
			return q
		}
		return c.Op("select", c.signsDiffer(remainder(c, x), x[1]), c.Op("subtract", q, c.Const(t, 1)), q)
	}
	zero := c.Const(t, 0)
	r := c.Op("remainder", x...)
	q := c.Op("divide", c.Op("subtract", x[0], r), x[1])
	q = c.Op("select", c.signsDiffer(r, x[1]), c.Op("subtract", q, c.number(t, 1)), q)
	f := c.Op("floor", q)
	f = c.Op("select", c.Compare("GT", c.Op("subtract", q, f), c.number(t, 0.5)), c.Op("add", f, c.number(t, 1)), f)
	plain := c.Op("divide", x...)
	signed := c.Op("multiply", zero, c.Op("sign", plain)) // a zero of the quotient's sign
	f = c.Op("select", c.Compare("EQ", q, zero), signed, f)
	return c.Op("select", c.Compare("EQ", x[1], zero), plain, f)
}

// power gives integers to a negative exponent 0, unless they are 1 or -1.
func power(c *call, x []*value) *value {
	t := x[0].Type
	if t.Elem.IsFloat() || !t.Elem.IsSigned() {
		return c.Op("power", x...)
	}
	zero, one := c.Const(t, 0), c.Const(t, 1)
	p := c.Op("power", x[0], c.Op("maximum", x[1], zero))
	even := c.Compare("EQ", c.Op("and", x[1], one), zero)
	inverse := c.Op("select", c.Compare("EQ", x[0], one), one,
		c.Op("select", c.Compare("EQ", x[0], c.number(t, -1)), c.Op("select", even, one, c.number(t, -1)), zero))
	return c.Op("select", c.Compare("LT", x[1], zero), inverse, p)
}

func truncate(c *call, x []*value) *value {
	return c.Op("select", c.Compare("LT", x[0], c.Const(x[0].Type, 0)), c.Op("ceil", x[0]), c.Op("floor", x[0]))
}

// multiplyAdd is exact for the product of f32 in f64; f64 itself is rounded twice.
func multiplyAdd(c *call, x []*value) *value {
	d := x[0].Type.Elem
	w := make([]*value, 3)
	for i, v := range x {
		w[i] = c.Convert(v, array.F64)
	}
	return c.Convert(c.Op("add", c.Op("multiply", w[0], w[1]), w[2]), d)
}

// errorFunction sums the series erf(x) = 2x/√π·exp(-x²)·Σ (2x²)ⁿ/(2n+1)!!, whose terms are
// all positive, so that nothing cancels, up to where the function rounds to 1.
//
// Ref: Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.6.
func errorFunction(c *call, x []*value) *value {
	t := x[0].Type
	limit, terms := 4.0, 60
	if t.Elem == array.F64 {
		limit, terms = 6, 130
	}
	v := c.Op("maximum", c.Op("minimum", x[0], c.number(t, limit)), c.number(t, -limit))
	square := c.Op("multiply", v, v)
	twice := c.Op("add", square, square)
	// 1 + z/3·(1 + z/5·(1 + z/7·(...)))
	one := c.number(t, 1)
	sum := one
	for n := terms; n > 0; n-- {
		sum = c.Op("add", one, c.Op("multiply", c.Op("multiply", twice, c.number(t, 1/float64(2*n+1))), sum))
	}
	e := c.Op("exponential", c.Op("negate", square))
	y := c.Op("multiply", c.Op("multiply", v, c.number(t, 2/math.Sqrt(math.Pi))), c.Op("multiply", e, sum))
	return c.Op("select", c.Compare("GE", c.Op("abs", v), c.number(t, limit)), c.Op("sign", v), y)
}

// beyond tells where a shift is by the width or more; negative ones count as huge.
func (c *call) beyond(y *value) *value {
	w := c.Const(y.Type, uint64(8*y.Type.Elem.Size()))
	far := c.Compare("GE", y, w)
	if y.Type.Elem.IsSigned() {
		far = c.Op("or", far, c.Compare("LT", y, c.Const(y.Type, 0)))
	}
	return far
}

func shift(c *call, x []*value) *value {
	far, zero := c.beyond(x[1]), c.Const(x[0].Type, 0)
	return c.Op("select", far, zero, c.Op("shift_left", x[0], c.Op("select", far, zero, x[1])))
}

func shiftRight(c *call, x []*value) *value {
	t, far := x[0].Type, c.beyond(x[1])
	if !t.Elem.IsSigned() {
		zero := c.Const(t, 0)
		return c.Op("select", far, zero, c.Op("shift_right_logical", x[0], c.Op("select", far, zero, x[1])))
	}
	return c.Op("shift_right_arithmetic", x[0], c.Op("select", far, c.Const(t, uint64(8*t.Elem.Size()-1)), x[1]))
}

// multiplyHigh is the high half of a product: of u32 in u64, of u64 by halves.
func multiplyHigh(c *call, x []*value) *value {
	t := x[0].Type
	half := c.Const(t.As(array.U64), 32)
	high := func(v *value) *value { return c.Op("shift_right_logical", v, half) }
	if t.Elem == array.U32 {
		return c.Convert(high(c.Op("multiply", c.Convert(x[0], array.U64), c.Convert(x[1], array.U64))), array.U32)
	}
	low := func(v *value) *value { return c.Op("and", v, c.Const(t, math.MaxUint32)) }
	a, b, p, q := high(x[0]), low(x[0]), high(x[1]), low(x[1])
	mid := c.Op("add", c.Op("multiply", a, q), high(c.Op("multiply", b, q)))
	mid2 := c.Op("add", c.Op("multiply", b, p), low(mid))
	return c.Op("add", c.Op("multiply", a, p), c.Op("add", high(mid), high(mid2)))
}

// cast converts by the rules of array.Cast: floats to integers saturate and NaN is 0,
// anything but 0 is true.
func (c *call) cast(x *value, d array.DType) *value {
	from := x.Type.Elem
	switch {
	case from == d:
		return x
	case d == array.Bool:
		return c.Compare("NE", x, c.Const(x.Type, 0))
	case from.IsFloat() && d.IsInt():
		if wide(from) != from {
			x = c.Convert(x, array.F32)
		}
		return c.saturate(x, d)
	}
	return c.Convert(x, d)
}

// saturate converts floats to integers; what the conversion leaves undefined is decided ahead.
func (c *call) saturate(x *value, d array.DType) *value {
	t, out := x.Type, x.Type.As(d)
	lo, hi := 0.0, math.Ldexp(1, 8*d.Size())
	if d.IsSigned() {
		hi /= 2
		lo = -hi
	}
	under, over := c.Compare("LE", x, c.number(t, lo)), c.Compare("GE", x, c.number(t, hi))
	in := c.Op("and", c.Compare("GT", x, c.number(t, lo)), c.Compare("LT", x, c.number(t, hi)))
	r := c.Convert(c.Op("select", in, x, c.Const(t, 0)), d)
	r = c.Op("select", over, c.Const(out, highest(d)), r)
	return c.Op("select", under, c.Const(out, lowest(d)), r)
}
