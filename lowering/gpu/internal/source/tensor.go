package source

import (
	"strings"

	"github.com/gofx-dev/gofx/array"
)

// Sizes of the tiles of Tensor: a group of four warps computes tensorSide rows and columns,
// each warp a quarter. A round reads tensorWords words of 32 bits of each row and column; rows
// lie tensorPitch words apart, so that the words of a fragment are in different banks.
const (
	tensorSide  = 64
	tensorWarp  = tensorSide / 2
	tensorWords = 16
	tensorPitch = tensorWords + 4
	tensorGroup = 128
)

// TensorLeast is how many rows, columns and sums pay for a product by tensor cores: one
// instruction computes that many.
const TensorLeast = 16

// preludeTensor has the instructions of tensor cores. A fragment is words of 32 bits, with two
// elements of 16 bits or one of tf32: thread t + 4 * g of a warp has words t and t + 4 of rows g
// and g + 8 of a, of column g of b, and sums of columns 2 * t and 2 * t + 1 of these rows. A
// compiler for another machine defines FX_TENSOR and has functions of its own.
const preludeTensor = `
#ifndef FX_TENSOR
#define FX_TENSOR
#define FX_MMA(name, text) \
DEVICE void name(float *c, const uint *a, const uint *b) { \
	asm volatile("mma.sync.aligned." text " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
		: "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])); \
}
FX_MMA(fx_mma_f16, "m16n8k16.row.col.f32.f16.f16.f32")
FX_MMA(fx_mma_bf16, "m16n8k16.row.col.f32.bf16.bf16.f32")
FX_MMA(fx_mma_tf32, "m16n8k8.row.col.f32.tf32.tf32.f32")
#endif
DEVICE uint fx_tf32(float x) {
	uint b = AS_U32(x);
	return (b & 0x7fffffff) >= 0x7f800000u ? b : (b + 0x1000) & ~0x1fffu;
}
`

// mma returns what multiplies fragments of a type, and how many elements are in a word.
func mma(d array.DType) (function string, elements int) {
	switch d {
	case array.F16:
		return "fx_mma_f16", 2
	case array.BF16:
		return "fx_mma_bf16", 2
	}
	return "fx_mma_tf32", 1
}

// Tensor prints the matrix product of a [batch.., M, K] and bb [batch.., K, N] of any layout and
// one type by tensor cores, then the epilogue: f16 and bf16 as they are, f32 rounded to tf32; sums
// are f32. For CUDA devices of sm_80 and later.
func Tensor(out, a, bb View, e Epilogue) *Kernel {
	rank := len(out.Shape)
	m, n, k := out.Shape[rank-2], out.Shape[rank-1], a.Shape[len(a.Shape)-1]
	batch := out.Shape[:rank-2]
	a = a.Expand(append(append([]int{}, batch...), m, k))
	bb = bb.Expand(append(append([]int{}, batch...), k, n))
	tiles := func(n int) int { return (n + tensorSide - 1) / tensorSide }
	dims := append(append([]int{}, batch...), tiles(m), tiles(n))
	function, elements := mma(a.DType)
	kernel := &Kernel{Group: [3]int{tensorGroup, 1, 1}, Groups: [3]int{product(dims), 1, 1}, Tensor: true}
	var b strings.Builder
	begin(&b, kernel.Group, parameters([]array.DType{out.DType}, append([]array.DType{a.DType, bb.DType}, dtypes(e.operands())...)), false)
	b.WriteString("\tLOCAL uint ta[" + num(tensorSide*tensorPitch) + "], tb[" + num(tensorSide*tensorPitch) + "];\n")
	b.WriteString("\tint i = GROUP0, g = LANE0 % 32 / 4, t = LANE0 % 4;\n")
	b.WriteString("\tint rows = LANE0 / 32 % 2 * " + num(tensorWarp) + ", columns = LANE0 / 64 * " + num(tensorWarp) + ";\n")
	c := unravel(&b, "i", "c", "\t", dims)
	at := c[:rank-2]
	b.WriteString("\tint m0 = " + sum(term(c[rank-2], tensorSide)) + ", n0 = " + sum(term(c[rank-1], tensorSide)) + ";\n")
	b.WriteString("\tfloat s[2][4][4] = {};\n\tfor (int k0 = 0; k0 < " + num(k) + "; k0 += " + num(tensorWords*elements) + ") {\n")
	stage(&b, "ta", "m0", m, k, elements, a.Strides[rank-1] <= a.Strides[rank-2], func(line, k string) string {
		return word(a.DType, "x0", a.at(append(append([]string{}, at...), line, k)))
	})
	stage(&b, "tb", "n0", n, k, elements, bb.Strides[rank-2] <= bb.Strides[rank-1], func(line, k string) string {
		return word(bb.DType, "x1", bb.at(append(append([]string{}, at...), k, line)))
	})
	b.WriteString("\t\tBARRIER;\n")
	fragments(&b, function)
	b.WriteString("\t\tBARRIER;\n\t}\n")
	b.WriteString("#pragma unroll\n\tfor (int p = 0; p < 2; p++)\n#pragma unroll\n\tfor (int q = 0; q < 4; q++)\n#pragma unroll\n\tfor (int r = 0; r < 4; r++) {\n")
	b.WriteString("\t\tint row = m0 + rows + p * 16 + r / 2 * 8 + g, column = n0 + columns + q * 8 + t * 2 + r % 2;\n")
	b.WriteString("\t\tif (row >= " + num(m) + " || column >= " + num(n) + ") continue;\n")
	e.write(&b, "\t\t", "s[p][q][r]", 2, out, append(append([]string{}, at...), "row", "column"))
	b.WriteString("\t}\n}\n")
	kernel.Text = b.String()
	return kernel.finish()
}

// word prints the bits of an element as tensor cores take them.
func word(d array.DType, buffer, index string) string {
	if d == array.F32 {
		return "fx_tf32(" + buffer + "[" + index + "])"
	}
	return "(uint)" + buffer + "[" + index + "]"
}

// stage prints the copy of one round of an operand to a tile: lines are its rows or columns,
// zeros stand for what there is not. along says that elements of a line lie closer than those of
// one k, so that neighbouring work-items read neighbouring elements.
func stage(b *strings.Builder, tile, first string, lines, k, elements int, along bool, element func(line, k string) string) {
	const words = tensorSide * tensorWords
	line, w := "j / "+num(tensorWords), "j % "+num(tensorWords)
	if !along {
		line, w = "j % "+num(tensorSide), "j / "+num(tensorSide)
	}
	b.WriteString("\t\tfor (int j = LANE0; j < " + num(words) + "; j += " + num(tensorGroup) + ") {\n")
	b.WriteString("\t\t\tint l = " + line + ", w = " + w + ", line = " + first + " + l;\n\t\t\tuint v = 0;\n")
	for i := range elements {
		at := "k" + num(i+1)
		b.WriteString("\t\t\tint " + at + " = k0 + w * " + num(elements) + " + " + num(i) + ";\n")
		b.WriteString("\t\t\tif (line < " + num(lines) + " && " + at + " < " + num(k) + ") v |= " + element("line", at) + " << " + num(i*16) + ";\n")
	}
	b.WriteString("\t\t\t" + tile + "[l * " + num(tensorPitch) + " + w] = v;\n\t\t}\n")
}

// fragments prints the products of one round: 8 words of each row and column at a time.
func fragments(b *strings.Builder, function string) {
	pitch, skip := num(tensorPitch), num(8*tensorPitch)
	b.WriteString("#pragma unroll\n\t\tfor (int w = 0; w < " + num(tensorWords) + "; w += 8) {\n\t\t\tuint a[2][4], b[4][2];\n")
	b.WriteString("#pragma unroll\n\t\t\tfor (int p = 0; p < 2; p++) {\n\t\t\t\tconst uint *f = ta + (rows + p * 16 + g) * " + pitch + " + w + t;\n")
	b.WriteString("\t\t\t\ta[p][0] = f[0]; a[p][1] = f[" + skip + "]; a[p][2] = f[4]; a[p][3] = f[" + skip + " + 4];\n\t\t\t}\n")
	b.WriteString("#pragma unroll\n\t\t\tfor (int q = 0; q < 4; q++) {\n\t\t\t\tconst uint *f = tb + (columns + q * 8 + g) * " + pitch + " + w + t;\n")
	b.WriteString("\t\t\t\tb[q][0] = f[0]; b[q][1] = f[4];\n\t\t\t}\n")
	b.WriteString("#pragma unroll\n\t\t\tfor (int p = 0; p < 2; p++)\n#pragma unroll\n\t\t\tfor (int q = 0; q < 4; q++) " + function + "(s[p][q], a[p], b[q]);\n\t\t}\n")
}
