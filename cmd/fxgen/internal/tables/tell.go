package tables

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/internal/effects"
)

// tells lists the calls that are made again by the functions that make them.
func (x *target) tells(s *effects.Summary) jen.Code {
	var rows []jen.Code
	for i, p := range s.Tells {
		rows = append(rows, row(field{"Line", quoted(p.Line)}, field{"What", quoted(p.What)}, field{"Do", jen.Id(x.tell(i))}))
	}
	return list(statePath, "Tell", rows)
}

func (x *target) tell(i int) string { return lower(x.short) + "Tell" + strconv.Itoa(i) }

// again prints the functions that make calls again. They stand at the end of the file: what they log says the
// lines of the calls, and so would all code after them.
func (m *maker) again(f *jen.File, x *target, s *effects.Summary) {
	in := m.inputs(x)
	for i, p := range s.Tells {
		var args []jen.Code
		for _, e := range p.Args {
			args = append(args, m.expr(in, e))
		}
		m.name(p.Package)
		f.Line()
		fn := f.Func().Id(x.tell(i)).Params(jen.Id("in").Op("*").Id(lower(x.short) + "In"))
		if p.Package == slogPath {
			m.logged(fn, in, p, args)
			continue
		}
		call := jen.Qual(p.Package, p.Name)
		if p.Receiver != nil {
			call = m.expr(in, *p.Receiver).Dot(p.Name)
		}
		fn.Block(jen.Op("/*line " + p.Line + "*/").Add(call).Call(args...))
	}
}

const slogPath = "log/slog"

// logged prints what a call of package log/slog logs.
func (m *maker) logged(fn *jen.Statement, in []input, p effects.Tell, args []jen.Code) {
	logger := jen.Qual(slogPath, "Default").Call()
	if p.Receiver != nil {
		logger = m.expr(in, *p.Receiver)
	}
	list := jen.Nil()
	if len(args) > 1 {
		list = jen.Index().Any().Values(args[1:]...)
	}
	fn.Params(jen.Op("*").Qual(slogPath, "Logger"), jen.Qual(slogPath, "Level"), jen.String(), jen.Index().Any()).
		Block(jen.Return(logger, jen.Qual(slogPath, "Level"+p.Name), args[0], list))
}

// name keeps the name of a standard package, where the package of the file has no other use of it.
func (m *maker) name(path string) {
	if base := path[strings.LastIndexByte(path, '/')+1:]; m.pkg.Types.Scope().Lookup(base) == nil {
		m.known[path] = base
	}
}

// entry is the function itself, where what it logs names its lines.
func (m *maker) entry(x *target, s *effects.Summary) jen.Code {
	switch {
	case !slices.ContainsFunc(s.Tells, func(p effects.Tell) bool { return p.Package == slogPath }):
		return nil
	case x.maker:
		return jen.Id(funcName)
	case x.recv != nil:
		return jen.Parens(m.typeCode(x.recv)).Dot(x.method)
	}
	return jen.Qual(x.pkg.Path(), x.method)
}

// expr prints a value that a call is given.
func (m *maker) expr(in []input, e effects.Operand) *jen.Statement {
	var s *jen.Statement
	switch {
	case e.Const != nil:
		if text, ok := e.Const.(string); ok {
			return jen.Add(gosrc.Quoted(text))
		}
		return jen.Lit(e.Const)
	case e.Arg > 0:
		s = jen.Id("in").Dot(in[e.Arg-1].name)
	default:
		m.known[e.Global.Pkg().Path()] = e.Global.Pkg().Name()
		s = jen.Qual(e.Global.Pkg().Path(), e.Global.Name())
	}
	for _, name := range e.Fields {
		s = s.Dot(name)
	}
	return s
}
