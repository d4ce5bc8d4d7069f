package program

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/opcode"
	"github.com/gofx-dev/gofx/kernel/internal/vmath"
)

// floatOp runs a float operation other than OpFMA over a block. Conversions such
// as T(q*b) keep the compiler from contracting to a fused multiply-add.
func floatOp[T float32 | float64](op opcode.Code, d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	switch op {
	case opcode.OpAdd:
		for i := range d {
			d[i] = a[i] + b[i]
		}
	case opcode.OpSub:
		for i := range d {
			d[i] = a[i] - b[i]
		}
	case opcode.OpMul:
		for i := range d {
			d[i] = a[i] * b[i]
		}
	case opcode.OpDiv:
		for i := range d {
			d[i] = a[i] / b[i]
		}
	case opcode.OpMin:
		for i := range d {
			d[i] = min(a[i], b[i])
		}
	case opcode.OpMax:
		for i := range d {
			d[i] = max(a[i], b[i])
		}
	case opcode.OpFloorDiv:
		for i := range d {
			d[i] = floorDivFloat(a[i], b[i])
		}
	case opcode.OpRem:
		for i := range d {
			d[i] = T(math.Mod(float64(a[i]), float64(b[i])))
		}
	case opcode.OpMod:
		for i := range d {
			d[i] = modFloat(a[i], b[i])
		}
	case opcode.OpPow:
		powBlock(d, a, b)
	default:
		if !floatUnary(op, d, a) && !vmath.Apply(op, d, a) {
			panic(programBug("no float operation " + op.String()))
		}
	}
}

func powBlock[T float32 | float64](d, a, b []T) {
	var z T
	if _, ok := any(z).(float32); ok {
		for i := range d {
			d[i] = T(vmath.Pow32(float64(a[i]), float64(b[i])))
		}
		return
	}
	for i := range d {
		d[i] = vmath.PowFloat(a[i], b[i])
	}
}

// floatUnary runs the exactly defined unary operations.
func floatUnary[T float32 | float64](op opcode.Code, d, a []T) bool {
	a = a[:len(d)]
	switch op {
	case opcode.OpNeg:
		for i := range d {
			d[i] = -a[i]
		}
	case opcode.OpAbs:
		for i := range d {
			d[i] = T(math.Abs(float64(a[i])))
		}
	case opcode.OpSign:
		for i, x := range a {
			switch {
			case x > 0:
				d[i] = 1
			case x < 0:
				d[i] = -1
			default:
				d[i] = 0
			}
		}
	case opcode.OpReciprocal:
		for i := range d {
			d[i] = 1 / a[i]
		}
	case opcode.OpSqrt:
		for i := range d {
			d[i] = T(math.Sqrt(float64(a[i])))
		}
	case opcode.OpFloor:
		for i := range d {
			d[i] = T(math.Floor(float64(a[i])))
		}
	case opcode.OpCeil:
		for i := range d {
			d[i] = T(math.Ceil(float64(a[i])))
		}
	case opcode.OpRound:
		for i := range d {
			d[i] = T(math.RoundToEven(float64(a[i])))
		}
	case opcode.OpTrunc:
		for i := range d {
			d[i] = T(math.Trunc(float64(a[i])))
		}
	default:
		return false
	}
	return true
}

// modFloat is the remainder of floored division; a zero remainder keeps the sign of a.
func modFloat[T float32 | float64](a, b T) T {
	r := T(math.Mod(float64(a), float64(b)))
	if r != 0 && (r < 0) != (b < 0) {
		r += b
	}
	return r
}

// floorDivFloat takes the quotient from the remainder, as Python does, so that it
// agrees with OpMod where a/b rounds up to an integer.
func floorDivFloat[T float32 | float64](a, b T) T {
	if b == 0 {
		return a / b
	}
	r := T(math.Mod(float64(a), float64(b)))
	q := (a - r) / b
	if r != 0 && (r < 0) != (b < 0) {
		q--
	}
	if q == 0 {
		return T(math.Copysign(0, float64(a/b)))
	}
	f := T(math.Floor(float64(q)))
	if q-f > 0.5 {
		f++
	}
	return f
}

func fma64s(d, a, b, c []float64) {
	a, b, c = a[:len(d)], b[:len(d)], c[:len(d)]
	for i := range d {
		d[i] = math.FMA(a[i], b[i], c[i])
	}
}

// fma32 is a*b+c rounded once. The product is exact in f64; the sum is rounded to
// odd there, which makes the last rounding to f32 the only one that counts.
func fma32(a, b, c float32) float32 {
	p, z := float64(a)*float64(b), float64(c)
	s := float64(p) + z
	// Knuth's two-sum: e is the exact error of s.
	t := s - p
	e := float64(p-float64(s-t)) + float64(z-t)
	if e != 0 && e == e && math.Float64bits(s)&1 == 0 {
		if (e > 0) == (s > 0) {
			s = math.Float64frombits(math.Float64bits(s) + 1)
		} else {
			s = math.Float64frombits(math.Float64bits(s) - 1)
		}
	}
	return float32(s)
}

// constF32 returns the value of a constant of at most 32 bits.
func constF32(t array.DType, bits uint64) float32 {
	switch t {
	case array.F16:
		return array.Half(bits).Float32()
	case array.BF16:
		return array.BFloat(bits).Float32()
	}
	if t.IsNarrow() {
		return array.NarrowFloats(t)[uint8(bits)]
	}
	return math.Float32frombits(uint32(bits))
}
