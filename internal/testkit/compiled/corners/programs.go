package corners

import (
	"slices"

	"github.com/gofx-dev/gofx/tensor"
)

//go:generate go run github.com/gofx-dev/gofx/cmd/fxgen compile -o fx_compile.go CondIdentity CondMapKey WhileIdentity ScanIdentity CondInterface CondIn CondContains CondStruct CondTwice CondList WhileList ScanList Recursive WhileSame WhileView ScanSame ScanWrites ScanWritesArgument CondWritesOuter FlowPanics FlowBranch FlowConst FlowViewRead WhileNever Assigned NestedScan StateWritten SliceWraps ExpandKeeps ReshapeInfers BoundDim IfaceDim Huge Wraps DivNeg Picks Confused PadBySize RangeFunc Int8s Unsigned Float32s NaNSide ZeroMul PtrStore SharedLists AppendsTwice LoopStore HalfwayPanic Aliased Both MapOfTensors RollKept RollWide RollEmpty StoresPart StructCopy

type (
	tt = tensor.Tensor
	ts = []*tensor.Tensor
)

// Base is embedded.
type Base struct {
	N    int
	Rate float64
	Last *tt
}

// Extra is embedded by its pointer.
type Extra struct{ Bias float64 }

// Sub has a counter.
type Sub struct {
	N int
	W *tt
}

// Model has what the programs read.
type Model struct {
	Base
	*Extra
	W, V     *tt
	Shared   *tt
	List     ts
	Nums     []int
	ByName   map[string]*tt
	I32      int32
	I8       int8
	U8       uint8
	Un       uint
	F32      float32
	F        float64
	Name     string
	Ptr      *int
	Others   []int
	Grid     [2]int
	Steps    int
	Calls    int
	On       bool
	Sub, Dup *Sub
}

// SliceWraps has a start that is negative for few rows.
func SliceWraps(m *Model, x, y *tt) *tt {
	n := x.Dim(0)
	return x.Slice(0, n-5, n).Sum(0)
}

// ExpandKeeps has -1 for 4 rows, which keeps what is there.
func ExpandKeeps(m *Model, x, y *tt) *tt {
	return y.Narrow(0, 0, 1).Expand(x.Dim(0)-5, 3).Sum(0)
}

// ReshapeInfers has -1 for 4 rows, which stands for the rest.
func ReshapeInfers(m *Model, x, y *tt) *tt {
	z := tensor.Ones(x.Dim(0) - 3)
	return z.Reshape(x.Dim(0)-5, -1).Sum()
}

// BoundDim asks by a method value, on a line that asks as well.
func BoundDim(m *Model, x, y *tt) *tt {
	f := x.Dim
	n, k := x.Dim(1), f(0)
	if n > 2 {
		x = x.Neg()
	}
	for range k {
		x = x.AddScalar(1)
	}
	return x
}

type dimmed interface{ Dim(int) int }

// IfaceDim asks by an interface.
func IfaceDim(m *Model, x, y *tt) *tt {
	var d dimmed = x
	n, k := x.Dim(1), d.Dim(0)
	if n > 2 {
		x = x.Neg()
	}
	for range k {
		x = x.AddScalar(1)
	}
	return x
}

// Huge overflows.
func Huge(m *Model, x, y *tt) *tt {
	n := x.Dim(0)
	if n*(1<<30)*(1<<30)*4 > 0 {
		return x.Neg()
	}
	return x.AddScalar(1)
}

// Wraps overflows for sizes that are greater than some whose products fit.
func Wraps(m *Model, x, y *tt) *tt {
	if x.Dim(0)*(1<<30)*(1<<30)*2 < 0 {
		return x.Neg()
	}
	return x.AddScalar(1)
}

// DivNeg divides what may be negative.
func DivNeg(m *Model, x, y *tt) *tt {
	n := x.Dim(0) - 6
	if n%4 == -1 {
		return x.Neg()
	}
	if n/4 == 0 {
		return x.AddScalar(4)
	}
	return x.AddScalar(1)
}

func rowsOf(x *tt) int { return x.Dim(0) }

// Picks gives an operator one of two sizes, by a field.
func Picks(m *Model, x, y *tt) *tt {
	z := x
	if m.On {
		z = y
	}
	n := rowsOf(z)
	return tensor.Ones(n+1, 2).Sum().Add(x.Sum(0)).Sub(y.Sum(0))
}

// Confused gives an operator one of two sizes of one line, by another size.
func Confused(m *Model, x, y *tt) *tt {
	n, k := rowsOf(x), rowsOf(y)
	if x.Dim(1) == 3 {
		n = k + 1
	}
	return tensor.Ones(n, 2).Sum().Add(x.Sum(0)).Sub(y.Sum(0))
}

// PadBySize pads to a multiple.
func PadBySize(m *Model, x, y *tt) *tt {
	n := x.Dim(0)
	more := (8 - n%8) % 8
	if more > 0 {
		x = tensor.Cat([]*tt{x, tensor.Zeros(more, 3)}, 0)
	}
	return x.Reshape((n+more)/8, 8, 3).Sum(1)
}

// RangeFunc compares sizes in a range over a function.
func RangeFunc(m *Model, x, y *tt) *tt {
	h := x.Sum(0)
	for i, z := range slices.All([]*tt{x, y}) {
		if z.Dim(0) > 3 {
			h = h.AddScalar(i + 1)
		}
	}
	return h
}

// Int8s overflows 8 bits, and is compared.
func Int8s(m *Model, x, y *tt) *tt {
	if m.I8*2 > 100 {
		x = x.Neg()
	}
	if m.U8+250 < 10 {
		x = x.Exp()
	}
	if uint8(m.I8) > 128 {
		x = x.AddScalar(1)
	}
	return x.MulScalar(m.I8 - 100)
}

// Unsigned subtracts below 0.
func Unsigned(m *Model, x, y *tt) *tt {
	if m.Un-3 > 5 {
		x = x.Neg()
	}
	return x.MulScalar(float64(m.Un - 3))
}

// Float32s compares a float32 with a constant that it does not have.
func Float32s(m *Model, x, y *tt) *tt {
	if m.F32 == 0.1 {
		return x.Neg()
	}
	if m.F32*3 > 0.3 {
		return x.Exp()
	}
	if float64(m.F32) > 0.1 {
		return x.Tanh()
	}
	return x.MulScalar(m.F32)
}

// NaNSide compares with a constant alone.
func NaNSide(m *Model, x, y *tt) *tt {
	if m.F > 3 {
		return x.MulScalar(m.F)
	}
	if m.F <= 3 {
		return x.AddScalar(m.F)
	}
	return x.Neg().SubScalar(m.F)
}

// ZeroMul multiplies by 0 or by -0.
func ZeroMul(m *Model, x, y *tt) *tt {
	if m.F == 0 {
		x = x.Exp()
	}
	return x.MulScalar(m.F)
}

// PtrStore stores by a pointer that may lead to a number.
func PtrStore(m *Model, x, y *tt) *tt {
	*m.Ptr = int(m.I32)
	return x.MulScalar(m.N)
}

// SharedLists stores in a list that may be part of another one.
func SharedLists(m *Model, x, y *tt) *tt {
	if len(m.Nums) > 1 {
		m.Nums[1] = int(m.I8)
	}
	if len(m.Others) == 0 {
		return x
	}
	return x.MulScalar(m.Others[0])
}

// AppendsTwice appends to one list twice, which shares memory where there is room.
func AppendsTwice(m *Model, x, y *tt) *tt {
	a := append(m.Nums, int(m.I8))
	b := append(m.Nums, 9)
	return x.MulScalar(a[len(a)-1]).AddScalar(b[len(b)-1])
}

// LoopStore stores before a loop that may fail.
func LoopStore(m *Model, x, y *tt) *tt {
	m.Calls++
	m.Last = x
	h := x.Sum(0)
	for i := range m.Steps {
		h = h.Add(y.Select(0, i)).Tanh()
	}
	m.Calls += 10
	return h
}

// HalfwayPanic stores and fails.
func HalfwayPanic(m *Model, x, y *tt) *tt {
	m.Calls++
	m.Last = x
	if m.On {
		panic("on")
	}
	m.Calls++
	return x.Add(y.Narrow(0, 0, m.N))
}

// Aliased writes to a tensor that two fields have.
func Aliased(m *Model, x, y *tt) *tt {
	m.Shared.AddInPlace(x.Sum())
	return m.List[0].Mul(m.Shared).Add(x).Add(y.Sum(0))
}

// Both writes to one argument, which may be the other.
func Both(m *Model, x, y *tt) *tt {
	x.AddScalarInPlace(1)
	return y.Sum(0).Add(x.Sum(0))
}

// MapOfTensors reads and writes a map.
func MapOfTensors(m *Model, x, y *tt) *tt {
	w, ok := m.ByName[m.Name]
	if !ok {
		w = m.W
	}
	m.ByName["last"] = x.Mul(w)
	return m.ByName["last"].Neg()
}

// RollKept keeps the last but one.
func RollKept(m *Model, x, y *tt) *tt {
	h, was := x.Sum(0), y.Sum(0)
	for i := range x.Dim(0) {
		was, h = h, h.Mul(was).Add(x.Select(0, i)).Tanh()
	}
	return h.Sub(was)
}

// RollWide takes rows of two tensors, one of which may have fewer.
func RollWide(m *Model, x, y *tt) *tt {
	m.Calls++
	h := m.W
	for i := range x.Dim(0) {
		h = h.Add(x.Select(0, i)).Mul(y.Select(0, i)).Tanh()
	}
	m.Calls++
	return h
}

// RollEmpty has a list that may be empty.
func RollEmpty(m *Model, x, y *tt) *tt {
	var list ts
	h := x.Sum(0)
	for range m.Steps {
		h = h.Mul(m.W).Tanh()
		list = append(list, h)
	}
	if len(list) == 0 {
		return h
	}
	return tensor.Stack(list, 0)
}

// StoresPart stores a part of what it returns.
func StoresPart(m *Model, x, y *tt) *tt {
	h := x.Mul(m.W)
	m.Last = h.Select(0, 0)
	m.Shared = m.Last
	return h
}

// StructCopy copies what may be one.
func StructCopy(m *Model, x, y *tt) *tt {
	m.Sub.N++
	*m.Dup = *m.Sub
	m.Sub.N++
	return x.MulScalar(m.Dup.N).Add(m.Dup.W)
}
