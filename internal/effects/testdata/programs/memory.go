// Package programs has functions whose summaries are in want.txt.
package programs

import (
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

type Config struct {
	Width  int
	Scale  float64
	Names  []string
	Nested Inner
}

type Inner struct {
	A, B int
	List [2]int
}

type Base struct {
	Depth int
	Fc    *nn.Linear
}

func (b *Base) Run(x *tensor.Tensor) *tensor.Tensor { return b.Fc.Forward(x).MulScalar(b.Depth) }

type Model struct {
	Base
	*Config
	Steps   int
	Last    *tensor.Tensor
	Blocks  []*Block
	Values  []Inner
	Cells   [3]Inner
	Table   map[string]float64
	Pointer *int
	Act     func(*tensor.Tensor) *tensor.Tensor
	Opt     any
	Layer   nn.Module
}

type Block struct{ Gain float64 }

func (b *Block) Forward(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(b.Gain) }

func Embedded(m *Model, x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(m.Depth + m.Width) }

func Promoted(m *Model, x *tensor.Tensor) *tensor.Tensor { return m.Run(x) }

func MethodValue(m *Model, x *tensor.Tensor) *tensor.Tensor {
	f := m.Run
	return f(x)
}

func MethodExpression(m *Model, x *tensor.Tensor) *tensor.Tensor {
	f := (*Base).Run
	return f(&m.Base, x)
}

func StructCopy(m *Model, x *tensor.Tensor) *tensor.Tensor {
	c := *m.Config
	return x.MulScalar(c.Scale)
}

func StructCompare(m *Model, c Inner) bool { return m.Nested == c }

func StructStore(m *Model) { m.Nested = Inner{A: 1} }

func ArrayOfStructs(m *Model) int {
	cells := m.Cells
	return cells[1].A
}

func ArrayRange(m *Model) (n int) {
	for i := range &m.Cells {
		n += m.Cells[i].B
	}
	return n
}

func ArrayPointerRange(p *[4]int) (n int) {
	for _, v := range p {
		n += v
	}
	return n
}

func SliceOfStructs(m *Model) int { return m.Values[0].A }

func SliceRange(m *Model) (n int) {
	for _, v := range m.Values {
		n += v.B
	}
	return n
}

func Append(m *Model, x *tensor.Tensor) { m.Names = append(m.Names, "x") }

func Copied(m *Model, out []Inner) int { return copy(out, m.Values) }

func Reslice(m *Model) int { return len(m.Values[:2]) }

func MapRead(m *Model) float64 { return m.Table["a"] }

func MapWrite(m *Model) { m.Table["a"]++ }

func MapDelete(m *Model) { delete(m.Table, "a") }

func PointerLoad(m *Model) int { return *m.Pointer }

func bump(p *int) { *p++ }

func FieldAddress(m *Model) { bump(&m.Steps) }

func NestedAddress(m *Model) { bump(&m.Nested.A) }

func ElementAddress(m *Model) { bump(&m.Values[1].B) }

func widen(c *Config) { c.Width *= 2 }

func StructAddress(m *Model) { widen(m.Config) }

func Swapped(m *Model) { m.Base, m.Steps = Base{}, m.Depth }

func Counter(m *Model, x *tensor.Tensor) *tensor.Tensor {
	m.Steps++
	return x
}

func CounterRead(m *Model, x *tensor.Tensor) *tensor.Tensor {
	m.Steps++
	return x.MulScalar(m.Steps)
}

func CounterCopied(m *Model) Model {
	m.Steps++
	return *m
}

func Deferred(m *Model, x *tensor.Tensor) *tensor.Tensor {
	defer m.note(x)
	return x
}

func (m *Model) note(x *tensor.Tensor) { m.Last = x }

func Local(x *tensor.Tensor) *tensor.Tensor {
	b := &Block{Gain: 2}
	b.Gain += 1
	return x.MulScalar(b.Gain)
}

type Twin struct {
	A, B int
	List [2]int
}

func ConvertedValue(m *Model) Twin { return Twin(m.Nested) }

func ConvertedPointer(m *Model) *Twin { return (*Twin)(&m.Nested) }

type Floats []float64

func sum(v []float64) (s float64) {
	for _, f := range v {
		s += f
	}
	return s
}

func NamedSlice(v Floats) float64 { return sum(v) }

func Bytes(b []byte) string { return string(b) }

func ToArray(b []int) [2]int { return [2]int(b) }

func ToArrayPointer(b []int) *[2]int { return (*[2]int)(b) }

func OfArray(m *Model) []int { return m.Nested.List[:] }

func Anonymous(p *struct{ N int }) int { return p.N }

func LocalType(v any) int {
	type own struct{ N int }
	return v.(own).N
}

var Shared = 2.0

var hidden = &Config{Width: 3}

var fixed = 7

func Globals(x *tensor.Tensor) *tensor.Tensor {
	return x.MulScalar(Shared).MulScalar(hidden.Width).MulScalar(fixed)
}

func GlobalAddress() *float64 { return &Shared }

func GlobalStore() { hidden.Names[0] = "a" }
