package source

import (
	"strings"

	"github.com/gofx-dev/gofx/array"
)

// results are what becomes of the sums of a product by warps: rows by columns of them go to out,
// whose dimension axis has the columns.
type results struct {
	Epilogue
	out           View
	axis          int
	rows, columns int
	row           func()                    // prints what is known of a row
	at            func(col string) []string // the coordinates of row and a column, after that
}

// The fragments of a sum give a work-item two columns of eight. Where columns of a result lie side
// by side, those of the right operand are dealt out so that it gets owned of them in a row, which it
// reads and writes as words.
func (k Warps) owned() int { return k.Columns / 4 }

// line prints the number of the line of a strip that is at a place in local memory.
func (k Warps) line(s strip, place string) string {
	if !s.dealt {
		return place
	}
	c := num(k.Columns)
	return place + " / " + c + " * " + c + " + " + place + " % 8 / 2 * " + num(k.owned()) + " + " + place + " % " + c + " / 8 * 2 + " + place + " % 2"
}

// deals reports whether the results' columns are dealt out so.
func (k Warps) deals(r results) bool {
	return r.columns%k.owned() == 0 && k.inWords(r.out, r.axis)
}

// inWords reports whether a work-item's columns of a view lie side by side, where a pointer to what
// brings them may point.
func (k Warps) inWords(v View, axis int) bool {
	if d := v.DType; d != array.F32 && d != array.F16 && d != array.BF16 || v.Strides[axis] != 1 {
		return false
	}
	at := min(k.owned(), 4*quadWords/v.DType.Size())
	for i, s := range v.Strides {
		if i != axis && v.Shape[i] > 1 && s%at != 0 {
			return false
		}
	}
	return v.Offset%at == 0
}

// move prints reads or writes of a work-item's columns of a buffer from an index on, as words.
func (k Warps) move(d array.DType, print func(word int, pointer string), buffer, index string) {
	words := k.owned() / inWord(d)
	step, kind := quadWords, "fx_quad"
	if words < quadWords {
		step, kind = 2, "fx_pair"
	}
	for w := 0; w < words; w += step {
		print(w, kind+" *)("+buffer+" + "+sum(index, num(w*inWord(d)))+")")
	}
}

// results prints what is done with the sums of results that there are, at row and col.
func (k Warps) results(b *strings.Builder, r results) {
	line := func(s string) { b.WriteString("\t" + s + "\n") }
	line(unroll)
	line("for (int p = 0; p < " + num(k.Rows/8) + "; p++) {")
	line("\tint row = m + down + p * 8 + lane / 4;")
	rows, columns := k.lines()
	if r.rows%rows != 0 {
		line("\tif (row >= " + num(r.rows) + ") continue;")
	}
	r.row()
	if k.deals(r) {
		k.dealt(b, r)
	} else {
		line(unroll)
		line("\tfor (int q = 0; q < " + num(k.Columns/4) + "; q++) {")
		line("\t\tint col = n + across + q / 2 * 8 + lane % 4 * 2 + q % 2;")
		if r.columns%columns != 0 {
			line("\t\tif (col >= " + num(r.columns) + ") continue;")
		}
		r.write(b, "\t\t", sumAt, 2, r.out, r.at("col"))
		line("\t}")
	}
	line("}")
}

// dealt prints the results of a work-item's columns of a row.
func (k Warps) dealt(b *strings.Builder, r results) {
	line := func(s string) { b.WriteString("\t\t" + s + "\n") }
	line("int from = n + across + lane % 4 * " + num(k.owned()) + ";")
	if _, columns := k.lines(); r.columns%columns != 0 {
		line("if (from >= " + num(r.columns) + ") continue;")
	}
	word := func(name string, d array.DType) string {
		if d == array.F32 {
			return name + "[q]"
		}
		return name + "[q / 2]"
	}
	in := r.operands()
	for i, v := range in {
		if v = v.Expand(r.out.Shape); k.inWords(v, r.axis) {
			name := "o" + num(i)
			line("uint " + name + "[" + num(k.owned()/inWord(v.DType)) + "];")
			k.move(v.DType, func(w int, p string) { line("fx_read(" + name + " + " + num(w) + ", (const " + p + ");") }, "x"+num(2+i), v.at(r.at("from")))
		}
	}
	line("uint v[" + num(k.owned()/inWord(r.out.DType)) + "] = {};")
	line(unroll)
	line("for (int q = 0; q < " + num(k.owned()) + "; q++) {")
	line("\tint col = from + q;")
	read := func(i int) (string, bool) {
		d := in[i].DType
		if !k.inWords(in[i].Expand(r.out.Shape), r.axis) {
			return "", false
		}
		if d == array.F32 {
			return "AS_F32(" + word("o"+num(i), d) + ")", true
		}
		return loaded(d, "(ushort)("+word("o"+num(i), d)+" >> q % 2 * 16)"), true
	}
	r.print(b, "\t\t\t", sumAt, 2, r.out, r.at("col"), read, func(x string) string {
		if d := r.out.DType; d != array.F32 {
			return word("v", d) + " |= (uint)" + stored(d, x) + " << q % 2 * 16;"
		}
		return word("v", array.F32) + " = AS_U32(" + x + ");"
	})
	line("}")
	k.move(r.out.DType, func(w int, p string) { line("fx_write((" + p + ", v + " + num(w) + ");") }, "y0", r.out.at(r.at("from")))
}

// sumAt is the sum of row and col.
const sumAt = "s[p / 2][q / 2][p % 2 * 2 + q % 2]"
