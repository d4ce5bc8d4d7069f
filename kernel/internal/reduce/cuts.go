package reduce

import (
	"slices"

	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// combines says how the values of parts make that of the whole, by the kind of a reduction.
var combines = [...]struct{ kind, combine string }{
	{"sum", "sum"}, {"prod", "prod"}, {"mean", "mean"}, {"max", "max"}, {"min", "min"}, {"all", "min"}, {"any", "max"},
}

// Cuts implements Cutter.
func (r Reduce) Cuts(out, in [][]int) []par.Cut {
	dims := r.Dims
	if len(dims) == 0 {
		for d := range in[0] {
			dims = append(dims, d)
		}
	}
	list := par.Kept(out, in, dims...)
	for _, k := range combines {
		if k.kind != r.Kind {
			continue
		}
		for _, d := range dims {
			if d < len(in[0]) {
				list = append(list, par.Cut{In: []int{d}, Out: []int{par.Whole}, Size: in[0][d], Combine: k.combine})
			}
		}
	}
	return list
}

// Cuts implements Cutter.
func (v Var) Cuts(out, in [][]int) []par.Cut {
	if len(v.Dims) == 0 {
		return nil
	}
	return par.Kept(out, in, v.Dims...)
}

// Cuts implements Cutter.
func (r ArgReduce) Cuts(out, in [][]int) []par.Cut {
	if r.Flat {
		return nil
	}
	return par.Kept(out, in, r.Dim)
}

// Cuts implements Cutter.
func (r MinMaxDim) Cuts(out, in [][]int) []par.Cut { return par.Kept(out, in, r.Dim) }

// Cuts implements Cutter.
func (s Scan) Cuts(out, in [][]int) []par.Cut { return par.Aligned(out, in, s.Dim) }

// Cuts implements Cutter.
func (s Softmax) Cuts(out, in [][]int) []par.Cut { return par.Aligned(out, in, s.Dim) }

// Cuts implements Cutter.
func (s LogSoftmax) Cuts(out, in [][]int) []par.Cut { return par.Aligned(out, in, s.Dim) }

// Cuts implements Cutter.
func (s LayerNorm) Cuts(out, in [][]int) []par.Cut {
	return par.Leading(len(in[0])-s.Axes, out, in)
}

// Cuts implements Cutter.
func (s RMSNorm) Cuts(out, in [][]int) []par.Cut { return par.Leading(len(in[0])-s.Axes, out, in) }

// Cuts implements Cutter.
func (s GroupNorm) Cuts(out, in [][]int) []par.Cut { return par.Leading(1, out, in) }

// Cuts implements Cutter.
func (s BatchNorm) Cuts(out, in [][]int) []par.Cut {
	list := par.Leading(len(in[0]), out, in)
	if len(list) > 1 {
		c := slices.Clone(list[1].In) // the channels have a row of each of the other operands
		for i, dims := range in[1:] {
			if dims != nil {
				c[i+1] = 0
			}
		}
		list[1].In = c
	}
	return list
}
