package expr_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op/expr"
)

func TestEqualExpressionsAreOneValue(t *testing.T) {
	b := expr.NewBuilder()
	x, y := b.Input(0, array.F32), b.Input(1, array.F32)
	require.Equal(t, b.Add(x, y), b.Add(x, y))
	require.NotEqual(t, b.Sub(x, y), b.Sub(y, x))
	require.Equal(t, x, b.Cast(x, array.F32))
	require.Equal(t, b.Coord(-1), b.Coord(-1))
	require.NotEqual(t, b.Const(array.F32, 0), b.Const(array.F32, math.Copysign(0, -1)))
	require.Equal(t, b.Const(array.F64, math.NaN()), b.Const(array.F64, math.NaN()))
}

func TestConstantsFold(t *testing.T) {
	b := expr.NewBuilder()
	x := b.Input(0, array.F32)
	v := b.Add(b.Mul(b.Const(array.F32, 3), b.Const(array.F32, 0.5)), b.Like(x, 1))
	bits, ok := v.ConstBits()
	require.True(t, ok)
	require.Equal(t, fromFloat(array.F32, 2.5), bits)
	require.Equal(t, b.ConstBool(true), b.Lt(b.ConstInt(array.I8, -1), b.ConstInt(array.I8, 0)))
	require.Equal(t, x, b.Select(b.ConstBool(true), x, v))
	require.Equal(t, v, b.Select(b.ConstBool(false), x, v))
	require.Equal(t, x, b.Select(b.IsNaN(x), x, x))
	require.Equal(t, b.ConstUint(array.U64, math.MaxUint64), b.Not(b.ConstInt(array.U64, 0)))
	_, ok = b.Add(x, x).ConstBits()
	require.False(t, ok)
}

func TestDump(t *testing.T) {
	b := expr.NewBuilder()
	x := b.Input(0, array.F32)
	b.Exp(x) // not used, not printed
	v := b.Mul(x, b.Sigmoid(b.Mul(x, b.Const(array.F32, 1.702))))
	want := `%0 f32 = input 0
%1 f32 = const 1.702
%2 f32 = mul %0 %1
%3 f32 = sigmoid %2
%4 f32 = mul %0 %3
%5 bool = isnan %4
%6 i64 = coord -1
return %4 %5 %6 %4`
	require.Empty(t, cmp.Diff(want, b.Graph(v, b.IsNaN(v), b.Coord(-1), v).String()))
}

func TestProgramOfAFormula(t *testing.T) {
	b := expr.NewBuilder()
	x := b.Input(0, array.F32)
	v := b.Mul(x, b.Sigmoid(b.Mul(x, b.Const(array.F32, 2))))
	want := kernel.Program{
		Inputs:  []array.DType{array.F32},
		Outputs: []array.DType{array.F32},
		Consts:  []kernel.Instr{{Op: kernel.OpConst, DType: array.F32, Imm: 0x40000000}},
		Code: []kernel.Instr{
			{Op: kernel.OpInput, DType: array.F32, Dst: 1},
			{Op: kernel.OpMul, DType: array.F32, Dst: 2, A: 1},
			{Op: kernel.OpSigmoid, DType: array.F32, Dst: 2, A: 2},
			{Op: kernel.OpMul, DType: array.F32, Dst: 1, A: 1, B: 2},
			{Op: kernel.OpOutput, DType: array.F32, A: 1},
		},
		Regs: [3]int{3, 0, 0},
	}
	require.Empty(t, cmp.Diff(want, b.Compile(v)))
}

// TestRegistersAreReused: a long chain needs no more registers than a short one.
func TestRegistersAreReused(t *testing.T) {
	b := expr.NewBuilder()
	v := b.Input(0, array.F32)
	for i := range 200 {
		v = b.Add(b.Tanh(v), b.Input(i+1, array.F32))
	}
	p := b.Compile(v)
	require.Equal(t, [3]int{2, 0, 0}, p.Regs)
	require.NoError(t, p.Check())
}

func TestInline(t *testing.T) {
	relu := expr.NewBuilder()
	x := relu.Input(0, array.F32)
	g := relu.Graph(relu.Max(x, relu.Const(array.F32, 0)), relu.Cast(relu.Index(), array.F32), relu.Cast(relu.Coord(0), array.F32))
	b := expr.NewBuilder()
	sum := b.Add(b.Input(0, array.F32), b.Input(1, array.F32))
	outs := b.Inline(g, []expr.Value{sum})
	require.Equal(t, b.Max(sum, b.Const(array.F32, 0)), outs[0])
	require.Equal(t, b.Cast(b.Index(), array.F32), outs[1])
	require.Equal(t, b.Cast(b.Coord(0), array.F32), outs[2])
	requireBug(t, "input type", func() { b.Inline(g, []expr.Value{b.Input(2, array.F64)}) })
	requireBug(t, "input count", func() { b.Inline(g, nil) })
}

func TestMisuse(t *testing.T) {
	b, other := expr.NewBuilder(), expr.NewBuilder()
	f, d, i, c := b.Input(0, array.F32), b.Input(1, array.F64), b.Input(2, array.I32), b.Input(3, array.Bool)
	for name, use := range map[string]func(){
		"mixed types":  func() { b.Add(f, d) },
		"float shift":  func() { b.Shl(f, f) },
		"integer exp":  func() { b.Exp(i) },
		"bool add":     func() { b.Add(c, c) },
		"signed mulhi": func() { b.MulHi(i, i) },
		"condition":    func() { b.Select(i, f, f) },
		"branches":     func() { b.Select(c, f, d) },
	} {
		requireCode(t, name, expr.Untyped, use)
	}
	for name, use := range map[string]func(){
		"other builder":      func() { b.Add(f, other.Input(0, array.F32)) },
		"zero value":         func() { b.Neg(expr.Value{}) },
		"operand count":      func() { b.Op(kernel.OpAdd, f) },
		"no such code":       func() { b.Op(kernel.Code(250), f) },
		"cast through Op":    func() { b.Op(kernel.OpCast, f) },
		"cast to unknown":    func() { b.Cast(f, array.Invalid) },
		"negative input":     func() { b.Input(-1, array.F32) },
		"input type":         func() { b.Compile(b.Cast(b.Input(0, array.I8), array.F32), f) },
		"foreign output":     func() { b.Compile(other.Input(0, array.F32)) },
		"missing eval input": func() { b.Eval([]expr.Value{i}, []uint64{1}) },
		"zero value's code":  func() { expr.Value{}.Code() },
		"unknown constant":   func() { b.ConstBits(array.Invalid, 0) },
	} {
		requireBug(t, name, use)
	}
}

// drawValue grows a random DAG: pool holds the values made so far.
func drawValue(t *rapid.T, b *expr.Builder, pool []expr.Value) expr.Value {
	pick := func(ok func(array.DType) bool) expr.Value {
		var fit []expr.Value
		for _, v := range pool {
			if ok(v.DType()) {
				fit = append(fit, v)
			}
		}
		if len(fit) == 0 {
			return expr.Value{}
		}
		return rapid.SampledFrom(fit).Draw(t, "operand")
	}
	c := rapid.SampledFrom(kernel.Codes()).Draw(t, "code")
	any := func(array.DType) bool { return true }
	switch c {
	case kernel.OpInput, kernel.OpOutput:
		return pick(any)
	case kernel.OpConst:
		return b.Const(rapid.SampledFrom(array.DTypes()).Draw(t, "dtype"), float64(rapid.IntRange(-9, 9).Draw(t, "const"))/2)
	case kernel.OpIndex:
		return b.Index()
	case kernel.OpCoord:
		return b.Coord(rapid.IntRange(-2, 1).Draw(t, "axis"))
	case kernel.OpCast:
		return b.Cast(pick(any), rapid.SampledFrom(array.DTypes()).Draw(t, "dtype"))
	}
	first := pick(c.Accepts)
	if first == (expr.Value{}) {
		return pick(any)
	}
	same := func(d array.DType) bool { return d == first.DType() }
	args := []expr.Value{first}
	for len(args) < c.Info().Arity {
		args = append(args, pick(same))
	}
	if c == kernel.OpSelect {
		args = append([]expr.Value{b.Eq(first, pick(same))}, first, args[1])
	}
	return b.Op(c, args...)
}

// TestCompiledDAGs compares random programs with evaluating their nodes one by
// one, each by a program of its own: registers, order and reuse must not matter.
func TestCompiledDAGs(t *testing.T) {
	shape := []int{5, 120}
	inputs := make([]*array.Array, len(array.DTypes()))
	for i, d := range array.DTypes() {
		inputs[i] = array.New(d, shape...)
		g := grid(d)
		for k := range inputs[i].Len() {
			setBits(inputs[i], k, g[(k*31+i)%len(g)])
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		b := expr.NewBuilder()
		var pool []expr.Value
		for i, d := range array.DTypes() {
			pool = append(pool, b.Input(i, d))
		}
		for range rapid.IntRange(1, 40).Draw(rt, "size") {
			pool = append(pool, drawValue(rt, b, pool))
		}
		outs := []expr.Value{pool[len(pool)-1]}
		for range rapid.IntRange(0, 3).Draw(rt, "more outputs") {
			outs = append(outs, rapid.SampledFrom(pool).Draw(rt, "output"))
		}
		g := b.Graph(outs...)
		vals := make([]*array.Array, len(g.Nodes))
		for i, n := range g.Nodes {
			vals[i] = evalNode(t, g, n, vals, inputs, shape)
		}
		got := run(t, b, shape, inputs, outs...)
		for i, o := range g.Outs {
			for k := range got[i].Len() {
				if w, g := getBits(vals[o], k), getBits(got[i], k); !sameBits(got[i].DType(), w, g) {
					rt.Fatalf("output %d element %d: %#x, want %#x\n%s", i, k, g, w, b.Graph(outs...))
				}
			}
		}
	})
}

func evalNode(t *testing.T, g expr.Graph, n expr.Node, vals, inputs []*array.Array, shape []int) *array.Array {
	if n.Code == kernel.OpInput {
		return inputs[n.Imm]
	}
	b := expr.NewBuilder()
	var in []*array.Array
	args := make([]expr.Value, len(n.Args))
	for i, a := range n.Args {
		args[i] = b.Input(i, g.Nodes[a].DType)
		in = append(in, vals[a])
	}
	var v expr.Value
	switch n.Code {
	case kernel.OpConst:
		v = b.ConstBits(n.DType, n.Imm)
	case kernel.OpIndex:
		v = b.Index()
	case kernel.OpCoord:
		v = b.Coord(int(int64(n.Imm)))
	case kernel.OpCast:
		v = b.Cast(args[0], n.DType)
	default:
		v = b.Op(n.Code, args...)
	}
	return run(t, b, shape, in, v)[0]
}
