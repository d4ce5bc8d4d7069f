package compiled

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/tensor"
)

const tensorInt = array.I64

// Tensors: subscripts, sizes, types, writes in place.

func Three(m *Model, x, y *tt) *tt { return x.Add(y).Add(m.W) }

func Subscripts(m *Model, x, y *tt) *tt {
	at := tensor.FromSlice([]int64{2, 0})
	return tensor.Cat([]*tt{x.Select(0, m.Depth).Unsqueeze(0), x.Narrow(0, 1, 1), x.IndexSelect(at, 0), x.Slice(0, 0, tensor.End), x.Flip(0), y.Unsqueeze(0).Squeeze(0)}, 0)
}

func Functional(m *Model, x, y *tt) *tt { return tensor.Softmax(tensor.Relu(x), 0).Add(tensor.Exp(y)) }

func Nest(m *Model, x, y *tt) *tt {
	return tensor.Cat(append([]*tt{x}, slices.Repeat([]*tt{y}, m.Depth)...), 0)
}

func SizesOut(m *Model, x, y *tt) ([]int, int) { return x.Shape(), x.Dim(0) + y.Rank() }

func DTypeOut(m *Model, x, y *tt) (array.DType, bool) { return x.DType(), x.DType() == y.DType() }

func CastOwn(m *Model, x, y *tt) *tt { return x.Cast(y.DType()) }

func CastTo(m *Model, x, y *tt) *tt { return x.Cast(array.F64).MulScalar(m.Scale) }

func NewTensors(m *Model, x, y *tt) (*tt, *tt) {
	return tensor.Zeros(x.Dim(0)).Add(x), tensor.Full(3, m.Scale)
}

func Rows(m *Model, x, y *tt) []*tt {
	var rows []*tt
	sum := x.Select(0, 0)
	for i := range x.Dim(0) {
		sum = sum.Add(x.Select(0, i).MulScalar(i))
		rows = append(rows, sum)
	}
	return rows
}

func Spread(m *Model, x, y *tt) *tt { return addAll(x.UnbindDim(0)...) }

func addAll(xs ...*tt) *tt {
	sum := xs[0]
	for _, x := range xs[1:] {
		sum = sum.Add(x)
	}
	return sum
}

func SetItems(m *Model, x, y *tt) *tt {
	for i := range x.Dim(0) {
		x.Select(0, i).AddScalarInPlace(i)
	}
	return x
}

func OwnSize(m *Model, x, y *tt) *tt {
	x = x.Add(y).Reshape(1, x.Size(0))
	return sizedBy(x, x.Dim(1))
}

func sizedBy(x *tt, n int) *tt { return x.Mul(x).View(n, 1) }

func Outer(m *Model, x, y *tt) *tt { return x.Outer(m.W).Sum(0) }

func ParamTimes(m *Model, x, y *tt) *tt { return m.W.Sum().Mul(x) }

func MinMaxSizes(m *Model, x, y *tt) (*tt, int) {
	n := min(x.Dim(0), y.Dim(0), m.Depth)
	return x.Narrow(0, 0, n), max(x.Dim(0), n)
}

func SliceBySize(m *Model, x, y *tt) *tt { return front(x, y.Dim(0)-1) }

func front(x *tt, n int) *tt { return x.Slice(0, 0, n) }

func AddAssign(m *Model, x, y *tt) (float64, []int, *tt) {
	f, list := m.Scale, slices.Clone(m.Items)
	f += float64(m.Half)
	list = append(list, m.Log...)
	return f, list, x.AddInPlace(y)
}

func ElementAdd(m *Model, x, y *tt) ([]float64, *tt) {
	m.Rates[1] = m.Rates[0] + m.Scale
	m.Xs[1].AddInPlace(y)
	return m.Rates, m.Xs[1]
}

func StoreElement(m *Model, x, y *tt) ([]*tt, *tt) {
	m.Xs[1] = y
	return m.Xs, y
}

func StoreOnly(m *Model, x, y *tt) *tt {
	m.Pair[1] = y
	return y
}

func StoreTemp(m *Model, x, y *tt) (*tt, []*tt) {
	stays, goes := []*tt{x, y}, make([]*tt, 2)
	stays[0] = y.Neg()
	goes[1] = stays[0]
	return stays[0].Add(stays[1]), goes
}

func InPlaceCalls(m *Model, x, y *tt) (*tt, *tt) {
	a := added(x, y)
	added(y, m.W)
	addTo(m.Xs[0], y)
	return a, m.Xs[0]
}

func added(x, y *tt) *tt { return x.AddInPlace(y) }

func addTo(x, y *tt) { x.AddInPlace(y) }

func Views(m *Model, x, y *tt) (*tt, *tt) {
	z := x.Clone()
	part := z.Narrow(0, 0, 2)
	part.MulScalarInPlace(2)
	return z, part
}

func ViewOfArgument(m *Model, x, y *tt) *tt { return x.Narrow(0, 1, 2) }

func Clamped(m *Model, x, y *tt) *tt {
	z := x.Mul(m.W)
	z.ClampInPlace(0, 6)
	return z.Add(y)
}

func Spreadings(m *Model, x, y *tt) *tt {
	shape := []any{1, m.Depth - 1, -1}
	return x.Reshape(shape...).Permute(2, 0, 1)
}

func ArrayMath(m *Model, x, y *tt) *tt {
	list := make([]float32, len(m.Arr))
	for i, v := range m.Arr {
		list[i] = v*m.Half + 1
	}
	return tensor.FromSlice(list).Add(x)
}

func Masked(m *Model, x, y *tt) *tt {
	return tensor.Where(x.Gt(y), x, y).MaskedFill(x.LtScalar(m.Spec.Low), m.Scale)
}
