package source

import (
	"strings"

	"github.com/gofx-dev/gofx/array"
)

// preludeWords has the product of four signed bytes by four others, added to c modulo 2^32: an instruction of NVIDIA's since
// sm_61, and a function of OpenCL devices with cl_khr_integer_dot_product. That function with a sum saturates it, so the
// one without is taken.
const preludeWords = `
#if defined(cl_khr_integer_dot_product) && defined(__opencl_c_integer_dot_product_input_4x8bit_packed)
#define DP4A(a, b, c) ((int)((uint)dot_4x8packed_ss_int((uint)(a), (uint)(b)) + (uint)(c)))
#elif defined(__OPENCL_VERSION__) || defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 610
DEVICE int DP4A(int a, int b, int c) {
	uint s = (uint)c;
	for (int i = 0; i < 32; i += 8) s += (uint)((int)(schar)(a >> i) * (int)(schar)(b >> i));
	return (int)s;
}
#else
#define DP4A(a, b, c) __dp4a(a, b, c)
#endif
`

// ones are four bytes of 1: their product by a word is the sum of its bytes.
const ones = "0x01010101"

// exactly is how many products of two integers of magnitude 255 a float adds without rounding.
const exactly = 1 << 24 / (255 * 255)

// WordsOf is how many words hold n bytes.
func WordsOf(n int) int { return (n + 3) / 4 }

// QuadsOf is how many words whole quads have that hold n bytes.
func QuadsOf(n int) int { return (WordsOf(n) + quadWords - 1) / quadWords * quadWords }

// parts prints loops over what a tile sums: f is told where a part begins and ends among depth
// steps of so many products each. Floats are summed at once. Whole numbers are summed in floats only as
// long as that is exact, and then in h.
func (t Tile) parts(b *strings.Builder, depth, products int, f func(from, to string)) {
	if !t.Whole {
		f("0", num(depth))
		return
	}
	step := num(max(exactly/products, 1))
	all := num(t.Rows * t.Lanes)
	b.WriteString("\tint h[" + all + "];\n\tfor (int l = 0; l < " + all + "; l++) h[l] = 0;\n")
	b.WriteString("\tfor (int first = 0; first < " + num(depth) + "; first += " + step + ") {\n")
	b.WriteString("\tint last = first + " + step + " < " + num(depth) + " ? first + " + step + " : " + num(depth) + ";\n")
	f("first", "last")
	t.keep(b)
	b.WriteString("\tfor (int l = 0; l < " + all + "; l++) h[l] = (int)((uint)h[l] + (uint)(int)t[l]);\n\t}\n")
}

// Takes reports whether a tile of whole numbers can sum windows of so many elements.
func (t Tile) Takes(window int) bool { return window <= exactly }

// sums is the type that a kernel's sums are handed to the epilogue in.
func (e Epilogue) sums() array.DType { return e.In[e.Acc].DType }

// multiplyAdd prints acc + x·y in the wide type w; integers wrap around in d.
func multiplyAdd(w, d array.DType, x, y string) string {
	if w != array.I64 {
		return "acc = FMA(" + x + ", " + y + ", acc);"
	}
	return "acc = " + wrap(d, "((u64)acc + (u64)"+x+" * (u64)"+y+")") + ";"
}

// Words prints the kernel that lays bytes out for DP4A: along axis, whose groups parts are apart, four
// make an i32 of signed ones, the last of a part filled up with zeros; u8 is stored less 128. Around x, which begins
// at lo in a result of shape dims, is the zero point, the second operand where zero says so.
func Words(x View, axis, groups int, dims, lo []int, zero bool) *Kernel {
	each4, words := x.Shape[axis]/groups, dims[axis]/groups
	in, flip := []array.DType{x.DType}, "0u"
	if zero {
		in = append(in, x.DType)
	}
	if x.DType == array.U8 {
		flip = "128u"
	}
	return each(product(dims), parameters([]array.DType{array.I32}, in), false, func(b *strings.Builder) {
		c := unravel(b, "i", "c", "\t", dims)
		var inside []string
		at := make([]string, len(c))
		for k, v := range c {
			at[k] = v
			if k != axis && (lo[k] != 0 || dims[k] != x.Shape[k]) {
				at[k] = "(" + v + " - " + num(lo[k]) + ")"
				inside = append(inside, at[k]+" >= 0", at[k]+" < "+num(x.Shape[k]))
				if x.Shape[k] == 1 {
					at[k] = "0"
				}
			}
		}
		b.WriteString("\tint word = " + c[axis] + " % " + num(words) + ", part = " + c[axis] + " / " + num(words) + ";\n")
		b.WriteString("\tuint v = 0;\n\tfor (int j = 0; j < 4; j++) {\n\t\tint k = word * 4 + j;\n")
		b.WriteString("\t\tif (k >= " + num(each4) + ") break;\n")
		at[axis] = "(part * " + num(each4) + " + k)"
		e := "(uint)(uchar)x0[" + x.at(at) + "]"
		if len(inside) > 0 {
			around := "0u"
			if zero {
				around = "(uint)(uchar)x1[0]"
			}
			e = "(" + strings.Join(inside, " && ") + " ? " + e + " : " + around + ")"
		}
		b.WriteString("\t\tv |= (" + e + " ^ " + flip + ") << (8 * j);\n\t}\n\ty0[i] = (int)v;\n")
	})
}

// RowSums prints the kernel that adds the bytes of each of rows rows of words.
func RowSums(rows, words int) *Kernel {
	return each(rows, parameters([]array.DType{array.I32}, []array.DType{array.I32}), false, func(b *strings.Builder) {
		b.WriteString("\tint s = 0;\n\tfor (int k = 0; k < " + num(words) + "; k++) s = DP4A(x0[i * " + num(words) + " + k], " + ones + ", s);\n\ty0[i] = s;\n")
	})
}

// WindowSums prints the kernel that adds the bytes of the window of each place, [N, spatial...] of
// them, of words in one group.
func (c Conv) WindowSums(places []int) *Kernel {
	return each(product(places), parameters([]array.DType{array.I32}, []array.DType{array.I32}), false, func(b *strings.Builder) {
		at := unravel(b, "i", "c", "\t", places)
		b.WriteString("\tint a = " + c.origin(at[0], "", at[1:]) + ";\n\tint s = 0;\n")
		c.taps(b, "\t", "0", num(c.X.Shape[1]), func(tab, offset string) {
			b.WriteString(tab + "s = DP4A(x0[" + sum("a", offset) + "], " + ones + ", s);\n")
		})
		b.WriteString("\ty0[i] = s;\n")
	})
}

// Lookup prints the kernel that replaces bytes by entries of a table of 256, bytes too, which their bits name.
func Lookup(count int) *Kernel {
	return each(count, parameters([]array.DType{array.U8}, []array.DType{array.U8, array.U8}), false, func(b *strings.Builder) {
		b.WriteString("\ty0[i] = x1[x0[i]];\n")
	})
}
