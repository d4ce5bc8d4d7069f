package capturefuzz

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// dim is a size: its value for N and for each of Sizes, and how Go code gets it.
type dim struct {
	at   [5]int
	expr string
}

func fixed(n int) dim { return dim{[5]int{n, n, n, n, n}, strconv.Itoa(n)} }

// known reports whether the size does not depend on N.
func (d dim) known() bool { return d.at == fixed(d.at[0]).at }

func (d dim) is(n int) bool { return d.at == fixed(n).at }

// least is the smallest value.
func (d dim) least() int { return slices.Min(d.at[:]) }

// by computes a size from another for each value of N.
func by(d dim, expr string, f func(int) int) dim {
	r := dim{expr: expr}
	for i := range r.at {
		r.at[i] = f(d.at[i])
	}
	if r.known() {
		return fixed(r.at[0])
	}
	return r
}

// value is a tensor that the program has at hand: a Go expression and its known
// properties.
type value struct {
	name  string
	dtype string
	dims  []dim
	eager bool // no traced value took part, so that its data can be had
	mem   int  // tensors of one number may share memory
}

func (v *value) rank() int     { return len(v.dims) }
func (v *value) float() bool   { return v.dtype[0] == 'f' || v.dtype == "bf16" }
func (v *value) integer() bool { return v.dtype[0] == 'i' || v.dtype == "u8" }
func (v *value) boolean() bool { return v.dtype == "bool" }
func same(a, b []dim) bool {
	return slices.EqualFunc(a, b, func(x, y dim) bool { return x.at == y.at })
}

// fits reports whether a value of sizes a broadcasts to sizes b.
func fits(a, b []dim) bool {
	if len(a) > len(b) {
		return false
	}
	for i := range a {
		x, y := a[len(a)-1-i], b[len(b)-1-i]
		if x.at != y.at && !x.is(1) {
			return false
		}
	}
	return true
}

// gen writes one program.
type gen struct {
	*rand.Rand
	p      *Program
	vals   []*value
	slices []goSlice
	leaves []leafModule
	out    *[]*Stmt // the block that is written
	next   int      // number of the next name
	mem    int
	hot    int // memory that was written or shared last
	depth  int // of blocks
	region int // depth of regions
}

// Generate returns the program of a seed.
func Generate(seed uint64, id int) *Program {
	g := &gen{Rand: rand.New(rand.NewPCG(seed, 0x5eed)), p: &Program{Seed: seed, ID: id}}
	g.out = &g.p.Body
	g.signature()
	g.state()
	g.p.Form = pick(g, "tuple", "tuple", "slice", "slice", "struct", "map")
	wanted := 1 + g.IntN(3)
	g.p.Results = make([]string, wanted) // early returns need their number
	for range 4 + g.IntN(11) {
		g.statement(rows)
	}
	for i := range g.p.Results {
		g.p.Results[i] = g.result(i == 0).name
	}
	return g.p
}

func pick[T any](g *gen, list ...T) T { return list[g.IntN(len(list))] }

func (g *gen) chance(percent int) bool { return g.IntN(100) < percent }

// name returns an identifier that no other has.
func (g *gen) name(letter string) string {
	g.next++
	return letter + strconv.Itoa(g.next-1)
}

func (g *gen) fresh() int { g.mem++; return g.mem }

// add enters a value.
func (g *gen) add(v *value) *value {
	g.vals = append(g.vals, v)
	return v
}

// emit appends a statement.
func (g *gen) emit(s *Stmt) { *g.out = append(*g.out, s) }

// let declares a variable for a value.
func (g *gen) let(kind, code string, v *value) *value {
	v.name = g.name("v")
	g.place(v)
	g.emit(&Stmt{Kind: kind, Head: v.name + " := " + code, Defs: []string{v.name}})
	return g.add(v)
}

// place gives the sizes that no expression is known of one that belongs to v.
func (g *gen) place(v *value) {
	v.dims = slices.Clone(v.dims)
	for i := range v.dims {
		if v.dims[i].expr == "" {
			v.dims[i].expr = fmt.Sprintf("%s.Size(%d)", v.name, i)
		}
	}
}

// do emits a statement that declares nothing.
func (g *gen) do(kind, code string) { g.emit(&Stmt{Kind: kind, Head: code}) }

// block writes a compound statement: fill writes its body. Values made inside are
// forgotten.
func (g *gen) block(kind, head, tail string, defs []string, fill func()) {
	s := &Stmt{Kind: kind, Head: head, Tail: tail, Defs: defs}
	g.emit(s)
	out, n := g.out, len(g.vals)
	g.out = &s.Body
	g.depth++
	fill()
	g.depth--
	g.out, g.vals = out, g.vals[:n]
}

// row is one kind of statement: how often it is tried, and the function that
// writes it; false when it does not apply to the program's values.
type row struct {
	kind   string
	weight int
	emit   func(g *gen) bool
}

// statement writes one statement of the rows.
func (g *gen) statement(rows []row) {
	for range 20 {
		if drawn(g, rows, func(r row) int { return r.weight }).emit(g) {
			return
		}
	}
}

// drawn returns one of the rows, each as often as its weight says.
func drawn[R any](g *gen, rows []R, weight func(R) int) R {
	total := 0
	for _, r := range rows {
		total += weight(r)
	}
	k, i := g.IntN(total), 0
	for k -= weight(rows[0]); k >= 0; k -= weight(rows[i]) {
		i++
	}
	return rows[i]
}

// choose returns a value that f accepts, more often one whose memory was used
// last; nil when there is none.
func (g *gen) choose(f func(v *value) bool) *value {
	var list, hot []*value
	for _, v := range g.vals {
		if f(v) {
			list = append(list, v)
			if v.mem == g.hot {
				hot = append(hot, v)
			}
		}
	}
	switch {
	case len(list) == 0:
		return nil
	case len(hot) > 0 && g.chance(60):
		return pick(g, hot...)
	}
	return pick(g, list...)
}

func anyValue(*value) bool { return true }

// result chooses the returned values; the first one is most often traced.
func (g *gen) result(first bool) *value {
	if first && g.chance(80) {
		if v := g.choose(func(v *value) bool { return !v.eager }); v != nil {
			return v
		}
	}
	return g.choose(anyValue)
}

// signature chooses the inputs.
func (g *gen) signature() {
	g.p.N = pick(g, 2, 3, 4, 6)
	g.p.Func = g.chance(25)
	for i := range 1 + g.IntN(2) {
		name := []string{"x", "y"}[i]
		v := &value{name: name, dtype: "f32", mem: g.fresh()}
		if i > 0 && g.chance(40) {
			v.dtype = pick(g, "i64", "bool", "f16", "f64", "i32")
		}
		n := dim{expr: name + ".Size(0)"}
		n.at[0] = g.p.N
		copy(n.at[1:], Sizes)
		c := func() dim { return fixed(pick(g, 1, 2, 3, 4, 4, 6)) }
		v.dims = pick(g, []dim{n, c()}, []dim{n, c()}, []dim{n}, []dim{n, c(), c()}, []dim{c(), c()}, []dim{c(), n})
		for k := range v.dims {
			if !v.dims[k].known() {
				v.dims[k].expr = fmt.Sprintf("%s.Size(%d)", name, k)
				if g.chance(15) {
					v.dims[k].expr = fmt.Sprintf("%s.Dim(%d)", name, k)
				}
			}
		}
		g.p.Inputs = append(g.p.Inputs, Input{name, spec(v)})
		g.add(v)
	}
}

// spec writes a type in the text form.
func spec(v *value) string {
	var sizes []string
	for _, d := range v.dims {
		if d.known() {
			sizes = append(sizes, strconv.Itoa(d.at[0]))
		} else {
			sizes = append(sizes, "N")
		}
	}
	return v.dtype + "[" + strings.Join(sizes, ",") + "]"
}

// goSizes lists sizes as arguments.
func goSizes(dims []dim) string {
	var list []string
	for _, d := range dims {
		list = append(list, d.expr)
	}
	return strings.Join(list, ", ")
}

// spelled reports whether Go code can give all sizes.
func spelled(dims []dim) bool {
	return !slices.ContainsFunc(dims, func(d dim) bool { return d.expr == "" })
}
