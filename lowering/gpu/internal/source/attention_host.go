package source

import (
	"strings"

	"github.com/gofx-dev/gofx/array"
)

// keysAtOnce is how many keys a work-item of a CPU meets before it corrects its sums.
const keysAtOnce = 128

// AttentionTile chooses a tile for values of that many features, on a CPU with vectors of that many floats.
// Its rows have one vector each: what queries bring lies in memory, and needs no register.
func AttentionTile(vector, features int) Tile {
	t := TileFor(vector, features)
	if t.Lanes > widest {
		t = Tile{Rows: 12, Lanes: widest, Group: 1}
	}
	return t
}

// Keys is the view of the keys that Tile.Pack lays out for InTile: as columns.
func (a Attention) Keys() View {
	v, r := a.K, len(a.K.Shape)
	v.Shape, v.Strides = append([]int{}, v.Shape...), append([]int{}, v.Strides...)
	v.Shape[r-1], v.Shape[r-2] = v.Shape[r-2], v.Shape[r-1]
	v.Strides[r-1], v.Strides[r-2] = v.Strides[r-2], v.Strides[r-1]
	return v
}

// packed is the view of packed matrices with the leading dimensions of v, each one row.
func (t Tile) packed(v View, rows, columns int) View {
	lead := append([]int{}, v.Shape[:len(v.Shape)-2]...)
	return Dense(array.F32, append(lead, t.Panels(columns)*rows*t.Lanes))
}

// InTile prints the attention for devices whose work-items run one after the other: each has as
// many queries as the tile has rows, and its vectors are keys at first, then values. Operands
// are q, the packed keys and values, and the mask.
func (a Attention) InTile(t Tile) *Kernel {
	queries, keys, depth, features := a.sizes()
	t.Rows = min(t.Rows, queries)
	t.Group = 1
	dims := append(append([]int{}, a.batch()...), (queries+t.Rows-1)/t.Rows)
	rows, wide, at := num(t.Rows), t.Panels(features)*t.Lanes, num(keysAtOnce)
	k := t.kernel(product(dims), a.params(array.F32, array.F32), func(b *strings.Builder) {
		c := unravel(b, "i", "c", "\t", dims)
		lead := c[:len(c)-1]
		b.WriteString("\tint m = " + sum(term(c[len(c)-1], t.Rows)) + ";\n")
		b.WriteString("\tGLOBAL const float *keys = x1 + " + a.of(t.packed(a.K, depth, keys), lead, "0") + ";\n")
		b.WriteString("\tGLOBAL const float *values = x2 + " + a.of(t.packed(a.V, keys, features), lead, "0") + ";\n")
		b.WriteString("\tfloat q[" + num(t.Rows*depth) + "], s[" + num(t.Rows*keysAtOnce) + "], o[" + num(t.Rows*wide) + "];\n")
		b.WriteString("\tfloat most[" + rows + "], total[" + rows + "];\n\tint kept[" + rows + "];\n")
		b.WriteString("\tfor (int r = 0; r < " + rows + "; r++) {\n\t\tmost[r] = NONE; total[r] = 0.0f; kept[r] = 0;\n")
		b.WriteString("\t\tint row = m + r" + lessThan(queries%t.Rows != 0, "m + r", queries) + ";\n")
		b.WriteString("\t\tfor (int e = 0; e < " + num(depth) + "; e++) q[r * " + num(depth) + " + e] = " +
			load(a.Q.DType, "x0", a.of(a.Q, lead, "row", "e")) + " * " + f32(a.Scale) + ";\n\t}\n")
		b.WriteString("\tfor (int f = 0; f < " + num(t.Rows*wide) + "; f++) o[f] = 0.0f;\n")
		b.WriteString("\tint end = " + a.end("m + "+num(t.Rows-1), keys) + ";\n")
		b.WriteString("\tfor (int first = 0; first < end; first += " + at + ") {\n")
		b.WriteString("\t\tint n = end - first < " + at + " ? end - first : " + at + ";\n")
		a.scoresInTile(b, t, depth)
		b.WriteString("\t\tfor (int r = 0; r < " + rows + "; r++) {\n\t\t\tint row = m + r" + lessThan(queries%t.Rows != 0, "m + r", queries) + ";\n")
		a.weighInTile(b, t, lead, wide)
		b.WriteString("\t\t}\n")
		a.mixInTile(b, t, keys, wide)
		b.WriteString("\t}\n\tfor (int r = 0; r < " + rows + "; r++) {\n\tint row = m + r;\n" + t.stop("row", queries))
		b.WriteString("\tfor (int f = 0; f < " + num(features) + "; f++) " +
			store(a.Out.DType, "y0", a.Out.at(append(append([]string{}, lead...), "row", "f")), a.quotient("o[r * "+num(wide)+" + f]", "total[r]", "kept[r]")) + "\n\t}\n")
	})
	return k
}

// end prints the number of the key after the last one that queries up to last meet.
func (a Attention) end(last string, keys int) string {
	if !a.Causal {
		return num(keys)
	}
	return last + " + 1 < " + num(keys) + " ? " + last + " + 1 : " + num(keys)
}

// scoresInTile prints the scores of the next keys, a panel after the other.
func (a Attention) scoresInTile(b *strings.Builder, t Tile, depth int) {
	lanes := num(t.Lanes)
	b.WriteString("\t\tfor (int p = 0; p < n; p += " + lanes + ") {\n")
	b.WriteString("\t\t\tGLOBAL const float *w = keys + (first + p) * " + num(depth) + ";\n")
	t.sums(b, "\t\t\t")
	b.WriteString("\t\t\tfor (int e = 0; e < " + num(depth) + "; e++) {\n")
	t.step(b, "\t\t\t\t", t.floats, func(r int) string { return "q[" + num(r*depth) + " + e]" })
	b.WriteString("\t\t\t}\n")
	for r := range t.Rows {
		b.WriteString("\t\t\tVSTORE" + lanes + "(s + " + num(r*keysAtOnce) + " + p, s" + num(r) + ");\n")
	}
	b.WriteString("\t\t}\n")
}

// weighInTile prints what makes weights of the scores of query r, and corrects its sums.
func (a Attention) weighInTile(b *strings.Builder, t Tile, lead []string, wide int) {
	lanes := num(t.Lanes)
	vec, load, splat, save := "vec"+lanes, "VLOAD"+lanes, "VSPLAT"+lanes, "VSTORE"+lanes
	line := func(s string) { b.WriteString("\t\t\t" + s + "\n") }
	panels := "for (int p = 0; p < n; p += " + lanes + ")"
	line("float *x = s + r * " + num(keysAtOnce) + ";")
	if a.Causal || a.Mask != nil {
		line("for (int k = 0; k < n; k++) {")
		line("\tfloat score = x[k];")
		a.hidden(b, "\t\t\t\t", lead, "row", "(first + k)", "score", "kept[r]")
		line("\tx[k] = score;")
		line("}")
	}
	line("for (int k = n; k % " + lanes + " != 0; k++) x[k] = NONE;")
	line(vec + " high = " + splat + "(most[r]);")
	line(panels + " high = VMAX(high, " + load + "(x + p));")
	line("float t[" + lanes + "];")
	line(save + "(t, high);")
	t.halve(b, "fmax(t[l], t[l + w])")
	line("float best = t[0];")
	line("float base = best == NONE ? 0.0f : best;")
	line("float factor = exp(most[r] - base);")
	line("most[r] = best;")
	line(vec + " all = " + splat + "(0.0f);")
	line(panels + " {")
	line("\t" + vec + " e = VEXP(" + load + "(x + p) + " + splat + "(-base));")
	line("\tall = all + e;")
	line("\t" + save + "(x + p, e);")
	line("}")
	line(save + "(t, all);")
	t.halve(b, "t[l] + t[l + w]")
	line("total[r] = total[r] * factor + t[0];")
	line("if (factor != 1.0f) for (int f = 0; f < " + num(wide) + "; f += " + lanes + ") {")
	line("\tfloat *y = o + r * " + num(wide) + " + f;")
	line("\t" + save + "(y, " + load + "(y) * " + splat + "(factor));")
	line("}")
}

// halve prints the fold of the lanes in t to t[0], by halves.
func (t Tile) halve(b *strings.Builder, join string) {
	b.WriteString("\t\t\t" + unroll + "\n\t\t\tfor (int w = " + num(t.Lanes/2) + "; w > 0; w /= 2) for (int l = 0; l < w; l++) t[l] = " + join + ";\n")
}

// mixInTile prints what adds the weighted values of the keys.
func (a Attention) mixInTile(b *strings.Builder, t Tile, keys, wide int) {
	lanes := num(t.Lanes)
	b.WriteString("\t\tfor (int f = 0; f < " + num(wide) + "; f += " + lanes + ") {\n")
	b.WriteString("\t\t\tGLOBAL const float *w = values + f * " + num(keys) + " + first * " + lanes + ";\n")
	for r := range t.Rows {
		b.WriteString("\t\t\tvec" + lanes + " s" + num(r) + " = VLOAD" + lanes + "(o + " + num(r*wide) + " + f);\n")
	}
	b.WriteString("\t\t\tfor (int k = 0; k < n; k++) {\n")
	t.step(b, "\t\t\t\t", t.floats, func(r int) string { return "s[" + num(r*keysAtOnce) + " + k]" })
	b.WriteString("\t\t\t}\n")
	for r := range t.Rows {
		b.WriteString("\t\t\tVSTORE" + lanes + "(o + " + num(r*wide) + " + f, s" + num(r) + ");\n")
	}
	b.WriteString("\t\t}\n")
}
