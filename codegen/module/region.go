package module

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
)

// control prints cond, while and scan with their regions as functions.
func (p *printer) control(n *graph.Node) {
	if err := n.CheckControl(); err != nil {
		p.errs = append(p.errs, err)
		return
	}
	switch n.Op() {
	case op.Cond:
		p.cond(n)
	case op.While:
		p.while(n)
	case op.Scan:
		p.scan(n)
	default:
		p.fail(n, ForeignOp, "operator "+n.Op().Name+" has regions that no Go function takes", "use cond, while or scan")
	}
}

func tensorList() *jen.Statement { return jen.Index().Add(tensorType()) }

// cond passes every operand of the node to both functions.
func (p *printer) cond(n *graph.Node) {
	rs, args := n.Regions(), n.Args()
	list := []jen.Code{p.traced(args[0])}
	for _, r := range rs {
		list = append(list, p.region(r, []string{"in"}, []int{len(args) - 1}, nil, func(out []jen.Code) []jen.Code {
			return []jen.Code{tensorList().Values(out...)}
		}, tensorList()))
	}
	for _, a := range args[1:] {
		list = append(list, p.write(p.value(a)))
	}
	p.list(n, gosrc.From("tensor", "Cond").Call(list...), false, 0)
}

// while passes the carried operands; its functions use the others where they are.
func (p *printer) while(n *graph.Node) {
	rs, args := n.Regions(), n.Args()
	carry := n.Attrs().(op.LoopAttrs).Carry
	captured := p.captured(args[carry:])
	first := func(out []jen.Code) []jen.Code { return out[:min(1, len(out))] }
	all := func(out []jen.Code) []jen.Code { return []jen.Code{tensorList().Values(out...)} }
	list := []jen.Code{
		p.region(rs[0], []string{"in"}, []int{carry}, captured, first, tensorType()),
		p.region(rs[1], []string{"in"}, []int{carry}, captured, all, tensorList()),
	}
	for i, a := range args[:carry] {
		if i == 0 { // the loop is recorded by the engine of its operands
			list = append(list, p.traced(a))
			continue
		}
		list = append(list, p.write(p.value(a)))
	}
	p.list(n, gosrc.From("tensor", "While").Call(list...), false, 0)
}

// scan passes the carried operands and the sequences.
func (p *printer) scan(n *graph.Node) {
	rs, args := n.Regions(), n.Args()
	a := n.Attrs().(op.LoopAttrs)
	captured := p.captured(args[a.Carry+a.Seqs:])
	body := p.region(rs[0], []string{"carry", "slices"}, []int{a.Carry, a.Seqs}, captured, func(out []jen.Code) []jen.Code {
		k := min(a.Carry, len(out))
		return []jen.Code{tensorList().Values(out[:k]...), tensorList().Values(out[k:]...)}
	}, jen.Params(tensorList(), tensorList())) // unnamed: a value of the region may have any name
	var carry, seqs []jen.Code
	for _, x := range args[:a.Carry] {
		carry = append(carry, p.write(p.value(x)))
	}
	for i, x := range args[a.Carry : a.Carry+a.Seqs] {
		if i == 0 {
			seqs = append(seqs, p.traced(x))
			continue
		}
		seqs = append(seqs, p.write(p.value(x)))
	}
	call := gosrc.From("tensor", "Scan").Call(body, tensorList().Values(carry...), tensorList().Values(seqs...))
	p.scanResults(n, call, a.Carry)
}

// scanResults defines the two lists that a scan returns.
func (p *printer) scanResults(n *graph.Node, call *jen.Statement, carry int) {
	t := &tuple{items: map[int]value{}}
	p.tuples[n] = t
	var last, stacked []int
	for u := range n.Users() {
		if i, ok := itemIndex(u, n); ok && !slices.Contains(last, i) && !slices.Contains(stacked, i) {
			if i < carry {
				last = append(last, i)
			} else {
				stacked = append(stacked, i)
			}
		}
	}
	s := &stmt{rhs: call, defs: make([]*goVar, 2), scope: n.Scope(), typ: gosrc.TypeComment(n.Type())}
	if len(last) > 0 {
		s.defs[0] = p.local(n.Name()+"_last", tensorList())
	}
	if len(stacked) > 0 {
		s.defs[1] = p.local(n.Name()+"_stacked", tensorList())
	}
	p.emit(s)
	p.elements(t, s.defs[0], last, 0)
	p.elements(t, s.defs[1], stacked, carry)
}

// captured returns the values of operands that a region's function uses without
// being passed them; each must be a value that the trace has recorded outside.
func (p *printer) captured(args []*graph.Node) []value {
	var list []value
	for _, a := range args {
		v := p.value(a)
		if v.static && p.anchor != nil {
			rhs := p.traced(a)
			d := p.local(a.Name(), tensorType())
			p.emit(&stmt{defs: []*goVar{d}, rhs: rhs, scope: a.Scope(), typ: gosrc.TypeComment(a.Type())})
			v = value{v: d}
		}
		list = append(list, v)
	}
	return list
}

// region prints a region as a function literal. Its first inputs are elements of
// the parameters, counts of each; the others are captured values.
func (p *printer) region(r *graph.Graph, params []string, counts []int, captured []value, results func([]jen.Code) []jen.Code, result *jen.Statement) *jen.Statement {
	inputs := r.Inputs()
	var sig []jen.Code
	var own []string // free again behind the function
	k := 0
	for i, hint := range params {
		name := p.names.Lower(hint)
		own = append(own, name)
		sig = append(sig, jen.Id(name))
		for e := range counts[i] {
			if k < len(inputs) {
				p.values[inputs[k]] = value{code: func() *jen.Statement { return jen.Id(name).Index(jen.Lit(e)) }}
			}
			k++
		}
	}
	for i, v := range captured {
		if k+i < len(inputs) {
			p.values[inputs[k+i]] = v
		}
	}
	sig[len(sig)-1].(*jen.Statement).Add(tensorList())
	outer := p.body
	p.body = newBody(r, outer)
	for _, n := range inputs {
		p.body.defined[n] = true
	}
	p.symbols()
	p.nodes()
	var out []jen.Code
	if o := r.Output(); o != nil {
		for _, a := range o.Args() {
			out = append(out, p.write(p.value(a)))
		}
	}
	inner := p.body
	p.body = outer
	for _, name := range own {
		p.names.Free(name)
	}
	lines := p.lines(inner.list, false)
	lines = append(lines, jen.Return(results(out)...))
	p.body.pending = append(p.body.pending, inner.free()...)
	return jen.Func().Params(sig...).Add(result).Block(lines...)
}

// free returns the variables that a body uses and does not define.
func (b *body) free() []*goVar {
	own := map[*goVar]bool{}
	for _, s := range b.list {
		for _, v := range s.defs {
			if v != nil {
				own[v] = true
			}
		}
	}
	var free []*goVar
	add := func(vs []*goVar) {
		for _, v := range vs {
			if !own[v] && !slices.Contains(free, v) {
				free = append(free, v)
			}
		}
	}
	for _, s := range b.list {
		add(s.uses)
	}
	add(b.pending)
	return free
}
