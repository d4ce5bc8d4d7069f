package source

import (
	"strings"

	"github.com/gofx-dev/gofx/array"
)

// Run is how many elements Ranks brings into order; Merge doubles the length of runs.
const Run = 32

// before prints whether register a comes before b; NaN counts as the greatest.
func before(d array.DType, descending bool, a, b string) string {
	if descending {
		a, b = b, a
	}
	switch {
	case d.IsFloat():
		return "(" + a + " < " + b + " || (" + b + " != " + b + " && " + a + " == " + a + "))"
	case d == array.U64:
		return "((u64)" + a + " < (u64)" + b + ")"
	}
	return "(" + a + " < " + b + ")"
}

// with returns the coordinates with another one in dimension dim.
func with(at []string, dim int, c string) []string {
	out := append([]string(nil), at...)
	out[dim] = c
	return out
}

// eachOf prints a kernel with a work-item for each element of in, whose coordinate along dim is
// the variable p.
func eachOf(in View, dim int, params []param, write func(b *strings.Builder, at []string)) *Kernel {
	return each(in.Len(), params, false, func(b *strings.Builder) {
		at := unravel(b, "i", "c", "\t", in.Shape)
		b.WriteString("\tint p = " + at[dim] + ";\n")
		write(b, at)
	})
}

// Ranks prints the kernel that sorts runs of Run elements along dim: y0, dense, has their
// numbers along dim as i32 in order, equal ones as they come.
func Ranks(in View, dim int, descending bool) *Kernel {
	n, d := in.Shape[dim], in.DType
	return eachOf(in, dim, parameters([]array.DType{array.I32}, []array.DType{d}), func(b *strings.Builder, at []string) {
		c := register(d)
		b.WriteString("\tint start = p / " + num(Run) + " * " + num(Run) + ", stop = start + " + num(Run) + " < " + num(n) + " ? start + " + num(Run) + " : " + num(n) + ", rank = start;\n" +
			"\t" + c + " v = " + load(d, "x0", in.at(at)) + ";\n" +
			"\tfor (int m = start; m < stop; m++) {\n" +
			"\t\t" + c + " u = " + load(d, "x0", in.at(with(at, dim, "m"))) + ";\n" +
			"\t\trank += m < p ? !" + before(d, descending, "v", "u") + " : " + before(d, descending, "u", "v") + ";\n\t}\n" +
			"\ty0[" + Dense(array.I32, in.Shape).at(with(at, dim, "rank")) + "] = p;\n")
	})
}

// Merge prints the kernel that merges neighbouring runs of width elements along dim, whose
// numbers are in x1: each element looks for its place in the other run.
func Merge(in View, dim int, descending bool, width int) *Kernel {
	n, d := in.Shape[dim], in.DType
	order := Dense(array.I32, in.Shape)
	params := append(parameters([]array.DType{array.I32}, []array.DType{d, array.I32}), param{name: "w", number: true})
	k := eachOf(in, dim, params, func(b *strings.Builder, at []string) {
		c := register(d)
		b.WriteString("\tint j = x1[" + order.at(at) + "];\n" +
			"\t" + c + " v = " + load(d, "x0", in.at(with(at, dim, "j"))) + ";\n" +
			"\tint start = p / w / 2 * 2 * w, mid = " + num(n) + " - start > w ? start + w : " + num(n) + ";\n" +
			"\tint stop = " + num(n) + " - mid > w ? mid + w : " + num(n) + ", left = p < mid;\n" +
			"\tint lo = left ? mid : start, hi = left ? stop : mid, from = lo;\n" +
			"\twhile (lo < hi) {\n" +
			"\t\tint m = lo + (hi - lo) / 2, k = x1[" + order.at(with(at, dim, "m")) + "];\n" +
			"\t\t" + c + " u = " + load(d, "x0", in.at(with(at, dim, "k"))) + ";\n" +
			"\t\tint first = left ? " + before(d, descending, "u", "v") + " : !" + before(d, descending, "v", "u") + ";\n" +
			"\t\tif (first) lo = m + 1; else hi = m;\n\t}\n" +
			"\tint to = (left ? p : start + (p - mid)) + (lo - from);\n" +
			"\ty0[" + order.at(with(at, dim, "to")) + "] = j;\n")
	})
	k.Numbers = []int{width}
	return k
}

// Ordered prints the kernel that stores the elements in the order that x1 has in y0, and the
// numbers themselves as i64 in y1.
func Ordered(in View, dim int) *Kernel {
	d := carrier(in.DType)
	order := Dense(array.I32, in.Shape)
	return eachOf(in, dim, parameters([]array.DType{d, array.I64}, []array.DType{d, array.I32}), func(b *strings.Builder, at []string) {
		b.WriteString("\tint j = x1[" + order.at(at) + "];\n" +
			"\ty0[i] = x0[" + in.at(with(at, dim, "j")) + "];\n\ty1[i] = j;\n")
	})
}

// Scatter prints the kernel that combines elements of src, in x1, into those of y0 whose
// coordinate in dimension dim the index in x0 says, in the order of the index; how is as in
// kernel.Scatter. A work-item has all that the index holds along dim: no two write to one place.
func Scatter(how string, out, index, src View, dim int) *Kernel {
	d := out.DType
	if how == "" {
		d = carrier(d)
	}
	lines := append([]int(nil), index.Shape...)
	lines[dim] = 1
	return each(product(lines), parameters([]array.DType{d}, []array.DType{index.DType, d}), true, func(b *strings.Builder) {
		at := unravel(b, "i", "c", "\t", lines)
		b.WriteString("\tfor (int j = 0; j < " + num(index.Shape[dim]) + "; j++) {\n")
		from := with(at, dim, "j")
		checked(b, load(index.DType, "x0", index.at(bare(from, index))), out.Shape[dim])
		to := out.at(with(at, dim, "k"))
		if how == "" {
			b.WriteString("\ty0[" + to + "] = x1[" + src.at(bare(from, src)) + "];\n\t}\n")
			return
		}
		c := register(d)
		b.WriteString("\t" + c + " x = " + load(d, "x1", src.at(bare(from, src))) + ", a = " + load(d, "y0", to) + ";\n" +
			"\t" + store(d, "y0", to, combined(how, d)) + "\n\t}\n")
	})
}

// combined prints what becomes of a when x joins it.
func combined(how string, d array.DType) string {
	number := ""
	if d == array.U64 {
		number = "(u64)"
	}
	switch how {
	case "add":
		return wrapOrRound(d, "a + x")
	case "multiply":
		return wrapOrRound(d, "a * x")
	case "amax":
		return number + "x > " + number + "a || x != x ? x : a"
	}
	return number + "x < " + number + "a || x != x ? x : a"
}
