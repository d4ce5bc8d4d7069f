package source

import "strings"

// Work-items of a group lie in a grid: those of a row share queries, those of a column keys and
// features.
const (
	groupColumns = 8 // of that grid
	groupQueries = 4 // of a work-item
)

// block is how many queries a group has, and how many keys it meets at once.
type block struct{ queries, keys int }

// blocks are what groups are given, by what fits into local memory.
var blocks = []block{{64, 32}, {32, 32}, {32, 16}, {16, 16}, {16, 8}, {8, 8}}

// local is how many bytes of local memory a block takes.
func (k block) local(depth, features int, chooses bool) int {
	n := (k.queries+k.keys)*(depth+1) + k.keys*features + k.queries*(k.keys+1) + k.queries*groupColumns
	if chooses {
		n += k.queries * groupColumns
	}
	return 4 * n
}

// blockFor chooses a block: the largest that fits into local bytes of memory and has not many more
// queries than there are.
func (a Attention) blockFor(local int) block {
	queries, _, depth, features := a.sizes()
	for _, k := range blocks {
		if k.local(depth, features, a.chooses()) <= local && (k.queries < 2*queries || k.queries == 8) {
			return k
		}
	}
	return blocks[len(blocks)-1]
}

// InGroup prints the attention for devices whose work-items are the lanes: a group has a block of
// queries in local memory, and brings the keys and values there that it meets. Operands are q, k,
// v and the mask, as they lie.
func (a Attention) InGroup(local int) *Kernel {
	queries, keys, depth, features := a.sizes()
	n := a.blockFor(local)
	group := n.queries / groupQueries * groupColumns
	dims := append(append([]int{}, a.batch()...), (queries+n.queries-1)/n.queries)
	k := &Kernel{Group: [3]int{group, 1, 1}, Groups: [3]int{product(dims), 1, 1}}
	var b strings.Builder
	begin(&b, k.Group, a.params(a.K.DType, a.V.DType), false)
	g := groupAttention{Attention: a, b: &b, block: n, group: group}
	g.c = unravel(&b, "GROUP0", "c", "\t", dims)
	g.m, g.lead = g.c[len(g.c)-1], g.c[:len(g.c)-1]
	g.declare(depth, features)
	b.WriteString("\tint end = " + a.end("m + "+num(n.queries-1), keys) + ";\n")
	b.WriteString("\tfor (int first = 0; first < end; first += " + num(n.keys) + ") {\n")
	g.bring("ks", a.K, "x1", "first", "end", n.keys, depth, depth+1, "")
	g.bring("vs", a.V, "x2", "first", "end", n.keys, features, features, "")
	b.WriteString("\tBARRIER;\n")
	g.scores(depth)
	g.weigh()
	g.mix(features)
	b.WriteString("\tBARRIER;\n\t}\n")
	g.write(queries, features)
	b.WriteString("}\n")
	k.Text = b.String()
	return k.finish()
}

// groupAttention is an attention that is being printed.
type groupAttention struct {
	Attention
	b *strings.Builder
	block
	group int
	c     []string
	m     string // the number of the block of queries
	lead  []string
}

func (g *groupAttention) line(s string) { g.b.WriteString("\t" + s + "\n") }

// own prints the number in the block of query r of a work-item.
func own(r string) string { return "(down + " + r + ")" }

// declare prints the memory of the group and of a work-item, and brings the queries.
func (g *groupAttention) declare(depth, features int) {
	local := func(name string, n int) { g.line("LOCAL float " + name + "[" + num(n) + "];") }
	local("qs", g.queries*(depth+1))
	local("ks", g.keys*(depth+1))
	local("vs", g.keys*features)
	local("ps", g.queries*(g.keys+1))
	local("shared", g.queries*groupColumns)
	if g.chooses() {
		g.line("LOCAL int chosen[" + num(g.queries*groupColumns) + "];")
	}
	g.line("int m = " + sum(term(g.m, g.queries)) + ";")
	g.line("int across = LANE0 % " + num(groupColumns) + ", down = LANE0 / " + num(groupColumns) + " * " + num(groupQueries) + ";")
	mine := num(groupQueries)
	g.line("float o[" + mine + "][" + num(g.mine(features)) + "], s[" + mine + "][" + num(g.keys/groupColumns) + "], most[" + mine + "], total[" + mine + "];")
	g.line("int kept[" + mine + "];")
	g.line(unroll)
	g.line("for (int r = 0; r < " + mine + "; r++) {")
	g.line("\tmost[r] = NONE; total[r] = 0.0f; kept[r] = 0;")
	g.line("\t" + unroll)
	g.line("\tfor (int f = 0; f < " + num(g.mine(features)) + "; f++) o[r][f] = 0.0f;")
	g.line("}")
	all := g.Out.Shape[len(g.Out.Shape)-2]
	g.bring("qs", g.Q, "x0", "m", num(all), g.queries, depth, depth+1, " * "+f32(g.Scale))
}

// mine is how many of a number of features, or of keys, a work-item has.
func (g *groupAttention) mine(n int) int { return (n + groupColumns - 1) / groupColumns }

// bring prints what copies rows of a matrix to local memory, from the row first on; rows that are not
// before end become zeros. Neighbours take what lies side by side.
func (g *groupAttention) bring(to string, v View, from, first, end string, rows, columns, pitch int, factor string) {
	n := rows * columns
	g.line("for (int i = LANE0; i < " + num(n) + "; i += " + num(g.group) + ") {")
	if r := len(v.Shape); v.Shape[r-2] > 1 && v.Strides[r-2] == 1 && v.Strides[r-1] != 1 {
		g.line("\tint y = i % " + num(rows) + ", x = i / " + num(rows) + ";")
	} else {
		g.line("\tint y = i / " + num(columns) + ", x = i % " + num(columns) + ";")
	}
	g.line("\t" + to + "[y * " + num(pitch) + " + x] = " + first + " + y < " + end + " ? " + load(v.DType, from, g.of(v, g.lead, "("+first+" + y)", "x")) + factor + " : 0.0f;")
	g.line("}")
}

// scores prints the scores of a work-item's queries and keys, and the greatest of each query.
func (g *groupAttention) scores(depth int) {
	columns, pitch := g.keys/groupColumns, num(depth+1)
	g.line(unroll)
	g.line("for (int r = 0; r < " + num(groupQueries) + "; r++) for (int j = 0; j < " + num(columns) + "; j++) s[r][j] = 0.0f;")
	g.line("for (int e = 0; e < " + num(depth) + "; e++) {")
	for j := range columns {
		g.line("\tfloat k" + num(j) + " = ks[(across + " + num(j*groupColumns) + ") * " + pitch + " + e];")
	}
	for r := range groupQueries {
		g.line("\tfloat q" + num(r) + " = qs[" + own(num(r)) + " * " + pitch + " + e];")
		for j := range columns {
			at := "s[" + num(r) + "][" + num(j) + "]"
			g.line("\t" + at + " = FMA(q" + num(r) + ", k" + num(j) + ", " + at + ");")
		}
	}
	g.line("}")
	g.line(unroll)
	g.line("for (int r = 0; r < " + num(groupQueries) + "; r++) {")
	g.line("\tint row = m + " + own("r") + ";")
	if all := g.Out.Shape[len(g.Out.Shape)-2]; all%g.queries != 0 && g.Mask != nil {
		g.line("\trow = row" + lessThan(true, "row", all) + ";")
	}
	g.line("\tfloat high = NONE;")
	g.line("\t" + unroll)
	g.line("\tfor (int j = 0; j < " + num(columns) + "; j++) {")
	g.line("\t\tint key = first + across + j * " + num(groupColumns) + ";")
	g.line("\t\tfloat score = s[r][j];")
	g.line("\t\tif (key >= end) score = NONE;")
	g.line("\t\telse {")
	g.hidden(g.b, "\t\t\t\t", g.lead, "row", "key", "score", "kept[r]")
	g.line("\t\t}")
	g.line("\t\ts[r][j] = score;")
	g.line("\t\thigh = fmax(high, score);")
	g.line("\t}")
	g.line("\tshared[" + own("r") + " * " + num(groupColumns) + " + across] = high;")
	g.line("}")
	g.line("BARRIER;")
}

// weigh prints what makes weights of scores, and corrects the sums.
func (g *groupAttention) weigh() {
	g.line(unroll)
	g.line("for (int r = 0; r < " + num(groupQueries) + "; r++) {")
	g.line("\tfloat best = most[r];")
	g.line("\t" + unroll)
	g.line("\tfor (int j = 0; j < " + num(groupColumns) + "; j++) best = fmax(best, shared[" + own("r") + " * " + num(groupColumns) + " + j]);")
	g.line("\tfloat base = best == NONE ? 0.0f : best;")
	g.line("\tfloat factor = exp(most[r] - base);")
	g.line("\tmost[r] = best;")
	g.line("\ttotal[r] = total[r] * factor;")
	g.line("\t" + unroll)
	g.line("\tfor (int j = 0; j < " + num(g.keys/groupColumns) + "; j++) {")
	g.line("\t\tfloat p = exp(s[r][j] - base);")
	g.line("\t\ttotal[r] += p;")
	g.line("\t\tps[" + own("r") + " * " + num(g.keys+1) + " + across + j * " + num(groupColumns) + "] = p;")
	g.line("\t}")
	g.line("\t" + unroll)
	g.line("\tfor (int f = 0; f < " + num(g.mine(g.Out.Shape[len(g.Out.Shape)-1])) + "; f++) o[r][f] = o[r][f] * factor;")
	g.line("}")
	g.line("BARRIER;")
}

// mix prints what adds the weighted values.
func (g *groupAttention) mix(features int) {
	g.line("for (int k = 0; k < " + num(g.keys) + "; k++) {")
	for r := range groupQueries {
		g.line("\tfloat p" + num(r) + " = ps[" + own(num(r)) + " * " + num(g.keys+1) + " + k];")
	}
	for f := range g.mine(features) {
		at := "across"
		if f > 0 {
			at += " + " + num(f*groupColumns)
		}
		value := "vs[k * " + num(features) + " + " + at + "]"
		if (f+1)*groupColumns > features {
			value = at + " < " + num(features) + " ? " + value + " : 0.0f"
		}
		g.line("\tfloat v" + num(f) + " = " + value + ";")
		for r := range groupQueries {
			to := "o[" + num(r) + "][" + num(f) + "]"
			g.line("\t" + to + " = FMA(p" + num(r) + ", v" + num(f) + ", " + to + ");")
		}
	}
	g.line("}")
}

// write prints what joins the sums of the weights, and stores the results.
func (g *groupAttention) write(queries, features int) {
	at := own("r") + " * " + num(groupColumns)
	g.line(unroll)
	g.line("for (int r = 0; r < " + num(groupQueries) + "; r++) {")
	g.line("\tshared[" + at + " + across] = total[r];")
	if g.chooses() {
		g.line("\tchosen[" + at + " + across] = kept[r];")
	}
	g.line("}")
	g.line("BARRIER;")
	g.line(unroll)
	g.line("for (int r = 0; r < " + num(groupQueries) + "; r++) {")
	g.line("\tint row = m + " + own("r") + ";")
	if queries%g.queries != 0 {
		g.line("\tif (row >= " + num(queries) + ") break;")
	}
	g.line("\tfloat all = 0.0f;")
	g.line("\tint any = 0;")
	g.line("\t" + unroll)
	g.line("\tfor (int j = 0; j < " + num(groupColumns) + "; j++) all += shared[" + at + " + j];")
	if g.chooses() {
		g.line("\t" + unroll)
		g.line("\tfor (int j = 0; j < " + num(groupColumns) + "; j++) any |= chosen[" + at + " + j];")
	}
	g.line("\t" + unroll)
	g.line("\tfor (int f = 0; f < " + num(g.mine(features)) + "; f++) {")
	g.line("\t\tint col = across + f * " + num(groupColumns) + ";")
	if features%groupColumns != 0 {
		g.line("\t\tif (col >= " + num(features) + ") break;")
	}
	to := g.Out.at(append(append([]string{}, g.lead...), "row", "col"))
	g.line("\t\t" + store(g.Out.DType, "y0", to, g.quotient("o[r][f]", "all", "any")))
	g.line("\t}")
	g.line("}")
}
