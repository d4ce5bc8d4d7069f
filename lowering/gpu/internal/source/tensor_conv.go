package source

import (
	"strings"

	"github.com/gofx-dev/gofx/array"
)

// PackWords prints the kernel that lays weights [M, C/Groups, kernel...] out as the words of
// Warps.Conv: for each of M channels the elements of the window, for each of these those of the
// channels, zeros up to whole rounds.
func PackWords(w View) (k *Kernel, out View) {
	channels, taps := w.Shape[1], w.Shape[2:]
	elements, d := inWord(w.DType), w.DType
	if elements > 1 {
		d = array.I32
	}
	depth := product(w.Shape[1:])
	round := elements * wordsOf
	dims := []int{w.Shape[0], (depth + round - 1) / round * wordsOf}
	k = each(product(dims), parameters([]array.DType{carrier(d)}, []array.DType{carrier(w.DType)}), false, func(b *strings.Builder) {
		c := unravel(b, "i", "c", "\t", dims)
		b.WriteString("\tuint v = 0;\n")
		for e := range elements {
			b.WriteString("\t{\n\tint k = " + sum(term(c[1], elements), num(e)) + ";\n\tif (k < " + num(depth) + ") {\n")
			at := unravel(b, "k", "f", "\t", append(append([]int{}, taps...), channels))
			last := len(taps)
			coords := append([]string{c[0], at[last]}, at[:last]...)
			b.WriteString("\tv |= (uint)x0[" + w.at(coords) + "]" + " << " + num(e*16) + ";\n\t}\n\t}\n")
		}
		b.WriteString("\ty0[i] = v;\n")
	})
	return k, Dense(d, dims)
}

// Conv prints the convolution as a product by tensor cores: rows are places of the image,
// columns channels, and what is summed are the channels of one element of the window after the other.
// Operands are x, whose type says what is multiplied as it does for Product, the weights of
// PackWords, [M, words], and those of the epilogue.
func (k Warps) Conv(c Conv, w View, e Epilogue) *Kernel {
	words := w.Shape[1]
	m, channels := c.Out.Shape[1]/c.Groups, c.X.Shape[1]/c.Groups
	places := append([]int{c.Out.Shape[0]}, c.Out.Shape[2:]...)
	down, across := k.lines()
	count := product(places)
	dims := []int{c.Groups, (m + across - 1) / across, (count + down - 1) / down}
	params := parameters([]array.DType{c.Out.DType}, append([]array.DType{c.X.DType, w.DType}, dtypes(e.operands())...))
	return k.kernel(product(dims), params, func(b *strings.Builder) {
		g := unravel(b, "GROUP0", "c", "\t", dims)
		b.WriteString("\tint m = " + sum(term(g[2], down)) + ", n = " + sum(term(g[1], across)) + ";\n")
		rows := strip{name: "ta", buffer: "x0", dtype: c.X.DType, first: "m", n: down, all: count, depth: channels * product(c.Kernel)}
		rows.wide = c.sideBySide()
		rows.along = rows.wide
		rows.start = func(i string) string {
			place := unravel(b, i, i+"p", "\t", places)
			return c.origin(place[0], g[0], place[1:])
		}
		rows.quad = func(start, at string) func(int) string { return c.windowed(b, start, at) }
		columns := strip{name: "tb", buffer: "x1", dtype: w.DType, first: "n", n: across, all: m, along: true, wide: true, depth: words}
		columns.start = func(i string) string { return term("("+sum(term(g[0], m), i)+")", words) }
		columns.quad = func(start, at string) func(int) string {
			return func(i int) string { return sum(start, at, num(i)) }
		}
		place := []string{}
		r := results{Epilogue: e, out: c.Out, axis: 1, rows: count, columns: m}
		r.row = func() { place = unravel(b, "row", "r", "\t\t", places) }
		r.at = func(col string) []string {
			return append([]string{place[0], "(" + sum(term(g[0], m), col) + ")"}, place[1:]...)
		}
		columns.dealt = k.deals(r)
		k.multiply(b, rows, columns)
		k.results(b, r)
	})
}

// sideBySide reports whether channels of the image lie side by side, in quads of words where a pointer to quads may point.
func (c Conv) sideBySide() bool {
	quad := quadWords * inWord(c.X.DType)
	for i, n := range c.X.Shape {
		if s := c.X.Strides[i]; i != 1 && n > 1 && s%quad != 0 {
			return false
		}
	}
	return c.X.Strides[1] == 1 && c.X.Shape[1]/c.Groups%quad == 0 && c.X.Offset%quad == 0
}

// Quad is how many elements of a type tensor cores' kernels read at once, where they lie side by side.
func Quad(d array.DType) int { return quadWords * inWord(d) }

// windowed returns how the elements of a quad of a window are printed, of which k is the first
// among those of all channels: where a quad is of one element of the window, what they share is
// declared once.
func (c Conv) windowed(b *strings.Builder, start, k string) func(i int) string {
	channels := c.X.Shape[1] / c.Groups
	_, plane := c.X.Axis(1)
	taps := append(append([]int{}, c.Kernel...), channels)
	index := func(k, prefix string) string {
		at := unravel(b, k, prefix, "\t\t", taps)
		terms := []string{start, ""}
		for i, f := range at[:len(c.Kernel)] {
			if _, stride := c.X.Axis(2 + i); f != "0" {
				terms = append(terms, term(f, stride*c.Dilation[i]))
			}
		}
		if last := at[len(c.Kernel)]; last != "0" {
			terms[1] = term(last, plane)
		}
		return sum(terms...)
	}
	if channels%(quadWords*inWord(c.X.DType)) == 0 {
		first := index(k, "f")
		return func(i int) string { return sum(first, num(i*plane)) }
	}
	return func(i int) string {
		b.WriteString("\t\tint k" + num(i) + " = " + sum(k, num(i)) + ";\n")
		return index("k"+num(i), "f"+num(i)+"_")
	}
}
