package source

import (
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op/expr"
)

// Ends prints the kernel that finds the least and the greatest of 0 and of every so-many-th of count numbers, f32; NaN is passed over.
// The result has the least ones, then the greatest.
func Ends(count, parts int) *Kernel {
	types := []array.DType{array.F32}
	return each(parts, parameters(types, types), false, func(b *strings.Builder) {
		b.WriteString("\tfloat lo = 0.0f, hi = 0.0f;\n\tfor (int k = i; k < " + num(count) + "; k += " + num(parts) + ") {\n")
		b.WriteString("\t\tfloat x = x0[k];\n\t\tlo = x < lo ? x : lo;\n\t\thi = x > hi ? x : hi;\n\t}\n")
		b.WriteString("\ty0[i] = lo;\n\ty0[" + num(parts) + " + i] = hi;\n")
	})
}

// Range prints the kernel that computes g of the least and the greatest of what Ends has found, numbers 0 and 1; it has a result
// of one number for each of g's.
func Range(parts, group int, g expr.Graph) *Kernel {
	var out []array.DType
	for _, o := range g.Outs {
		out = append(out, g.Nodes[o].DType)
	}
	r := newRows(parameters(out, []array.DType{array.F32}), Dense(array.F32, []int{parts}), []int{0}, group)
	end := func(name, sign string, behind int) {
		less := func(a, x string) string { return "(" + x + sign + a + " ? " + x + " : " + a + ")" }
		r.reduce(name, "float", "0.0f", less, func(index, _ string) string { return "x0[" + sum(num(behind), index) + "]" })
	}
	end("lo", " < ", 0)
	end("hi", " > ", parts)
	var text strings.Builder
	s := scope{load: func(k int, _ array.DType) string { return []string{"lo", "hi"}[k] }}
	for i, v := range body(&text, g, "v", "\t\t", s) {
		text.WriteString("\t\t" + store(out[i], "y"+num(i), "o", v) + "\n")
	}
	r.once("{\n" + text.String() + "\t}")
	return r.finish()
}
