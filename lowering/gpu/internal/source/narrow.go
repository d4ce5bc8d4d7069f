package source

import (
	"strings"

	"github.com/gofx-dev/gofx/array"
)

// Narrow is a weight [rows, Depth] of 8 or 4 bits that kernels read as it is: an element is (q - zero)·scale. Where DType is f32 it is one of floats. Its operands are
// bytes, then zero points and scales, where it has them: views [rows, groups], a group for so many elements of a row. Without
// scales it is the integers, which the epilogue scales.
type Narrow struct {
	DType       array.DType // of the bytes
	Half        bool        // two elements of 4 bits in a byte, the even one in the lower half
	Depth       int
	Group       int
	Zero, Scale View // of type array.Invalid for none
}

// columns is how many bytes a row has.
func (w Narrow) columns() int {
	if w.Half {
		return (w.Depth + 1) / 2
	}
	return w.Depth
}

func (w Narrow) types() []array.DType {
	all := []array.DType{w.DType}
	for _, v := range []View{w.Zero, w.Scale} {
		if v.DType != array.Invalid {
			all = append(all, v.DType)
		}
	}
	return all
}

// names are the parameters of the zero points and the scales, after those of the bytes, x1.
func (w Narrow) names() (zero, scale string) {
	if zero, scale = "x2", "x3"; w.Zero.DType == array.Invalid {
		scale = "x2"
	}
	return zero, scale
}

// less is the zero point of weights of 4 bits that have none.
const less = 8

// at prints the number of a row and depth k, in the rows as they are.
func (w Narrow) at(row, k string) string {
	zero, scale := w.names()
	of := func(v View) string { return v.at(bare([]string{row, "(" + k + " / " + num(w.Group) + ")"}, v)) }
	x := "(int)x1[" + sum(term(row, w.columns()), k) + "]"
	if w.Half {
		x = "((int)x1[" + sum(term(row, w.columns()), k+" / 2") + "] >> " + k + " % 2 * 4 & 15)"
	}
	switch {
	case w.Zero.DType != array.Invalid:
		x += " - (int)" + zero + "[" + of(w.Zero) + "]"
	case w.Half:
		x += " - " + num(less)
	}
	x = "(float)(" + x + ")"
	if w.Scale.DType != array.Invalid {
		x = "(" + x + " * " + scale + "[" + of(w.Scale) + "])"
	}
	return x
}

// Narrow prints the kernel of the product of a [batch.., M, K] and the rows of w, then the epilogue. Operands are a, those of
// w, and those of the epilogue.
func (k Block) Narrow(out, a View, w Narrow, e Epilogue) *Kernel {
	return k.product(out, a, w.types(), true, e, func(_ []string, i, d string) string { return w.at(i, d) })
}

// Narrow prints the kernel of the product of a [batch.., M, K] and the rows of w, then the epilogue. Operands are a, those of w,
// which PackBytes and Pack have laid out by columns, and those of the epilogue. Zero points and scales are those of groups.
func (t Tile) Narrow(out, a View, w Narrow, e Epilogue) *Kernel {
	zero, scale := w.names()
	groups := (w.Depth + w.Group - 1) / max(w.Group, 1)
	return t.product(out, a, w.types(), e, func(t Tile, b *strings.Builder, _ []string, panel string, row func(k string) func(r int) string) {
		begin := func(name, from string, d array.DType, rows int) { w.begin(b, name, from, d, term(panel, rows*t.Lanes)) }
		begin("w", "x1", w.DType, w.columns())
		if w.Zero.DType != array.Invalid {
			begin("z", zero, w.Zero.DType, groups)
		}
		if w.Scale.DType != array.Invalid {
			begin("c", scale, w.Scale.DType, groups)
		}
		if w.Half {
			t.sums(b, "\t")
			t.halves(b, w, groups, row)
			return
		}
		t.zeros(b, "\t", w)
		t.parts(b, w.Depth, 1, func(from, to string) {
			t.sums(b, "\t")
			t.along(b, from, to, t.widened(w, "VWIDEN"), row("k"))
		})
	})
}

// begin declares a pointer to packed numbers.
func (w Narrow) begin(b *strings.Builder, name, from string, d array.DType, at string) {
	b.WriteString("\tGLOBAL const " + storage(d) + " *" + name + " = " + sum(from, at) + ";\n")
}

// zeros declares vectors of a group's zero points.
func (t Tile) zeros(b *strings.Builder, tab string, w Narrow) {
	for v := range t.vectors() {
		switch at := num(v * t.width()); {
		case w.Zero.DType != array.Invalid:
			b.WriteString(tab + "vec" + num(t.width()) + " z" + num(v) + " = VWIDEN" + num(t.width()) + "(z + " + at + ");\n")
		case w.Half:
			b.WriteString(tab + "vec" + num(t.width()) + " z" + num(v) + " = VSPLAT" + num(t.width()) + "(" + num(less) + ".0f);\n")
		}
		if w.Scale.DType != array.Invalid {
			b.WriteString(tab + "vec" + num(t.width()) + " c" + num(v) + " = VLOAD" + num(t.width()) + "(c + " + num(v*t.width()) + ");\n")
		}
	}
}

// widened prints vectors of the weights' bytes, or of half of their bits, as floats.
func (t Tile) widened(w Narrow, read string) func(v int) string {
	if w.DType == array.F32 {
		return t.floats
	}
	return func(v int) string {
		x := read + num(t.width()) + "(w + " + num(v*t.width()) + ")"
		if w.Half || w.Zero.DType != array.Invalid {
			x += " - z" + num(v)
		}
		if w.Scale.DType != array.Invalid {
			x = "(" + x + ") * c" + num(v)
		}
		return x
	}
}

// halves prints the sums over weights of 4 bits, two of each column at a time.
func (t Tile) halves(b *strings.Builder, w Narrow, groups int, row func(k string) func(r int) string) {
	line := func(s string) { b.WriteString("\t" + s + "\n") }
	one := func(read, k string) {
		line("\t{")
		t.add(b, "\t\t\t", t.widened(w, read), row(k))
		line("\t}")
	}
	line("for (int g = 0; g < " + num(groups) + "; g++) {")
	t.zeros(b, "\t\t", w)
	line("int k = g * " + num(w.Group) + ", last = " + num(w.Depth) + " - k < " + num(w.Group) + " ? " + num(w.Depth) + " : k + " + num(w.Group) + ";")
	line("for (; k < last - 1; k += 2) {")
	one("VLOW", "k")
	one("VHIGH", "(k + 1)")
	line("\tw += " + num(t.Lanes) + ";\n\t}")
	if w.Depth%2 != 0 {
		line("if (k < last)")
		one("VLOW", "k")
	}
	if w.Zero.DType != array.Invalid {
		line("z += " + num(t.Lanes) + ";")
	}
	if w.Scale.DType != array.Invalid {
		line("c += " + num(t.Lanes) + ";")
	}
	line("}")
}

// Rows prints the kernel that takes rows of w in floats, which the indices, the first operand, name; an index out of
// range sets the status word. The result has the indices' dimensions and the row's.
func (w Narrow) Rows(rows int, indices View) *Kernel {
	dims := append(append([]int{}, indices.Shape...), w.Depth)
	types := append([]array.DType{indices.DType}, w.types()...)
	return each(product(dims), parameters([]array.DType{array.F32}, types), true, func(b *strings.Builder) {
		at := unravel(b, "i", "c", "\t", dims)
		last := len(at) - 1
		checked(b, load(indices.DType, "x0", indices.at(bare(at[:last], indices))), rows)
		b.WriteString("\ty0[i] = " + w.at("k", "("+at[last]+")") + ";\n")
	})
}
