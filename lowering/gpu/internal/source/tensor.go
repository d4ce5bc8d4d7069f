package source

import (
	"strings"

	"github.com/gofx-dev/gofx/array"
)

// Warps is the part of a product that a group computes by tensor cores: Down by Across warps, of
// which each has Rows by Columns results, multiples of 16.
type Warps struct{ Down, Across, Rows, Columns int }

// A round brings quadsOf quads of words of 32 bits of every line to local memory, where lines
// lie quadPitch quads apart: eight of them, which are read at once, are in different banks.
const (
	quadWords = 4
	quadsOf   = 4
	quadPitch = quadsOf + 1
	wordsOf   = quadWords * quadsOf
)

// TensorLeast is how many rows, columns and sums pay for a product by tensor cores: one
// instruction computes that many.
const TensorLeast = 16

// WarpsFor chooses the warps of groups for count products of rows by columns on a device with so
// many processors: large groups read less, small ones leave no processor idle.
func WarpsFor(count, rows, columns, units int) Warps {
	for _, k := range []Warps{{2, 4, 64, 32}, {2, 2, 32, 32}} {
		r, c := k.lines()
		groups := count * ((rows + r - 1) / r) * ((columns + c - 1) / c)
		if rows > r/2 && columns > c/2 && groups >= units {
			return k
		}
	}
	return Warps{2, 2, 16, 16}
}

// lines are how many rows and columns a group has.
func (k Warps) lines() (rows, columns int) { return k.Down * k.Rows, k.Across * k.Columns }

// items is how many work-items a group has.
func (k Warps) items() int { return k.Down * k.Across * 32 }

// preludeTensor has the instructions of tensor cores. A fragment is words of 32 bits, with four
// signed bytes, two elements of 16 bits or one of tf32: thread t + 4 * g of a warp has words t and
// t + 4 of rows g and g + 8 of a, of column g of b, and sums of columns 2 * t and 2 * t + 1 of these
// rows. fx_matrices reads four 8 by 4 words: thread i names row i % 8 of matrix i / 8, and gets word
// i % 4 of row i / 4 of each. A compiler for another machine defines FX_TENSOR and has functions of
// its own. fx_move copies word by word: quads that are copied whole are kept in memory of a work-item.
const preludeTensor = `
struct alignas(16) fx_quad { uint w[4]; };
struct alignas(8) fx_pair { uint w[2]; };
DEVICE void fx_move(fx_quad *to, const fx_quad *from) { to->w[0] = from->w[0], to->w[1] = from->w[1], to->w[2] = from->w[2], to->w[3] = from->w[3]; }
DEVICE void fx_read(uint *to, const fx_quad *from) { to[0] = from->w[0], to[1] = from->w[1], to[2] = from->w[2], to[3] = from->w[3]; }
DEVICE void fx_read(uint *to, const fx_pair *from) { to[0] = from->w[0], to[1] = from->w[1]; }
DEVICE void fx_write(fx_quad *to, const uint *from) { to->w[0] = from[0], to->w[1] = from[1], to->w[2] = from[2], to->w[3] = from[3]; }
DEVICE void fx_write(fx_pair *to, const uint *from) { to->w[0] = from[0], to->w[1] = from[1]; }
#ifndef FX_TENSOR
#define FX_TENSOR
#define FX_MMA(name, type, as, text) \
DEVICE void name(type *c, const uint *a, const uint *b) { \
	asm volatile("mma.sync.aligned." text " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
		: as(c[0]), as(c[1]), as(c[2]), as(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])); \
}
#define FX_FLOAT(x) "+f"(x)
#define FX_INT(x) "+r"(x)
FX_MMA(fx_mma_f16, float, FX_FLOAT, "m16n8k16.row.col.f32.f16.f16.f32")
FX_MMA(fx_mma_bf16, float, FX_FLOAT, "m16n8k16.row.col.f32.bf16.bf16.f32")
FX_MMA(fx_mma_tf32, float, FX_FLOAT, "m16n8k8.row.col.f32.tf32.tf32.f32")
FX_MMA(fx_mma_s8, int, FX_INT, "m16n8k32.row.col.s32.s8.s8.s32")
DEVICE void fx_matrices(uint *r, const void *p) {
	uint at;
	asm("{ .reg .u64 a; cvta.to.shared.u64 a, %1; cvt.u32.u64 %0, a; }" : "=r"(at) : "l"(p));
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
		: "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
}
#endif
DEVICE uint fx_tf32(float x) {
	uint b = AS_U32(x);
	return (b & 0x7fffffff) >= 0x7f800000u ? b : (b + 0x1000) & ~0x1fffu;
}
`

// mma returns what multiplies fragments of a type, and the type of its sums. I32 stands for words of
// four signed bytes, whose sums are exact modulo 2^32.
func mma(d array.DType) (function, sums string) {
	switch d {
	case array.F16:
		return "fx_mma_f16", "float"
	case array.BF16:
		return "fx_mma_bf16", "float"
	case array.I32:
		return "fx_mma_s8", "int"
	}
	return "fx_mma_tf32", "float"
}

// inWord is how many elements of a type are in a word.
func inWord(d array.DType) int { return max(4/d.Size(), 1) }

// word prints the bits of an element as tensor cores take them.
func word(d array.DType, x string) string {
	if d == array.F32 {
		return "fx_tf32(" + x + ")"
	}
	return "(uint)" + x
}

// strip is an operand of a product by warps; its lines are rows of the left one, columns of the
// right one.
type strip struct {
	name, buffer string
	dtype        array.DType
	first        string // the number of the group's first line
	n, all       int    // lines of the group, of the operand
	depth        int    // elements of a line
	along        bool   // elements of a line lie side by side, rather than lines
	wide         bool   // and quads of words too, where a pointer to quads may point
	// dealt says that lines lie in local memory so that a work-item gets the results of columns that lie side by side.
	dealt bool
	// start prints the index of the first element of a line; it may declare variables before that.
	start func(line string) string
	// quad returns how the index of element i of a quad that begins with element k is printed, of a
	// line that starts at an index; it may declare variables before that.
	quad func(start, k string) func(i int) string
}

// quads is how many quads of a round a work-item brings.
func (k Warps) quads(s strip) int { return s.n * quadsOf / k.items() }

// own prints which lines and quads of a strip a work-item brings. Lines after the last one are
// the last one, and nobody asks for their results.
func (k Warps) own(b *strings.Builder, s strip) {
	b.WriteString("\tLOCAL fx_quad " + s.name + "[" + num(2*s.n*quadPitch) + "];\n")
	for i := range k.quads(s) {
		at := s.name + num(i)
		item := sum("LANE0", num(i*k.items()))
		line, quad := "("+item+") / "+num(quadsOf), "("+item+") % "+num(quadsOf)
		if !s.along {
			line, quad = "("+item+") % "+num(s.n), "("+item+") / "+num(s.n)
		}
		b.WriteString("\tint " + at + "l = " + line + ", " + at + "q = " + quad + ", " + at + "n = " + sum(s.first, k.line(s, at+"l")) + ";\n")
		b.WriteString("\t" + at + "n = " + at + "n" + lessThan(true, at+"n", s.all) + ";\n")
		start := s.start(at + "n")
		b.WriteString("\tint " + at + "s = " + start + ";\n\tfx_quad " + at + ";\n")
	}
}

// read prints the reads of a round's quads of a strip. What is after the last element is zero.
func (k Warps) read(b *strings.Builder, s strip) {
	elements := inWord(s.dtype)
	some := s.depth%(elements*wordsOf) != 0
	for i := range k.quads(s) {
		at := s.name + num(i)
		b.WriteString("\t\t{\n\t\tint k = " + term("(k0 + "+at+"q * "+num(quadWords)+")", elements) + ";\n")
		if some && s.depth%(elements*quadWords) == 0 {
			b.WriteString("\t\tif (k >= " + num(s.depth) + ") " + at + ".w[0] = " + at + ".w[1] = " + at + ".w[2] = " + at + ".w[3] = 0;\n\t\telse {\n")
		} else {
			b.WriteString("\t\t{\n")
		}
		k.readQuad(b, s, at, some && s.depth%(elements*quadWords) != 0)
		b.WriteString("\t\t}\n\t\t}\n")
	}
}

// readQuad prints the read of one quad; guarded says that each of its elements may be after the last.
func (k Warps) readQuad(b *strings.Builder, s strip, at string, guarded bool) {
	elements := inWord(s.dtype)
	element := s.quad(at+"s", "k")
	if s.wide {
		b.WriteString("\t\tfx_move(&" + at + ", (const fx_quad *)(" + s.buffer + " + " + element(0) + "));\n")
		if s.dtype == array.F32 {
			for w := range quadWords {
				b.WriteString("\t\t" + at + ".w[" + num(w) + "] = fx_tf32(AS_F32(" + at + ".w[" + num(w) + "]));\n")
			}
		}
		return
	}
	for w := range quadWords {
		var parts []string
		for e := range elements {
			i := w*elements + e
			v := word(s.dtype, s.buffer+"["+element(i)+"]")
			if guarded {
				v = "(" + sum("k", num(i)) + " < " + num(s.depth) + " ? " + v + " : 0u)"
			}
			if e > 0 {
				v += " << " + num(e*16)
			}
			parts = append(parts, v)
		}
		b.WriteString("\t\t" + at + ".w[" + num(w) + "] = " + strings.Join(parts, " | ") + ";\n")
	}
}

// multiply prints the sums s[Rows/16][Columns/8][4] of a work-item; rows say what is multiplied. While a round is multiplied,
// the next one is on its way to registers; local memory has room for both.
func (k Warps) multiply(b *strings.Builder, rows, columns strip) {
	line := func(s string) { b.WriteString("\t" + s + "\n") }
	function, sums := mma(rows.dtype)
	both := []strip{rows, columns}
	for _, s := range both {
		k.own(b, s)
	}
	line("int lane = LANE0 % 32, warp = LANE0 / 32;")
	line("int down = warp % " + num(k.Down) + " * " + num(k.Rows) + ", across = warp / " + num(k.Down) + " * " + num(k.Columns) + ";")
	line(sums + " s[" + num(k.Rows/16) + "][" + num(k.Columns/8) + "][4] = {};")
	words := (rows.depth + inWord(rows.dtype) - 1) / inWord(rows.dtype)
	rounds := (words + wordsOf - 1) / wordsOf
	depth := num(rounds * wordsOf)
	line("for (int k0 = 0, half = 0; k0 <= " + depth + "; k0 += " + num(wordsOf) + ", half ^= 1) {")
	line("\tif (k0 < " + depth + ") {")
	for _, s := range both {
		k.read(b, s)
	}
	line("\t}")
	line("\tif (k0 > 0) {")
	k.fragments(b, rows, columns, function)
	line("\t}")
	line("\tif (k0 < " + depth + ") {")
	for _, s := range both {
		for i := range k.quads(s) {
			at := s.name + num(i)
			line("\t\tfx_move(&" + s.name + "[half * " + num(s.n*quadPitch) + " + " + at + "l * " + num(quadPitch) + " + " + at + "q], &" + at + ");")
		}
	}
	line("\t}")
	line("\tBARRIER;")
	line("}")
}

// fragments prints the products of the round before: 8 words of each line at a time.
func (k Warps) fragments(b *strings.Builder, rows, columns strip, function string) {
	line := func(s string) { b.WriteString("\t\t" + s + "\n") }
	before := func(s strip) string { return s.name + " + (half ^ 1) * " + num(s.n*quadPitch) }
	line("const fx_quad *fa = " + before(rows) + " + (down + lane % 16) * " + num(quadPitch) + " + lane / 16;")
	line("const fx_quad *fb = " + before(columns) + " + (across + lane / 16 * 8 + lane % 8) * " + num(quadPitch) + " + lane / 8 % 2;")
	line(unroll)
	line("for (int w = 0; w < " + num(quadsOf) + "; w += 2) {")
	line("\tuint a[" + num(k.Rows/16) + "][4], b[" + num(k.Columns/16) + "][4];")
	line(unroll)
	line("\tfor (int p = 0; p < " + num(k.Rows/16) + "; p++) fx_matrices(a[p], fa + p * " + num(16*quadPitch) + " + w);")
	line(unroll)
	line("\tfor (int q = 0; q < " + num(k.Columns/16) + "; q++) fx_matrices(b[q], fb + q * " + num(16*quadPitch) + " + w);")
	line(unroll)
	line("\tfor (int p = 0; p < " + num(k.Rows/16) + "; p++)")
	line(unroll)
	line("\tfor (int q = 0; q < " + num(k.Columns/8) + "; q++) " + function + "(s[p][q], a[p], b[q / 2] + q % 2 * 2);")
	line("}")
}

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

// kernel prints a kernel of count groups.
func (k Warps) kernel(count int, params []param, write func(b *strings.Builder)) *Kernel {
	out := &Kernel{Group: [3]int{k.items(), 1, 1}, Groups: [3]int{count, 1, 1}, Tensor: true}
	return out.print(params, write)
}

// aligned reports whether quads of words of a view, with lines in dimension line and elements in
// dimension deep, lie side by side where a pointer to them may point.
func aligned(v View, deep int) bool {
	quad := quadWords * inWord(v.DType)
	if v.Strides[deep] != 1 || v.Shape[deep]%quad != 0 || v.Offset%quad != 0 {
		return false
	}
	for i, s := range v.Strides {
		if i != deep && s%quad != 0 {
			return false
		}
	}
	return true
}

// Product prints the kernel of the matrix product of a [batch.., M, K] and bb [batch.., K, N] of
// any layout and one type, then the epilogue: f16 and bf16 as they are, f32 rounded to tf32, I32 as words of
// bytes; sums of these are I32, others f32. For CUDA devices of sm_80 and later.
func (k Warps) Product(out, a, bb View, e Epilogue) *Kernel {
	rank := len(out.Shape)
	m, n, depth := out.Shape[rank-2], out.Shape[rank-1], a.Shape[len(a.Shape)-1]
	batch := out.Shape[:rank-2]
	a = a.Expand(append(append([]int{}, batch...), m, depth))
	bb = bb.Expand(append(append([]int{}, batch...), depth, n))
	down, across := k.lines()
	dims := append(append([]int{}, batch...), (m+down-1)/down, (n+across-1)/across)
	params := parameters([]array.DType{out.DType}, append([]array.DType{a.DType, bb.DType}, dtypes(e.operands())...))
	return k.kernel(product(dims), params, func(b *strings.Builder) {
		c := unravel(b, "GROUP0", "c", "\t", dims)
		lead := c[:rank-2]
		b.WriteString("\tint m = " + sum(term(c[rank-2], down)) + ", n = " + sum(term(c[rank-1], across)) + ";\n")
		side := func(name, buffer, first string, v View, n, line, deep int) strip {
			s := strip{name: name, buffer: buffer, dtype: v.DType, first: first, n: n, all: v.Shape[line], depth: depth}
			s.along, s.wide = v.Strides[deep] <= v.Strides[line], aligned(v, deep)
			s.start = func(i string) string {
				at := append(append([]string{}, lead...), "0", "0")
				at[line] = i
				return v.at(at)
			}
			s.quad = func(start, k string) func(int) string {
				return func(i int) string { return sum(start, term(k, v.Strides[deep]), num(i*v.Strides[deep])) }
			}
			return s
		}
		columns := side("tb", "x1", "n", bb, across, rank-1, rank-2)
		r := results{Epilogue: e, out: out, axis: rank - 1, rows: m, columns: n, row: func() {}}
		r.at = func(col string) []string { return append(append([]string{}, lead...), "row", col) }
		columns.dealt = k.deals(r)
		k.multiply(b, side("ta", "x0", "m", a, down, rank-2, rank-1), columns)
		k.results(b, r)
	})
}
