package shape_test

import (
	"fmt"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/shape"
)

func ExampleParseType() {
	t, err := shape.ParseType("f32[N,3,224,?]")
	fmt.Println(t.DType(), t.Rank(), t.Dim(0), t.Dim(-1).IsUnknown(), err)

	t, err = shape.ParseType("(f32[*], ?[2])") // unknown rank; unknown element type
	fmt.Println(t.Kind() == shape.Tuple, t.Member(0).Ranked(), t.Member(1).DType() == array.Invalid, err)

	_, err = shape.ParseType("f32[N,-]")
	fmt.Println(err)
	// Output:
	// f32 4 N true <nil>
	// true false true <nil>
	// column 8: found "]", expected a number, a symbol or '(' [FX7002]
}

// Sizes are numbers or expressions; equal expressions have one form.
func ExampleDim() {
	n, h := shape.Sym("N"), shape.Sym("H")
	fmt.Println(h.AddInt(-3).FloorDivInt(2).AddInt(1))
	fmt.Println(n.Add(n).Equal(n.MulInt(2)), n.Add(shape.Unknown))
	q, ok := n.MulInt(768).DivExact(shape.Const(64 * 12))
	fmt.Println(q, ok)
	fmt.Println(n.Mul(h).Symbols())
	// Output:
	// (H-1)//2
	// true ?
	// N true
	// [H N]
}

// infix prints sizes as C does, whose division rounds towards zero.
type infix struct{}

func (infix) Const(n int64) string        { return strconv.FormatInt(n, 10) }
func (infix) Symbol(name string) string   { return name }
func (infix) Neg(x string) string         { return "-" + x }
func (infix) Add(x, y string) string      { return "(" + x + " + " + y + ")" }
func (infix) Sub(x, y string) string      { return "(" + x + " - " + y + ")" }
func (infix) Mul(x, y string) string      { return x + " * " + y }
func (infix) FloorDiv(x, y string) string { return "floordiv(" + x + ", " + y + ")" }
func (infix) Min(x, y string) string      { return "min(" + x + ", " + y + ")" }

// Fold is how other languages read sizes.
func ExampleFold() {
	h := shape.Sym("H")
	code, ok := shape.Fold(h.AddInt(-3).FloorDivInt(2).MulInt(4).Sub(h), infix{})
	fmt.Println(code, ok)
	_, ok = shape.Fold(shape.Unknown, infix{})
	fmt.Println(ok)
	// Output:
	// ((4 * floordiv((H - 1), 2) - H) - 4) true
	// false
}

func ExampleDim_Eval() {
	d, err := shape.ParseDim("(H-1)//2")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Eval(func(symbol string) (int, bool) { return 224, symbol == "H" }))
	_, err = d.Eval(func(string) (int, bool) { return 0, false })
	fmt.Println(err)
	// Output:
	// 111 <nil>
	// size (H-1)//2 needs symbol H, which has no value [FX2080]
}

func ExampleDim_Bind() {
	d := shape.Sym("N").MulInt(4)
	fmt.Println(d.Bind(func(string) shape.Dim { return shape.Sym("B").AddInt(1) }))
	// Output: 4*B+4
}

func ExampleDims() {
	d := shape.Of(shape.Sym("N"), shape.Const(3)).Append(shape.Const(8))
	fmt.Println(d, d.Prod(), d.Sub(1, 3), d.With(0, shape.Const(2)))
	fmt.Println(d.With(0, shape.Const(2)).Known())
	fmt.Println(shape.ParseDims("[N,?]"))
	// Output:
	// [N,3,8] 24*N [3,8] [2,3,8]
	// [2 3 8] true
	// [N,?] <nil>
}

func ExampleConstDims() {
	fmt.Println(shape.TensorType(array.F32, shape.ConstDims(2, 3)), shape.Unranked(array.I64))
	// Output: f32[2,3] i64[*]
}

func ExampleTypeOf() {
	fmt.Println(shape.TypeOf(array.New(array.F16, 2, 3)), shape.TupleType(shape.Type{}, shape.TypeOf(array.Scalar(true))))
	// Output: f16[2,3] (?, bool[])
}

func ExampleTypesOf() {
	fmt.Println(shape.TypesOf(array.New(array.F32, 2, 3), nil))
	// Output: [f32[2,3] ?]
}

// ScanType reads a type that more text follows.
func ExampleScanType() {
	text := "f32[N,4] = 1"
	t, n, err := shape.ScanType(text)
	fmt.Printf("%v %q %v\n", t, text[n:], err)
	// Output: f32[N,4] " = 1" <nil>
}

// A solver derives symbols from equalities and names the two facts of a
// contradiction.
func ExampleSolver() {
	var s shape.Solver
	n, h := shape.Sym("N"), shape.Sym("H")
	s.Equal(h.MulInt(2), shape.Const(8), shape.Fact{Text: "conv: height is 8"})
	fmt.Println(s.Resolve(n.Add(h)))

	c := s.Equal(h, shape.Const(5), shape.Fact{Text: "linear: expects 5"})
	fmt.Println(c.A, c.B, c.First.Text, "/", c.Second.Text)
	// Output:
	// N+4
	// 4 5 conv: height is 8 / linear: expects 5
}

func ExampleValidSymbol() {
	fmt.Println(shape.ValidSymbol("batch_size"), shape.ValidSymbol("3d"))
	// Output: true false
}
