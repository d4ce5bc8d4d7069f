package module

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
)

// regions prints control flow: regions become function literals that are passed to
// tensor.Cond, While and Scan. Their operands are elements of the lists that those
// pass, or values of the function around.
//
// Contents of the state are copied where the bodies, or later statements, would
// write over them: a tensor of the graph is a value, a Go handle is not.
type regions struct {
	*printer
	copies graph.Copies
}

// control prints cond, while and scan with their regions as functions.
func (p regions) control(node *graph.Node) {
	if err := node.CheckControl(); err != nil {
		p.errs = append(p.errs, err)
		return
	}
	p.copies = node.Copies()
	switch node.Op() {
	case op.Cond:
		p.cond(node)
	case op.While:
		p.while(node)
	case op.Scan:
		p.scan(node)
	default:
		p.fail(node, ForeignOp, "operator "+node.Op().Name+" has regions that no Go function takes", "use cond, while or scan")
	}
}

// operand prints operand i of a node; traced where its engine records the call.
func (p regions) operand(node *graph.Node, i int, traced bool) *jen.Statement {
	a, code := node.Arg(i), (*jen.Statement)(nil)
	if traced {
		code = p.traced(a)
	} else {
		code = p.write(p.value(a))
	}
	if p.copies.Taken[i] || p.copies.Through[i] {
		code.Dot("Clone").Call()
	}
	return code
}

func tensorList() *jen.Statement { return jen.Index().Add(tensorType()) }

// cond passes every operand of the node to both functions.
func (p regions) cond(node *graph.Node) {
	rs, args := node.Regions(), node.Args()
	list := []jen.Code{p.operand(node, 0, true)}
	for i := range rs {
		list = append(list, p.region(node, i, []string{"in"}, []int{len(args) - 1}, nil, func(out []jen.Code) []jen.Code {
			return []jen.Code{tensorList().Values(out...)}
		}, tensorList()))
	}
	for i := range args[1:] {
		list = append(list, p.operand(node, i+1, false))
	}
	p.list(node, gosrc.From("tensor", "Cond").Call(list...), false, 0)
}

// while passes the carried operands; its functions use the others where they are.
func (p regions) while(node *graph.Node) {
	attrs := node.Attrs().(op.LoopAttrs)
	carry, name := attrs.Carry, "While"
	captured := p.captured(node, carry)
	first := func(out []jen.Code) []jen.Code { return out[:min(1, len(out))] }
	all := func(out []jen.Code) []jen.Code { return []jen.Code{tensorList().Values(out...)} }
	var list []jen.Code
	if attrs.MaxTrips > 0 {
		name, list = "WhileAtMost", append(list, jen.Lit(attrs.MaxTrips))
	}
	list = append(list, p.region(node, 0, []string{"in"}, []int{carry}, captured, first, tensorType()),
		p.region(node, 1, []string{"in"}, []int{carry}, captured, all, tensorList()))
	for i := range carry {
		list = append(list, p.operand(node, i, i == 0)) // the loop is recorded by the engine of its operands
	}
	p.list(node, gosrc.From("tensor", name).Call(list...), false, 0)
}

// scan passes the carried operands and the sequences.
func (p regions) scan(node *graph.Node) {
	attrs := node.Attrs().(op.LoopAttrs)
	captured := p.captured(node, attrs.Carry+attrs.Seqs)
	body := p.region(node, 0, []string{"carry", "slices"}, []int{attrs.Carry, attrs.Seqs}, captured, func(out []jen.Code) []jen.Code {
		k := min(attrs.Carry, len(out))
		return []jen.Code{tensorList().Values(out[:k]...), tensorList().Values(out[k:]...)}
	}, jen.Params(tensorList(), tensorList())) // unnamed: a value of the region may have any name
	var carry, seqs []jen.Code
	for i := range attrs.Carry {
		carry = append(carry, p.operand(node, i, false))
	}
	for i := range attrs.Seqs {
		seqs = append(seqs, p.operand(node, attrs.Carry+i, i == 0))
	}
	call := gosrc.From("tensor", "Scan").Call(body, tensorList().Values(carry...), tensorList().Values(seqs...))
	p.scanResults(node, call, attrs.Carry)
}

// scanResults defines the two lists that a scan returns.
func (p regions) scanResults(node *graph.Node, call *jen.Statement, carry int) {
	members := &tuple{items: map[int]value{}}
	p.tuples[node] = members
	var last, stacked []int
	for u := range node.Users() {
		if i, ok := itemIndex(u, node); ok && !slices.Contains(last, i) && !slices.Contains(stacked, i) {
			if i < carry {
				last = append(last, i)
			} else {
				stacked = append(stacked, i)
			}
		}
	}
	s := &stmt{rhs: call, defs: make([]*goVar, 2), scope: node.Scope(), typ: gosrc.TypeComment(node.Type())}
	if len(last) > 0 {
		s.defs[0] = p.local(node.Name()+"_last", tensorList())
	}
	if len(stacked) > 0 {
		s.defs[1] = p.local(node.Name()+"_stacked", tensorList())
	}
	p.emit(s)
	p.elements(members, s.defs[0], last, 0)
	p.elements(members, s.defs[1], stacked, carry)
}

// captured returns the values of operands that a region's function uses without
// being passed them, those from the first on; each must be a value that the trace has
// recorded outside.
func (p regions) captured(node *graph.Node, first int) []value {
	var list []value
	for i, a := range node.Args()[first:] {
		v := p.value(a)
		if v.static && p.anchor != nil || p.copies.Taken[first+i] {
			rhs := p.operand(node, first+i, true)
			d := p.local(a.Name(), tensorType())
			p.emit(&stmt{defs: []*goVar{d}, rhs: rhs, scope: a.Scope(), typ: gosrc.TypeComment(a.Type())})
			v = value{v: d}
		}
		list = append(list, v)
	}
	return list
}

// region prints region r of a node as a function literal. Its first inputs are elements
// of the parameters, counts of each; the others are captured values.
func (p regions) region(node *graph.Node, r int, params []string, counts []int, captured []value, results func([]jen.Code) []jen.Code, result *jen.Statement) *jen.Statement {
	region := node.Regions()[r]
	inputs := region.Inputs()
	var sig []jen.Code
	var own []string // free again after the function
	input := 0
	for i, hint := range params {
		name := p.locals.Lower(hint)
		own = append(own, name)
		sig = append(sig, jen.Id(name))
		for e := range counts[i] {
			if input < len(inputs) {
				p.values[inputs[input]] = value{code: func() *jen.Statement { return jen.Id(name).Index(jen.Lit(e)) }}
			}
			input++
		}
	}
	for i, v := range captured {
		if input+i < len(inputs) {
			p.values[inputs[input+i]] = v
		}
	}
	sig[len(sig)-1].(*jen.Statement).Add(tensorList())
	outer := p.body
	p.body = newBody(region, outer)
	for _, n := range inputs {
		p.body.defined[n] = true
	}
	p.sizes.symbols()
	p.nodes()
	var out []jen.Code
	if o := region.Output(); o != nil {
		for i, a := range o.Args() {
			code := p.write(p.value(a))
			if copied := p.copies.Out[r]; i < len(copied) && copied[i] {
				code.Dot("Clone").Call()
			}
			out = append(out, code)
		}
	}
	inner := p.body
	p.body = outer
	for _, name := range own {
		p.locals.Free(name)
	}
	lines := statements(inner.list, false)
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
