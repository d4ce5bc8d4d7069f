package module

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

func sizeType() *jen.Statement { return gosrc.From("tensor", "Size") }

// sizes prints sizes: a symbol is a variable of type tensor.Size, an expression
// calls of its methods.
type sizes struct {
	*writer
	vars map[*graph.Graph]map[string]*goVar
}

// symbols emits the sizes that symbols stand for, in the order of the graph's
// table, each once its tensor exists: a trace numbers the symbols that it makes
// in the order in which they are asked for.
func (p *sizes) symbols() {
	body := p.body
	for len(body.queue) > 0 && body.defined[body.queue[0].Node] {
		s := body.queue[0]
		body.queue = body.queue[1:]
		v := p.local(s.Name, sizeType())
		if p.vars[body.g] == nil {
			p.vars[body.g] = map[string]*goVar{}
		}
		p.vars[body.g][s.Name] = v
		call := func() *jen.Statement { return p.traced(s.Node).Dot("Size").Call(jen.Lit(s.Axis)) }
		st := &stmt{defs: []*goVar{v}, rhs: call(), scope: s.Node.Scope()}
		if t := s.Node.Type(); t.Ranked() && s.Axis >= 0 && s.Axis < t.Rank() && !t.Dim(s.Axis).IsUnknown() {
			st.dropped = true // the type says so already; nothing is lost without a use
		}
		p.emit(st)
	}
	if len(body.queue) == 0 && !body.guarded {
		body.guarded = true
		p.guards()
	}
}

// guards emits the graph's assumptions that do not follow from its calls and
// the types of its inputs.
func (p *sizes) guards() {
	g := p.body.g
	for _, guard := range g.Needed() {
		names := guard.Symbols()
		if guard.Node != nil && guard.Node.Opcode() != graph.Placeholder || len(names) == 0 || p.body.expects && ofInputs(g, names) {
			continue
		}
		symbol, ok := g.Symbol(names[0])
		if !ok {
			continue // a guard of the graph around says the same
		}
		left, right, method := guard.A, guard.B, map[shape.Rel]string{shape.EQ: "MustEqual", shape.GE: "MustBeAtLeast", shape.MOD: "MustBeMultiple", shape.NE: "MustDiffer"}[guard.Rel]
		if _, number := left.Int(); number {
			if guard.Rel == shape.MOD {
				p.fail(symbol.Node, LostSize, "the guard "+guard.String()+" has no Go form", "write it the other way round")
				continue
			}
			left, right = right, left
			if guard.Rel == shape.GE {
				method = "MustBeAtMost"
			}
		}
		p.emit(&stmt{rhs: p.sizeExpr(symbol.Node, left).Dot(method).Call(p.size(symbol.Node, right)), alone: true, scope: symbol.Node.Scope()})
	}
}

// ofInputs reports whether symbols are sizes of inputs.
func ofInputs(g *graph.Graph, symbols []string) bool {
	return !slices.ContainsFunc(symbols, func(name string) bool {
		s, ok := g.Symbol(name)
		return !ok || s.Node.Opcode() != graph.Placeholder
	})
}

// size prints a size as an argument: an int or a tensor.Size.
func (p *sizes) size(n *graph.Node, d shape.Dim) *jen.Statement {
	if k, known := d.Int(); known {
		if d.Equal(tensor.End.Dim()) {
			return gosrc.From("tensor", "End")
		}
		return jen.Lit(k)
	}
	return p.sizeExpr(n, d)
}

// dim prints a size as a shape.Dim, as fields of attributes hold it.
func (p *sizes) dim(n *graph.Node, d shape.Dim) *jen.Statement {
	if k, known := d.Int(); known {
		return gosrc.From("shape", "Const").Call(jen.Lit(k))
	}
	return p.sizeExpr(n, d).Dot("Dim").Call()
}

// sizeExpr prints an expression over symbols with the methods of tensor.Size.
func (p *sizes) sizeExpr(n *graph.Node, dim shape.Dim) *jen.Statement {
	lost := func(what string) *jen.Statement {
		p.fail(n, LostSize, "the size "+dim.String()+" "+what, "trace with a type for the input that the size comes from")
		return jen.Lit(0)
	}
	vars := sizeArith{p, map[string]*goVar{}}
	for _, s := range dim.Symbols() {
		v := p.sizeVar(n.Graph(), s)
		if v == nil {
			return lost("uses the symbol " + s + ", which nothing before " + n.String() + " defines")
		}
		vars.of[s] = v
	}
	c, known := shape.Fold(dim, vars)
	if !known {
		return lost("is not known")
	}
	return c.code
}

// sizeVar finds the variable of a symbol, which may be one of an enclosing graph.
func (p *sizes) sizeVar(g *graph.Graph, symbol string) *goVar {
	for g != nil {
		if v := p.vars[g][symbol]; v != nil {
			return v
		}
		if g.Parent() == nil {
			return nil
		}
		g = g.Parent().Graph()
	}
	return nil
}

// sizeArith prints sizes with the methods of tensor.Size.
type sizeArith struct {
	p  *sizes
	of map[string]*goVar // the variables of the symbols
}

// sizeCode is an expression; size tells that it is a tensor.Size, not an int.
type sizeCode struct {
	code *jen.Statement
	size bool
}

func (c sizeCode) call(method string, arg jen.Code) sizeCode {
	return sizeCode{c.code.Dot(method).Call(arg), true}
}

func (sizeArith) Const(n int64) sizeCode { return sizeCode{code: jen.Lit(int(n))} }

func (a sizeArith) Symbol(name string) sizeCode { return sizeCode{a.p.ref(a.of[name]), true} }

func (sizeArith) Neg(x sizeCode) sizeCode { return x.call("Mul", jen.Lit(-1)) }

func (sizeArith) Add(x, y sizeCode) sizeCode {
	if !x.size {
		x, y = y, x
	}
	return x.call("Add", y.code)
}

func (a sizeArith) Sub(x, y sizeCode) sizeCode {
	if !x.size {
		return a.Neg(y).call("Add", x.code)
	}
	return x.call("Sub", y.code)
}

func (sizeArith) Mul(x, y sizeCode) sizeCode {
	if !x.size {
		x, y = y, x
	}
	return x.call("Mul", y.code)
}

func (sizeArith) Min(x, y sizeCode) sizeCode {
	if !x.size {
		x, y = y, x
	}
	return x.call("Min", y.code)
}

func (sizeArith) FloorDiv(x, y sizeCode) sizeCode {
	if !x.size { // the number as a size is zero sizes and itself
		x = sizeCode{y.code.Clone(), true}.call("Mul", jen.Lit(0)).call("Add", x.code)
	}
	return x.call("Div", y.code)
}
