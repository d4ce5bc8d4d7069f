package stablehlo

import "github.com/gofx-dev/gofx/array"

// Attribute is the value of an attribute: one of the types of this file.
type Attribute interface{ attribute() }

// Int is an i64.
type Int int

// Bool is true or false.
type Bool bool

// Ints is a list of i64, array<i64: 1, 2>.
type Ints []int

// Bools is a list of i1, array<i1: true>.
type Bools []bool

// Str is a text.
type Str string

// Enum is a word of one of the dialect's enumerations: comparison_direction, EQ.
type Enum struct{ Kind, Word string }

// Enums is a list of such words, [#stablehlo<precision HIGHEST>].
type Enums []Enum

// Dense holds the elements of a tensor by their bits, floats at the width of their type, the low
// bits of integers; one alone stands for all.
type Dense struct {
	Type Type
	Bits []uint64
}

// At returns the bits of element i in row-major order.
func (d Dense) At(i int) uint64 {
	if len(d.Bits) == 1 {
		return d.Bits[0]
	}
	return d.Bits[i]
}

// Splat returns a tensor of equal elements.
func Splat(t Type, bits uint64) Dense { return Dense{t, []uint64{bits}} }

// Pairs returns n×2 numbers, as paddings are written.
func Pairs(lo, hi []int) Dense {
	d := Dense{Type: Of(array.I64, len(lo), 2)}
	for i := range lo {
		d.Bits = append(d.Bits, uint64(lo[i]), uint64(hi[i]))
	}
	return d
}

// Pair returns row i of what Pairs makes.
func (d Dense) Pair(i int) (lo, hi int) { return int(d.At(2 * i)), int(d.At(2*i + 1)) }

// Dot says which dimensions of a product are batches and which are contracted.
type Dot struct{ LhsBatch, RhsBatch, LhsContract, RhsContract []int }

// Conv says which dimension of a convolution's operands is which: the first two are batch
// and feature (for the kernel, output and input feature), the others spatial, in order.
type Conv struct{ Input, Kernel, Output []int }

// Gather says what the dimensions of a gather mean.
type Gather struct {
	OffsetDims, CollapsedSliceDims, StartIndexMap []int
	IndexVectorDim                                int
}

// Scatter says what the dimensions of a scatter mean.
type Scatter struct {
	UpdateWindowDims, InsertedWindowDims, ScatterDimsToOperandDims []int
	IndexVectorDim                                                 int
}

func (Int) attribute()     {}
func (Bool) attribute()    {}
func (Ints) attribute()    {}
func (Bools) attribute()   {}
func (Str) attribute()     {}
func (Enum) attribute()    {}
func (Enums) attribute()   {}
func (Dense) attribute()   {}
func (Dot) attribute()     {}
func (Conv) attribute()    {}
func (Gather) attribute()  {}
func (Scatter) attribute() {}
