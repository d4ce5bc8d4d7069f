package state

import (
	"slices"
	"unsafe"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/tensor"
)

// Sized is a data tensor as a walk has met it.
type Sized struct {
	Path, Line string
	Shape      []int
	Contiguous bool
}

// Sizes lists the data tensors of a walk, in the order of Data.
func (m *Image) Sizes() (list []Sized) {
	for i := range m.steps {
		if s := &m.steps[i]; s.op == opData {
			a := m.tensors[s.want].array
			list = append(list, Sized{s.path, s.line, slices.Clone(a.Shape()), a.IsContiguous()})
		}
	}
	return list
}

// Key is what stands for the sizes of the tensor among the paths of words that may differ.
func (s Sized) Key() string { return "sizes of " + s.Path }

func symbolsOf(sizes [][]int, i int) []int {
	if sizes == nil || slices.Max(append(sizes[i], 0)) == 0 {
		return nil
	}
	return sizes[i]
}

// lies reports whether an array has the sizes and layout of the datum. One with symbols lies in order, and no size of a
// symbol is 0 or 1.
func (d *datum) lies(a *array.Array) bool {
	if d.symbols == nil {
		return slices.Equal(a.Shape(), d.shape) && slices.Equal(a.Strides(), d.strides)
	}
	if a.Rank() != len(d.shape) || !a.IsContiguous() {
		return false
	}
	for axis, n := range a.Shape() {
		if d.symbols[axis] == 0 && n != d.shape[axis] || d.symbols[axis] > 0 && n < 2 {
			return false
		}
	}
	return true
}

// agree reports whether each symbol has one size.
func (g *Guard) agree(regs []unsafe.Pointer) bool {
	var buf [8]int
	sizes := buf[:0]
	for i := range g.data {
		d := &g.data[i]
		if d.symbols == nil {
			continue
		}
		shape := g.array(regs, i).Shape()
		for axis, y := range d.symbols {
			for len(sizes) < y {
				sizes = append(sizes, 0)
			}
			if y == 0 {
				continue
			}
			if was := sizes[y-1]; was != 0 && was != shape[axis] {
				return false
			}
			sizes[y-1] = shape[axis]
		}
	}
	return true
}

// open reports whether a step that does not hold is one of words that may differ.
func (g *Guard) open(regs []unsafe.Pointer, at int, paths map[string]bool) bool {
	s, c := &g.steps[at], &g.checks[at]
	if s.number > 0 {
		return paths[s.path]
	}
	if s.op != opData || !paths[Sized{Path: s.path}.Key()] {
		return false
	}
	d, x := &g.data[c.want], (*tensor.Tensor)(regs[c.base])
	a, ok := x.Value().(*array.Array)
	return ok && a.DType() == d.dtype && a.Rank() == len(d.shape) && a.IsContiguous() && x.Engine() == nil && roleOf(x) == d.role
}
