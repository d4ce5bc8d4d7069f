package op_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

func dimsOf(text string) shape.Dims {
	t, err := shape.ParseType("f32[" + text + "]")
	if err != nil {
		panic(err)
	}
	return t.Dims()
}

func typeOf(text string) shape.Type { return shape.TensorType(array.F32, dimsOf(text)) }

// A transposed matrix is no row of elements: to regroup it, it must be copied, except for
// sizes of 1. With a dimension between that stays, it is a view.
func ExampleOp_Layout() {
	x := typeOf("N,3,S//64+1")
	at := op.InOrder(x.Dims())
	fmt.Println(at.Sizes, at.Strides)

	turned, _ := std.Transpose.Layout(std.TransposeAttrs{Dim0: 1, Dim1: 2}, []shape.Type{x}, []shape.Dims{dimsOf("N,S//64+1,3")}, at)
	fmt.Println(turned[0].Sizes, turned[0].Strides, turned[0].IsInOrder())

	for _, to := range []string{"N,3*(S//64+1)", "1,N,S//64+1,3"} {
		d := dimsOf(to)
		out, truth := std.Reshape.Layout(std.ReshapeAttrs{Shape: d}, []shape.Type{typeOf("N,S//64+1,3")}, []shape.Dims{d}, turned[0])
		fmt.Println(to, truth == shape.Open, len(out))
	}
	// Output:
	// [N 3 S//64+1] [3*(S//64)+3 S//64+1 1]
	// [N S//64+1 3] [3*(S//64)+3 1 S//64+1] false
	// N,3*(S//64+1) true 0
	// 1,N,S//64+1,3 false 1
}

// Steps are asked, too: a plan has no operators.
func ExampleStepLayout() {
	a := array.Permute(array.New(array.F32, 2, 3), 1, 0)
	at := op.LayoutOf(a)
	_, truth, known := op.StepLayout(&kernel.Reshape{}, []shape.Dims{dimsOf("6")}, at)
	fmt.Println(at.Strides, truth == shape.False, known)
	// Output: [1 3] true true
}

// regroup asks whether a value of sizes, permuted, can be regrouped without a copy.
func regroup(from string, perm []int, to string) (op.Layout, shape.Truth) {
	t := typeOf(from)
	at := op.InOrder(t.Dims())
	dims := make([]shape.Dim, len(perm))
	for i, p := range perm {
		dims[i] = at.Sizes[p]
	}
	d := []shape.Dims{shape.Of(dims...)}
	out, _ := std.Permute.Layout(std.PermuteAttrs{Dims: op.IntList(perm...)}, []shape.Type{t}, d, at)
	res, truth := std.View.Layout(std.ReshapeAttrs{Shape: dimsOf(to)}, []shape.Type{shape.TensorType(array.F32, d[0])}, []shape.Dims{dimsOf(to)}, out[0])
	if truth != shape.True {
		return op.Layout{}, truth
	}
	return res[0], truth
}

func TestRegrouping(t *testing.T) {
	for _, c := range []struct {
		from string
		perm []int
		to   string
		want shape.Truth
	}{
		{"N,3", []int{0, 1}, "3,N", shape.True},        // in order
		{"N,4", []int{0, 1}, "N//2,8", shape.True},     // which a guard demands
		{"N,2,3", []int{0, 2, 1}, "N,6", shape.False},  // numbers
		{"N,2,3", []int{1, 0, 2}, "2,3*N", shape.Open}, // N may be 1
		{"2,N,3", []int{1, 0, 2}, "N,6", shape.Open},   // and here
		{"2,N,3", []int{1, 0, 2}, "6*N", shape.Open},   // N may be 1
		{"2,N,3", []int{1, 0, 2}, "2*N,3", shape.Open}, //
		{"3,4", []int{1, 0}, "12", shape.False},        //
		{"3,4", []int{1, 0}, "2,2,3", shape.True},      //
		{"3,4", []int{1, 0}, "2,6", shape.False},       //
		{"3*N,5", []int{1, 0}, "15*N", shape.False},    // 3*N is no 1
		{"N,M", []int{1, 0}, "N*M", shape.Open},        //
		{"N,M", []int{1, 0}, "M,1,N,1", shape.True},    //
		{"A,B,C", []int{2, 0, 1}, "C,A*B", shape.True}, //
		{"A,B,C", []int{2, 0, 1}, "C,B,A", shape.True}, // two in a row may be any two
		{"A,B,C", []int{0, 2, 1}, "A,C,B", shape.True}, //
		{"A,B,C", []int{0, 2, 1}, "C,A,B", shape.Open}, //
		{"A//2+1,B,C", []int{1, 0, 2}, "A//2+1,B,C", shape.Open},
		{"A//64+1,2,8", []int{1, 0, 2}, "2,8*(A//64)+8", shape.Open},
		{"0,3,N", []int{2, 1, 0}, "N,0", shape.True}, // no elements
	} {
		at, truth := regroup(c.from, c.perm, c.to)
		require.Equal(t, c.want, truth, "%v", c)
		// As arrays have it.
		for _, n := range []int{1, 2, 5, 64, 130} {
			bind := func(s string) shape.Dim { return shape.Const(n + int(s[0]-'A')) }
			_, from, _ := typeOf(c.from).Bind(bind).Concrete()
			to, _ := dimsOf(c.to).Bind(bind).Known()
			if count, _ := array.NumElems(from); count == 0 || count != product(to) {
				continue
			}
			a := array.Make(array.F32, nil, nil, 0, nil)
			a.Reset(array.F32, from)
			v := array.Reshape(array.Permute(a, c.perm...), to...)
			switch truth {
			case shape.True:
				require.NotNil(t, v, "%v", c)
				for i, d := range at.Strides {
					if s, known := d.Bind(bind).Int(); known && to[i] > 1 {
						require.Equal(t, v.Strides()[i], s, "%v", c)
					}
				}
			case shape.False:
				require.Nil(t, v, "%v", c)
			}
		}
	}
}

func product(dims []int) int {
	n, _ := array.NumElems(dims)
	return n
}

// everySecond is a view kernel from elsewhere: nothing is known of it but what it does with numbers.
type everySecond struct{}

func (everySecond) Run(*kernel.Workspace, []*array.Array, []*array.Array) {}

func (everySecond) View(dst, in []*array.Array) bool {
	dst[0].SetLayout(in[0], []int{in[0].Dim(0) / 2}, []int{2 * in[0].Strides()[0]}, in[0].Offset())
	return true
}

var evenOnes = op.Define("layout_evens", op.Spec[op.None]{
	Doc: "layout_evens takes every second element of a vector.", In: op.Args("x"), Class: op.Movement, ViewOf: 1,
	Infer: func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) {
		return shape.TensorType(in[0].DType(), shape.Of(in[0].Dim(0).FloorDivInt(2))), nil
	},
	Kernel: func(op.None, []shape.Type) kernel.Step { return &everySecond{} },
})

// cloned looks like a view, but copies.
var cloned = op.Define("layout_cloned", op.Spec[op.None]{
	Doc: "layout_cloned copies the elements of x.", In: op.Args("x"), Class: op.Movement, ViewOf: 1, MayCopy: true,
	Infer: func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) { return in[0], nil },
	Decompose: func(b op.Builder, _ op.None, in []op.Value) op.Value {
		return b.Call(std.Neg, op.None{}, b.Call(std.T, op.None{}, in[0]))
	},
})

func TestLayoutOfViewsFromElsewhere(t *testing.T) {
	out, truth := evenOnes.Layout(op.None{}, []shape.Type{typeOf("N")}, []shape.Dims{dimsOf("N//2")}, op.InOrder(dimsOf("N")))
	require.Equal(t, shape.Open, truth)
	require.Nil(t, out)

	out, truth = evenOnes.Layout(op.None{}, []shape.Type{typeOf("6")}, []shape.Dims{dimsOf("3")}, op.LayoutOf(array.Permute(array.New(array.F32, 1, 6), 1, 0)))
	require.Equal(t, shape.Open, truth, "the operand has another rank")
	require.Nil(t, out)

	out, truth = evenOnes.Layout(op.None{}, []shape.Type{typeOf("6")}, []shape.Dims{dimsOf("3")}, op.InOrder(dimsOf("6")))
	require.Equal(t, shape.True, truth)
	require.Equal(t, []shape.Dim{shape.Const(2)}, out[0].Strides)

	_, truth = cloned.Layout(op.None{}, []shape.Type{typeOf("N,2")}, []shape.Dims{dimsOf("2,N")}, op.InOrder(dimsOf("N,2")))
	require.Equal(t, shape.False, truth)
	_, truth = std.Relu.Layout(op.None{}, []shape.Type{typeOf("N")}, []shape.Dims{dimsOf("N")}, op.InOrder(dimsOf("N")))
	require.Equal(t, shape.False, truth, "no view at all")

	// What is unknown is not known to be in order.
	require.False(t, op.InOrder(shape.Of(shape.Const(2), shape.Unknown, shape.Unknown)).IsInOrder())
}
