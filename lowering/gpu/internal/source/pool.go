package source

import (
	"math"
	"strings"

	"github.com/gofx-dev/gofx/array"
)

// Pool is a reduction of windows of the last dimensions of x to out, which has the same
// dimensions before them, of any layout; Max with indices takes dense ones.
type Pool struct {
	Window
	Out, X View
}

// begin declares the index base of a result's plane and, for each spatial dimension i, the
// coordinate a<i> at which its window begins. It returns how many dimensions are not spatial.
func (p Pool) begin(b *strings.Builder, at []string) (lead int) {
	lead = len(at) - len(p.Kernel)
	for i := range p.Kernel {
		o := at[lead+i]
		b.WriteString("\tint a" + num(i) + " = " + sum(term(o, p.Stride[i])) + " - " + num(p.Pad[i]) + ";\n")
	}
	base := View{Shape: p.X.Shape[:lead], Strides: p.X.Strides[:lead], Offset: p.X.Offset}
	b.WriteString("\tint base = " + base.at(at[:lead]) + ";\n")
	return lead
}

// plane is how elements of the spatial dimensions lie.
func (p Pool) plane(lead int) View {
	return View{Shape: p.X.Shape[lead:], Strides: p.X.Strides[lead:]}
}

// inside prints loops over the elements of a window that the input has; body is told the
// element's index in its plane.
func (p Pool) inside(b *strings.Builder, lead int, body func(index string)) {
	coords := make([]string, len(p.Kernel))
	for i, n := range p.Kernel {
		f, x := "f"+num(i), "s"+num(i)
		b.WriteString("\tfor (int " + f + " = 0; " + f + " < " + num(n) + "; " + f + "++) {\n\tint " + x + " = a" + num(i) + " + " + term(f, p.Dilation[i]) + ";\n")
		b.WriteString("\tif (" + x + " < 0 || " + x + " >= " + num(p.X.Shape[lead+i]) + ") continue;\n")
		coords[i] = x
	}
	body(p.plane(lead).at(coords))
	b.WriteString(strings.Repeat("\t}\n", len(p.Kernel)))
}

// selected is inside without branches, which work-items of a CPU's vector would not take together:
// body is told an index that is always in the plane, and whether it is in the window.
func (p Pool) selected(b *strings.Builder, lead int, body func(index, inside string)) {
	coords, tests := make([]string, len(p.Kernel)), make([]string, len(p.Kernel))
	for i, n := range p.Kernel {
		f, x, size := "f"+num(i), "s"+num(i), p.X.Shape[lead+i]
		if product(p.Kernel[i:]) <= mostUnrolled {
			b.WriteString("\t" + unroll + "\n")
		}
		b.WriteString("\tfor (int " + f + " = 0; " + f + " < " + num(n) + "; " + f + "++) {\n\tint " + x + " = a" + num(i) + " + " + term(f, p.Dilation[i]) + ";\n")
		in := "in" + num(i)
		b.WriteString("\tint " + in + " = " + x + " >= 0 & " + x + " < " + num(size) + ";\n")
		b.WriteString("\t" + x + " = " + in + " ? " + x + " : 0;\n")
		coords[i], tests[i] = x, in
	}
	body(p.plane(lead).at(coords), strings.Join(tests, " & "))
	b.WriteString(strings.Repeat("\t}\n", len(p.Kernel)))
}

// Max prints the kernel of the greatest elements, and with indices of their places in the
// plane: the first of equals, the last NaN. A window outside the input has the least value of the
// type and the place of its first element that is not before the input.
func (p Pool) Max(indices bool) *Kernel {
	d := p.X.DType
	outs := []array.DType{d}
	if indices {
		outs = append(outs, array.I64)
	}
	w := wide(d)
	least := extreme(w, d, false)
	if w == array.I64 && d != array.U64 {
		least = intLiteral(leastOf(d))
	}
	number := ""
	if d == array.U64 {
		number = "(u64)"
	}
	larger := func(x string) string {
		return number + x + " > " + number + "best | " + x + " != " + x
	}
	if !indices {
		o := p.Out.order()
		return overNest(spread(p.Out.ordered(o).Shape), parameters(outs, []array.DType{d}), func(b *strings.Builder, at []string) {
			at = back(o, at)
			lead := p.begin(b, at)
			b.WriteString("\t" + register(w) + " best = " + least + ";\n")
			p.selected(b, lead, func(index, inside string) {
				b.WriteString("\t" + register(w) + " x = " + load(d, "x0", "base + "+index) + ";\n")
				b.WriteString("\tbest = " + inside + " & (" + larger("x") + ") ? x : best;\n")
			})
			b.WriteString("\t" + store(d, "y0", p.Out.at(at), "best") + "\n")
		})
	}
	return each(product(p.Out.Shape), parameters(outs, []array.DType{d}), false, func(b *strings.Builder) {
		at := unravel(b, "i", "c", "\t", p.Out.Shape)
		lead := p.begin(b, at)
		b.WriteString("\t" + register(w) + " best = " + least + ";\n")
		b.WriteString("\tint place = -1;\n")
		p.inside(b, lead, func(index string) {
			b.WriteString("\tint q = " + index + ";\n\t" + register(w) + " x = " + load(d, "x0", "base + q") + ";\n")
			b.WriteString("\tif (place < 0 || " + number + "x > " + number + "best || x != x) { best = x; place = q; }\n")
		})
		b.WriteString("\t" + store(d, "y0", "i", "best") + "\n")
		p.first(b, lead)
		b.WriteString("\ty1[i] = place;\n")
	})
}

// first sets place, where it is none, to that of the first element not before the input.
func (p Pool) first(b *strings.Builder, lead int) {
	b.WriteString("\tif (place < 0) {\n")
	terms, plane := make([]string, len(p.Kernel)), Dense(array.U8, p.X.Shape[lead:])
	for i := range p.Kernel {
		s, dil := "z"+num(i), num(p.Dilation[i])
		b.WriteString("\tint " + s + " = a" + num(i) + "; if (" + s + " < 0) " + s + " += (-" + s + " + " + dil + " - 1) / " + dil + " * " + dil + ";\n")
		terms[i] = term(s, plane.Strides[i]) // after the input, too, where that has one element
	}
	b.WriteString("\tplace = " + sum(terms...) + ";\n\t}\n")
}

func leastOf(d array.DType) int64 {
	if !d.IsSigned() {
		return 0
	}
	return math.MinInt64 >> (64 - d.Bits())
}

// Mean prints the kernel of means: of the elements in the input, or with padding of those in
// the input padded with Pad at the start and padHi at the end; divisor replaces their number
// where it is not 0.
func (p Pool) Mean(padding bool, padHi []int, divisor int) *Kernel {
	d := p.X.DType
	w := wide(d)
	return each(product(p.Out.Shape), parameters([]array.DType{d}, []array.DType{d}), false, func(b *strings.Builder) {
		o := p.Out.order()
		at := back(o, unravel(b, "i", "c", "\t", p.Out.ordered(o).Shape))
		lead := p.begin(b, at)
		b.WriteString("\t" + register(w) + " acc = 0;\n\tint count = 0;\n")
		p.inside(b, lead, func(index string) {
			b.WriteString("\tacc += " + load(d, "x0", "base + "+index) + ";\n\tcount++;\n")
		})
		switch {
		case divisor != 0:
			b.WriteString("\tcount = " + num(divisor) + ";\n")
		case padding:
			b.WriteString("\tcount = 1;\n")
			for i, n := range p.Kernel {
				end := p.X.Shape[lead+i] + padHi[i]
				b.WriteString("\t{ int e = a" + num(i) + " + " + num(n) + "; count *= (e < " + num(end) + " ? e : " + num(end) + ") - a" + num(i) + "; }\n")
			}
		}
		b.WriteString("\t" + store(d, "y0", "i", "acc / count") + "\n")
	})
}

// Counts is how many elements windows have, i32 over the spatial dimensions of the result: those in the input with so many
// around it, before and after.
func (p Pool) Counts(lo, hi []int) *array.Array {
	rank := len(p.Kernel)
	sizes := p.Out.Shape[len(p.Out.Shape)-rank:]
	out := array.New(array.I32, sizes...)
	data, inner := array.Data[int32](out), out.Len()
	for k := range data {
		data[k] = 1
	}
	for i, n := range sizes {
		inner /= max(n, 1)
		first, last := 0, p.X.Shape[len(p.X.Shape)-rank+i]
		if lo != nil {
			first, last = -lo[i], last+hi[i]
		}
		for k := range data {
			begin := k/inner%n*p.Stride[i] - p.Pad[i]
			data[k] *= int32(max(min(begin+p.Kernel[i], last)-max(begin, first), 0))
		}
	}
	return out
}

// Sum prints the kernel of sums of integers of up to 16 bits, which the epilogue gets exactly.
func (p Pool) Sum(e Epilogue) *Kernel {
	d := p.X.DType
	c := "i64"
	const most = 1 << 15 // elements whose sum has 31 bits
	if product(p.Kernel) <= most {
		c = "int"
	}
	params := parameters([]array.DType{p.Out.DType}, append([]array.DType{d}, dtypes(e.operands())...))
	return each(product(p.Out.Shape), params, false, func(b *strings.Builder) {
		at := unravel(b, "i", "c", "\t", p.Out.Shape)
		lead := p.begin(b, at)
		b.WriteString("\t" + c + " acc = 0;\n")
		p.inside(b, lead, func(index string) { b.WriteString("\tacc += (" + c + ")x0[base + " + index + "];\n") })
		e.write(b, "\t", "(i64)acc", 1, p.Out, at)
	})
}

// Adaptive prints the kernels of adaptive pooling: windows of result o of n reach from
// o·size/n, rounded down, to (o+1)·size/n, rounded up. kind is "mean" or "max", the latter with
// indices as in Max.
func Adaptive(kind string, out, x View, spatial int, indices bool) *Kernel {
	d := x.DType
	w := wide(d)
	outs := []array.DType{d}
	if indices {
		outs = append(outs, array.I64)
	}
	lead := len(x.Shape) - spatial
	return each(product(out.Shape), parameters(outs, []array.DType{d}), false, func(b *strings.Builder) {
		at := unravel(b, "i", "c", "\t", out.Shape)
		base := View{Shape: x.Shape[:lead], Strides: x.Strides[:lead], Offset: x.Offset}
		b.WriteString("\tint base = " + base.at(at[:lead]) + ";\n")
		b.WriteString("\t" + register(w) + " acc = 0;\n\tint count = 0, place = -1;\n")
		coords := make([]string, spatial)
		for i := range spatial {
			n, size, s := num(out.Shape[lead+i]), num(x.Shape[lead+i]), "s"+num(i)
			o := at[lead+i]
			at := "(int)(((i64)" + o + " * " + size // which the 32 bits of an index may not hold
			b.WriteString("\tfor (int " + s + " = " + at + ") / " + n + "), l" + num(i) + " = " + at + " + " + num(x.Shape[lead+i]+out.Shape[lead+i]-1) + ") / " + n + "); " + s + " < l" + num(i) + "; " + s + "++)\n")
			coords[i] = s
		}
		b.WriteString("\t{\n\tint q = " + Dense(array.U8, x.Shape[lead:]).at(coords) + ";\n\t" + register(w) + " x = " + load(d, "x0", "base + q") + ";\n")
		if kind == "mean" {
			b.WriteString("\tacc += x; count++;\n\t}\n\tacc = acc / count;\n")
		} else {
			b.WriteString("\tif (place < 0 || x > acc || x != x) { acc = x; place = q; }\n\t}\n")
		}
		b.WriteString("\t" + store(d, "y0", "i", "acc") + "\n")
		if indices {
			b.WriteString("\ty1[i] = place;\n")
		}
	})
}
