package tensor_test

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// failure returns the error that f panics with.
func failure(t *testing.T, f func()) (e *diag.Error) {
	t.Helper()
	defer func() {
		r := recover()
		require.NotNil(t, r, "no panic")
		var ok bool
		e, ok = r.(*diag.Error)
		require.True(t, ok, "panic with %T: %v", r, r)
	}()
	f()
	return nil
}

func TestMistakesAreReportedAtTheCaller(t *testing.T) {
	x := mat(2, 3, 0, 1, 2, 3, 4, 5)
	var none *tensor.Tensor
	for _, c := range []struct {
		name string
		call func()
		code diag.Code
		op   string
	}{
		{"shapes", func() { x.Add(vec(1, 2)) }, op.ShapeMismatch, "add"},
		{"function", func() { tensor.Add(x, vec(1, 2)) }, op.ShapeMismatch, "add"},
		{"features", func() { x.Linear(mat(1, 2, 1, 1), nil) }, op.SizeMismatch, "linear"},
		{"axis", func() { x.Select(2, 0) }, op.BadAxis, "select"},
		{"axis of Dim", func() { x.Dim(2) }, op.BadAxis, "dim"},
		{"axis of Size", func() { x.Size(-3) }, op.BadAxis, "dim"},
		{"axis of a 0-dimensional tensor", func() { tensor.Scalar(1.0).Dim(0) }, op.BadAxis, "dim"},
		{"reshape", func() { x.Reshape(4, -1) }, op.BadReshape, "reshape"},
		{"size argument", func() { x.Reshape("6") }, tensor.BadSize, ""},
		{"number argument", func() { x.AddScalar("1") }, op.BadAttr, "add"},
		{"no number", func() { x.AddScalar(nil) }, op.OperandCount, "add"},
		{"two options", func() { x.Gelu(tensor.GeluAttrs{}, tensor.GeluAttrs{}) }, op.BadAttr, "gelu"},
		{"an argument among options", func() { x.SumWith(nil, tensor.ReduceAttrs{Dim: tensor.Ints(1)}) }, op.BadAttr, "sum"},
		{"an argument among options that may follow", func() { x.MaxPool1d(2, tensor.MaxPoolAttrs{KernelSize: tensor.Ints(3)}) }, op.BadAttr, "max_pool1d"},
		{"list argument", func() { x.SumWith("1", tensor.ReduceAttrs{}) }, op.BadAttr, "sum"},
		{"list argument of floats", func() { x.MaxPool1d([]float64{2}) }, op.BadAttr, "max_pool1d"},
		{"options in a tail", func() { tensor.Ones(2, tensor.SizeAttrs{DType: array.F64}) }, tensor.BadSize, ""},
		{"number of an option", func() { tensor.Number("1") }, op.BadAttr, ""},
		{"size of an option", func() { tensor.Sizes("1") }, tensor.BadSize, ""},
		{"piece size", func() { x.SplitSize(0, 0) }, op.BadAttr, "split"},
		{"nil operand", func() { x.Matmul(nil) }, op.OperandCount, "matmul"},
		{"nil receiver", func() { none.Relu() }, op.OperandCount, "relu"},
		{"nil receiver in place", func() { none.ReluInPlace() }, op.OperandCount, "relu"},
		{"nil tensor's type", func() { none.Type() }, tensor.NilTensor, "Type"},
		{"nil tensor's engine", func() { none.Dim(0) }, tensor.NilTensor, "Type"},
		{"nil in a list", func() { tensor.Cat([]*tensor.Tensor{x, nil}, 0) }, tensor.NilTensor, "cat"},
		{"empty list", func() { tensor.Cat(nil, 0) }, op.OperandCount, "cat"},
		{"item", func() { x.Item() }, tensor.NotScalar, "item"},
		{"elements", func() { tensor.Data[int32](x) }, tensor.WrongElem, "Data"},
		{"division", func() { x.Size(0).Div(0) }, op.BadAttr, "Size.Div"},
		{"remainder", func() { x.Size(0).Mod(0) }, op.BadAttr, "Size.Mod"},
		{"attributes of another operator", func() { tensor.CallOp(std.Relu, tensor.SplitAttrs{}, x) }, op.BadAttr, "relu"},
		{"too many operands", func() { tensor.CallOp(std.Relu, nil, x, x) }, op.OperandCount, "relu"},
		{"operator without meaning", func() { tensor.CallOp(op.Cond, nil, x) }, op.NoMeaning, "cond"},
		{"assign nil", func() { x.AssignInPlace(nil) }, tensor.NilTensor, "assign"},
		{"scan without sequences", func() { tensor.Scan(nil, nil, nil) }, tensor.NoSequence, "scan"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := failure(t, c.call)
			require.Equal(t, c.code, e.Code, e.Error())
			require.Equal(t, c.op, e.Op, e.Error())
			require.Equal(t, "errors_test.go", filepath.Base(e.Pos.File), e.Error())
			require.NotZero(t, e.Pos.Line)
		})
	}
}

// A struct in a list of sizes compiles; the error names the function that takes it.
func TestOptionsInATail(t *testing.T) {
	e := failure(t, func() { tensor.Ones(2, tensor.SizeAttrs{DType: array.F64}) })
	require.Equal(t, "a size is a struct of options, which is neither an int nor a tensor.Size", e.Msg)
	require.Contains(t, e.Hint, "tensor.OnesWith(size, attrs)")
	e = failure(t, func() { mat(1, 2, 1, 2).SumWith(0, tensor.ReduceAttrs{Dim: tensor.Ints(1)}) })
	require.Equal(t, "pass it as the argument dim and leave the field out", e.Hint)
}

func TestErrorLine(t *testing.T) {
	_, _, line, _ := runtime.Caller(0)
	e := failure(t, func() { vec(1, 2).Add(vec(1, 2, 3)) })
	require.Equal(t, line+1, e.Pos.Line)
	require.ErrorIs(t, e, op.ShapeMismatch)
}

func TestSizeArithmetic(t *testing.T) {
	x := mat(2, 3, 0, 1, 2, 3, 4, 5)
	n, c := x.Size(0), x.Size(-1)
	require.Equal(t, 2, n.Int())
	require.Equal(t, 5, n.Add(c).Int())
	require.Equal(t, 1, c.Sub(n).Int())
	require.Equal(t, 12, n.Mul(c).Mul(2).Int())
	require.Equal(t, 1, c.Div(n).Int())
	require.Equal(t, -2, n.Sub(c).Sub(2).Div(2).Int(), "division rounds down")
	require.Equal(t, "3", c.String())
	require.Equal(t, shape.Const(3), c.Dim())
	require.Equal(t, []int{2, 3}, x.Shape())
	require.Equal(t, 2, x.Rank())
	require.Equal(t, "f32[2,3]", x.Type().String())
}
