package expr_test

import (
	"fmt"
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op/expr"
)

// Equal operations on equal operands are one value, and constants are folded.
func ExampleBuilder() {
	b := expr.NewBuilder()
	x := b.Input(0, array.F32)
	two := b.Add(b.Const(array.F32, 1), b.Const(array.F32, 1))
	once, again := b.Exp(x), b.Exp(x)
	y := b.Mul(once, b.Add(again, two))
	fmt.Println(once == again)
	fmt.Print(b.Graph(y))
	// Output:
	// true
	// %0 f32 = input 0
	// %1 f32 = exp %0
	// %2 f32 = const 2
	// %3 f32 = add %1 %2
	// %4 f32 = mul %1 %3
	// return %4
}

// Compile makes the program that package kernel runs over arrays.
func ExampleNewBuilder() {
	b := expr.NewBuilder()
	x, y := b.Input(0, array.F32), b.Input(1, array.F32)
	step := kernel.Elementwise{Program: b.Compile(b.Max(x, y), b.Min(x, y))}

	hi, lo := array.New(array.F32, 3), array.New(array.F32, 3)
	step.Run(&kernel.Workspace{}, []*array.Array{hi, lo},
		[]*array.Array{array.FromSlice([]float32{1, 5, 3}), array.Scalar(float32(2))})
	fmt.Println(array.Data[float32](hi), array.Data[float32](lo))
	// Output: [2 5 3] [1 2 2]
}

// Eval computes one element; scalars go in and out by their bits.
func ExampleBuilder_Eval() {
	var b expr.Builder
	root := b.Sqrt(b.Input(0, array.F64))
	out := b.Eval([]expr.Value{root}, []uint64{math.Float64bits(9)})
	fmt.Println(math.Float64frombits(out[0]))
	// Output: 3
}

// Inline joins two expressions, as fusion does.
func ExampleBuilder_Inline() {
	var f expr.Builder
	square := f.Graph(f.Mul(f.Input(0, array.F32), f.Input(0, array.F32)))

	var b expr.Builder
	out := b.Inline(square, []expr.Value{b.Neg(b.Input(0, array.F32))})
	fmt.Print(b.Graph(out...))
	// Output:
	// %0 f32 = input 0
	// %1 f32 = neg %0
	// %2 f32 = mul %1 %1
	// return %2
}

// Casts are those of package array, and division by zero is defined.
func ExampleBuilder_Cast() {
	var b expr.Builder
	whole := b.Cast(b.Const(array.F32, 2.75), array.I32)
	zero := b.Div(whole, b.ConstInt(array.I32, 0))
	n, _ := whole.ConstBits()
	m, _ := zero.ConstBits()
	fmt.Println(int32(n), int32(m))
	// Output: 2 0
}

// Random numbers come from a counter and a key: the same on every machine.
func ExamplePhilox() {
	var b expr.Builder
	key := b.ConstUint(array.U32, 7)
	words := expr.Philox(&b, key, key, b.ConstInt(array.I64, 0))
	want := kernel.Philox4x32([4]uint32{}, [2]uint32{7, 7})
	first, _ := words[0].ConstBits()
	fmt.Println(uint32(first) == want[0])
	// Output: true
}

func ExamplePhiloxBlock() {
	var b expr.Builder
	zero := b.ConstUint(array.U32, 0)
	words := expr.PhiloxBlock(&b, [2]expr.Value{zero, zero}, [4]expr.Value{zero, zero, zero, zero})
	last, _ := words[3].ConstBits()
	fmt.Println(uint32(last) == kernel.Philox4x32([4]uint32{}, [2]uint32{})[3])
	// Output: true
}

func ExampleUniform() {
	var b expr.Builder
	u := expr.Uniform(&b, b.ConstUint(array.U32, 1<<31))
	bits, _ := u.ConstBits()
	fmt.Println(math.Float32frombits(uint32(bits)))
	// Output: 0.5
}

func ExampleNormal() {
	var b expr.Builder
	x, y := expr.Normal(&b, b.ConstUint(array.U32, 12345), b.ConstUint(array.U32, 67890))
	wx, wy := kernel.NormalF32(12345, 67890)
	bx, _ := x.ConstBits()
	by, _ := y.ConstBits()
	fmt.Println(math.Float32frombits(uint32(bx)) == wx, math.Float32frombits(uint32(by)) == wy)
	// Output: true true
}

func ExampleStored() {
	b := expr.NewBuilder()
	bits, _ := b.Const(array.F32, 0.5).ConstBits()
	fmt.Println(array.Float64At(expr.Stored(array.F32, bits), 0))
	// Output: 0.5
}

// A target writes an expression with Fold and a table that has a form of each operation.
func ExampleFold() {
	forms := expr.Forms[string]{kernel.OpMul: "*", kernel.OpAdd: "+"}
	b := expr.NewBuilder()
	x, y := b.Input(0, array.F32), b.Input(1, array.F32)
	g := b.Graph(b.Mul(x, b.Add(x, y)))

	fmt.Println(expr.Fold(g, func(_ int, n expr.Node, args []string) string {
		if n.Code == kernel.OpInput {
			return fmt.Sprint("x", n.Imm)
		}
		return "(" + args[0] + " " + forms.Of(n.Code) + " " + args[1] + ")"
	}))
	// Output: [(x0 * (x0 + x1))]
}

// A test of a target's table asks what it lacks.
func ExampleForms() {
	forms := expr.Forms[string]{}
	for _, code := range kernel.Codes() {
		forms[code] = code.String()
	}
	delete(forms, kernel.OpTan)
	fmt.Println(forms.Lacking())
	// Output: [tan]
}

// FromProgram reads what Compile has made.
func ExampleFromProgram() {
	b := expr.NewBuilder()
	x := b.Input(0, array.F32)
	p := b.Compile(b.Sqrt(b.Mul(x, x)))
	fmt.Print(expr.FromProgram(&p))
	// Output:
	// %0 f32 = input 0
	// %1 f32 = mul %0 %0
	// %2 f32 = sqrt %1
	// return %2
}
