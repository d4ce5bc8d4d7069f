package source

import (
	"strings"

	"github.com/gofx-dev/gofx/array"
)

// Window is how windows lie over an image, an entry for each spatial dimension.
type Window struct{ Kernel, Stride, Dilation, Pad []int }

// Filled returns the window with strides and dilations of 1 and no padding for what is nil.
func (w Window) Filled(rank int) Window {
	fill := func(l []int, v int) []int {
		if l != nil {
			return l
		}
		l = make([]int, rank)
		for i := range l {
			l[i] = v
		}
		return l
	}
	w.Stride, w.Dilation, w.Pad = fill(w.Stride, 1), fill(w.Dilation, 1), fill(w.Pad, 0)
	return w
}

// Reach is how many elements of axis i windows reach over for that many results.
func (w Window) Reach(i, results int) int {
	return (results-1)*w.Stride[i] + (w.Kernel[i]-1)*w.Dilation[i] + 1
}

// Conv is a convolution of an image x [N, C, spatial...], padded where windows need it, with
// weights [M, C/Groups, kernel...] to out [N, M, spatial...].
type Conv struct {
	Window
	Groups int
	Out, X View
}

// taps prints loops over channels, of each group those numbered from to to, and the window; body is told the index of the element of
// x after base.
func (c Conv) taps(b *strings.Builder, tab, from, to string, body func(tab, offset string)) {
	channels := c.X.Shape[1] / c.Groups
	_, plane := c.X.Axis(1)
	terms := []string{term("ic", plane)}
	if channels == 1 {
		terms = nil
	} else {
		if product(c.Kernel) == 1 {
			b.WriteString(tab + unroll + " 4\n")
		}
		b.WriteString(tab + "for (int ic = " + from + "; ic < " + to + "; ic++)\n")
	}
	for i, n := range c.Kernel {
		if n == 1 {
			continue
		}
		v := "f" + num(i)
		if inner := product(c.Kernel[i:]); inner <= mostUnrolled {
			b.WriteString(tab + unroll + "\n")
		}
		b.WriteString(tab + "for (int " + v + " = 0; " + v + " < " + num(n) + "; " + v + "++)\n")
		_, stride := c.X.Axis(2 + i)
		terms = append(terms, term(v, stride*c.Dilation[i]))
	}
	b.WriteString(tab + "{\n")
	body(tab+"\t", sum(terms...))
	b.WriteString(tab + "}\n")
}

// mostUnrolled is how many elements of a window are written without a loop around them.
const mostUnrolled = 9

// origin prints the index of the first element of the window of a result: image n, group g.
func (c Conv) origin(n, g string, at []string) string {
	_, image := c.X.Axis(0)
	_, plane := c.X.Axis(1)
	terms := []string{num(c.X.Offset), term(n, image)}
	if g != "" && g != "0" {
		terms = append(terms, term(g, plane*c.X.Shape[1]/c.Groups))
	}
	for i, a := range at {
		_, stride := c.X.Axis(2 + i)
		if a != "0" {
			terms = append(terms, term(a, stride*c.Stride[i]))
		}
	}
	return sum(terms...)
}

// Pack prints the kernel that lays weights out for Tiled: for each group panels of the tile's
// lanes of channels, each with a row for each element of a window, in f32.
func (c Conv) Pack(t Tile, w View) *Kernel { return c.pack(t, w, array.F32) }

// PackBytes is Pack for bytes, which stay what they are.
func (c Conv) PackBytes(t Tile, w View) *Kernel { return c.pack(t, w, w.DType) }

func (c Conv) pack(t Tile, w View, to array.DType) *Kernel {
	m, k := w.Shape[0]/c.Groups, product(w.Shape[1:])
	panels := t.Panels(m)
	dims := append([]int{c.Groups, panels}, append(append([]int{}, w.Shape[1:]...), t.Lanes)...)
	return each(c.Groups*panels*k*t.Lanes, parameters([]array.DType{to}, []array.DType{w.DType}), false, func(b *strings.Builder) {
		at := unravel(b, "i", "c", "\t", dims)
		last := len(dims) - 1
		b.WriteString("\tint n = " + sum(term(at[1], t.Lanes), at[last]) + ";\n")
		coords := append([]string{"(" + sum(term(at[0], m), "n") + ")"}, at[2:last]...)
		b.WriteString("\ty0[i] = n < " + num(m) + " ? (" + storage(to) + ")" + load(w.DType, "x0", w.at(coords)) + " : (" + storage(to) + ")0;\n")
	})
}

// Tiled prints the convolution as a product: a tile's rows are places of the image, its lanes
// channels. Operands are x, the packed weights, and those of the epilogue. Weights are floats, or bytes with a zero point or one for
// each channel, packed, too, and no scale.
func (c Conv) Tiled(t Tile, w Narrow, e Epilogue) *Kernel {
	m := c.Out.Shape[1] / c.Groups
	k := c.X.Shape[1] / c.Groups * product(c.Kernel)
	panels := t.Panels(m)
	places := append([]int{c.Out.Shape[0]}, c.Out.Shape[2:]...)
	count := product(places)
	t.Rows = min(t.Rows, count)
	tiles := (count + t.Rows - 1) / t.Rows
	dims := []int{c.Groups, panels, tiles}
	types := append(append([]array.DType{c.X.DType}, w.types()...), dtypes(e.operands())...)
	return t.kernel(product(dims), parameters([]array.DType{c.Out.DType}, types), func(b *strings.Builder) {
		at := unravel(b, "i", "c", "\t", dims)
		b.WriteString("\tint p = " + sum(term(at[2], t.Rows)) + ";\n")
		w.begin(b, "w", "x1", w.DType, sum(term(at[0], panels*k*t.Lanes), term(at[1], k*t.Lanes)))
		if w.Zero.DType != array.Invalid {
			w.begin(b, "z", "x2", w.DType, sum(term(at[0], panels*t.Lanes), term(at[1], t.Lanes)))
			t.zeros(b, "\t", w)
		}
		for r := range t.Rows {
			p := "p" + num(r)
			b.WriteString("\tint " + p + " = p + " + num(r) + lessThan(count%t.Rows != 0, "p + "+num(r), count) + ";\n")
			coords := unravel(b, p, p+"_", "\t", places)
			b.WriteString("\tint a" + num(r) + " = " + c.origin(coords[0], at[0], coords[1:]) + ";\n")
		}
		t.parts(b, c.X.Shape[1]/c.Groups, product(c.Kernel), func(from, to string) {
			t.sums(b, "\t")
			c.taps(b, "\t", from, to, func(tab, offset string) {
				t.step(b, tab, t.widened(w, "VWIDEN"), func(r int) string { return load(c.X.DType, "x0", sum("a"+num(r), offset)) })
			})
		})
		var head strings.Builder
		head.WriteString("\tint pr = p + r;\n" + t.stop("pr", count))
		place := unravel(&head, "pr", "pr_", "\t", places)
		t.finish(b, head.String(), m%t.Lanes != 0, sum(term(at[1], t.Lanes), "l"), m, func() {
			channel := "(" + sum(term(at[0], m), "col") + ")"
			e.write(b, "\t\t", t.sumAt(), 1+len(w.types()), c.Out, append([]string{place[0], channel}, place[1:]...))
		})
	})
}

// mostTaps is how many elements of a window are written one after the other, so that the
// work-items of a group become the lanes of vectors.
const mostTaps = 49

// Direct prints the convolution with one work-item for each result, for few channels in a
// group and all float types. Operands are x, the weights, and those of the epilogue.
func (c Conv) Direct(w View, e Epilogue) *Kernel {
	acc := wide(e.sums())
	m := c.Out.Shape[1] / c.Groups
	params := parameters([]array.DType{c.Out.DType}, append([]array.DType{c.X.DType, w.DType}, dtypes(e.operands())...))
	channels := c.X.Shape[1] / c.Groups
	return overNest(spread(c.Out.Shape), params, func(b *strings.Builder, at []string) {
		group := at[1]
		if m > 1 && at[1] != "0" {
			group = "(" + at[1] + " / " + num(m) + ")"
		}
		b.WriteString("\tint a = " + c.origin(at[0], group, at[2:]) + ";\n")
		zero := make([]string, len(w.Shape)-1)
		for i := range zero {
			zero[i] = "0"
		}
		b.WriteString("\tint w = " + w.at(append([]string{at[1]}, zero...)) + ";\n")
		b.WriteString("\t" + register(acc) + " acc = 0;\n")
		if taps := product(c.Kernel); channels == 1 && taps <= mostTaps {
			c.unrolled(b, w, taps, e.sums())
		} else {
			c.looped(b, w, e.sums())
		}
		e.write(b, "\t", "acc", 2, c.Out, at)
	})
}

// spread is the nest over all dimensions of a result, none merged.
func spread(dims []int) nest { return nest{dims: dims} }

func (c Conv) unrolled(b *strings.Builder, w View, taps int, acc array.DType) {
	for tap := range taps {
		rest, x, y := tap, 0, 0
		for i := len(c.Kernel) - 1; i >= 0; i-- {
			at := rest % c.Kernel[i]
			rest /= c.Kernel[i]
			_, stride := c.X.Axis(2 + i)
			_, weight := w.Axis(2 + i)
			x += at * c.Dilation[i] * stride
			y += at * weight
		}
		b.WriteString("\t" + multiplyAdd(wide(acc), acc, load(c.X.DType, "x0", "a + "+num(x)), load(w.DType, "x1", "w + "+num(y))) + "\n")
	}
}

func (c Conv) looped(b *strings.Builder, w View, acc array.DType) {
	_, channel := w.Axis(1)
	terms := []string{"w"}
	if c.X.Shape[1]/c.Groups > 1 {
		terms = append(terms, term("ic", channel))
	}
	for i, n := range c.Kernel {
		if _, stride := w.Axis(2 + i); n > 1 {
			terms = append(terms, term("f"+num(i), stride))
		}
	}
	c.taps(b, "\t", "0", num(c.X.Shape[1]/c.Groups), func(tab, offset string) {
		b.WriteString(tab + multiplyAdd(wide(acc), acc, load(c.X.DType, "x0", sum("a", offset)), load(w.DType, "x1", sum(terms...))) + "\n")
	})
}

// Transposed prints the transposed convolution of x [N, C, spatial...] with weights
// [C, M/groups, kernel...]: every result sums what reaches it. Padding is taken away from it.
func Transposed(win Window, groups int, out, x, w View, bias bool) *Kernel {
	acc := wide(out.DType)
	types := []array.DType{x.DType, w.DType}
	if bias {
		types = append(types, out.DType)
	}
	channels, m := x.Shape[1]/groups, out.Shape[1]/groups
	return each(product(out.Shape), parameters([]array.DType{out.DType}, types), false, func(b *strings.Builder) {
		at := unravel(b, "i", "c", "\t", out.Shape)
		b.WriteString("\tint g = " + at[1] + " / " + num(m) + ", oc = " + at[1] + " % " + num(m) + ";\n")
		b.WriteString("\t" + register(acc) + " acc = 0;\n")
		coords, weights := []string{at[0], "ic"}, []string{"ic", "oc"}
		for i, n := range win.Kernel {
			f, o := "f"+num(i), "o"+num(i)
			b.WriteString("\tfor (int " + f + " = 0; " + f + " < " + num(n) + "; " + f + "++) {\n")
			b.WriteString("\tint " + o + " = " + at[2+i] + " + " + num(win.Pad[i]) + " - " + term(f, win.Dilation[i]) + ";\n")
			b.WriteString("\tif (" + o + " < 0 || " + o + " % " + num(win.Stride[i]) + " != 0 || " + o + " / " + num(win.Stride[i]) + " >= " + num(x.Shape[2+i]) + ") continue;\n")
			coords, weights = append(coords, "("+o+" / "+num(win.Stride[i])+")"), append(weights, f)
		}
		b.WriteString("\tfor (int k = 0; k < " + num(channels) + "; k++) {\n\tint ic = g * " + num(channels) + " + k;\n")
		b.WriteString("\tacc = FMA(" + load(x.DType, "x0", x.at(bare(coords, x))) + ", " + load(w.DType, "x1", w.at(bare(weights, w))) + ", acc);\n\t}\n")
		b.WriteString(strings.Repeat("\t}\n", len(win.Kernel)))
		if bias {
			b.WriteString("\tacc = acc + " + load(out.DType, "x2", at[1]) + ";\n")
		}
		b.WriteString("\t" + store(out.DType, "y0", "i", "acc") + "\n")
	})
}

// bare leaves out coordinates of dimensions of size 1.
func bare(coords []string, v View) []string {
	out := make([]string, len(coords))
	for i, c := range coords {
		if out[i] = c; v.Shape[i] == 1 {
			out[i] = "0"
		}
	}
	return out
}
