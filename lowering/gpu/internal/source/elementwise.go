package source

import (
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op/expr"
)

// rowwise is the least inner dimension for which groups go along it.
const rowwise = 32

// Elementwise prints the kernel that computes g for every element of dims. Inputs of g are
// operands in, broadcast; result k goes to out[k], which has the shape dims. Operands are the
// kernel's in order, with those that g does not read.
func Elementwise(g expr.Graph, dims []int, out, in []View) *Kernel {
	views := make([]View, 0, len(out)+len(in)+1)
	views = append(views, out...)
	for _, v := range in {
		views = append(views, v.Expand(dims))
	}
	// The row-major index, in which coordinates are found.
	views = append(views, Dense(array.U8, dims))
	lie := dims
	if len(out) > 0 {
		o := out[0].order()
		lie = out[0].ordered(o).Shape
		for i, v := range views {
			views[i] = v.ordered(o)
		}
	}
	n := merge(lie, views)
	flatIndex := len(views) - 1
	return overNest(n, parameters(dtypes(out), dtypes(in)), func(b *strings.Builder, coords []string) {
		s := scope{
			load: func(k int, d array.DType) string {
				return load(d, "x"+num(k), n.at(len(out)+k, coords))
			},
			index: func() string { return "(i64)(" + n.at(flatIndex, coords) + ")" },
			coord: func(axis int) string { return coordinate(n.at(flatIndex, coords), dims, axis) },
		}
		for k, r := range body(b, g, "v", "\t", s) {
			b.WriteString("\t" + store(out[k].DType, "y"+num(k), n.at(k, coords), r) + "\n")
		}
	})
}

// coordinate prints the coordinate along an axis of the element at a row-major index.
func coordinate(index string, dims []int, axis int) string {
	if axis < 0 {
		axis += len(dims)
	}
	return "(i64)((" + index + ") / " + num(product(dims[axis+1:])) + " % " + num(dims[axis]) + ")"
}

// overNest prints a kernel with a work-item for each element of a nest. Groups go along the
// inner dimension where that is long enough, so that the others are the same for all of a
// group's work-items.
func overNest(n nest, params []param, write func(b *strings.Builder, coords []string)) *Kernel {
	numbers, starts := n.starts()
	params = append(params, starts...)
	last, inner := len(n.dims)-1, 1
	if last >= 0 { // else it is one element, without coordinates
		inner = n.dims[last]
	}
	if inner < rowwise || last == 0 && inner < flat {
		k := each(product(n.dims), params, false, func(b *strings.Builder) {
			write(b, unravel(b, "i", "c", "\t", n.dims))
		})
		k.Numbers = numbers
		return k
	}
	group := groupOf(inner)
	per := (inner + group - 1) / group
	k := &Kernel{Group: [3]int{group, 1, 1}, Groups: [3]int{per * product(n.dims[:last]), 1, 1}, Numbers: numbers}
	var b strings.Builder
	begin(&b, k.Group, params, false)
	coords := []string{"j"}
	if last > 0 {
		b.WriteString("\tint row = GROUP0 / " + num(per) + ";\n")
		coords = append(unravel(&b, "row", "c", "\t", n.dims[:last]), "j")
		b.WriteString("\tint j = GROUP0 % " + num(per) + " * " + num(group) + " + LANE0;\n")
	} else {
		b.WriteString("\tint j = GROUP0 * " + num(group) + " + LANE0;\n")
	}
	if inner%group != 0 {
		b.WriteString("\tif (j >= " + num(inner) + ") return;\n")
	}
	write(&b, coords)
	b.WriteString("}\n")
	k.Text = b.String()
	return k.finish()
}

// groupOf chooses how many work-items go along a dimension: the largest that divides it, else equal parts of at most
// most, of which the last is whole where that can be. A test for the end keeps stores of bytes from becoming those of vectors.
func groupOf(inner int) int {
	for _, g := range []int{256, 192, 128, 64} {
		if inner%g == 0 {
			return g
		}
	}
	const most = 256
	per := (inner + most - 1) / most
	return (inner + per - 1) / per
}

// Copy prints the kernel that writes the operand to the result, both of one shape and type;
// elements of any type are moved as bits.
func Copy(out, in View) *Kernel {
	d := carrier(out.DType)
	out.DType, in.DType = d, d
	o := out.order()
	n := merge(out.ordered(o).Shape, []View{out.ordered(o), in.ordered(o)})
	return overNest(n, parameters([]array.DType{d}, []array.DType{d}), func(b *strings.Builder, coords []string) {
		b.WriteString("\ty0[" + n.at(0, coords) + "] = x0[" + n.at(1, coords) + "];\n")
	})
}

// carrier is the unsigned type as wide as d.
func carrier(d array.DType) array.DType {
	switch d.Size() {
	case 2:
		return array.U16
	case 4:
		return array.U32
	case 8:
		return array.U64
	}
	return array.U8
}

// Fill prints the kernel that sets every element of the result to the constant of the bits.
func Fill(out View, bits uint64) *Kernel {
	n := merge(out.Shape, []View{out})
	return overNest(n, parameters([]array.DType{out.DType}, nil), func(b *strings.Builder, coords []string) {
		b.WriteString("\t" + store(out.DType, "y0", n.at(0, coords), literal(out.DType, bits)) + "\n")
	})
}
