package module

import "github.com/dave/jennifer/jen"

// assertion is a module that lies in an interface of the user's model, with its type
// asserted. An assertion that several expressions use is a variable, so that the
// code says the type once.
type assertion struct {
	p    *printer
	code source // the interface
	typ  source
	hint string // for the variable's name
	uses int    // expressions
	v    *goVar
}

// write returns the module as an expression. The variable is defined before the
// first statement that needs it; functions of regions use it if it is already
// defined.
func (a *assertion) write() *jen.Statement {
	p := a.p
	if a.v != nil {
		return p.ref(a.v)
	}
	if a.uses < 2 || p.body.outer != nil {
		return a.code().Assert(a.typ())
	}
	pending := p.body.pending
	p.body.pending = nil
	rhs := a.code().Assert(a.typ())
	p.ref(p.self)
	a.v = p.local(a.hint, a.typ())
	p.emit(&stmt{defs: []*goVar{a.v}, rhs: rhs, ahead: true})
	p.body.pending = pending
	return p.ref(a.v)
}
