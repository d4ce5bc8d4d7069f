package expr_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op/expr"
)

// evalFloat applies c to constants of type d.
func evalFloat(c kernel.Code, d array.DType, x, y float64) uint64 {
	b := expr.NewBuilder()
	args := []expr.Value{b.Input(0, d), b.Input(1, d)}[:c.Info().Arity]
	return b.Eval([]expr.Value{b.Op(c, args...)}, []uint64{fromFloat(d, x), fromFloat(d, y)})[0]
}

// ordered maps float bits to integers so that neighbours differ by one.
func ordered(d array.DType, bits uint64) int64 {
	sign := uint64(1) << (8*d.Size() - 1)
	if bits&sign != 0 {
		return -int64(bits &^ sign)
	}
	return int64(bits)
}

// TestFunctionsWithinBounds holds the functions to the bounds that kernel.CodeInfo
// states, against results computed with 300 bits.
func TestFunctionsWithinBounds(t *testing.T) {
	seen := map[kernel.Code]bool{}
	for _, p := range functionPoints {
		seen[p.code] = true
		for _, k := range []struct {
			d     array.DType
			bound int
		}{{array.F64, p.code.Info().ULP64}, {array.F32, p.code.Info().ULP32}} {
			got := evalFloat(p.code, k.d, p.x, p.y)
			diff := ordered(k.d, got) - ordered(k.d, fromFloat(k.d, p.r))
			require.LessOrEqual(t, max(diff, -diff), int64(k.bound), "%s %s(%v, %v) = %v, want %v",
				k.d, p.code, p.x, p.y, toFloat(k.d, got), p.r)
		}
	}
	for _, c := range kernel.Codes() {
		if c.Info().ULP64 != 0 {
			require.True(t, seen[c], "no points for %s", c)
		}
	}
}

// TestFunctionsAtExtremes: package math's assembly has log(5e-324) = -709.09 and
// exp(709.78) = +Inf, and its angles near multiples of pi keep half their digits.
func TestFunctionsAtExtremes(t *testing.T) {
	for _, p := range extremePoints {
		got := evalFloat(p.code, array.F64, p.x, p.y)
		diff := ordered(array.F64, got) - ordered(array.F64, fromFloat(array.F64, p.r))
		require.LessOrEqual(t, max(diff, -diff), int64(p.code.Info().ULP64), "%s(%v, %v) = %v, want %v",
			p.code, p.x, p.y, toFloat(array.F64, got), p.r)
	}
}

func TestFunctionsAtSpecialValues(t *testing.T) {
	inf, nan, neg0 := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	for _, k := range []struct {
		c       kernel.Code
		x, want float64
	}{
		{kernel.OpExp, inf, inf}, {kernel.OpExp, -inf, 0}, {kernel.OpExp, 0, 1}, {kernel.OpExp, 1e9, inf}, {kernel.OpExp, -1e9, 0},
		{kernel.OpExpm1, neg0, neg0}, {kernel.OpExpm1, -inf, -1}, {kernel.OpExpm1, inf, inf},
		{kernel.OpLog, 0, -inf}, {kernel.OpLog, -1, nan}, {kernel.OpLog, 1, 0}, {kernel.OpLog, inf, inf},
		{kernel.OpLog1p, -1, -inf}, {kernel.OpLog1p, neg0, neg0}, {kernel.OpLog1p, -2, nan},
		{kernel.OpLog2, 8, 3}, {kernel.OpLog2, 0.25, -2}, {kernel.OpLog2, 0, -inf},
		{kernel.OpSin, neg0, neg0}, {kernel.OpSin, inf, nan}, {kernel.OpCos, 0, 1}, {kernel.OpCos, -inf, nan}, {kernel.OpTan, inf, nan},
		{kernel.OpAtan, neg0, neg0}, {kernel.OpErf, inf, 1}, {kernel.OpErf, -inf, -1}, {kernel.OpErf, neg0, neg0},
		{kernel.OpTanh, inf, 1}, {kernel.OpTanh, -inf, -1}, {kernel.OpTanh, neg0, neg0},
		{kernel.OpSigmoid, 0, 0.5}, {kernel.OpSigmoid, inf, 1}, {kernel.OpSigmoid, -inf, 0}, {kernel.OpSigmoid, -1e9, 0},
		{kernel.OpRsqrt, 0, inf}, {kernel.OpRsqrt, neg0, -inf}, {kernel.OpRsqrt, 4, 0.5}, {kernel.OpRsqrt, -1, nan}, {kernel.OpRsqrt, inf, 0},
		{kernel.OpSqrt, neg0, neg0}, {kernel.OpSqrt, -1, nan},
	} {
		for _, d := range []array.DType{array.F32, array.F64, array.F16, array.BF16} {
			got := evalFloat(k.c, d, k.x, 0)
			require.True(t, sameBits(d, fromFloat(d, k.want), got), "%s %s(%v) = %v, want %v", d, k.c, k.x, toFloat(d, got), k.want)
		}
	}
	for _, c := range kernel.Codes() {
		if c.Info().ULP64 != 0 && c.Info().Arity == 1 {
			require.True(t, math.IsNaN(toFloat(array.F32, evalFloat(c, array.F32, nan, 0))), "%s(NaN)", c)
		}
	}
}

func TestPowSpecialValues(t *testing.T) {
	inf, nan, neg0 := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	for _, k := range []struct{ x, y, want float64 }{
		{nan, 0, 1}, {1, nan, 1}, {0, -1, inf}, {neg0, -1, -inf}, {-8, 1.0 / 3, nan}, {-1, inf, 1},
		{2, -inf, 0}, {0.5, -inf, inf}, {neg0, 3, neg0}, {neg0, 2, 0}, {2, 10, 1024},
	} {
		for _, d := range []array.DType{array.F32, array.F64, array.F16, array.BF16} {
			got := evalFloat(kernel.OpPow, d, k.x, k.y)
			require.True(t, sameBits(d, fromFloat(d, k.want), got), "%s pow(%v, %v) = %v, want %v", d, k.x, k.y, toFloat(d, got), k.want)
		}
	}
}

// TestMinMaxOrderZeros: -0 is below +0, whichever comes first.
func TestMinMaxOrderZeros(t *testing.T) {
	neg0 := math.Copysign(0, -1)
	for _, d := range []array.DType{array.F32, array.F64, array.F16, array.BF16} {
		require.Equal(t, fromFloat(d, neg0), evalFloat(kernel.OpMin, d, 0, neg0))
		require.Equal(t, fromFloat(d, neg0), evalFloat(kernel.OpMin, d, neg0, 0))
		require.Equal(t, fromFloat(d, 0), evalFloat(kernel.OpMax, d, 0, neg0))
		require.Equal(t, fromFloat(d, 0), evalFloat(kernel.OpMax, d, neg0, 0))
	}
}

// TestNoContraction uses operands for which a fused multiply-add differs.
func TestNoContraction(t *testing.T) {
	b := expr.NewBuilder()
	x, y, z := b.Input(0, array.F32), b.Input(1, array.F32), b.Input(2, array.F32)
	in := []uint64{fromFloat(array.F32, 1+0x1p-12), fromFloat(array.F32, 1+0x1p-12), fromFloat(array.F32, -1-0x1p-11)}
	got := b.Eval([]expr.Value{b.Add(b.Mul(x, y), z), b.FMA(x, y, z)}, in)
	require.Equal(t, 0.0, toFloat(array.F32, got[0]))
	require.Equal(t, 0x1p-24, toFloat(array.F32, got[1]))
}

// TestHalfRoundsEveryOperation: a value of a 16-bit type is always one that the
// type holds; Widen is how a formula keeps f32 between operations.
func TestHalfRoundsEveryOperation(t *testing.T) {
	b := expr.NewBuilder()
	x, one := b.Input(0, array.F16), b.Const(array.F16, 1)
	narrow := b.Sub(b.Add(x, one), one)
	wide := b.Cast(b.Sub(b.Add(b.Widen(x), b.Const(array.F32, 1)), b.Const(array.F32, 1)), array.F16)
	got := b.Eval([]expr.Value{narrow, wide}, []uint64{fromFloat(array.F16, 0x1p-12)})
	require.Equal(t, 0.0, toFloat(array.F16, got[0]))
	require.Equal(t, 0x1p-12, toFloat(array.F16, got[1]))
	require.Equal(t, b.Input(1, array.F64), b.Widen(b.Input(1, array.F64)))
}
