package tables

import (
	"go/types"
	"slices"
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/internal/effects"
)

// field is a field of a printed struct.
type field struct {
	name  string
	value jen.Code // nil for the zero value, which is left out
}

// record prints a struct with a field on each line.
func record(fields ...field) *jen.Statement {
	var list []jen.Code
	for _, f := range fields {
		if f.value != nil {
			list = append(list, jen.Id(f.name).Op(":").Add(f.value))
		}
	}
	return jen.Custom(gosrc.Multiline(), list...)
}

// row prints a struct on one line.
func row(fields ...field) *jen.Statement {
	var list []jen.Code
	for _, f := range fields {
		if f.value != nil {
			list = append(list, jen.Id(f.name).Op(":").Add(f.value))
		}
	}
	return jen.Values(list...)
}

// list prints a slice with an element on each line, nil for an empty one.
func list(path, name string, elems []jen.Code) jen.Code {
	if len(elems) == 0 {
		return nil
	}
	return jen.Index().Qual(path, name).Custom(gosrc.Multiline(), elems...)
}

func flag(v bool) jen.Code {
	if !v {
		return nil
	}
	return jen.True()
}

func quoted(s string) jen.Code {
	if s == "" {
		return nil
	}
	return gosrc.Quoted(s)
}

// access prints the bits of an access by their names.
func access(a effects.Access) jen.Code {
	var s *jen.Statement
	for i, name := range []string{"Load", "Store", "Len", "Cap", "Adds"} {
		switch bit := jen.Qual(statePath, name); {
		case a&(1<<i) == 0:
		case s == nil:
			s = bit
		default:
			s.Op("|").Add(bit)
		}
	}
	if s == nil {
		return nil
	}
	return s
}

// receives reports whether the records of a function are kept by its receiver: a pointer to a struct.
func (x *target) receives() bool {
	p, ok := x.recv.(*types.Pointer)
	if !ok {
		return false
	}
	_, ok = p.Elem().Underlying().(*types.Struct)
	return ok
}

// table prints a table, an empty one for no summary.
func (m *maker) table(x *target, s *effects.Summary) jen.Code {
	t := jen.Qual(statePath, "Table")
	if s == nil {
		return t.Values()
	}
	var fields, elems, globals, dynamic, bodies, maps []jen.Code
	for _, f := range s.Fields {
		fields = append(fields, row(field{"Type", quoted(f.Type)}, field{"Name", quoted(f.Name)}, field{"FieldType", quoted(f.FieldType)},
			field{"Access", access(f.Access)}, field{"Line", quoted(f.Line)}))
	}
	for _, e := range s.Elems {
		elems = append(elems, row(field{"Type", quoted(e.Type)}, field{"Access", access(e.Access)}, field{"Line", quoted(e.Line)}))
	}
	for _, g := range s.Globals {
		ptr := jen.Op("&").Id(varsName).Dot(g.Var.Name())
		if !g.Captured {
			m.known[g.Var.Pkg().Path()] = g.Var.Pkg().Name()
			ptr = jen.Op("&").Qual(g.Var.Pkg().Path(), g.Var.Name())
		}
		globals = append(globals, row(field{"Name", quoted(g.Name)}, field{"Type", quoted(g.Type)}, field{"Access", access(g.Access)},
			field{"Line", quoted(g.Line)}, field{"Ptr", ptr}))
	}
	for _, d := range s.Dynamic {
		dynamic = append(dynamic, gosrc.Quoted(d))
	}
	for _, b := range s.Bodies {
		bodies = append(bodies, row(field{"Package", quoted(b.Package)}, field{"File", quoted(b.File)}, field{"Line", jen.Lit(b.Line)}))
	}
	for _, t := range s.Maps {
		if m.hidden(t) == "" { // the walk refuses maps that it has no Map for
			maps = append(maps, jen.Qual(statePath, "MapOf").Types(m.typeCode(t.Key()), m.typeCode(t.Elem())).Call())
		}
	}
	in := m.inputs(x)
	var numbers, loops []jen.Code
	for i, n := range slices.Concat(s.Numbers, s.Counts) {
		name := n.Name
		if n.Param >= 0 {
			name = in[n.Param].name
		}
		numbers = append(numbers, row(field{"Type", quoted(n.Type)}, field{"Name", quoted(name)}, field{"Exprs", exprs(n.Exprs)}, field{"Tests", tests(n.Tests)}, field{"Rounds", flag(i >= len(s.Numbers))}))
	}
	for _, l := range s.Loops {
		loops = append(loops, row(field{"Package", quoted(l.Package)}, field{"File", quoted(l.File)}, field{"Line", jen.Lit(l.Line)}, field{"From", jen.Lit(l.From)}, field{"To", jen.Lit(l.To)}))
	}
	shown, hidden := m.witnesses(x, s)
	var strings jen.Code
	if len(dynamic) > 0 {
		strings = jen.Index().String().Custom(gosrc.Multiline(), dynamic...)
	}
	return t.Add(record(field{"Func", quoted(s.Func)}, field{"Receiver", flag(x.receives())},
		field{"Fields", list(statePath, "Field", fields)}, field{"Elems", list(statePath, "Elem", elems)},
		field{"Globals", list(statePath, "Global", globals)}, field{"Dynamic", strings},
		field{"Bodies", list(statePath, "Body", bodies)}, field{"Maps", list(statePath, "Map", maps)},
		field{"Types", list("reflect", "Type", shown)}, field{"Hidden", list(statePath, "Hidden", hidden)},
		field{"Numbers", list(statePath, "Number", numbers)},
		field{"Loops", list(statePath, "Loop", loops)}, field{"Counted", flag(s.Counted)},
		field{"Ints", ints(&s.Ints)},
		field{"AnySize", flag(len(s.Sizes) == 0)}, field{"Sizes", places(s.Sizes)},
		field{"Regions", flag(s.Regions)},
		field{"InPlace", places(s.InPlace)}, field{"Tells", x.tells(s)}, field{"Entry", m.entry(x, s)}, field{"Opaque", places(s.Opaque)}, field{"Observes", places(told(s.Observes))}))
}

// ints prints what code does with sizes as ints.
func ints(n *effects.Ints) jen.Code {
	if len(n.Asks) == 0 {
		return nil
	}
	expr := func(e effects.IntExpr) jen.Code {
		var terms []jen.Code
		for _, t := range e {
			var n jen.Code
			if t.N != 0 {
				n = jen.Lit(t.N)
			}
			terms = append(terms, row(field{"Op", quoted(t.Op)}, field{"N", n}))
		}
		return jen.Values(terms...)
	}
	line := func(b effects.Body) jen.Code {
		return row(field{"Package", quoted(b.Package)}, field{"File", quoted(b.File)}, field{"Line", jen.Lit(b.Line)})
	}
	var asks, tests, uses []jen.Code
	for _, a := range n.Asks {
		asks = append(asks, line(a.Body))
	}
	for _, t := range n.Tests {
		tests = append(tests, row(field{"A", jen.Qual(statePath, "IntExpr").Add(expr(t.A))}, field{"Op", quoted(t.Op)}, field{"B", jen.Qual(statePath, "IntExpr").Add(expr(t.B))}))
	}
	for _, u := range n.Uses {
		var exprs []jen.Code
		for _, e := range u.Exprs {
			exprs = append(exprs, expr(e))
		}
		uses = append(uses, row(field{"Line", jen.Qual(statePath, "Line").Add(line(u.Body))}, field{"Op", quoted(u.Op)}, field{"Count", jen.Lit(u.Count)},
			field{"Exprs", jen.Index().Qual(statePath, "IntExpr").Values(exprs...)}))
	}
	return jen.Qual(statePath, "Ints").Add(record(field{"Asks", list(statePath, "Line", asks)}, field{"Tests", list(statePath, "IntTest", tests)}, field{"Uses", list(statePath, "IntUse", uses)}))
}

// told leaves places out of which only a call itself tells whether it comes there.
func told(all []effects.Place) []effects.Place {
	return slices.DeleteFunc(slices.Clone(all), func(p effects.Place) bool { return !p.Sure() && p.When == nil })
}

func conditions(all []effects.Cond) jen.Code {
	var rows []jen.Code
	for _, c := range all {
		var arg, value jen.Code
		if c.Arg > 0 {
			arg = jen.Lit(c.Arg)
		}
		if c.Value != nil {
			value = jen.Lit(c.Value)
		}
		rows = append(rows, row(field{"Type", quoted(c.Type)}, field{"Name", quoted(c.Name)}, field{"Arg", arg}, field{"Op", quoted(c.Op.String())}, field{"Value", value}))
	}
	return list(statePath, "Cond", rows)
}

// terms prints the arithmetic that code does with a number.
func terms(e effects.Expr) *jen.Statement {
	var list []jen.Code
	for _, t := range e {
		list = append(list, row(field{"Kind", quoted(t.Kind)}, field{"Op", quoted(t.Op)}, field{"By", bitsCode(t.By)}, field{"Left", flag(t.Left)}))
	}
	return jen.Values(list...)
}

// tests prints the comparisons of a number, nil for none.
func tests(all []effects.Test) jen.Code {
	if len(all) == 0 {
		return nil
	}
	var rows []jen.Code
	for _, t := range all {
		var expr jen.Code
		if len(t.Expr) > 0 {
			expr = jen.Qual(statePath, "Expr").Add(terms(t.Expr))
		}
		rows = append(rows, row(field{"Expr", expr}, field{"Op", quoted(t.Op)}, field{"By", bitsCode(t.By)}))
	}
	return jen.Index().Qual(statePath, "Test").Values(rows...)
}

// exprs prints what operators are given of a number, nil for nothing.
func exprs(all []effects.Expr) jen.Code {
	if len(all) == 0 {
		return nil
	}
	var rows []jen.Code
	for _, e := range all {
		rows = append(rows, terms(e))
	}
	return jen.Index().Qual(statePath, "Expr").Values(rows...)
}

func bitsCode(n uint64) jen.Code {
	if n == 0 {
		return nil
	}
	return jen.Id("0x" + strconv.FormatUint(n, 16))
}

func places(all []effects.Place) jen.Code {
	var rows []jen.Code
	for _, p := range all {
		rows = append(rows, row(field{"Line", quoted(p.Line)}, field{"What", quoted(p.What)}, field{"Why", quoted(p.Why)}, field{"When", conditions(p.When)}, field{"Lazy", flag(p.Lazy)}))
	}
	return list(statePath, "Place", rows)
}
