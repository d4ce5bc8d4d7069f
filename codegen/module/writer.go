package module

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/goname"
)

// goVar is a variable of the generated code.
type goVar struct {
	name string
	typ  *jen.Statement
	uses int
}

// stmt is one statement: defs := rhs.
type stmt struct {
	defs  []*goVar // nil for results that nothing uses
	rhs   *jen.Statement
	alone bool // rhs may stand without definitions
	// dropped tells that nothing is lost without the statement when no definition
	// is used.
	dropped bool
	uses    []*goVar
	scope   graph.Scope
	typ     string
	ahead   bool // belongs to the scope of the statement that follows
}

// body is a list of statements being printed: of the function or of a region.
type body struct {
	g       *graph.Graph
	list    []*stmt
	pending []*goVar // variables used since the last statement
	guarded bool     // the guards have been printed
	expects bool     // those over sizes of inputs, before all nodes
	queue   []graph.Symbol
	defined map[*graph.Node]bool
	outer   *body
}

// value is the form of a node in the generated code.
type value struct {
	v    *goVar // nil for expressions
	code source
	// static tells that the expression is an eager tensor while the code is
	// traced: it is recorded by its recipe, of this depth, at its first use.
	static bool
	depth  int
}

// maxRecipe is how many calls deep package tensor remembers how an eager tensor
// was made.
const maxRecipe = 16

// writer writes the statements of a body: the form of each node in the generated
// code, and the variables that hold it. A node's value is written where it is
// used; one that is a tensor of the model is written as the trace of the printed
// code will see it.
type writer struct {
	errs   diag.List
	locals *goname.Set // names of variables
	body   *body
	values map[*graph.Node]value
	tuples map[*graph.Node]*tuple
	anchor *goVar // a traced tensor for tensor.On
}

// ref notes a use of a variable and returns it as an expression.
func (p *writer) ref(v *goVar) *jen.Statement {
	v.uses++
	p.body.pending = append(p.body.pending, v)
	return jen.Id(v.name)
}

// write returns the expression of a value.
func (p *writer) write(v value) *jen.Statement {
	if v.v != nil {
		return p.ref(v.v)
	}
	return v.code()
}

// traced returns the expression of a node's value as something that a trace
// records, also when it is a tensor of the model.
func (p *writer) traced(n *graph.Node) *jen.Statement {
	v := p.value(n)
	if !v.static || p.anchor == nil {
		return p.write(v)
	}
	return gosrc.From("tensor", "On").Call(p.ref(p.anchor), p.write(v))
}

func (p *writer) value(n *graph.Node) value {
	if n == nil {
		return value{code: func() *jen.Statement { return jen.Nil() }} // absent
	}
	if v, ok := p.values[n]; ok {
		return v
	}
	if n.NumArgs() > 0 || n.Opcode() == graph.CallFunction {
		if _, tuple := p.tuples[n]; tuple {
			p.fail(n, WholeTuple, n.String()+" has several results and is used as one value", "take its results apart with getitem")
		}
	}
	return value{code: func() *jen.Statement { return jen.Nil() }}
}

// emit adds a statement.
func (p *writer) emit(s *stmt) {
	s.uses, p.body.pending = p.body.pending, nil
	for i := len(p.body.list) - 1; i >= 0 && p.body.list[i].ahead && !s.ahead; i-- {
		p.body.list[i].scope, p.body.list[i].ahead = s.scope, false
	}
	p.body.list = append(p.body.list, s)
}

// local makes a variable named after a node.
func (p *writer) local(hint string, typ *jen.Statement) *goVar {
	return &goVar{name: p.locals.Lower(hint), typ: typ}
}

// hintOf is the base of a name for a node's value: the path of the module that the
// node is named after, where its points can be told from its underscores, else the
// node's name.
func hintOf(n *graph.Node) string {
	paths := []string{n.Scope().Path}
	if n.Opcode() == graph.CallModule {
		paths = append(paths, n.Target())
	}
	for _, path := range paths {
		plain := strings.ReplaceAll(path, ".", "_")
		if number, ok := strings.CutPrefix(n.Name(), plain); ok && path != "" && strings.Trim(number, "_0123456789") == "" {
			return path + number
		}
	}
	return n.Name()
}

func newBody(g *graph.Graph, outer *body) *body {
	return &body{g: g, queue: g.Symbols(), defined: map[*graph.Node]bool{}, outer: outer}
}

// fail reports something that cannot be printed.
func (p *writer) fail(n *graph.Node, c diag.Code, msg, hint string) {
	p.errs = append(p.errs, n.Error(c, msg).WithHint(hint))
}
