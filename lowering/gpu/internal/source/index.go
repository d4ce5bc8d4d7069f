package source

import (
	"math"
	"strings"

	"github.com/gofx-dev/gofx/array"
)

// Moved prints a kernel that moves elements: result i, with coordinates at, is the element of
// in whose coordinates from returns; elements of any type are moved as bits.
func Moved(out []int, in View, from func(at []string) []string) *Kernel {
	in.DType = carrier(in.DType)
	types := []array.DType{in.DType}
	return overNest(spread(out), parameters(types, types), func(b *strings.Builder, at []string) {
		b.WriteString("\ty0[" + Dense(in.DType, out).at(at) + "] = x0[" + in.at(from(at)) + "];\n")
	})
}

// Pad prints the kernel that adds lo elements before each dimension of in, and as many after
// it as out is larger; negative numbers crop. Modes are those of kernel.Pad; value holds the
// bits of the constant.
func Pad(out []int, in View, lo []int, mode string, value uint64) *Kernel {
	d := carrier(in.DType)
	in.DType = d
	types := []array.DType{d}
	return overNest(spread(out), parameters(types, types), func(b *strings.Builder, at []string) {
		coords, tests := inner(b, out, in, lo, mode, at)
		x := "x0[" + in.at(bare(coords, in)) + "]"
		if len(tests) > 0 {
			// Read in any case: without a branch work-items become lanes.
			b.WriteString("\t" + storage(d) + " x = " + x + ";\n")
			x = strings.Join(tests, " & ") + " ? x : (" + storage(d) + ")" + "U64(" + unsignedText(value) + ")"
		}
		b.WriteString("\ty0[" + Dense(d, out).at(at) + "] = " + x + ";\n")
	})
}

// inner declares the coordinates in an operand of an element of a result that has elements around it; they are always in the
// operand, and those of constants where a test fails.
func inner(b *strings.Builder, out []int, in View, lo []int, mode string, at []string) (coords, tests []string) {
	coords = make([]string, len(out))
	for i, n := range in.Shape {
		if lo[i] == 0 && out[i] == n {
			coords[i] = at[i]
			continue
		}
		c := "s" + num(i)
		coords[i] = c
		b.WriteString("\tint " + c + " = " + at[i] + " - " + signed(lo[i]) + ";\n")
		last, size := num(n-1), num(n)
		switch mode {
		case "reflect":
			b.WriteString("\t" + c + " = " + c + " < 0 ? -" + c + " : " + c + "; " + c + " = " + c + " > " + last + " ? " + last + " - (" + c + " - " + last + ") : " + c + ";\n")
		case "replicate":
			b.WriteString("\t" + c + " = " + c + " < 0 ? 0 : " + c + " > " + last + " ? " + last + " : " + c + ";\n")
		case "circular":
			b.WriteString("\t" + c + " = " + c + " % " + size + "; " + c + " = " + c + " < 0 ? " + c + " + " + size + " : " + c + ";\n")
		default:
			in := "in" + num(i)
			b.WriteString("\tint " + in + " = " + c + " >= 0 & " + c + " < " + size + ";\n\t" + c + " = " + in + " ? " + c + " : 0;\n")
			tests = append(tests, in)
		}
	}
	return coords, tests
}

// Frame prints the kernel that makes numbers of type d of bytes less their zero point, the second operand where zero says so,
// with zeros around them.
func Frame(out []int, in View, lo []int, zero bool, d array.DType) *Kernel {
	types := []array.DType{in.DType}
	if zero {
		types = append(types, in.DType)
	}
	return overNest(spread(out), parameters([]array.DType{d}, types), func(b *strings.Builder, at []string) {
		coords, tests := inner(b, out, in, lo, "constant", at)
		b.WriteString("\tint x = (int)x0[" + in.at(bare(coords, in)) + "];\n")
		x := "x"
		if zero {
			x += " - (int)x1[0]"
		}
		b.WriteString("\ty0[" + Dense(d, out).at(at) + "] = " + strings.Join(tests, " & ") + " ? (" + storage(d) + ")(" + x + ") : (" + storage(d) + ")0;\n")
	})
}

func unsignedText(v uint64) string {
	const digits = "0123456789abcdef"
	out := []byte("0x")
	for shift := 60; shift >= 0; shift -= 4 {
		out = append(out, digits[v>>shift&15])
	}
	return string(out)
}

// Bits returns the bits of a number in a type, as its elements are stored.
func Bits(d array.DType, x float64) uint64 {
	a := array.New(d)
	array.SetFloat64At(a, 0, x)
	v := uint64(0)
	for i, c := range array.Bytes(a)[:d.Size()] {
		v |= uint64(c) << (8 * i)
	}
	return v
}

// Taken prints the kernel that takes elements of in, whose coordinate in dimension dim an index
// says: the index at the coordinates of the result that index prints; an index out of range
// is refused. rest prints the other coordinates.
func Taken(out []int, in, indices View, dim int, index, rest func(at []string) []string) *Kernel {
	d := carrier(in.DType)
	in.DType = d
	params := parameters([]array.DType{d}, []array.DType{d, indices.DType})
	return each(product(out), params, true, func(b *strings.Builder) {
		at := unravel(b, "i", "c", "\t", out)
		checked(b, load(indices.DType, "x1", indices.at(bare(index(at), indices))), in.Shape[dim])
		coords := rest(at)
		coords[dim] = "k"
		b.WriteString("\ty0[i] = x0[" + in.at(bare(coords, in)) + "];\n")
	})
}

// checked declares the index k, and refuses one that is not below n. Launches follow one another:
// the word keeps the first call that refused.
func checked(b *strings.Builder, index string, n int) {
	b.WriteString("\ti64 wanted = " + index + ";\n")
	b.WriteString("\tif (wanted < 0 || wanted >= " + num(n) + ") { if (*status == 0) *status = call; return; }\n\tint k = (int)wanted;\n")
}

// Bag prints the kernel of kernel.EmbeddingBag for bags that are rows of a matrix of indices;
// with scale, x2 scales the rows.
func Bag(mode string, out, table, indices View, scale bool) *Kernel {
	d := out.DType
	types := []array.DType{table.DType, indices.DType}
	if scale {
		types = append(types, d)
	}
	w := wide(d)
	n := indices.Shape[1]
	start := realLiteral(w, 0)
	if mode == "max" && n > 0 {
		start = realLiteral(w, math.Inf(-1))
	}
	return each(product(out.Shape), parameters([]array.DType{d}, types), true, func(b *strings.Builder) {
		at := unravel(b, "i", "c", "\t", out.Shape)
		b.WriteString("\t" + register(w) + " acc = " + start + ";\n\tfor (int j = 0; j < " + num(n) + "; j++) {\n")
		checked(b, load(indices.DType, "x1", indices.at(bare([]string{at[0], "j"}, indices))), table.Shape[0])
		x := load(table.DType, "x0", table.at(bare([]string{"k", at[1]}, table)))
		switch {
		case mode == "max":
			b.WriteString("\tacc = " + extremeOf(w, d, "max", "acc", x) + ";\n")
		case scale:
			b.WriteString("\tacc += " + x + " * " + load(d, "x2", sum(term(at[0], n), "j")) + ";\n")
		default:
			b.WriteString("\tacc += " + x + ";\n")
		}
		b.WriteString("\t}\n")
		if mode == "mean" {
			b.WriteString("\tacc = acc / " + realLiteral(w, math.Max(float64(n), 1)) + ";\n")
		}
		b.WriteString("\t" + store(d, "y0", "i", "acc") + "\n")
	})
}
