package capturefuzz

import (
	"fmt"
	"slices"
	"strings"
)

// held is a value under another expression.
func held(v *value, name string) *value {
	return &value{name: name, dtype: v.dtype, dims: v.dims, eager: v.eager, mem: v.mem}
}

// element returns a value or a view of it as an expression.
func (g *gen) element() (string, *value) {
	v := g.choose(anyValue)
	if g.chance(40) {
		if code, w := g.view(v); w != nil {
			return code, w
		}
	}
	return v.name, held(v, v.name)
}

// holder keeps aliases in a struct, a slice or a map.
func holder(g *gen) bool {
	codeA, a := g.element()
	codeB, b := g.element()
	kind := g.IntN(3)
	if g.depth > 0 {
		kind = 1
	}
	h := g.name("h")
	var head string
	names := []string{h + "[0]", h + "[1]"}
	switch kind {
	case 0:
		head = fmt.Sprintf("%s := struct{ A, B *tensor.Tensor }{%s, %s}", h, codeA, codeB)
		names = []string{h + ".A", h + ".B"}
	case 1:
		head = fmt.Sprintf("%s := []*tensor.Tensor{%s, %s}", h, codeA, codeB)
	case 2:
		head = fmt.Sprintf("%s := map[string]*tensor.Tensor{\"a\": %s, \"b\": %s}", h, codeA, codeB)
		names = []string{h + `["a"]`, h + `["b"]`}
	}
	g.emit(&Stmt{Kind: []string{"struct", "slice", "map"}[kind], Head: head, Defs: []string{h}})
	for i, v := range []*value{a, b} {
		v.name = names[i]
		g.place(v)
		g.add(v)
	}
	g.hot = pick(g, a.mem, b.mem)
	if g.chance(30) {
		g.writeAll(h, kind, a, b)
	}
	return true
}

// writeAll writes everything in a slice or map, in a loop.
func (g *gen) writeAll(h string, kind int, a, b *value) {
	if kind == 0 || a.boolean() || b.boolean() || g.input(a) || g.input(b) {
		return
	}
	t := g.name("t")
	head := fmt.Sprintf("for _, %s := range %s {", t, h)
	target := t
	if kind == 2 {
		head = fmt.Sprintf("for _, %s := range slices.Sorted(maps.Keys(%s)) {", t, h)
		target = h + "[" + t + "]"
	}
	g.block("loop", head+"\n\t_ = "+t, "}", nil, func() {
		g.do("write", target+"."+pick(g, "AddScalarInPlace(1)", "MulScalarInPlace(2)", "ClampInPlace(-1, 1)"))
	})
	g.writes(a, !a.eager)
	g.writes(b, !b.eager)
}

// swap gives an element of a slice, struct or map another tensor.
func swap(g *gen) bool {
	v := g.choose(func(v *value) bool { return strings.HasPrefix(v.name, "h") })
	if v == nil || g.depth > 0 {
		return false
	}
	w := g.choose(func(w *value) bool { return w.dtype == v.dtype && same(w.dims, v.dims) })
	g.do("swap", v.name+" = "+w.name)
	v.mem, v.eager = w.mem, w.eager
	return true
}

// variable is another name of a tensor.
func variable(g *gen) bool {
	v := g.choose(anyValue)
	g.let("alias", v.name, held(v, ""))
	return true
}

// closure declares a function that writes its argument or a captured value, and
// calls it.
func closure(g *gen) bool {
	v := g.writable()
	if v == nil || g.depth > 1 {
		return false
	}
	f, t := g.name("f"), g.name("t")
	result := g.name("v")
	eager := v.eager
	var made *value
	g.block("closure", fmt.Sprintf("%s := func(%s *tensor.Tensor) *tensor.Tensor {", f, t), "}", []string{f}, func() {
		arg := g.add(held(v, t))
		g.hot = v.mem
		for range 1 + g.IntN(2) {
			g.statement(blockRows)
		}
		eager = eager && arg.eager
		out := t
		if g.chance(50) && v.float() {
			out = t + ".MulScalar(2)"
			made = &value{dtype: v.dtype, dims: v.dims, eager: eager, mem: g.fresh()}
		}
		g.do("return", "return "+out)
	})
	if made == nil {
		made = held(v, "")
		made.eager = eager
	}
	made.name = result
	g.place(made)
	g.emit(&Stmt{Kind: "call", Head: fmt.Sprintf("%s := %s(%s)", result, f, v.name), Defs: []string{result}})
	g.add(made)
	if g.chance(50) {
		if w := g.choose(func(w *value) bool { return w.dtype == v.dtype && same(w.dims, v.dims) && !g.input(w) }); w != nil {
			g.do("call", fmt.Sprintf("%s(%s)", f, w.name))
		}
	}
	return true
}

// getter is a function that returns the value of a variable at the time of its call.
func getter(g *gen) bool {
	v := g.choose(func(v *value) bool { return ident.FindString(v.name) == v.name })
	if v == nil || g.depth > 0 {
		return false
	}
	f := g.name("f")
	g.emit(&Stmt{Kind: "getter", Head: fmt.Sprintf("%s := func() *tensor.Tensor { return %s }", f, v.name), Defs: []string{f}})
	g.add(held(v, f+"()"))
	return true
}

// later defers a write: it happens after the evaluation of the results.
func later(g *gen) bool {
	v := g.writable()
	if v == nil || g.depth > 0 {
		return false
	}
	code, _ := g.write(v)
	g.block("defer", "defer func() {", "}()", nil, func() { g.do("write", code) })
	return true
}

// early returns under a condition on a size.
func early(g *gen) bool {
	v := g.choose(func(v *value) bool { return v.rank() > 0 })
	if v == nil || g.depth > 0 {
		return false
	}
	k := g.IntN(v.rank())
	cond := fmt.Sprintf("%s.Dim(%d) > %d", v.name, k, v.dims[k].at[0]-g.IntN(2))
	if g.chance(30) {
		cond = fmt.Sprintf("%s.Rank() == %d", v.name, v.rank()+pick(g, 1, 1, 1, 0))
	}
	s := &Stmt{Kind: "early-return", Head: "if " + cond + " {", Tail: "}"}
	for i := range g.p.Results {
		s.Return = append(s.Return, g.result(i == 0).name)
	}
	g.emit(s)
	return true
}

// loop writes each slice of a value.
func loop(g *gen) bool {
	v := g.choose(func(v *value) bool { return v.rank() > 0 && !v.boolean() && !g.input(v) })
	if v == nil || g.depth > 1 {
		return false
	}
	k := g.find(v, func(d dim) bool { return d.known() || g.chance(30) })
	if k < 0 {
		return false
	}
	i := g.name("i")
	bound := fmt.Sprintf("%s.Dim(%d)", v.name, k)
	if g.chance(50) && v.dims[k].known() {
		bound = v.dims[k].expr
	}
	g.block("loop", fmt.Sprintf("for %s := range %s {\n\t_ = %s", i, bound, i), "}", nil, func() {
		t := g.name("t")
		dims := append(slices.Clone(v.dims[:k]), v.dims[k+1:]...)
		w := &value{name: t, dtype: v.dtype, dims: dims, eager: v.eager, mem: v.mem}
		g.emit(&Stmt{Kind: "view", Head: fmt.Sprintf("%s := %s.Select(%d, %s)", t, v.name, k, i), Defs: []string{t}})
		g.add(w)
		code, traced := g.write(w)
		if g.chance(40) && w.float() {
			code = fmt.Sprintf("%s.AddScalarInPlace(float64(%s))", t, i)
		}
		g.writes(v, traced)
		g.do("write", code)
		if g.chance(40) {
			g.statement(blockRows)
		}
	})
	return true
}
