package gemm

import "github.com/gofx-dev/gofx/kernel/internal/par"

// Cuts implements Cutter: batches, rows, columns, and the dimension that products are
// summed over.
func (MatMul) Cuts(out, in [][]int) []par.Cut {
	x, y, o := in[0], in[1], out[0]
	inner := max(len(y)-2, 0)
	lead := len(o)
	var list []par.Cut
	add := func(a, b, c, size int, combine string) {
		list = append(list, par.Cut{In: []int{a, b}, Out: []int{c}, Size: size, Combine: combine})
	}
	if len(y) > 1 {
		lead--
		add(par.Whole, len(y)-1, lead, o[lead], "")
	}
	if len(x) > 1 {
		lead--
		add(len(x)-2, par.Whole, lead, o[lead], "")
	}
	if len(x) > 0 && len(y) > 0 {
		add(len(x)-1, inner, par.Whole, x[len(x)-1], "sum")
	}
	batch := func(dims []int) []int { return dims[:max(len(dims)-2, 0)] }
	return append(list, par.Aligned([][]int{o[:lead]}, [][]int{batch(x), batch(y)})...)
}

// Cuts implements Cutter: rows, outputs, and the inputs, which are summed over.
func (Linear) Cuts(out, in [][]int) []par.Cut {
	last := len(in[0]) - 1
	list := par.Leading(last, out, in)
	bias := func(at int) []int {
		if len(in) < 3 {
			return nil
		}
		if in[2] == nil {
			at = par.Whole
		}
		return []int{at}
	}
	return append(list,
		par.Cut{In: append([]int{par.Whole, 0}, bias(0)...), Out: []int{last}, Size: in[1][0]},
		par.Cut{In: append([]int{last, 1}, bias(par.Once)...), Out: []int{par.Whole}, Size: in[1][1], Combine: "sum"})
}
