package xla

import (
	"math"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
	"github.com/gofx-dev/gofx/shape"
)

// call is a call that a rule emits: its operands (nil for absent ones) and the types of
// its results.
type call struct {
	*stablehlo.Builder
	node *graph.Node
	in   []*value
	out  []hlo
	open bool // sizes will be left open
}

// operand returns operand i, nil where the call has none.
func (c *call) operand(i int) *value {
	if i < len(c.in) {
		return c.in[i]
	}
	return nil
}

// types returns the operands' types as operators know them.
func (c *call) types() []shape.Type {
	var list []shape.Type
	for _, v := range c.in {
		t := shape.Type{}
		if v != nil {
			t = shape.TensorType(v.Type.Elem, shape.ConstDims(v.Type.Dims...))
		}
		list = append(list, t)
	}
	return list
}

// step returns the kernel's step, whose fields are the attributes with all defaults and
// negative axes worked out.
func step[S any](c *call) S {
	s, err := c.node.Op().Step(c.node.Attrs(), c.types())
	if err != nil {
		panic(err)
	}
	if p, ok := s.(S); ok {
		return p
	}
	refuse("its kernel's step is not the one that the rule reads")
	panic("not reached")
}

// bits returns the element of a type that is nearest to a number.
func bits(d array.DType, x float64) uint64 {
	a := array.New(d)
	array.SetFloat64At(a, 0, x)
	return elements(a)[0]
}

// elements returns the bits of an array's elements in row-major order.
func elements(a *array.Array) []uint64 {
	size := a.DType().Size()
	raw, list := make([]byte, a.Len()*size), make([]uint64, a.Len())
	array.CopyTo(raw, a)
	for i := range list {
		for k := range size {
			at := k
			if !array.LittleEndian() {
				at = size - 1 - k
			}
			list[i] |= uint64(raw[i*size+at]) << (8 * k)
		}
		list[i] = stablehlo.Extend(a.DType(), list[i])
	}
	return list
}

// number returns a tensor of one number.
func (c *call) number(t hlo, x float64) *value { return c.Const(t, bits(t.Elem, x)) }

// array returns an array's elements as a constant.
func (c *call) array(a *array.Array) *value {
	return c.Dense(stablehlo.Dense{Type: stablehlo.Of(a.DType(), a.Shape()...), Bits: elements(a)})
}

// lowest and highest are the ends of a type's range: infinities for floats.
func lowest(d array.DType) uint64 {
	switch {
	case d.IsFloat():
		return bits(d, math.Inf(-1))
	case d.IsInt() && d.IsSigned():
		return stablehlo.Extend(d, 1<<(8*d.Size()-1))
	}
	return 0
}

func highest(d array.DType) uint64 {
	switch {
	case d.IsFloat():
		return bits(d, math.Inf(1))
	case d == array.Bool:
		return 1
	case d.IsSigned():
		return 1<<(8*d.Size()-1) - 1
	}
	return stablehlo.Extend(d, math.MaxUint64)
}

// wide returns the type that sums of a type are computed in.
func wide(d array.DType) array.DType {
	if d == array.F16 || d == array.BF16 {
		return array.F32
	}
	return d
}

// widen converts halves to f32.
func (c *call) widen(x *value) *value {
	if x == nil {
		return nil
	}
	return c.Convert(x, wide(x.Type.Elem))
}

// others returns the dimensions of a rank that are not in dims.
func others(rank int, dims []int) []int {
	var list []int
	for i := range rank {
		if !slices.Contains(dims, i) {
			list = append(list, i)
		}
	}
	return list
}

// upto returns 0 to n-1.
func upto(n int) []int { return others(n, nil) }

// total adds over dims.
func (c *call) total(x *value, dims ...int) *value {
	return c.Reduce("add", x, c.Const(stablehlo.Of(x.Type.Elem), 0), dims...)
}

// repeated repeats a number for each dimension.
func repeated(n, times int) []int { return slices.Repeat([]int{n}, times) }

// take reads positions of one dimension, which integers name; their dimensions take its place.
func (c *call) take(x, idx *value, axis int) *value {
	sizes := slices.Clone(x.Type.Dims)
	out := slices.Concat(sizes[:axis], idx.Type.Dims, sizes[axis+1:])
	if none := c.nothing(x, x.Type.With(out...)); none != nil {
		return none
	}
	sizes[axis] = 1
	var places []int
	for i := range idx.Type.Rank() {
		places = append(places, axis+i)
	}
	return c.Add(c.With("gather", []*value{x, idx},
		"dimension_numbers", stablehlo.Gather{OffsetDims: others(x.Type.Rank()-1+idx.Type.Rank(), places), CollapsedSliceDims: []int{axis},
			StartIndexMap: []int{axis}, IndexVectorDim: idx.Type.Rank()},
		"slice_sizes", stablehlo.Ints(sizes)))[0]
}

// nothing returns what is read out of x where that is nothing. The dialect has no gather from
// a tensor without elements.
func (c *call) nothing(x *value, t hlo) *value {
	switch {
	case t.Len() == 0:
		return c.Const(t, 0)
	case x.Type.Len() == 0:
		refuse("it reads from " + x.Type.String() + ", which has no elements")
	}
	return nil
}
