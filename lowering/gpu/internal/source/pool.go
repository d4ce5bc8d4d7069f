package source

import (
	"math"
	"strings"

	"github.com/gofx-dev/gofx/array"
)

// Pool is a reduction of windows of the last dimensions of x to out, which has the same
// dimensions before them; both are dense.
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
	body(Dense(array.U8, p.X.Shape[lead:]).at(coords))
	b.WriteString(strings.Repeat("\t}\n", len(p.Kernel)))
}

// Max prints the kernel of the greatest elements, and with indices of their places in the
// plane: the first of equals, the last NaN. A window beside the input has the least value of the
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
	return each(product(p.Out.Shape), parameters(outs, []array.DType{d}), false, func(b *strings.Builder) {
		at := unravel(b, "i", "c", "\t", p.Out.Shape)
		lead := p.begin(b, at)
		if !indices && p.clamps(lead) {
			best := p.clamped(b, lead, register(w), number)
			b.WriteString("\t" + store(d, "y0", "i", best) + "\n")
			return
		}
		b.WriteString("\t" + register(w) + " best = " + least + ";\n\tint place = -1;\n")
		p.inside(b, lead, func(index string) {
			b.WriteString("\tint q = " + index + ";\n\t" + register(w) + " x = " + load(d, "x0", "base + q") + ";\n")
			b.WriteString("\tif (place < 0 || " + number + "x > " + number + "best || x != x) { best = x; place = q; }\n")
		})
		b.WriteString("\t" + store(d, "y0", "i", "best") + "\n")
		if indices {
			p.first(b, lead)
			b.WriteString("\ty1[i] = place;\n")
		}
	})
}

// clamps reports whether the greatest element of a window is that of its elements whose
// coordinates are brought into the input: every window has some of it, without gaps.
func (p Pool) clamps(lead int) bool {
	for i, n := range p.Kernel {
		size, out := p.X.Shape[lead+i], p.Out.Shape[lead+i]
		if p.Dilation[i] != 1 || p.Pad[i] >= n || (out-1)*p.Stride[i]-p.Pad[i] >= size {
			return false
		}
	}
	return product(p.Kernel) <= mostTaps
}

// clamped prints the greatest of a window's elements without a branch, so that work-items can
// be the lanes of a register, and returns its name.
func (p Pool) clamped(b *strings.Builder, lead int, typ, number string) string {
	for i, n := range p.Kernel {
		last := num(p.X.Shape[lead+i] - 1)
		for f := range n {
			s := "s" + num(i) + "_" + num(f)
			b.WriteString("\tint " + s + " = " + sum("a"+num(i), num(f)) + "; " + s + " = " + s + " < 0 ? 0 : " + s + " > " + last + " ? " + last + " : " + s + ";\n")
		}
	}
	taps := product(p.Kernel)
	coords := make([]string, len(p.Kernel))
	for t := range taps {
		for i, rest := len(p.Kernel)-1, t; i >= 0; i-- {
			coords[i] = "s" + num(i) + "_" + num(rest%p.Kernel[i])
			rest /= p.Kernel[i]
		}
		x := "x_" + num(t)
		b.WriteString("\t" + typ + " " + x + " = " + load(p.X.DType, "x0", "base + "+Dense(array.U8, p.X.Shape[lead:]).at(coords)) + ";\n")
		if t > 0 {
			b.WriteString("\tx_0 = " + number + x + " > " + number + "x_0 || " + x + " != " + x + " ? " + x + " : x_0;\n")
		}
	}
	return "x_0"
}

// first sets place, where it is none, to that of the first element not before the input.
func (p Pool) first(b *strings.Builder, lead int) {
	b.WriteString("\tif (place < 0) {\n")
	coords := make([]string, len(p.Kernel))
	for i := range p.Kernel {
		s, dil := "z"+num(i), num(p.Dilation[i])
		b.WriteString("\tint " + s + " = a" + num(i) + "; if (" + s + " < 0) " + s + " += (-" + s + " + " + dil + " - 1) / " + dil + " * " + dil + ";\n")
		coords[i] = s
	}
	b.WriteString("\tplace = " + Dense(array.U8, p.X.Shape[lead:]).at(coords) + ";\n\t}\n")
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
		at := unravel(b, "i", "c", "\t", p.Out.Shape)
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
			b.WriteString("\tfor (int " + s + " = " + o + " * " + size + " / " + n + "; " + s + " < ((" + o + " + 1) * " + size + " + " + n + " - 1) / " + n + "; " + s + "++)\n")
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
