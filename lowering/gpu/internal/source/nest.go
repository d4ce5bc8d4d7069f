package source

import (
	"strings"

	"github.com/gofx-dev/gofx/array"
)

// nest is a loop nest over elements whose dimensions are merged as far as all views let them.
type nest struct {
	dims    []int
	strides [][]int // of each view
	offsets []int
}

// merge makes the nest over dims; every view has that shape.
func merge(dims []int, views []View) nest {
	n := nest{strides: make([][]int, len(views)), offsets: make([]int, len(views))}
	for i, v := range views {
		n.offsets[i] = v.Offset
	}
	for axis, size := range dims {
		if size == 1 {
			continue
		}
		if n.joins(views, axis, size) {
			last := len(n.dims) - 1
			n.dims[last] *= size
			for i, v := range views {
				n.strides[i][last] = v.Strides[axis]
			}
			continue
		}
		n.dims = append(n.dims, size)
		for i, v := range views {
			n.strides[i] = append(n.strides[i], v.Strides[axis])
		}
	}
	if len(n.dims) == 0 {
		n.dims = []int{1}
		for i := range views {
			n.strides[i] = []int{0}
		}
	}
	return n
}

// joins reports whether an axis continues the last dimension of every view.
func (n *nest) joins(views []View, axis, size int) bool {
	last := len(n.dims) - 1
	if last < 0 {
		return false
	}
	for i, v := range views {
		if n.strides[i][last] != v.Strides[axis]*size {
			return false
		}
	}
	return true
}

// starts returns where views begin that do not begin at the start of their buffers, and the
// parameters that tell it: parts of one value, such as the steps of a sequence, share kernels.
func (n *nest) starts() (numbers []int, params []param) {
	for i, off := range n.offsets {
		if off != 0 {
			numbers = append(numbers, off)
			params = append(params, param{name: startOf(i), number: true})
		}
	}
	return numbers, params
}

func startOf(view int) string { return "o" + num(view) }

// at prints the index of view i at the coordinates of the nest.
func (n *nest) at(i int, coords []string) string {
	terms := []string{"0"}
	if n.offsets[i] != 0 {
		terms[0] = startOf(i)
	}
	for k, c := range coords {
		if n.strides[i][k] != 0 && n.dims[k] != 1 {
			terms = append(terms, term(c, n.strides[i][k]))
		}
	}
	return sum(terms...)
}

// unravel declares the coordinates of a flat index over dims, named by prefix.
func unravel(b *strings.Builder, flat, prefix, tab string, dims []int) []string {
	coords := make([]string, len(dims))
	rest := flat
	for k := len(dims) - 1; k >= 0; k-- {
		coords[k] = prefix + num(k)
		switch {
		case dims[k] == 1:
			coords[k] = "0"
		case k == 0 || product(dims[:k]) == 1:
			b.WriteString(tab + "int " + coords[k] + " = " + rest + ";\n")
		default:
			b.WriteString(tab + "int " + coords[k] + " = " + rest + " % " + num(dims[k]) + ";\n")
			next := prefix + "r" + num(k)
			b.WriteString(tab + "int " + next + " = " + rest + " / " + num(dims[k]) + ";\n")
			rest = next
		}
	}
	return coords
}

// Flat is the size of groups of kernels with a work-item for each result.
const flat = 64

// each prints a kernel with one work-item for each of count results, whose number is i. write
// prints what it does; it may return early.
func each(count int, params []param, status bool, write func(b *strings.Builder)) *Kernel {
	group := flat
	for group > 1 && group/2 >= count {
		group /= 2
	}
	k := &Kernel{Group: [3]int{group, 1, 1}, Groups: [3]int{(count + group - 1) / group, 1, 1}, Status: status}
	var b strings.Builder
	begin(&b, k.Group, params, status)
	b.WriteString("\tint i = GROUP0 * " + num(group) + " + LANE0;\n")
	if count%group != 0 {
		b.WriteString("\tif (i >= " + num(count) + ") return;\n")
	}
	write(&b)
	b.WriteString("}\n")
	k.Text = b.String()
	return k.finish()
}

// inputs names the parameters of a kernel: results y0, y1 ..., operands x0, x1 ...
func parameters(out, in []array.DType) []param {
	var p []param
	for i, d := range out {
		p = append(p, param{name: "y" + num(i), dtype: d, out: true})
	}
	for i, d := range in {
		p = append(p, param{name: "x" + num(i), dtype: d})
	}
	return p
}

func dtypes(views []View) []array.DType {
	out := make([]array.DType, len(views))
	for i, v := range views {
		out[i] = v.DType
	}
	return out
}
