package eval

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
)

// toFloat returns the value of a float.
func toFloat(d array.DType, bits uint64) float64 {
	switch d {
	case array.F64:
		return math.Float64frombits(bits)
	case array.F32:
		return float64(math.Float32frombits(uint32(bits)))
	case array.F16:
		return float64(array.Half(bits).Float32())
	}
	return float64(array.BFloat(bits).Float32())
}

// wrap keeps the bits of an integer that its type has.
func wrap(d array.DType, x uint64) uint64 { return stablehlo.Extend(d, x) }

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

type scalar1 = func(d array.DType, x uint64) uint64
type scalar2 = func(d array.DType, x, y uint64) uint64

func float1(f func(float64) float64) scalar1 {
	return func(d array.DType, x uint64) uint64 { return stablehlo.FloatBits(d, f(toFloat(d, x))) }
}

var unary = map[string]scalar1{
	"ceil": float1(math.Ceil), "floor": float1(math.Floor), "round_nearest_even": float1(math.RoundToEven),
	"cosine": float1(math.Cos), "sine": float1(math.Sin), "exponential": float1(math.Exp), "exponential_minus_one": float1(math.Expm1),
	"log": float1(math.Log), "log_plus_one": float1(math.Log1p), "sqrt": float1(math.Sqrt), "tanh": float1(math.Tanh),
	"rsqrt":    float1(func(x float64) float64 { return 1 / math.Sqrt(x) }),
	"logistic": float1(func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }),
	"not":      func(d array.DType, x uint64) uint64 { return wrap(d, ^x) },
	"negate": func(d array.DType, x uint64) uint64 {
		if d.IsFloat() {
			return x ^ 1<<(8*d.Size()-1)
		}
		return wrap(d, -x)
	},
	"abs": func(d array.DType, x uint64) uint64 {
		switch {
		case d.IsFloat():
			return x &^ (1 << (8*d.Size() - 1))
		case int64(x) < 0:
			return wrap(d, -x)
		}
		return x
	},
	"sign": func(d array.DType, x uint64) uint64 {
		if d.IsFloat() {
			f := toFloat(d, x)
			if f == 0 || math.IsNaN(f) {
				return x
			}
			return stablehlo.FloatBits(d, math.Copysign(1, f))
		}
		return uint64(min(max(int64(x), -1), 1))
	},
}

// arith makes an operation of what floats, signed and unsigned integers do.
func arith(f func(x, y float64) float64, s func(x, y int64) int64, u func(x, y uint64) uint64) scalar2 {
	return func(d array.DType, x, y uint64) uint64 {
		switch {
		case d.IsFloat():
			return stablehlo.FloatBits(d, f(toFloat(d, x), toFloat(d, y)))
		case d.IsSigned():
			return wrap(d, uint64(s(int64(x), int64(y))))
		}
		return wrap(d, u(x, y))
	}
}

var binary = map[string]scalar2{
	"add": func(d array.DType, x, y uint64) uint64 {
		if d == array.Bool {
			return x | y
		}
		return arith(func(x, y float64) float64 { return x + y }, func(x, y int64) int64 { return x + y }, func(x, y uint64) uint64 { return x + y })(d, x, y)
	},
	"multiply": func(d array.DType, x, y uint64) uint64 {
		if d == array.Bool {
			return x & y
		}
		return arith(func(x, y float64) float64 { return x * y }, func(x, y int64) int64 { return x * y }, func(x, y uint64) uint64 { return x * y })(d, x, y)
	},
	"subtract": arith(func(x, y float64) float64 { return x - y }, func(x, y int64) int64 { return x - y }, func(x, y uint64) uint64 { return x - y }),
	"divide":   arith(func(x, y float64) float64 { return x / y }, quotient, func(x, y uint64) uint64 { return byZero(y, func() uint64 { return x / y }) }),
	"remainder": arith(math.Mod, func(x, y int64) int64 { return x - quotient(x, y)*y },
		func(x, y uint64) uint64 { return byZero(y, func() uint64 { return x % y }) }),
	"maximum": arith(larger, func(x, y int64) int64 { return max(x, y) }, func(x, y uint64) uint64 { return max(x, y) }),
	"minimum": arith(func(x, y float64) float64 { return -larger(-x, -y) }, func(x, y int64) int64 { return min(x, y) }, func(x, y uint64) uint64 { return min(x, y) }),
	"power":   arith(math.Pow, func(x, y int64) int64 { return int64(power(uint64(x), uint64(y))) }, power),
	"atan2":   arith(math.Atan2, nil, nil),
	"and":     func(_ array.DType, x, y uint64) uint64 { return x & y },
	"or":      func(_ array.DType, x, y uint64) uint64 { return x | y },
	"xor":     func(_ array.DType, x, y uint64) uint64 { return x ^ y },
	"shift_left": func(d array.DType, x, y uint64) uint64 {
		return wrap(d, x<<min(unsigned(d, y), 64)) // Go's shifts of 64 give 0
	},
	"shift_right_logical": func(d array.DType, x, y uint64) uint64 {
		return wrap(d, unsigned(d, x)>>min(unsigned(d, y), 64))
	},
	"shift_right_arithmetic": func(d array.DType, x, y uint64) uint64 {
		w := uint64(8*d.Size() - 1)
		return wrap(d, uint64(int64(x<<(63-w))>>(63-w)>>min(unsigned(d, y), w)))
	},
}

// unsigned returns the bits of an integer at its width.
func unsigned(d array.DType, x uint64) uint64 {
	s := 64 - 8*d.Size()
	return x << s >> s
}

// quotient truncates; by zero it is -1 as in XLA, which no emitted program relies on.
func quotient(x, y int64) int64 {
	switch y {
	case 0:
		return -1
	case -1:
		return -x
	}
	return x / y
}

func byZero(y uint64, f func() uint64) uint64 {
	if y == 0 {
		return math.MaxUint64
	}
	return f()
}

// larger is IEEE 754's maximum: NaN if either is, -0 below 0.
func larger(x, y float64) float64 { return max(x, y) }

// power multiplies by squaring, modulo 2^64.
func power(x, y uint64) uint64 {
	r := uint64(1)
	for ; y > 0; y >>= 1 {
		if y&1 != 0 {
			r *= x
		}
		x *= x
	}
	return r
}

// cast converts one element; floats go to integers towards zero, and beyond their range to the nearest end.
func cast(from, to array.DType, x uint64) uint64 {
	switch {
	case to == array.Bool:
		if from.IsFloat() {
			return truth(toFloat(from, x) != 0)
		}
		return truth(x != 0)
	case from.IsFloat() && to.IsFloat():
		return stablehlo.FloatBits(to, toFloat(from, x))
	case from.IsFloat():
		return floatToInt(to, toFloat(from, x))
	case to.IsFloat():
		a := array.New(from) // array's cast rounds once
		if from.IsSigned() {
			array.SetInt64At(a, 0, int64(x))
		} else {
			return uintToFloat(to, x)
		}
		return load(array.Cast(a, to)).v[0]
	}
	return wrap(to, x)
}

func uintToFloat(to array.DType, x uint64) uint64 {
	return load(array.Cast(array.Scalar(x), to)).v[0]
}

func floatToInt(to array.DType, x float64) uint64 {
	if math.IsNaN(x) {
		return 0
	}
	w := 8 * to.Size()
	x = math.Trunc(x)
	if !to.IsSigned() {
		switch {
		case x <= 0:
			return 0
		case x >= math.Ldexp(1, w):
			return wrap(to, math.MaxUint64)
		}
		return uint64(x)
	}
	switch half := math.Ldexp(1, w-1); {
	case x >= half:
		return 1<<(w-1) - 1
	case x < -half:
		return wrap(to, 1<<(w-1))
	}
	return uint64(int64(x))
}

func compare(o *stablehlo.Op, in []tensor) tensor {
	out, d := newTensor(o.Results[0].Type), in[0].t.Elem
	word := o.Get("comparison_direction").(stablehlo.Enum).Word
	for i, x := range in[0].v {
		y := in[1].v[i]
		var lt, eq bool
		switch {
		case d.IsFloat():
			lt, eq = toFloat(d, x) < toFloat(d, y), toFloat(d, x) == toFloat(d, y)
		case d.IsSigned():
			lt, eq = int64(x) < int64(y), x == y
		default:
			lt, eq = x < y, x == y
		}
		gt := !lt && !eq && (!d.IsFloat() || toFloat(d, x) > toFloat(d, y))
		out.v[i] = truth(map[string]bool{"EQ": eq, "NE": !eq, "LT": lt, "LE": lt || eq, "GT": gt, "GE": gt || eq}[word])
	}
	return out
}

func choose(o *stablehlo.Op, in []tensor) tensor {
	out := newTensor(o.Results[0].Type)
	for i := range out.v {
		p := in[0].v[0]
		if in[0].t.Rank() > 0 {
			p = in[0].v[i]
		}
		out.v[i] = in[2].v[i]
		if p != 0 {
			out.v[i] = in[1].v[i]
		}
	}
	return out
}

func finite(o *stablehlo.Op, in []tensor) tensor {
	out := newTensor(o.Results[0].Type)
	for i, x := range in[0].v {
		f := toFloat(in[0].t.Elem, x)
		out.v[i] = truth(!math.IsNaN(f) && !math.IsInf(f, 0))
	}
	return out
}

func convert(o *stablehlo.Op, in []tensor) tensor {
	out := newTensor(o.Results[0].Type)
	for i, x := range in[0].v {
		out.v[i] = cast(in[0].t.Elem, out.t.Elem, x)
	}
	return out
}

func bitcast(o *stablehlo.Op, in []tensor) tensor {
	out := newTensor(o.Results[0].Type)
	for i, x := range in[0].v {
		out.v[i] = wrap(out.t.Elem, unsigned(in[0].t.Elem, x))
	}
	return out
}
