package module

import (
	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

func sizeType() *jen.Statement { return gosrc.From("tensor", "Size") }

// symbols emits the sizes that symbols stand for, in the order of the graph's
// table, each once its tensor is there: a trace numbers the symbols that it makes
// itself in the order in which they are asked for.
func (p *printer) symbols() {
	b := p.body
	for len(b.queue) > 0 && b.defined[b.queue[0].Node] {
		s := b.queue[0]
		b.queue = b.queue[1:]
		v := p.local(s.Name, sizeType())
		if p.sizes[b.g] == nil {
			p.sizes[b.g] = map[string]*goVar{}
		}
		p.sizes[b.g][s.Name] = v
		call := func() *jen.Statement { return p.traced(s.Node).Dot("Size").Call(jen.Lit(s.Axis)) }
		st := &stmt{defs: []*goVar{v}, rhs: call(), scope: s.Node.Scope()}
		if t := s.Node.Type(); t.Ranked() && s.Axis >= 0 && s.Axis < t.Rank() && !t.Dim(s.Axis).IsUnknown() {
			st.dropped = true // the type says so already; nothing is lost without a use
		}
		p.emit(st)
	}
	if len(b.queue) == 0 && !b.guarded {
		b.guarded = true
		p.guards()
	}
}

// guards emits what the graph relies on beside what its calls and the types of
// its inputs say.
func (p *printer) guards() {
	g := p.body.g
	for _, d := range g.Guards() {
		if d.Node != nil && d.Node.Opcode() != graph.Placeholder || saidByType(g, d) {
			continue
		}
		names := d.Symbols()
		if len(names) == 0 {
			continue
		}
		s, ok := g.Symbol(names[0])
		if !ok {
			continue // a guard of the graph around says the same
		}
		a, b, method := d.A, d.B, map[shape.Rel]string{shape.EQ: "MustEqual", shape.GE: "MustBeAtLeast", shape.MOD: "MustBeMultiple"}[d.Rel]
		if _, number := a.Int(); number {
			if d.Rel == shape.MOD {
				p.fail(s.Node, LostSize, "the guard "+d.String()+" has no Go form", "write it the other way round")
				continue
			}
			a, b = b, a
			if d.Rel == shape.GE {
				method = "MustBeAtMost"
			}
		}
		p.emit(&stmt{rhs: p.sizeExpr(s.Node, a).Dot(method).Call(p.size(s.Node, b)), alone: true, scope: s.Node.Scope()})
	}
}

// saidByType reports whether a guard is what an input's type says: that a size
// is that of another input.
func saidByType(g *graph.Graph, d graph.Guard) bool {
	if d.Rel != shape.EQ {
		return false
	}
	for _, sides := range [2][2]shape.Dim{{d.A, d.B}, {d.B, d.A}} {
		name, plain := sides[0].IsSymbol()
		if s, ok := g.Symbol(name); plain && ok && s.Node.Opcode() == graph.Placeholder && s.Node.Type().Dim(s.Axis).Equal(sides[1]) {
			return true
		}
	}
	return false
}

// size prints a size as an argument: an int or a tensor.Size.
func (p *printer) size(n *graph.Node, d shape.Dim) *jen.Statement {
	if k, known := d.Int(); known {
		if d.Equal(tensor.End.Dim()) {
			return gosrc.From("tensor", "End")
		}
		return jen.Lit(k)
	}
	return p.sizeExpr(n, d)
}

// dim prints a size as a shape.Dim, as fields of attributes hold it.
func (p *printer) dim(n *graph.Node, d shape.Dim) *jen.Statement {
	if k, known := d.Int(); known {
		return gosrc.From("shape", "Const").Call(jen.Lit(k))
	}
	return p.sizeExpr(n, d).Dot("Dim").Call()
}

// sizeExpr prints an expression over symbols with the methods of tensor.Size.
func (p *printer) sizeExpr(n *graph.Node, d shape.Dim) *jen.Statement {
	lost := func(what string) *jen.Statement {
		p.fail(n, LostSize, "the size "+d.String()+" "+what, "trace with a type for the input that the size comes from")
		return jen.Lit(0)
	}
	vars := sizeArith{p, map[string]*goVar{}}
	for _, s := range d.Symbols() {
		v := p.sizeVar(n.Graph(), s)
		if v == nil {
			return lost("uses the symbol " + s + ", which nothing before " + n.String() + " defines")
		}
		vars.of[s] = v
	}
	c, known := shape.Fold(d, vars)
	if !known {
		return lost("is not known")
	}
	return c.code
}

// sizeVar finds the variable of a symbol, which may be one of an enclosing graph.
func (p *printer) sizeVar(g *graph.Graph, symbol string) *goVar {
	for g != nil {
		if v := p.sizes[g][symbol]; v != nil {
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
	p  *printer
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

func (sizeArith) FloorDiv(x, y sizeCode) sizeCode {
	if !x.size { // the number as a size is zero sizes and itself
		x = sizeCode{y.code.Clone(), true}.call("Mul", jen.Lit(0)).call("Add", x.code)
	}
	return x.call("Div", y.code)
}
