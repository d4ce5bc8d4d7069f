package source

import (
	"strings"

	"github.com/gofx-dev/gofx/array"
)

// Tile is how much of a product one work-item computes: Rows rows of Lanes columns, which are
// vectors of at most widest numbers.
type Tile struct {
	Rows, Lanes, Group int

	// Whole says that what is multiplied are integers of magnitude 255 at most, in f32: sums are exact
	// modulo 2^32, and the epilogue gets them as i32.
	Whole bool
}

// widest is the most numbers that the vectors of kernels have.
const widest = 16

// TileFor chooses a tile for columns columns on a device with vectors of that many floats
// (1: work-items are the lanes). Sums and what is read of a row fill the registers of a CPU: 16
// of up to 8 floats, 32 of 16.
func TileFor(vector, columns int) Tile {
	switch {
	case vector == 1:
		return Tile{Rows: 8, Lanes: 4, Group: flat}
	case columns <= 4:
		return Tile{Rows: 6, Lanes: 4, Group: 1}
	case vector < 8 || columns <= 8:
		return Tile{Rows: 6, Lanes: 8, Group: 1}
	case vector < widest:
		return Tile{Rows: 6, Lanes: 16, Group: 1}
	case columns <= widest:
		return Tile{Rows: 12, Lanes: 16, Group: 1}
	}
	return Tile{Rows: 8, Lanes: 2 * widest, Group: 1}
}

// width is how many numbers a vector has, and vectors how many a row has of them.
func (t Tile) width() int { return min(t.Lanes, widest) }

func (t Tile) vectors() int { return t.Lanes / t.width() }

// total is the name of the sums of vector v of row r.
func total(r, v int) string {
	if v == 0 {
		return "s" + num(r)
	}
	return "s" + num(r) + "_" + num(v)
}

// Panels is how many panels of the tile's lanes hold columns columns.
func (t Tile) Panels(columns int) int { return (columns + t.Lanes - 1) / t.Lanes }

// Pack prints the kernel that lays batch matrices [.., K, N] out for Product: panels of the
// tile's lanes, each with a row for each k, zeros after the last column, in f32.
func (t Tile) Pack(in View) *Kernel { return t.pack(in, array.F32) }

// PackBytes is Pack for bytes, which stay what they are.
func (t Tile) PackBytes(in View) *Kernel { return t.pack(in, in.DType) }

func (t Tile) pack(in View, to array.DType) *Kernel {
	rank := len(in.Shape)
	k, n := in.Shape[rank-2], in.Shape[rank-1]
	batch := in.Shape[:rank-2]
	panels := t.Panels(n)
	dims := append(append([]int{}, batch...), panels, k, t.Lanes)
	return each(product(dims), parameters([]array.DType{to}, []array.DType{in.DType}), false, func(b *strings.Builder) {
		c := unravel(b, "i", "c", "\t", dims)
		column := sum(term(c[rank-2], t.Lanes), c[rank])
		b.WriteString("\tint n = " + column + ";\n")
		coords := append(append([]string{}, c[:rank-2]...), c[rank-1], "n")
		b.WriteString("\ty0[i] = n < " + num(n) + " ? (" + storage(to) + ")" + load(in.DType, "x0", in.at(coords)) + " : (" + storage(to) + ")0;\n")
	})
}

// Product prints the kernel of the matrix product of a [batch.., M, K] and the packed b of
// shape [batch.., K, n], whose batch dimensions broadcast to out's, then the epilogue. Operands
// are a, the packed b and those of the epilogue. Floats of up to 32 bits; sums are f32.
func (t Tile) Product(out, a View, bShape []int, e Epilogue) *Kernel {
	rank := len(out.Shape)
	k, panels := a.Shape[len(a.Shape)-1], t.Panels(out.Shape[rank-1])
	packed := Dense(array.F32, append(append([]int{}, bShape[:len(bShape)-2]...), panels*k*t.Lanes))
	packed = packed.Expand(append(append([]int{}, out.Shape[:rank-2]...), panels*k*t.Lanes))
	return t.product(out, a, []array.DType{array.F32}, e, func(t Tile, b *strings.Builder, at []string, panel string, row func(k string) func(r int) string) {
		b.WriteString("\tGLOBAL const float *w = x1 + " + packed.at(append(append([]string{}, at...), sum(term(panel, k*t.Lanes)))) + ";\n")
		t.parts(b, k, 1, func(from, to string) {
			t.sums(b, "\t")
			t.along(b, from, to, t.floats, row("k"))
		})
	})
}

// along prints the loop over rows of w, a number of each row of the left operand with each.
func (t Tile) along(b *strings.Builder, from, to string, weights func(v int) string, row func(r int) string) {
	b.WriteString("\t" + unroll + " 4\n\tfor (int k = " + from + "; k < " + to + "; k++) {\n")
	t.step(b, "\t\t", weights, row)
	b.WriteString("\t}\n")
}

// product prints a kernel of products of the rows of a and a packed operand of the types right, then the epilogue. multiply
// prints the sums of a panel by the tile, which has no more rows than there are, at the coordinates of the batch; row prints element k of a row.
func (t Tile) product(out, a View, right []array.DType, e Epilogue,
	multiply func(t Tile, b *strings.Builder, at []string, panel string, row func(k string) func(r int) string)) *Kernel {
	rank := len(out.Shape)
	m, n, k := out.Shape[rank-2], out.Shape[rank-1], a.Shape[len(a.Shape)-1]
	batch := out.Shape[:rank-2]
	t.Rows = min(t.Rows, m)
	a = a.Expand(append(append([]int{}, batch...), m, k))
	dims := append(append([]int{}, batch...), t.Panels(n), (m+t.Rows-1)/t.Rows)
	types := append(append([]array.DType{a.DType}, right...), dtypes(e.operands())...)
	return t.kernel(product(dims), parameters([]array.DType{out.DType}, types), func(b *strings.Builder) {
		c := unravel(b, "i", "c", "\t", dims)
		at := c[:rank-2]
		b.WriteString("\tint m = " + sum(term(c[rank-1], t.Rows)) + ";\n")
		row := func(r int) string { return "m" + num(r) }
		for r := range t.Rows {
			b.WriteString("\tint " + row(r) + " = m + " + num(r) + lessThan(m%t.Rows != 0, "m + "+num(r), m) + ";\n")
			b.WriteString("\tint a" + num(r) + " = " + a.at(append(append([]string{}, at...), row(r), "0")) + ";\n")
		}
		_, step := a.Axis(rank - 1)
		multiply(t, b, at, c[rank-2], func(k string) func(r int) string {
			return func(r int) string { return load(a.DType, "x0", sum("a"+num(r), term(k, step))) }
		})
		t.finish(b, "\tint mr = m + r;\n"+t.stop("mr", m), n%t.Lanes != 0, sum(term(c[rank-2], t.Lanes), "l"), n, func() {
			e.write(b, "\t\t", t.sumAt(), 1+len(right), out, append(append([]string{}, at...), "mr", "col"))
		})
	})
}

// lessThan prints what clamps an index to below n, where it may be beyond.
func lessThan(may bool, index string, n int) string {
	if !may {
		return ""
	}
	return " < " + num(n) + " ? " + index + " : " + num(n-1)
}

// kernel prints a kernel of count work-items.
func (t Tile) kernel(count int, params []param, write func(b *strings.Builder)) *Kernel {
	k := &Kernel{Group: [3]int{t.Group, 1, 1}, Groups: [3]int{(count + t.Group - 1) / t.Group, 1, 1}}
	var b strings.Builder
	begin(&b, k.Group, params, false)
	b.WriteString("\tint i = GROUP0 * " + num(t.Group) + " + LANE0;\n")
	if count%t.Group != 0 {
		b.WriteString("\tif (i >= " + num(count) + ") return;\n")
	}
	write(&b)
	b.WriteString("}\n")
	k.Text = b.String()
	return k.finish()
}

// sums declares the sums s0, s1 ... of the rows.
func (t Tile) sums(b *strings.Builder, tab string) {
	w := num(t.width())
	for r := range t.Rows {
		for v := range t.vectors() {
			b.WriteString(tab + "vec" + w + " " + total(r, v) + " = VSPLAT" + w + "(0.0f);\n")
		}
	}
}

// floats is vector v of a row of w.
func (t Tile) floats(v int) string {
	return "VLOAD" + num(t.width()) + "(w + " + num(v*t.width()) + ")"
}

// step prints what is done with one row of w, which goes on after it: weights prints a vector of it, row the element of a row.
func (t Tile) step(b *strings.Builder, tab string, weights func(v int) string, row func(r int) string) {
	t.add(b, tab, weights, row)
	b.WriteString(tab + "w += " + num(t.Lanes) + ";\n")
}

// add prints the products of vectors by an element of each row.
func (t Tile) add(b *strings.Builder, tab string, weights func(v int) string, row func(r int) string) {
	w := num(t.width())
	for v := range t.vectors() {
		b.WriteString(tab + "vec" + w + " v" + num(v) + " = " + weights(v) + ";\n")
	}
	for r := range t.Rows {
		if t.vectors() == 1 {
			b.WriteString(tab + total(r, 0) + " = VFMA(VSPLAT" + w + "(" + row(r) + "), v0, " + total(r, 0) + ");\n")
			continue
		}
		b.WriteString(tab + "vec" + w + " x" + num(r) + "_ = VSPLAT" + w + "(" + row(r) + ");\n")
		for v := range t.vectors() {
			b.WriteString(tab + total(r, v) + " = VFMA(x" + num(r) + "_, v" + num(v) + ", " + total(r, v) + ");\n")
		}
	}
}

// finish prints the stores of the sums: those of rows and columns that there are. In the loops
// r and l count rows and lanes, t[r * lanes + l] is the sum, and col its column; write prints
// what is done with it.
func (t Tile) finish(b *strings.Builder, exists string, someColumns bool, column string, columns int, write func()) {
	lanes := num(t.Lanes)
	if !t.Whole {
		t.keep(b)
	}
	b.WriteString("\tfor (int r = 0; r < " + num(t.Rows) + "; r++) {\n" + exists)
	b.WriteString("\tfor (int l = 0; l < " + lanes + "; l++) {\n\t\tint col = " + column + ";\n")
	if someColumns {
		b.WriteString("\t\tif (col >= " + num(columns) + ") break;\n")
	}
	write()
	b.WriteString("\t}\n\t}\n")
}

// keep prints the stores of the sums to t.
func (t Tile) keep(b *strings.Builder) {
	b.WriteString("\tfloat t[" + num(t.Rows*t.Lanes) + "];\n")
	for r := range t.Rows {
		for v := range t.vectors() {
			b.WriteString("\tVSTORE" + num(t.width()) + "(t + " + num(r*t.Lanes+v*t.width()) + ", " + total(r, v) + ");\n")
		}
	}
}

// sumAt is the sum of row r and lane l.
func (t Tile) sumAt() string {
	from := "t"
	if t.Whole {
		from = "h"
	}
	return from + "[r * " + num(t.Lanes) + " + l]"
}

// stop prints the test that ends the loop over rows where a tile may have more than there are.
func (t Tile) stop(row string, rows int) string {
	if rows%t.Rows == 0 {
		return ""
	}
	return "\tif (" + row + " >= " + num(rows) + ") break;\n"
}

// Dot prints the product of a [batch.., M, K] and b [batch.., K, N] of any layout and type, one
// work-item for each result, then the epilogue.
func Dot(out, a, bb View, e Epilogue) *Kernel {
	rank := len(out.Shape)
	m, n, k := out.Shape[rank-2], out.Shape[rank-1], a.Shape[len(a.Shape)-1]
	batch := out.Shape[:rank-2]
	a = a.Expand(append(append([]int{}, batch...), m, k))
	bb = bb.Expand(append(append([]int{}, batch...), k, n))
	w := wide(e.sums())
	params := parameters([]array.DType{out.DType}, append([]array.DType{a.DType, bb.DType}, dtypes(e.operands())...))
	return each(product(out.Shape), params, false, func(b *strings.Builder) {
		c := unravel(b, "i", "c", "\t", out.Shape)
		b.WriteString("\t" + register(w) + " acc = 0;\n\tfor (int k = 0; k < " + num(k) + "; k++)\n")
		at := append([]string{}, c[:rank-2]...)
		x := cast(w, a.DType, load(a.DType, "x0", a.at(append(append([]string{}, at...), c[rank-2], "k"))))
		y := cast(w, bb.DType, load(bb.DType, "x1", bb.at(append(append([]string{}, at...), "k", c[rank-1]))))
		b.WriteString("\t\t" + multiplyAdd(w, e.sums(), x, y) + "\n")
		e.write(b, "\t", "acc", 2, out, c)
	})
}
