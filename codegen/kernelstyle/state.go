package kernelstyle

import (
	"slices"
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/shape"
)

// stepFiles prints the kernels, the state of a call, and the functions that
// compute the plan.
func (g *pkg) stepFiles() []*goFile {
	files := &goFiles{opts: &g.opts, base: g.opts.File + "_steps"}
	g.printSteps(files, g.prefix+"State is what one call works on. It is kept for later calls.")
	return files.list
}

// printSteps prints the code that computes a plan, followed by the bodies of its steps.
func (g *pkg) printSteps(files *goFiles, doc string) {
	l := newLayout(g, files)
	l.print(doc)
	for _, list := range [2][]variable{g.kernels.programs, g.kernels.shared} {
		for _, k := range list {
			files.declare(k.doc, k.lines, jen.Var().Id(k.name).Op("=").Add(k.literal))
		}
	}
	s := steps{pkg: g, files: files, stops: len(g.Steps)}
	if slices.ContainsFunc(g.Buffers, func(b plan.Buffer) bool { return b.Updated }) {
		s.stops = g.Settled() // all of the inputs are written, or none
	}
	s.print()
	for _, b := range g.blocks {
		b.printPaths(files)
		l.printBlockValues(b)
		s.printBlock(b)
	}
	if g.asks() {
		printScratch(g, files)
	}
	for f := range g.eachFlow() {
		for _, b := range f.bodies {
			b.print(files)
		}
	}
}

// layout prints the state of a call, a struct with the header of every value, and
// the method that gives each its sizes and its place in the arena. It runs when the
// sizes of the inputs change; between calls of the same sizes the state is kept.
// A repeated block has a struct and a method of its own.
type layout struct {
	*pkg
	files *goFiles
	// places are the places in the arena that are computed once, as fields of the
	// state: those of several values or calls, and long ones.
	places []place
	fields map[string]string // of places, by their text
	tables map[*block]*table
}

// place is a place in the arena, in bytes.
type place struct {
	field string
	at    shape.Dim
}

// shortOffset is the longest offset that is printed wherever it is used, longOffset
// the longest that is printed at its only use.
const shortOffset, longOffset = 8, 24

func newLayout(g *pkg, files *goFiles) *layout {
	l := &layout{pkg: g, files: files, fields: map[string]string{}, tables: map[*block]*table{}}
	uses := map[string]int{}
	var order []shape.Dim
	use := func(d shape.Dim, times int) {
		if _, fixed := d.Int(); !fixed {
			uses[d.String()] += times
			order = append(order, d)
		}
	}
	for k := range l.Buffers {
		if b := &l.Buffers[k]; b.Kind == plan.Temp && l.held[k] != "" {
			use(b.Offset, 1)
		}
	}
	for _, b := range l.blocks {
		l.tables[b] = newTable(l.model, b)
		l.tables[b].visit(use)
	}
	for _, d := range order {
		if text := d.String(); l.fields[text] == "" && (len(text) > longOffset || len(text) > shortOffset && uses[text] > 1) {
			l.fields[text] = g.buffers.fields.Unique("at" + strconv.Itoa(len(l.places)+1))
			l.places = append(l.places, place{l.fields[text], d})
		}
	}
	return l
}

func (l *layout) print(doc string) {
	var first []jen.Code
	if l.symbolic() {
		var fields []jen.Code
		for _, x := range l.symbols {
			fields = append(fields, jen.Id("s").Dot(x))
		}
		first = append(first, jen.List(fields...).Op("=").List(ids(l.symbols)...))
	}
	first = append(first, jen.Id("s").Dot("Arena").Call(l.dim(l.Arena)))
	for _, p := range l.places {
		first = append(first, jen.Id("s").Dot(p.field).Op("=").Add(l.dim(p.at)))
	}
	l.printState(doc)
	lines := append(append(first, l.kernelLines()...), l.valueLines()...)
	l.files.function(lines, func(i int) (string, *jen.Statement) {
		name := numbered("layout", i)
		return name + " gives every value its sizes and its place in the arena.", jen.Func().Params(l.stateParam()).Id(name).Params(l.symbolParams()...)
	}, func(i int) jen.Code { return jen.Id("s").Dot(numbered("layout", i)).Call(ids(l.symbols)...) })
}

// printState prints the struct with everything that one call works on.
func (l *layout) printState(doc string) {
	fields := []jen.Code{fromKernel("Frame")}
	if l.symbolic() {
		fields = append(fields, jen.Line())
		fields = append(fields, gosrc.Fields(l.symbols, jen.Int())...)
	}
	if len(l.places) > 0 {
		var names []string
		for _, p := range l.places {
			names = append(names, p.field)
		}
		fields = append(fields, jen.Line(), jen.Comment("// Places in the arena, in bytes."))
		fields = append(fields, gosrc.Fields(names, jen.Int())...)
	}
	var ends, values []string
	for k := range l.Buffers {
		switch kind := l.Buffers[k].Kind; {
		case kind == plan.Input || kind == plan.Output:
			ends = append(ends, l.held[k])
		case isValue(l.model, k) && l.held[k] != "":
			values = append(values, l.held[k])
		}
	}
	fields = append(fields, jen.Line())
	fields = append(fields, gosrc.Fields(append(ends, l.keeps...), arrayPointer())...)
	fields = append(fields, gosrc.Fields(values, fromArray("Array"))...)
	for _, b := range l.blocks {
		if len(b.fields) > 0 {
			fields = append(fields, jen.Id(b.field).Add(b.array(b.valuesType())))
		}
	}
	for _, i := range l.kernels.sized {
		t := structOf(&l.Steps[i]).Type()
		fields = append(fields, jen.Id(l.kernels.steps[i].field).Qual(gosrc.Home(t), t.Name()))
	}
	for f := range l.eachFlow() {
		fields = append(fields, f.fields()...)
	}
	l.files.declare(doc, len(fields)+2, jen.Type().Id(l.prefix+"State").Struct(fields...))
}

// kernelLines prints the code that sets the fields of kernels that depend on sizes.
func (l *layout) kernelLines() []jen.Code {
	var lines []jen.Code
	for _, i := range l.kernels.sized {
		lines = append(lines, l.kernels.fieldLines(i, jen.Id("s").Dot(l.kernels.steps[i].field), &l.sizes)...)
	}
	return lines
}

// valueLines prints the code that gives the values their sizes and places.
func (l *layout) valueLines() []jen.Code {
	var lines []jen.Code
	for k := range l.Buffers {
		b := &l.Buffers[k]
		switch {
		case l.held[k] == "":
		case b.Kind == plan.Temp:
			lines = append(lines, l.placeLine(l.refs[k], l.offset(b.Offset), b))
		case b.Kind == plan.View || b.Kind == plan.Sized:
			lines = append(lines, l.headerLine(l.refs[k], b))
		}
	}
	for _, b := range l.blocks {
		lines = append(lines, l.tables[b].calls(l)...)
	}
	return lines
}

// printBlockValues prints the struct of a block's values and the method that
// places them.
func (l *layout) printBlockValues(block *block) {
	if len(block.fields) == 0 {
		return
	}
	var names []string
	for _, v := range block.fields {
		names = append(names, v.field)
	}
	fields, typ, t := gosrc.Fields(names, fromArray("Array")), block.valuesType(), l.tables[block]
	l.files.declare(typ+" are the values of one call of "+block.fn+".", len(fields)+2, jen.Type().Id(typ).Struct(fields...))
	set := newSet("s", "b")
	set.Reserve(l.symbols...)
	params, args := t.params(set), append(ids(t.names), ids(l.symbols)...)
	l.files.function(t.lines(l), func(i int) (string, *jen.Statement) {
		name := numbered("layout", i)
		list := []jen.Code{l.stateParam()}
		if all := append(params, ids(l.symbols)...); len(all) > 0 {
			list = append(list, jen.List(all...).Int())
		}
		return name + " gives the values their sizes and places.", jen.Func().Params(jen.Id("b").Op("*").Id(typ)).Id(name).Params(list...)
	}, func(i int) jen.Code {
		return jen.Id("b").Dot(numbered("layout", i)).Call(append([]jen.Code{jen.Id("s")}, args...)...)
	})
}

// offset prints a place in the arena.
func (l *layout) offset(at shape.Dim) *jen.Statement {
	if f := l.fields[at.String()]; f != "" {
		return jen.Id("s").Dot(f)
	}
	return l.dim(at)
}

func (l *layout) placeLine(ref, at *jen.Statement, b *plan.Buffer) jen.Code {
	return jen.Id("s").Dot("Place").Call(append([]jen.Code{ref, at}, l.typeArgs(b)...)...)
}

func (l *layout) headerLine(ref *jen.Statement, b *plan.Buffer) jen.Code {
	return jen.Id("s").Dot("Header").Call(append([]jen.Code{ref}, l.typeArgs(b)...)...)
}
