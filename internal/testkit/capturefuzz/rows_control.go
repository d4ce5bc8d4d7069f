package capturefuzz

import (
	"fmt"
	"slices"
	"strings"
)

// entry makes the arguments of a region's function: the operands of calls, and
// their names in the function.
func (g *gen) entry(list string, args []*value) (passed string) {
	var names []string
	for _, v := range args {
		names = append(names, v.name)
	}
	return strings.Join(names, ", ")
}

// hidden is the memory of a loop's counter, which the body must leave alone, or
// the loop would not end.
const hidden = -1

// params enters the arguments of a region as values of its block.
func (g *gen) params(list string, args []*value) []*value {
	var inner []*value
	for i, v := range args {
		w := held(v, fmt.Sprintf("%s[%d]", list, i))
		w.eager = false
		inner = append(inner, w)
		if v.mem != hidden {
			g.add(w)
		}
	}
	return inner
}

// like returns an expression of v's type made in a region: an argument as it is,
// which the result then aliases, or something computed.
func (g *gen) like(v *value) string {
	w := g.choose(func(w *value) bool { return w.dtype == v.dtype && same(w.dims, v.dims) })
	if w == nil {
		w = v
	}
	switch {
	case v.float() && g.chance(50):
		return w.name + "." + pick(g, "MulScalar(2)", "Tanh()", "AddScalar(1)")
	case v.integer() && g.chance(50):
		return w.name + ".AddScalar(1)"
	}
	return w.name
}

// inner writes the statements of a region and its return.
func (g *gen) inner(list string, args []*value, results []*value, first string) {
	g.region++
	g.params(list, args)
	g.hot = args[len(args)-1].mem
	for range g.IntN(3) {
		g.statement(blockRows)
	}
	var out []string
	if first != "" {
		out = append(out, first)
	}
	for _, v := range results {
		out = append(out, g.like(v))
	}
	g.do("return", "return []*tensor.Tensor{"+strings.Join(out, ", ")+"}")
	g.region--
}

const regionFunc = "func(%s []*tensor.Tensor) []*tensor.Tensor {"

// arguments chooses the operands of a region: traced values, mostly.
func (g *gen) arguments(n int) []*value {
	var args []*value
	for range n {
		v := g.choose(func(v *value) bool { return !v.eager && small(v.dims) })
		if v == nil || g.chance(25) {
			v = g.choose(func(v *value) bool { return small(v.dims) })
		}
		if v == nil {
			return nil
		}
		args = append(args, v)
	}
	return args
}

// cond chooses between two regions.
func cond(g *gen) bool {
	if g.region > 1 {
		return false
	}
	pred := g.choose(func(v *value) bool { return v.float() && !v.eager })
	args := g.arguments(1 + g.IntN(2))
	if pred == nil || len(args) == 0 {
		return false
	}
	list, r := g.name("c"), g.name("r")
	results := args[:1+g.IntN(len(args))]
	passed := g.entry(list, args)
	g.block("cond", "", "", nil, func() {}) // replaced below
	top := (*g.out)[len(*g.out)-1]
	top.Head = fmt.Sprintf("%s := tensor.Cond(%s.Sum().GtScalar(%s),", r, pred.name, pick(g, "0", "1", "-1"))
	top.Tail = ")"
	top.Defs = []string{r}
	if passed != "" {
		top.Tail = passed + ")"
	}
	out, n := g.out, len(g.vals)
	g.out = &top.Body
	g.depth++
	for range 2 {
		g.block("branch", "\t"+fmt.Sprintf(regionFunc, list), "},", nil, func() { g.inner(list, args, results, "") })
	}
	g.depth--
	g.out, g.vals = out, g.vals[:n]
	g.taken(r, results)
	return true
}

// taken enters the results of a region, which may alias arguments.
func (g *gen) taken(r string, results []*value) {
	for i, v := range results {
		mem := v.mem
		if g.chance(50) {
			mem = g.fresh()
		}
		w := g.add(&value{name: fmt.Sprintf("%s[%d]", r, i), dtype: v.dtype, dims: v.dims, mem: mem})
		if g.chance(40) {
			g.let("alias", w.name, held(w, ""))
		}
	}
}

// while counts up and carries values along.
func while(g *gen) bool {
	args := g.arguments(1 + g.IntN(2))
	if g.region > 0 || len(args) == 0 {
		return false
	}
	list, r, k := g.name("c"), g.name("r"), g.name("v")
	g.emit(&Stmt{Kind: "constant", Head: k + " := tensor.Scalar(int64(0))", Defs: []string{k}})
	passed := k + ", " + g.entry(list, args)
	head := fmt.Sprintf("%s := tensor.While(func(%s []*tensor.Tensor) *tensor.Tensor { return %s[0].LtScalar(%d) },\n\t%s",
		r, list, list, 1+g.IntN(3), fmt.Sprintf(regionFunc, list))
	counter := &value{name: k, dtype: "i64", eager: true, mem: hidden}
	all := append([]*value{counter}, args...)
	g.block("while", head, "}, "+passed+")", []string{r}, func() {
		g.inner(list, all, args, list+"[0]."+pick(g, "AddScalar(1)", "AddScalar(1)", "AddScalarInPlace(1)"))
	})
	counter.mem = g.fresh()
	g.add(counter)
	g.taken(r, all)
	return true
}

// scan runs over the slices of a value.
func scan(g *gen) bool {
	seq := g.choose(func(v *value) bool { return v.rank() > 0 && !v.eager && small(v.dims) })
	if g.region > 0 || seq == nil {
		return false
	}
	slice := &value{dtype: seq.dtype, dims: slices.Clone(seq.dims[1:]), mem: seq.mem}
	carry := g.choose(func(v *value) bool { return v.dtype == seq.dtype && same(v.dims, slice.dims) })
	c, s, last, stacked := g.name("c"), g.name("c"), g.name("r"), g.name("r")
	var first string
	if carry == nil || g.chance(40) {
		carry = &value{dtype: seq.dtype, dims: slice.dims, eager: false, mem: g.fresh()}
		first = seq.name + ".Select(0, 0).ZerosLike()"
	} else {
		first = carry.name
	}
	head := fmt.Sprintf("%s, %s := tensor.Scan(func(%s, %s []*tensor.Tensor) (next, out []*tensor.Tensor) {", last, stacked, c, s)
	tail := fmt.Sprintf("}, []*tensor.Tensor{%s}, []*tensor.Tensor{%s})", first, seq.name)
	g.block("scan", head, tail, []string{last, stacked}, func() {
		g.region++
		a := g.add(held(carry, c+"[0]"))
		b := g.add(held(slice, s+"[0]"))
		a.eager, b.eager = false, false
		g.hot = pick(g, a.mem, b.mem)
		for range g.IntN(3) {
			g.statement(blockRows)
		}
		g.do("return", fmt.Sprintf("return []*tensor.Tensor{%s}, []*tensor.Tensor{%s}", g.like(a), g.like(b)))
		g.region--
	})
	g.taken(last, []*value{carry})
	g.add(&value{name: stacked + "[0]", dtype: seq.dtype, dims: seq.dims, mem: g.fresh()})
	return true
}
