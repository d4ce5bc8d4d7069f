package std

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
)

// Numbers in attributes meet tensors in two ways, PyTorch's. The operand of an
// arithmetic operator or a comparison is converted to the tensor's element type,
// integers by their low bits and floats to infinity; a value, bound or factor
// that the element type cannot hold is refused.

// converted returns s as a constant of type d, keeping the low bits of integers.
func converted(b *expr.Builder, d array.DType, s op.Scalar) expr.Value {
	if s.IsFloat() {
		return b.Const(d, s.Float64())
	}
	return b.ConstInt(d, s.Int64())
}

// number returns the attribute s of the given name as a constant of type d, from
// within an Expr, which refuses one that d cannot hold.
func number(b *expr.Builder, d array.DType, name string, s op.Scalar) expr.Value {
	if err := checkFits(name, d, s); err != nil {
		panic(err)
	}
	return converted(b, d, s)
}

// requireFits is checkFits for two attributes, from within an Expr.
func requireFits(d array.DType, name1 string, s1 op.Scalar, name2 string, s2 op.Scalar) {
	if err := checkFits(name1, d, s1); err != nil {
		panic(err)
	}
	if err := checkFits(name2, d, s2); err != nil {
		panic(err)
	}
}

// like is number for a float attribute and the type of v.
func like(b *expr.Builder, v expr.Value, name string, x float64) expr.Value {
	return number(b, v.DType(), name, op.Float(x))
}

// checkFits refuses a number outside the range of a known element type.
func checkFits(name string, d array.DType, s op.Scalar) error {
	if d == array.Invalid || fits(d, s) {
		return nil
	}
	return diag.New(op.BadAttr, name+" is "+s.String()+", which "+d.String()+" cannot hold").
		WithHint("give a number in the range of the element type, or cast the tensor to a wider one")
}

// fits reports whether PyTorch converts s to the element type d: floats may be
// infinite or NaN, the fraction may be lost on the way to integers, unsigned types
// take the negatives of what they hold, by their low bits, and bool takes all.
func fits(d array.DType, s op.Scalar) bool {
	switch {
	case !s.Present() || d == array.Bool:
		return true
	case s.IsFloat():
		x := s.Float64()
		if d.IsFloat() {
			return x != x || math.IsInf(x, 0) || math.Abs(x) <= largest(d)
		}
		lo, hi := integerRange(d)
		return x >= float64(lo) && (x <= float64(hi) && x < 0x1p63 || d == array.U64 && x < 0x1p64 && x >= 0)
	}
	n := s.Int64()
	if d.IsFloat() {
		return math.Abs(float64(n)) <= largest(d)
	}
	lo, hi := integerRange(d)
	if !d.IsSigned() {
		lo = -hi
	}
	return d == array.U64 || n >= lo && n <= hi
}

// holds reports whether n itself is within the range of d.
func holds(d array.DType, n int) bool {
	switch {
	case d == array.Bool:
		return n == 0 || n == 1
	case !d.IsSigned() && n < 0:
		return false
	}
	return fits(d, op.Int(int64(n)))
}

// largest returns the greatest finite number of a float type.
func largest(d array.DType) float64 {
	switch d {
	case array.F16:
		return 65504
	case array.BF16:
		return 0x1.fep127
	case array.F32:
		return math.MaxFloat32
	}
	return math.MaxFloat64
}

// integerRange returns the range of an integer type, of u64 the part in int64.
func integerRange(d array.DType) (lo, hi int64) {
	bits := 8 * d.Size()
	if d.IsSigned() {
		return -1 << (bits - 1), 1<<(bits-1) - 1
	}
	if bits == 64 {
		return 0, math.MaxInt64
	}
	return 0, 1<<bits - 1
}
