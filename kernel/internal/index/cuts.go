package index

import "github.com/gofx-dev/gofx/kernel/internal/par"

// Cuts implements Cutter. Positions are numbers in the whole dimension, which is not cut.
func (s IndexSelect) Cuts(out, in [][]int) []par.Cut {
	var list []par.Cut
	for d, size := range out[0] {
		c := par.Cut{In: []int{d, par.Whole}, Out: []int{d}, Size: size}
		if d == s.Dim {
			c.In = []int{par.Whole, 0}
		}
		if len(in[0]) == len(out[0]) && len(in[1]) == 1 {
			list = append(list, c)
		}
	}
	return list
}

// Cuts implements Cutter.
func (Embedding) Cuts(out, in [][]int) []par.Cut {
	list := par.Leading(len(in[0]), out, in)
	return append(list, par.Cut{In: []int{par.Whole, 1}, Out: []int{len(in[0])}, Size: in[1][1]})
}

// Cuts implements Cutter.
func (g Gather) Cuts(out, in [][]int) []par.Cut {
	var list []par.Cut
	for d, size := range out[0] {
		switch {
		case d == g.Dim:
			list = append(list, par.Cut{In: []int{par.Whole, d}, Out: []int{d}, Size: size})
		case in[0][d] == size:
			list = append(list, par.Cut{In: []int{d, d}, Out: []int{d}, Size: size})
		}
	}
	return list
}

// Cuts implements Cutter. A dimension of which positions use only the beginning is not cut.
func (s Scatter) Cuts(out, in [][]int) []par.Cut {
	var list []par.Cut
	for d, size := range out[0] {
		if d == s.Dim || in[1][d] != size || len(in[2]) > 0 && in[2][d] != size {
			continue
		}
		c := par.Cut{In: []int{d, d, d}, Out: []int{d}, Size: size}
		if len(in[2]) == 0 {
			c.In[2] = par.Whole
		}
		list = append(list, c)
	}
	return list
}

// Cuts implements Cutter.
func (s Sort) Cuts(out, in [][]int) []par.Cut { return par.Aligned(out, in, s.Dim) }

// Cuts implements Cutter.
func (t TopK) Cuts(out, in [][]int) []par.Cut { return par.Kept(out, in, t.Dim) }
