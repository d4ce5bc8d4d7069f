package kernelstyle

import (
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

// printSteps prints what computes a plan, and behind it the bodies of its steps.
func (g *pkg) printSteps(files *goFiles, doc string) {
	l := &layout{pkg: g, files: files, places: map[string]int{}}
	l.print(doc)
	for _, k := range g.kernels.shared {
		files.declare(k.doc, k.lines, jen.Var().Id(k.name).Op("=").Add(k.literal))
	}
	s := steps{pkg: g, files: files}
	s.print()
	for _, b := range g.blocks {
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
	files   *goFiles
	offsets []shape.Dim    // long offsets, which are computed once
	places  map[string]int // where in offsets, by their text
}

// longOffset is the longest offset that is printed where it is used.
const longOffset = 24

func (l *layout) print(doc string) {
	lines := append(l.kernelLines(), l.valueLines()...) // fills in the offsets
	var first []jen.Code
	for _, x := range l.symbols {
		first = append(first, jen.Id("s").Dot(x).Op("=").Id(x))
	}
	first = append(first, jen.Id("s").Dot("Arena").Call(l.dim(l.Arena)))
	for i, d := range l.offsets {
		first = append(first, jen.Id("s").Dot("places").Index(jen.Lit(i)).Op("=").Add(l.dim(d)))
	}
	l.printState(doc)
	l.files.function(append(first, lines...), func(i int) (string, *jen.Statement) {
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
	if len(l.offsets) > 0 {
		fields = append(fields, jen.Id("places").Index(jen.Lit(len(l.offsets))).Int().Comment("// in the arena, in bytes"))
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
		if len(b.locals) > 0 {
			fields = append(fields, jen.Id(b.field).Index(jen.Lit(len(b.Calls))).Id(b.valuesType()))
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

// kernelLines prints what gives kernels that depend on sizes their fields.
func (l *layout) kernelLines() []jen.Code {
	var lines []jen.Code
	for _, i := range l.kernels.sized {
		lines = append(lines, l.kernels.fieldLines(i, jen.Id("s").Dot(l.kernels.steps[i].field), &l.sizes)...)
	}
	return lines
}

// valueLines prints what gives the values their sizes and places.
func (l *layout) valueLines() []jen.Code {
	var lines []jen.Code
	for k := range l.Buffers {
		b := &l.Buffers[k]
		switch {
		case l.held[k] == "":
		case b.Kind == plan.Temp:
			lines = append(lines, l.placeLine(l.refs[k], l.offset(b), b))
		case b.Kind == plan.View:
			lines = append(lines, l.headerLine(l.refs[k], b))
		}
	}
	for _, b := range l.blocks {
		for n := range b.Calls {
			if len(b.locals) > 0 {
				lines = append(lines, l.blockLine(b, n))
			}
		}
	}
	return lines
}

// blockLine prints the statement that places the values of call n of a block.
func (l *layout) blockLine(b *block, n int) jen.Code {
	var at []jen.Code
	for _, k := range b.Calls[n].Locals {
		if x := &l.Buffers[k]; x.Kind == plan.Temp {
			at = append(at, l.offset(x))
		}
	}
	args := append([]jen.Code{jen.Id("s"), jen.Op("&").Index(jen.Op("...")).Int().Values(at...)}, ids(l.symbols)...)
	return jen.Id("s").Dot(b.field).Index(jen.Lit(n)).Dot("layout").Call(args...)
}

// printBlockValues prints the struct of a block's values and the method that
// places them.
func (l *layout) printBlockValues(block *block) {
	if len(block.locals) == 0 {
		return
	}
	fields := gosrc.Fields(block.locals, fromArray("Array"))
	l.files.declare(block.valuesType()+" are the values of one call of "+block.name+".", len(fields)+2, jen.Type().Id(block.valuesType()).Struct(fields...))
	var lines []jen.Code
	at := 0
	for i, k := range block.Calls[0].Locals {
		x, ref := &l.Buffers[k], jen.Op("&").Id("b").Dot(block.locals[i])
		if x.Kind == plan.Temp {
			lines = append(lines, l.placeLine(ref, jen.Id("at").Index(jen.Lit(at)), x))
			at++
		} else {
			lines = append(lines, l.headerLine(ref, x))
		}
	}
	params := append([]jen.Code{l.stateParam(), jen.Id("at").Op("*").Index(jen.Lit(at)).Int()}, l.symbolParams()...)
	l.files.function(lines, func(i int) (string, *jen.Statement) {
		name := numbered("layout", i)
		return name + " gives the values their sizes and places.", jen.Func().Params(jen.Id("b").Op("*").Id(block.valuesType())).Id(name).Params(params...)
	}, func(i int) jen.Code {
		return jen.Id("b").Dot(numbered("layout", i)).Call(append([]jen.Code{jen.Id("s"), jen.Id("at")}, ids(l.symbols)...)...)
	})
}

// offset prints a buffer's place in the arena. Long ones are computed once.
func (l *layout) offset(b *plan.Buffer) *jen.Statement {
	text := b.Offset.String()
	if len(text) <= longOffset {
		return l.dim(b.Offset)
	}
	i, ok := l.places[text]
	if !ok {
		i = len(l.offsets)
		l.places[text] = i
		l.offsets = append(l.offsets, b.Offset)
	}
	return jen.Id("s").Dot("places").Index(jen.Lit(i))
}

func (l *layout) placeLine(ref, at *jen.Statement, b *plan.Buffer) jen.Code {
	return jen.Id("s").Dot("Place").Call(append([]jen.Code{ref, at}, l.typeArgs(b)...)...)
}

func (l *layout) headerLine(ref *jen.Statement, b *plan.Buffer) jen.Code {
	return jen.Id("s").Dot("Header").Call(append([]jen.Code{ref}, l.typeArgs(b)...)...)
}
