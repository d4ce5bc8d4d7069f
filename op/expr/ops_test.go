package expr_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op/expr"
)

// intRef is the reference for integer operations, in unbounded arithmetic; the
// result is wrapped by the caller.
func intRef(c kernel.Code, d array.DType, a, b *big.Int) *big.Int {
	r := new(big.Int)
	width := uint64(8 * d.Size())
	switch c {
	case kernel.OpAdd:
		return r.Add(a, b)
	case kernel.OpSub:
		return r.Sub(a, b)
	case kernel.OpMul:
		return r.Mul(a, b)
	case kernel.OpDiv, kernel.OpFloorDiv, kernel.OpRem, kernel.OpMod:
		return divRef(c, a, b)
	case kernel.OpPow:
		return powRef(a, b)
	case kernel.OpMin, kernel.OpMax:
		if (a.Cmp(b) < 0) == (c == kernel.OpMin) {
			return a
		}
		return b
	case kernel.OpNeg:
		return r.Neg(a)
	case kernel.OpAbs:
		return r.Abs(a)
	case kernel.OpSign:
		return big.NewInt(int64(a.Sign()))
	case kernel.OpAnd:
		return r.And(a, b)
	case kernel.OpOr:
		return r.Or(a, b)
	case kernel.OpXor:
		return r.Xor(a, b)
	case kernel.OpNot:
		return r.Not(a)
	case kernel.OpShl, kernel.OpShr:
		n := uint(width)
		if b.Sign() >= 0 && b.Cmp(big.NewInt(int64(width))) < 0 {
			n = uint(b.Uint64())
		}
		if c == kernel.OpShl {
			return r.Lsh(a, n)
		}
		return r.Rsh(a, n)
	case kernel.OpMulHi:
		return r.Rsh(r.Mul(a, b), uint(width))
	}
	return nil
}

func divRef(c kernel.Code, a, b *big.Int) *big.Int {
	if b.Sign() == 0 {
		return new(big.Int)
	}
	q, rem := new(big.Int).QuoRem(a, b, new(big.Int))
	floor := rem.Sign() != 0 && rem.Sign() != b.Sign()
	switch c {
	case kernel.OpDiv:
		return q
	case kernel.OpRem:
		return rem
	case kernel.OpFloorDiv:
		if floor {
			q.Sub(q, big.NewInt(1))
		}
		return q
	}
	if floor {
		rem.Add(rem, b)
	}
	return rem
}

func powRef(a, b *big.Int) *big.Int {
	if b.Sign() >= 0 {
		return new(big.Int).Exp(a, b, new(big.Int).Lsh(big.NewInt(1), 64))
	}
	switch {
	case a.Cmp(big.NewInt(1)) == 0:
		return a
	case a.Cmp(big.NewInt(-1)) == 0:
		if b.Bit(0) == 0 {
			return big.NewInt(1)
		}
		return a
	}
	return new(big.Int)
}

func cmpRef(c kernel.Code, less, equal bool) bool {
	switch c {
	case kernel.OpEq:
		return equal
	case kernel.OpLt:
		return less
	case kernel.OpLe:
		return less || equal
	case kernel.OpGt:
		return !less && !equal
	case kernel.OpGe:
		return !less
	}
	return !equal // OpNe
}

// floatRef is the reference for exactly defined float operations: computed in
// f64, whose 53 bits make one more rounding harmless for f32 and narrower
// (Figueroa, "When is double rounding innocuous?", 1995). ok is false where it
// does not apply.
func floatRef(c kernel.Code, a, b float64) (r float64, ok bool) {
	switch c {
	case kernel.OpAdd:
		return a + b, true
	case kernel.OpSub:
		return a - b, true
	case kernel.OpMul:
		return a * b, true
	case kernel.OpDiv:
		return a / b, true
	case kernel.OpMin:
		return math.Min(a, b), !math.IsNaN(a) && !math.IsNaN(b)
	case kernel.OpMax:
		return math.Max(a, b), !math.IsNaN(a) && !math.IsNaN(b)
	case kernel.OpRem:
		return math.Mod(a, b), true
	case kernel.OpMod, kernel.OpFloorDiv:
		return flooredRef(c, a, b)
	case kernel.OpNeg:
		return math.Copysign(a, -math.Copysign(1, a)), true
	case kernel.OpAbs:
		return math.Abs(a), true
	case kernel.OpSign:
		switch {
		case a > 0:
			return 1, true
		case a < 0:
			return -1, true
		}
		return 0, true
	case kernel.OpReciprocal:
		return 1 / a, true
	case kernel.OpSqrt:
		return math.Sqrt(a), true
	case kernel.OpFloor:
		return math.Floor(a), true
	case kernel.OpCeil:
		return math.Ceil(a), true
	case kernel.OpRound:
		return math.RoundToEven(a), true
	case kernel.OpTrunc:
		return math.Trunc(a), true
	}
	return 0, false
}

// flooredRef works in exact rational arithmetic.
func flooredRef(c kernel.Code, a, b float64) (float64, bool) {
	if math.IsNaN(a+b) || math.IsInf(a, 0) || math.IsInf(b, 0) || b == 0 || a == 0 {
		return 0, false
	}
	x, y := new(big.Rat).SetFloat64(a), new(big.Rat).SetFloat64(b)
	q := new(big.Rat).Quo(x, y)
	fl := new(big.Int).Div(q.Num(), q.Denom()) // Euclidean: floor for a positive divisor
	if c == kernel.OpFloorDiv {
		f, _ := new(big.Float).SetInt(fl).Float64()
		// Beyond 2**8 a type's quotient may not hold the floor.
		return f, fl.Sign() != 0 && math.Abs(f) < 256
	}
	r := x.Sub(x, y.Mul(y, new(big.Rat).SetInt(fl)))
	f, _ := r.Float64()
	return f, r.Sign() != 0
}

// TestOperations runs every operation with a simple reference on every type that
// it accepts, over all pairs of special values (more than one block).
func TestOperations(t *testing.T) {
	for _, c := range kernel.Codes() {
		info := c.Info()
		if info.Arity == 0 || info.Arity == 3 || c == kernel.OpCast || c == kernel.OpOutput || info.ULP64 != 0 {
			continue
		}
		for _, d := range array.DTypes() {
			if !c.Accepts(d) {
				continue
			}
			t.Run(c.String()+"/"+d.String(), func(t *testing.T) { checkOperation(t, c, d) })
		}
	}
}

func checkOperation(t *testing.T, c kernel.Code, d array.DType) {
	b := expr.NewBuilder()
	args := []expr.Value{b.Input(0, d), b.Input(1, d)}
	v := b.Op(c, args[:c.Info().Arity]...)
	x, y := pairs(d)
	got := run(t, b, x.Shape(), []*array.Array{x, y}, v)[0]
	checked := 0
	for i := range got.Len() {
		a, e := getBits(x, i), getBits(y, i)
		want, ok := refBits(c, d, a, e)
		if !ok {
			continue
		}
		checked++
		if !sameBits(v.DType(), want, getBits(got, i)) {
			t.Fatalf("%s(%#x, %#x) = %#x, want %#x", c, a, e, getBits(got, i), want)
		}
	}
	require.Greater(t, checked, got.Len()/3)
}

func refBits(c kernel.Code, d array.DType, a, e uint64) (uint64, bool) {
	truth := map[bool]uint64{true: 1}
	if d.IsFloat() {
		x, y := toFloat(d, a), toFloat(d, e)
		switch {
		case c == kernel.OpIsNaN:
			return truth[math.IsNaN(x)], true
		case c.Info().ToBool && (math.IsNaN(x) || math.IsNaN(y)):
			return truth[c == kernel.OpNe], true
		case c.Info().ToBool:
			return truth[cmpRef(c, x < y, x == y)], true
		}
		r, ok := floatRef(c, x, y)
		if (c == kernel.OpMin || c == kernel.OpMax) && !ok {
			return fromFloat(d, math.NaN()), true
		}
		return fromFloat(d, r), ok
	}
	x, y := toBig(d, a), toBig(d, e)
	if c.Info().ToBool {
		return truth[cmpRef(c, x.Cmp(y) < 0, x.Cmp(y) == 0)], true
	}
	r := intRef(c, d, x, y)
	if d == array.Bool {
		return new(big.Int).And(r, big.NewInt(1)).Uint64(), true
	}
	return wrapBig(d, r), true
}

// TestFloatDivisionCorners pins the cases that the rational reference leaves out.
func TestFloatDivisionCorners(t *testing.T) {
	inf, nan, neg0 := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	for _, k := range []struct {
		c          kernel.Code
		a, b, want float64
	}{
		{kernel.OpFloorDiv, 1, 0, inf},
		{kernel.OpFloorDiv, -1, 0, -inf},
		{kernel.OpFloorDiv, 0, 0, nan},
		{kernel.OpFloorDiv, 0.5, 1, 0},
		{kernel.OpFloorDiv, neg0, 1, neg0},
		{kernel.OpFloorDiv, -0.5, inf, -1},
		{kernel.OpFloorDiv, inf, 2, nan},
		{kernel.OpMod, 1, 0, nan},
		{kernel.OpMod, -1, inf, inf},
		{kernel.OpMod, 1, inf, 1},
		{kernel.OpMod, inf, 2, nan},
		{kernel.OpMod, neg0, 3, neg0},
		{kernel.OpMod, -6, 3, neg0},
		{kernel.OpRem, -6, 4, -2},
		{kernel.OpRem, 6, -4, 2},
	} {
		for _, d := range []array.DType{array.F32, array.F64, array.F16, array.BF16} {
			b := expr.NewBuilder()
			got, ok := b.Op(k.c, b.Const(d, k.a), b.Const(d, k.b)).ConstBits()
			require.True(t, ok)
			require.True(t, sameBits(d, fromFloat(d, k.want), got), "%s %s(%v, %v) = %v", d, k.c, k.a, k.b, toFloat(d, got))
		}
	}
}

// TestFMARoundsOnce compares with the exact result rounded once.
func TestFMARoundsOnce(t *testing.T) {
	for _, d := range []array.DType{array.F32, array.F64, array.F16, array.BF16} {
		b := expr.NewBuilder()
		v := b.FMA(b.Input(0, d), b.Input(1, d), b.Input(2, d))
		x, y := pairs(d)
		for _, z := range grid(d) {
			addend := array.New(d)
			setBits(addend, 0, z)
			got := run(t, b, x.Shape(), []*array.Array{x, y, addend}, v)[0]
			for i := range got.Len() {
				want := fmaRef(d, toFloat(d, getBits(x, i)), toFloat(d, getBits(y, i)), toFloat(d, z))
				if d == array.F16 || d == array.BF16 {
					// Defined as the f32 result rounded to the type.
					want = fromFloat(d, toFloat(array.F32, want))
				}
				require.True(t, sameBits(d, want, getBits(got, i)), "%s fma(%#x, %#x, %#x) = %#x, want %#x",
					d, getBits(x, i), getBits(y, i), z, getBits(got, i), want)
			}
		}
	}
}

// fmaRef returns bits of d, or of f32 for the 16-bit types.
func fmaRef(d array.DType, a, b, c float64) uint64 {
	s, special := a*b+c, a == 0 || b == 0
	for _, x := range []float64{a, b, c} {
		special = special || math.IsNaN(x) || math.IsInf(x, 0)
	}
	if math.IsInf(c, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0) && !math.IsNaN(a+b) {
		s = c // the product is finite, though it may overflow f64
	}
	if special && d == array.F64 {
		return math.Float64bits(s)
	}
	if special {
		return fromFloat(array.F32, s)
	}
	p := new(big.Float).SetPrec(5000).SetFloat64(a)
	p.Mul(p, new(big.Float).SetFloat64(b)).Add(p, new(big.Float).SetFloat64(c))
	if d == array.F64 {
		f, _ := p.Float64()
		return math.Float64bits(f)
	}
	f, _ := p.Float32()
	return uint64(math.Float32bits(f))
}

func TestSelect(t *testing.T) {
	for _, d := range array.DTypes() {
		b := expr.NewBuilder()
		v := b.Select(b.Lt(b.Input(0, d), b.Input(1, d)), b.Input(0, d), b.Input(1, d))
		x, y := pairs(d)
		got := run(t, b, x.Shape(), []*array.Array{x, y}, v)[0]
		for i := range got.Len() {
			want := getBits(y, i)
			if less, _ := refBits(kernel.OpLt, d, getBits(x, i), want); less == 1 {
				want = getBits(x, i)
			}
			require.True(t, sameBits(d, want, getBits(got, i)))
		}
	}
}

// TestCasts compares every pair of types with package array's conversion.
func TestCasts(t *testing.T) {
	for _, from := range array.DTypes() {
		vals := grid(from)
		if from == array.F64 || from == array.F32 {
			for _, x := range []float64{
				127.9, 128, -128.5, -129, 255.5, 256, 32767.5, 65535.9, 65519.99, 65520, 2147483647, 4294967296,
				9.2e18, 0x1p63, -0x1p63, 1.8e19, 0x1p64, 1e30, -1e30, 1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-8 + 0x1p-50, 0x1p-25, 0x1p-25 + 0x1p-50,
			} {
				vals = append(vals, fromFloat(from, x), fromFloat(from, -x))
			}
		}
		if from == array.I64 || from == array.U64 {
			vals = append(vals, 1<<24+1, 1<<53+1, 1<<62+1<<38+1, 1<<63+1<<54+1, 1<<63-1, math.MaxUint64-1023, 1<<33+1<<24+1)
		}
		src := array.New(from, len(vals))
		for i, v := range vals {
			setBits(src, i, v)
		}
		for _, to := range array.DTypes() {
			b := expr.NewBuilder()
			got := run(t, b, src.Shape(), []*array.Array{src}, b.Cast(b.Input(0, from), to))[0]
			want := array.Cast(src, to)
			for i := range vals {
				require.True(t, sameBits(to, getBits(want, i), getBits(got, i)), "%s(%#x) to %s = %#x, want %#x",
					from, vals[i], to, getBits(got, i), getBits(want, i))
			}
		}
	}
}

// TestConstants compares constants with package array's conversion.
func TestConstants(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -0.9, -5, 1e30, -1e30, -2.7, 4294967295.5, math.Copysign(0, -1),
		65520, 1 + 0x1p-11 + 0x1p-40} { // through f32 the last one would be another f16
		for _, to := range array.DTypes() {
			b := expr.NewBuilder()
			got, ok := b.Const(to, x).ConstBits()
			require.True(t, ok)
			want := getBits(array.Cast(array.Scalar(x), to), 0)
			require.True(t, sameBits(to, want, got), "%v to %s = %#x, want %#x", x, to, got, want)
		}
	}
}
