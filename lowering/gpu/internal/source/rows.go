package source

import (
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/array"
)

// rows prints kernels that reduce some axes of an operand: one work-item for each result, or
// one group, whose work-items take turns at the elements and join what they have in local memory.
type rows struct {
	b     *strings.Builder
	k     *Kernel
	kept  []int // sizes
	red   []int // sizes of the axes that are reduced
	steps []int // and their strides
	keeps []int // strides of those that are kept
	off   int
	group int // work-items for a result
	n     int // elements that become one
	loops int // printed so far, which names their variables
}

// parts is how many sums one work-item keeps side by side, which vector instructions need.
const parts = 8

// newRows begins a kernel over view in, whose axes red are reduced. group is how many
// work-items reduce together; 1 for devices whose work-items run one after the other.
func newRows(params []param, in View, red []int, group int) *rows {
	r := &rows{b: &strings.Builder{}, k: &Kernel{}, off: in.Offset, group: group, n: 1}
	for i := range in.Shape {
		size, stride := in.Axis(i)
		if slices.Contains(red, i) {
			r.n *= size
			if size != 1 {
				r.red, r.steps = append(r.red, size), append(r.steps, stride)
			}
		} else {
			r.kept, r.keeps = append(r.kept, size), append(r.keeps, stride)
		}
	}
	r.merge()
	count := product(r.kept)
	if group > 1 {
		r.k.Group, r.k.Groups = [3]int{group, 1, 1}, [3]int{count, 1, 1}
		begin(r.b, r.k.Group, params, false)
		r.line("int o = GROUP0;")
	} else {
		r.small(count, params)
	}
	coords := unravel(r.b, "o", "c", "\t", r.kept)
	v := View{Shape: r.kept, Strides: r.keeps, Offset: r.off}
	r.line("int base = " + v.at(coords) + ";")
	return r
}

// small begins a kernel of one work-item for each result.
func (r *rows) small(count int, params []param) {
	group := flat
	for group > 1 && group/2 >= count {
		group /= 2
	}
	r.k.Group, r.k.Groups = [3]int{group, 1, 1}, [3]int{(count + group - 1) / group, 1, 1}
	begin(r.b, r.k.Group, params, false)
	r.line("int o = GROUP0 * " + num(group) + " + LANE0;")
	if count%group != 0 {
		r.line("if (o >= " + num(count) + ") return;")
	}
}

// merge joins axes that lie one after the other.
func (r *rows) merge() {
	for i := len(r.red) - 1; i > 0; i-- {
		if r.steps[i-1] == r.steps[i]*r.red[i] {
			r.red[i-1] *= r.red[i]
			r.steps[i-1] = r.steps[i]
			r.red, r.steps = slices.Delete(r.red, i, i+1), slices.Delete(r.steps, i, i+1)
		}
	}
	if len(r.red) == 0 {
		r.red, r.steps = []int{1}, []int{0}
	}
}

func (r *rows) line(s string) { r.b.WriteString("\t" + s + "\n") }

// each prints a loop over the elements of a row: do prints what is done with the element at
// index, number k of the row.
func (r *rows) each(do func(index, k string)) {
	r.loops++
	id := num(r.loops)
	flat := "k" + id
	if r.group > 1 {
		r.line("for (int " + flat + " = LANE0; " + flat + " < " + num(r.n) + "; " + flat + " += " + num(r.group) + ") {")
		coords := unravel(r.b, flat, "q"+id+"_", "\t\t", r.red)
		do(sum("base", View{Shape: r.red, Strides: r.steps}.at(coords)), flat)
		r.line("}")
		return
	}
	coords := make([]string, len(r.red))
	for i, n := range r.red {
		coords[i] = "q" + id + "_" + num(i)
		r.line("for (int " + coords[i] + " = 0; " + coords[i] + " < " + num(n) + "; " + coords[i] + "++)")
	}
	r.line("{")
	do(sum("base", View{Shape: r.red, Strides: r.steps}.at(coords)), Dense(array.U8, r.red).at(coords))
	r.line("}")
}

// reduce declares a variable with the fold of value over the row. join prints the fold of two.
func (r *rows) reduce(name, ctype, start string, join func(a, x string) string, value func(index, k string) string) {
	last := len(r.red) - 1
	if r.group == 1 && last == 0 && r.red[0] >= 2*parts {
		r.side(name, ctype, start, join, value)
		return
	}
	r.line(ctype + " " + name + " = " + start + ";")
	r.each(func(index, k string) { r.line("\t" + name + " = " + join(name, value(index, k)) + ";") })
	if r.group > 1 {
		r.tree(name, ctype, join)
	}
}

// side reduces one axis with several sums side by side.
func (r *rows) side(name, ctype, start string, join func(a, x string) string, value func(index, k string) string) {
	r.loops++
	k := "k" + num(r.loops)
	n := r.red[0]
	whole := n / parts * parts
	for p := range parts {
		r.line(ctype + " " + name + num(p) + " = " + start + ";")
	}
	r.line("for (int " + k + " = 0; " + k + " < " + num(whole) + "; " + k + " += " + num(parts) + ") {")
	for p := range parts {
		at := "(" + k + " + " + num(p) + ")"
		v := name + num(p)
		r.line("\t" + v + " = " + join(v, value(sum("base", term(at, r.steps[0])), at)) + ";")
	}
	r.line("}")
	for p := whole; p < n; p++ {
		v := name + num(p-whole)
		r.line(v + " = " + join(v, value(sum("base", num(p*r.steps[0])), num(p))) + ";")
	}
	for width := parts / 2; width > 0; width /= 2 {
		for p := range width {
			r.line(name + num(p) + " = " + join(name+num(p), name+num(p+width)) + ";")
		}
	}
	r.line(ctype + " " + name + " = " + name + "0;")
}

// tree joins what the work-items of a group have; all have the result then.
func (r *rows) tree(name, ctype string, join func(a, x string) string) {
	local := "shared_" + name
	r.line("LOCAL " + ctype + " " + local + "[" + num(r.group) + "];")
	r.line(local + "[LANE0] = " + name + ";")
	r.line("BARRIER;")
	for width := r.group / 2; width > 0; width /= 2 {
		r.line("if (LANE0 < " + num(width) + ") " + local + "[LANE0] = " + join(local+"[LANE0]", local+"[LANE0 + "+num(width)+"]") + ";")
		r.line("BARRIER;")
	}
	r.line(name + " = " + local + "[0];")
}

// once prints what one work-item of a row does.
func (r *rows) once(s string) {
	if r.group > 1 {
		s = "if (LANE0 == 0) { " + s + " }"
	}
	r.line(s)
}

func (r *rows) finish() *Kernel {
	r.b.WriteString("}\n")
	r.k.Text = r.b.String()
	return r.k.finish()
}

// plus is the fold of sums.
func plus(a, x string) string { return a + " + " + x }

// wide is the type in which values of type d are summed.
func wide(d array.DType) array.DType {
	switch register(d) {
	case "float":
		return array.F32
	case "double":
		return array.F64
	}
	return array.I64
}
