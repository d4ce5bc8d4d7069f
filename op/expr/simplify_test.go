package expr_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op/expr"
)

// simple returns what the laws make of body in a builder of its own, and that as text.
func simple(body expr.Graph) (*expr.Builder, []expr.Value, string) {
	b := expr.NewBuilder()
	var in []expr.Value
	for _, n := range body.Nodes {
		for n.Code == kernel.OpInput && int(n.Imm) >= len(in) {
			in = append(in, b.Input(len(in), n.DType))
		}
	}
	outs := b.Simplify(body, in)
	return b, outs, b.Graph(outs...).String()
}

func TestLaws(t *testing.T) {
	type v = expr.Value
	zero, one, six, minus := 0.0, 1.0, 6.0, math.Copysign(0, -1)
	for name, c := range map[string]struct {
		d       array.DType
		f, want func(b *expr.Builder, x v) v
	}{
		"neg neg":         {array.F32, func(b *expr.Builder, x v) v { return b.Neg(b.Neg(x)) }, nil},
		"not not":         {array.Bool, func(b *expr.Builder, x v) v { return b.Not(b.Not(x)) }, nil},
		"abs neg":         {array.F32, func(b *expr.Builder, x v) v { return b.Abs(b.Neg(x)) }, (*expr.Builder).Abs},
		"abs abs":         {array.I8, func(b *expr.Builder, x v) v { return b.Abs(b.Abs(x)) }, (*expr.Builder).Abs},
		"abs of square":   {array.F32, func(b *expr.Builder, x v) v { return b.Abs(b.Mul(x, x)) }, func(b *expr.Builder, x v) v { return b.Mul(x, x) }},
		"floor of round":  {array.F64, func(b *expr.Builder, x v) v { return b.Floor(b.Round(x)) }, (*expr.Builder).Round},
		"relu relu":       {array.F32, func(b *expr.Builder, x v) v { return b.Max(b.Max(x, b.Like(x, zero)), b.Like(x, zero)) }, func(b *expr.Builder, x v) v { return b.Max(x, b.Like(x, zero)) }},
		"relu of integer": {array.I32, func(b *expr.Builder, x v) v { return b.Max(b.Like(x, zero), b.Max(x, b.Like(x, zero))) }, func(b *expr.Builder, x v) v { return b.Max(x, b.Like(x, zero)) }},
		"min of less":     {array.F32, func(b *expr.Builder, x v) v { return b.Min(b.Min(x, b.Like(x, one)), b.Like(x, six)) }, func(b *expr.Builder, x v) v { return b.Min(x, b.Like(x, one)) }},
		"relu of abs":     {array.F32, func(b *expr.Builder, x v) v { return b.Max(b.Like(x, zero), b.Abs(x)) }, (*expr.Builder).Abs},
		"times one":       {array.F16, func(b *expr.Builder, x v) v { return b.Mul(b.Like(x, one), x) }, nil},
		"over one":        {array.I64, func(b *expr.Builder, x v) v { return b.Div(x, b.Like(x, one)) }, nil},
		"less zero":       {array.F32, func(b *expr.Builder, x v) v { return b.Sub(x, b.Like(x, zero)) }, nil},
		"plus -0":         {array.F32, func(b *expr.Builder, x v) v { return b.Add(b.Like(x, minus), x) }, nil},
		"plus 0 of ints":  {array.U8, func(b *expr.Builder, x v) v { return b.Add(x, b.Like(x, zero)) }, nil},
		"cast and back":   {array.BF16, func(b *expr.Builder, x v) v { return b.Cast(b.Cast(x, array.F64), array.BF16) }, nil},
		"cast twice":      {array.I8, func(b *expr.Builder, x v) v { return b.Cast(b.Cast(x, array.I32), array.U8) }, func(b *expr.Builder, x v) v { return b.Cast(x, array.U8) }},
		"in bits of less": {array.U16, func(b *expr.Builder, x v) v { return b.Cast(b.Cast(x, array.F32), array.U16) }, nil},
		// What only looks like it.
		"plus 0":           {array.F32, func(b *expr.Builder, x v) v { return b.Add(x, b.Like(x, zero)) }, func(b *expr.Builder, x v) v { return b.Add(x, b.Like(x, zero)) }},
		"less -0":          {array.F32, func(b *expr.Builder, x v) v { return b.Sub(x, b.Like(x, minus)) }, func(b *expr.Builder, x v) v { return b.Sub(x, b.Like(x, minus)) }},
		"times 0":          {array.F32, func(b *expr.Builder, x v) v { return b.Mul(x, b.Like(x, zero)) }, func(b *expr.Builder, x v) v { return b.Mul(x, b.Like(x, zero)) }},
		"lost bits":        {array.F32, func(b *expr.Builder, x v) v { return b.Cast(b.Cast(x, array.F16), array.F32) }, func(b *expr.Builder, x v) v { return b.Cast(b.Cast(x, array.F16), array.F32) }},
		"wraps, saturates": {array.I16, func(b *expr.Builder, x v) v { return b.Cast(b.Cast(x, array.F32), array.I8) }, func(b *expr.Builder, x v) v { return b.Cast(b.Cast(x, array.F32), array.I8) }},
		"the other zero":   {array.F32, func(b *expr.Builder, x v) v { return b.Max(b.Like(x, zero), b.Max(x, b.Like(x, zero))) }, func(b *expr.Builder, x v) v { return b.Max(b.Like(x, zero), b.Max(x, b.Like(x, zero))) }},
	} {
		t.Run(name, func(t *testing.T) {
			b := expr.NewBuilder()
			x := b.Input(0, c.d)
			_, _, got := simple(b.Graph(c.f(b, x)))
			want := x
			if c.want != nil {
				want = c.want(b, x)
			}
			require.Equal(t, b.Graph(want).String(), got)
		})
	}
}

// TestLawsChangeNoBit compares random expressions, made of what laws are about, with
// what the laws make of them, on all special numbers of each type.
func TestLawsChangeNoBit(t *testing.T) {
	codes := []kernel.Code{kernel.OpNeg, kernel.OpAbs, kernel.OpSign, kernel.OpFloor, kernel.OpCeil, kernel.OpRound, kernel.OpTrunc, kernel.OpNot,
		kernel.OpAdd, kernel.OpSub, kernel.OpMul, kernel.OpDiv, kernel.OpMin, kernel.OpMax, kernel.OpMin, kernel.OpMax, kernel.OpAnd, kernel.OpOr, kernel.OpXor}
	types := []array.DType{array.F32, array.F64, array.F16, array.BF16, array.I8, array.U8, array.I16, array.I32, array.I64, array.U64, array.Bool}
	numbers := []float64{0, math.Copysign(0, -1), 1, -1, 6, math.NaN(), math.Inf(1)}
	shorter := 0
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 3))
		d := types[r.IntN(len(types))]
		b := expr.NewBuilder()
		pool := []expr.Value{b.Input(0, d)}
		pick := func(t array.DType) expr.Value {
			if v := pool[len(pool)-1-r.IntN(min(3, len(pool)))]; v.DType() == t && r.IntN(3) > 0 {
				return v
			}
			return b.Const(t, numbers[r.IntN(len(numbers))])
		}
		for range 1 + r.IntN(6) {
			x := pool[len(pool)-1]
			code := codes[r.IntN(len(codes))]
			switch {
			case r.IntN(4) == 0:
				pool = append(pool, b.Cast(x, types[r.IntN(len(types))]))
			case !code.Accepts(x.DType()) || code == kernel.OpDiv && !x.DType().IsFloat():
			case code.Info().Arity == 1:
				pool = append(pool, b.Op(code, x))
			case r.IntN(2) == 0:
				pool = append(pool, b.Op(code, x, pick(x.DType())))
			default:
				pool = append(pool, b.Op(code, pick(x.DType()), x))
			}
		}
		last := pool[len(pool)-1]
		body := b.Graph(last)
		b2, outs, text := simple(body)
		if len(b2.Graph(outs...).Nodes) < len(body.Nodes) {
			shorter++
		}
		bits := grid(d)
		in := array.New(d, len(bits))
		for i, x := range bits {
			setBits(in, i, x)
		}
		if last.DType() == d && last == pool[0] {
			continue
		}
		want := run(t, b, []int{len(bits)}, []*array.Array{in}, last)[0]
		got := run(t, b2, []int{len(bits)}, []*array.Array{in}, outs[0])[0]
		for i := range bits {
			w, g := getBits(want, i), getBits(got, i)
			if o := last.DType(); w != g && !(o.IsFloat() && math.IsNaN(toFloat(o, w)) && math.IsNaN(toFloat(o, g))) {
				t.Fatalf("seed %d: of %#x %#x, expected %#x\n%s\nbecame\n%s", seed, bits[i], g, w, body, text)
			}
		}
	}
	require.Greater(t, shorter, 500)
}

// Simplify joins expressions as Inline does, and drops what has no effect.
func ExampleBuilder_Simplify() {
	b := expr.NewBuilder()
	x := b.Input(0, array.F32)
	twice := b.Graph(b.Neg(b.Neg(b.Mul(x, b.Like(x, 1)))))
	fmt.Println(b.Simplify(twice, []expr.Value{x})[0] == x)
	// Output: true
}
