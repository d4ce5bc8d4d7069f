package source

import (
	"strings"

	"github.com/gofx-dev/gofx/array"
)

// Block is the part of a product that a group computes together, on devices whose work-items are
// the lanes: Rows by Columns results, of which every work-item has Own by Own. Depth
// numbers of each row and column at a time lie in local memory, read once for all. Rows and
// Columns are at least Own times Own, so that a work-item always brings the same row.
type Block struct {
	Rows, Columns, Depth, Own int

	// Words says that operands are words of Words; sums are exact modulo 2^32, and the epilogue gets them
	// as i32.
	Words bool
}

// BlockFor chooses a block for count products of rows by columns on a device with so many
// processors: large ones read less, small ones leave no processor idle. A group has at most most
// work-items.
func BlockFor(count, rows, columns, units, most int) Block {
	const large, medium = 128, 64
	groups := count * ((rows + large - 1) / large) * ((columns + large - 1) / large)
	if rows >= large && columns >= large && groups >= 2*units && most >= 256 {
		return Block{Rows: large, Columns: large, Depth: 8, Own: 8}
	}
	fit := func(n int) int {
		size := 16
		for size < n && size < medium {
			size *= 2
		}
		return size
	}
	k := Block{Rows: fit(rows), Columns: fit(columns), Depth: 16, Own: 4}
	if k.Rows*k.Columns <= 512 {
		k.Own = 2
	}
	for k.items() > max(most, 16) {
		if k.Own = 4; k.Rows > k.Columns {
			k.Rows /= 2
		} else {
			k.Columns /= 2
		}
	}
	return k
}

// items is how many work-items a group has.
func (k Block) items() int { return k.Rows / k.Own * (k.Columns / k.Own) }

// side is one of the two operands of a product in blocks.
type side struct {
	name  string // of the local memory
	first string // the number of the block's first row (or column)
	n     int    // rows (or columns) of the block
	all   int    // of the operand
	deep  bool   // what is multiplied lies side by side, not the rows
	// fixed prints what is known of row i, once where every work-item brings the same row.
	fixed func(i string)
	// at prints the number of row i and depth k; it may declare variables before that.
	at func(i, k string) string
}

// Product prints the kernel of the matrix product of a [batch.., M, K] and b [batch.., K, N] of any
// layout, then the epilogue. Floats of up to 32 bits; sums are f32.
func (k Block) Product(out, a, bb View, e Epilogue) *Kernel {
	rank := len(out.Shape)
	bb = bb.Expand(append(append([]int{}, out.Shape[:rank-2]...), a.Shape[len(a.Shape)-1], out.Shape[rank-1]))
	deep := bb.Strides[rank-1] != 1 && bb.Strides[rank-2] == 1
	return k.product(out, a, []array.DType{bb.DType}, deep, e, func(lead []string, i, d string) string {
		return load(bb.DType, "x1", bb.at(bare(append(append([]string{}, lead...), d, i), bb)))
	})
}

// product prints the kernel of the matrix product of a and a right operand of the types right, whose number of column i and
// depth d column prints, at the coordinates lead of the batch; deep says that numbers of a column lie side by side.
func (k Block) product(out, a View, right []array.DType, deep bool, e Epilogue, column func(lead []string, i, d string) string) *Kernel {
	rank := len(out.Shape)
	m, n, depth := out.Shape[rank-2], out.Shape[rank-1], a.Shape[len(a.Shape)-1]
	batch := out.Shape[:rank-2]
	a = a.Expand(append(append([]int{}, batch...), m, depth))
	dims := append(append([]int{}, batch...), (m+k.Rows-1)/k.Rows, (n+k.Columns-1)/k.Columns)
	types := append(append([]array.DType{a.DType}, right...), dtypes(e.operands())...)
	return k.kernel(product(dims), parameters([]array.DType{out.DType}, types), func(b *strings.Builder) {
		c := unravel(b, "GROUP0", "c", "\t", dims)
		lead := c[:rank-2]
		b.WriteString("\tint m = " + sum(term(c[rank-2], k.Rows)) + ", n = " + sum(term(c[rank-1], k.Columns)) + ";\n")
		rows := side{name: "as", first: "m", n: k.Rows, all: m, deep: a.Strides[rank-1] == 1}
		rows.at = func(i, d string) string {
			return load(a.DType, "x0", a.at(bare(append(append([]string{}, lead...), i, d), a)))
		}
		columns := side{name: "bs", first: "n", n: k.Columns, all: n, deep: deep}
		columns.at = func(i, d string) string { return column(lead, i, d) }
		k.multiply(b, rows, columns, depth, false)
		k.results(b, m, n, func() {
			e.write(b, "\t\t", "s[i][j]", 1+len(right), out, append(append([]string{}, lead...), "row", "col"))
		})
	})
}

// Blocked prints the convolution as a product in blocks: rows are places of the image, columns
// channels. Operands are x, the weights [M, C/Groups, kernel...] and those of the epilogue.
func (c Conv) Blocked(k Block, w View, e Epilogue) *Kernel {
	m := c.Out.Shape[1] / c.Groups
	places := append([]int{c.Out.Shape[0]}, c.Out.Shape[2:]...)
	count, taps := product(places), append([]int{c.X.Shape[1] / c.Groups}, c.Kernel...)
	dims := []int{c.Groups, (m + k.Columns - 1) / k.Columns, (count + k.Rows - 1) / k.Rows}
	params := parameters([]array.DType{c.Out.DType}, append([]array.DType{c.X.DType, w.DType}, dtypes(e.operands())...))
	return k.kernel(product(dims), params, func(b *strings.Builder) {
		g := unravel(b, "GROUP0", "c", "\t", dims)
		b.WriteString("\tint m = " + sum(term(g[2], k.Rows)) + ", n = " + sum(term(g[1], k.Columns)) + ";\n")
		rows := side{name: "as", first: "m", n: k.Rows, all: count}
		rows.fixed = func(i string) {
			place := unravel(b, i, "p", "\t", places)
			b.WriteString("\tint origin = " + c.origin(place[0], g[0], place[1:]) + ";\n")
		}
		rows.at = func(_, d string) string {
			at := unravel(b, d, "f", "\t\t", taps)
			terms := []string{"origin"}
			for i := range taps {
				step := c.X.Strides[1+i]
				if i > 0 {
					step *= c.Dilation[i-1]
				}
				if at[i] != "0" {
					terms = append(terms, term(at[i], step))
				}
			}
			return load(c.X.DType, "x0", sum(terms...))
		}
		columns := side{name: "bs", first: "n", n: k.Columns, all: m, deep: true}
		columns.at = func(i, d string) string {
			at := unravel(b, d, "g", "\t\t", taps)
			channel := "(" + sum(term(g[0], m), i) + ")"
			return load(w.DType, "x1", w.at(bare(append([]string{channel}, at...), w)))
		}
		k.multiply(b, rows, columns, product(taps), true)
		place := []string{}
		k.results(b, count, m, func() {
			place = unravel(b, "row", "r", "\t\t", places)
			channel := "(" + sum(term(g[0], m), "col") + ")"
			e.write(b, "\t\t", "s[i][j]", 2, c.Out, append([]string{place[0], channel}, place[1:]...))
		})
	})
}

// kernel prints a kernel of count groups.
func (k Block) kernel(count int, params []param, write func(b *strings.Builder)) *Kernel {
	out := &Kernel{Group: [3]int{k.items(), 1, 1}, Groups: [3]int{count, 1, 1}}
	return out.print(params, write)
}

// pitch is the distance of numbers of one row in local memory: odd, so that neighbours meet
// different banks whichever way they go.
func (s side) pitch() int { return s.n + 1 }

// numbers is the type of what is multiplied and summed, its zero, and the name of what adds a product.
func (k Block) numbers() (number, zero, add string) {
	if k.Words {
		return "int", "0", "DP4A"
	}
	return "float", "0.0f", "FMA"
}

// multiply prints the sums s[Own][Own] of a work-item. Neighbours have rows side by side, where
// results lie so, or columns.
func (k Block) multiply(b *strings.Builder, rows, columns side, depth int, rowsFirst bool) {
	down, across := k.Rows/k.Own, k.Columns/k.Own
	line := func(s string) { b.WriteString("\t" + s + "\n") }
	number, zero, add := k.numbers()
	for _, s := range []side{rows, columns} {
		line("LOCAL " + number + " " + s.name + "[" + num(k.Depth*s.pitch()) + "];")
	}
	if rowsFirst {
		line("int down = LANE0 % " + num(down) + ", across = LANE0 / " + num(down) + ";")
	} else {
		line("int down = LANE0 / " + num(across) + ", across = LANE0 % " + num(across) + ";")
	}
	line(number + " s[" + num(k.Own) + "][" + num(k.Own) + "];")
	line(unroll)
	line("for (int i = 0; i < " + num(k.Own) + "; i++) for (int j = 0; j < " + num(k.Own) + "; j++) s[i][j] = " + zero + ";")
	for _, s := range []side{rows, columns} {
		k.own(b, s)
	}
	line("for (int first = 0; first < " + num(depth) + "; first += " + num(k.Depth) + ") {")
	for _, s := range []side{rows, columns} {
		k.bring(b, s, depth)
	}
	line("BARRIER;")
	line("for (int d = 0; d < " + num(k.Depth) + "; d++) {")
	for i := range k.Own {
		line("\t" + number + " a" + num(i) + " = as[d * " + num(rows.pitch()) + " + down + " + num(i*down) + "];")
		line("\t" + number + " b" + num(i) + " = bs[d * " + num(columns.pitch()) + " + across + " + num(i*across) + "];")
	}
	for i := range k.Own {
		for j := range k.Own {
			at := "s[" + num(i) + "][" + num(j) + "]"
			line("\t" + at + " = " + add + "(a" + num(i) + ", b" + num(j) + ", " + at + ");")
		}
	}
	line("}")
	line("BARRIER;")
	line("}")
}

// unroll stands before loops over what lies in registers, which have no addresses.
const unroll = "#pragma unroll"

// own prints which row of a side a work-item brings, where it is always the same.
func (k Block) own(b *strings.Builder, s side) {
	if s.deep {
		return
	}
	i := s.name + "_i"
	b.WriteString("\tint " + i + " = " + s.first + " + LANE0 % " + num(s.n) + ";\n")
	b.WriteString("\t" + i + " = " + i + lessThan(true, i, s.all) + ";\n")
	if s.fixed != nil {
		s.fixed(i)
	}
}

// bring prints the copy of the next part of a side to local memory. What is after the last number is
// zero; rows after the last one are the last one, and nobody asks for their results.
func (k Block) bring(b *strings.Builder, s side, depth int) {
	line := func(s string) { b.WriteString("\t" + s + "\n") }
	i := s.name + "_i"
	if s.deep {
		line("for (int y = LANE0 / " + num(k.Depth) + "; y < " + num(s.n) + "; y += " + num(k.items()/k.Depth) + ") {")
		line("\tint x = LANE0 % " + num(k.Depth) + ", k = first + x, " + i + " = " + s.first + " + y;")
		line("\t" + i + " = " + i + lessThan(true, i, s.all) + ";")
	} else {
		line("for (int x = LANE0 / " + num(s.n) + "; x < " + num(k.Depth) + "; x += " + num(k.items()/s.n) + ") {")
		line("\tint y = LANE0 % " + num(s.n) + ", k = first + x;")
	}
	to := s.name + "[x * " + num(s.pitch()) + " + y] = "
	value := s.at(i, "k")
	if depth%k.Depth != 0 {
		_, zero, _ := k.numbers()
		value = "k < " + num(depth) + " ? " + value + " : " + zero
	}
	line("\t" + to + value + ";")
	line("}")
}

// results prints what is done with the sums of results that there are, at row and col.
func (k Block) results(b *strings.Builder, rows, columns int, write func()) {
	own := num(k.Own)
	line := func(s string) { b.WriteString("\t" + s + "\n") }
	line(unroll)
	line("for (int i = 0; i < " + own + "; i++) {")
	line("int row = m + down + i * " + num(k.Rows/k.Own) + ";")
	line(unroll)
	line("for (int j = 0; j < " + own + "; j++) {")
	line("int col = n + across + j * " + num(k.Columns/k.Own) + ";")
	var tests []string
	if rows%k.Rows != 0 {
		tests = append(tests, "row < "+num(rows))
	}
	if columns%k.Columns != 0 {
		tests = append(tests, "col < "+num(columns))
	}
	if len(tests) > 0 {
		line("if (" + strings.Join(tests, " && ") + ")")
	}
	line("{")
	write()
	line("}")
	line("}")
	line("}")
}
