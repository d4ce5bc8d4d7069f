package codegen

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/plan"
)

// stateParam and weightsParam are the parameters of functions that compute.
func (g *kernelGen) stateParam() *jen.Statement { return jen.Id("s").Op("*").Id(g.prefix + "State") }
func (g *kernelGen) weightsParam() *jen.Statement {
	return jen.Id("w").Op("*").Id(g.prefix + "Weights")
}

// computeFunc opens a function that computes a part of the plan.
func (g *kernelGen) computeFunc(name string) *jen.Statement {
	return jen.Func().Id(name).Params(g.stateParam(), g.weightsParam())
}

func computeCall(name string) *jen.Statement { return jen.Id(name).Call(jen.Id("s"), jen.Id("w")) }

// stepFiles prints the kernels, the state of a call, and the functions that
// compute the plan.
func (g *kernelGen) stepFiles() []*goFile {
	files := &goFiles{g: g, base: g.file + "_steps"}
	layout := g.layoutLines()
	g.printState(files)
	g.printLayout(files, layout)
	for _, k := range g.kernels {
		files.declare(k.doc, k.lines, jen.Var().Id(k.name).Op("=").Add(k.literal))
	}
	g.printSteps(files)
	for _, b := range g.blocks {
		b.print(g, files)
	}
	if g.symbolic {
		g.printScratch(files)
	}
	return files.list
}

// printSteps prints the functions with the steps.
func (g *kernelGen) printSteps(files *goFiles) {
	ref := func(k int) *jen.Statement { return g.refs[k] }
	run := g.prefix + "Run"
	chunks := g.chunks(g.items(), 1)
	if len(chunks) == 1 {
		body := g.itemLines(chunks[0].items, "", ref)
		files.declare(run+" computes the results.", len(body)+2, g.computeFunc(run).Block(body...))
		return
	}
	var calls []jen.Code
	names := make([]string, len(chunks))
	for i, c := range chunks {
		base := "Part"
		if c.prefix != "" {
			base = goname.Upper(c.prefix)
		}
		names[i] = g.top.Unique(g.prefix + base)
		calls = append(calls, computeCall(names[i]))
	}
	files.function(calls, func(i int) (string, *jen.Statement) {
		return numbered(run, i) + " computes the results.", g.computeFunc(numbered(run, i))
	}, func(i int) jen.Code { return computeCall(numbered(run, i)) })
	for i, c := range chunks {
		what := "a part of the model"
		if c.prefix != "" {
			what = comment(c.prefix)
		}
		body := g.itemLines(c.items, "", ref)
		files.declare(names[i]+" computes "+what+".", len(body)+2, g.computeFunc(names[i]).Block(body...))
	}
}

// itemLines prints the statements of a function, with a blank line between scopes.
func (g *kernelGen) itemLines(items []item, base string, ref func(int) *jen.Statement) []jen.Code {
	depth := 1
	if base != "" {
		depth += 1 + strings.Count(base, ".")
	} else if c := g.common(items); c != "" {
		depth += 1 + strings.Count(c, ".")
	}
	var lines []jen.Code
	last := ""
	for n, it := range items {
		scope := g.scopePrefix(it.step, depth)
		if n > 0 && scope != last {
			lines = append(lines, jen.Line())
		}
		last = scope
		if it.block != nil {
			lines = append(lines, jen.Comment("// "+comment(it.block.insts[it.inst].prefix)), it.block.call(g, it.inst))
			continue
		}
		name := g.stepName(it.step)
		if base != "" {
			name = g.innerName(it.step, base)
		}
		lines = append(lines, jen.Comment("// "+g.stepComment(it.step, base)), g.statement(it.step, name, ref))
	}
	return lines
}

// innerName names a step of a repeated block in errors, behind the block's scope.
func (g *kernelGen) innerName(i int, base string) string {
	s := &g.p.Steps[i]
	if path := strings.TrimPrefix(strings.TrimPrefix(s.Scope.Path, base), "."); path != "" {
		return path
	}
	return s.Op
}

// eachField calls f for the first step of each kernel that is kept in the state.
func (g *kernelGen) eachField(f func(i int, field string)) {
	done := map[string]bool{}
	for i, c := range g.steps {
		if c.field != "" && !done[c.field] {
			done[c.field] = true
			f(i, c.field)
		}
	}
}

// printState prints the struct with everything that one call works on.
func (g *kernelGen) printState(files *goFiles) {
	fields := []jen.Code{fromKernel("Frame")}
	if g.symbolic {
		fields = append(fields, jen.Line())
		fields = append(fields, structFields(g.symbolNames(), jen.Int())...)
	}
	if len(g.offsets) > 0 {
		fields = append(fields, jen.Id("places").Index(jen.Lit(len(g.offsets))).Int().Comment("// in the arena, in bytes"))
	}
	var ends, values []string
	for k := range g.p.Buffers {
		switch g.p.Buffers[k].Kind {
		case plan.Input, plan.Output:
			ends = append(ends, g.held[k])
		case plan.Temp, plan.View:
			if g.held[k] != "" {
				values = append(values, g.held[k])
			}
		}
	}
	fields = append(fields, jen.Line())
	fields = append(fields, structFields(ends, arrayPointer())...)
	fields = append(fields, structFields(values, fromArray("Array"))...)
	for _, b := range g.blocks {
		if len(b.locals) > 0 {
			fields = append(fields, jen.Id(b.field).Index(jen.Lit(len(b.insts))).Id(b.fn+"Values"))
		}
	}
	g.eachField(func(i int, field string) {
		fields = append(fields, jen.Id(field).Add(fromKernel(structOf(&g.p.Steps[i]).Type().Name())))
	})
	name := g.prefix + "State"
	files.declare(name+" is what one call works on. States are kept for later calls.", len(fields)+2, jen.Type().Id(name).Struct(fields...))
}

// layoutLines prints the statements that give all values their sizes and places.
func (g *kernelGen) layoutLines() []jen.Code {
	g.places = map[string]int{}
	var lines []jen.Code
	g.eachField(func(i int, field string) {
		lines = append(lines, g.fieldLines(i, jen.Id("s").Dot(field))...)
	})
	for k := range g.p.Buffers {
		b := &g.p.Buffers[k]
		switch {
		case g.held[k] == "":
		case b.Kind == plan.Temp:
			lines = append(lines, g.placeLine(g.refs[k], g.offset(b), b))
		case b.Kind == plan.View:
			lines = append(lines, g.headerLine(g.refs[k], b))
		}
	}
	for _, b := range g.blocks {
		for n := range b.insts {
			if len(b.locals) > 0 {
				lines = append(lines, b.layoutCall(g, n))
			}
		}
	}
	var first []jen.Code
	for _, x := range g.symbolNames() {
		first = append(first, jen.Id("s").Dot(x).Op("=").Id(x))
	}
	first = append(first, jen.Id("s").Dot("Arena").Call(g.dim(g.p.Arena)))
	for i, d := range g.offsets {
		first = append(first, jen.Id("s").Dot("places").Index(jen.Lit(i)).Op("=").Add(g.dim(d)))
	}
	return append(first, lines...)
}

// printLayout prints what gives all values their sizes and places.
func (g *kernelGen) printLayout(files *goFiles, lines []jen.Code) {
	files.function(lines, func(i int) (string, *jen.Statement) {
		name := numbered("layout", i)
		return name + " gives every value its sizes and its place in the arena.", jen.Func().Params(g.stateParam()).Id(name).Params(g.symbolParams()...)
	}, func(i int) jen.Code { return jen.Id("s").Dot(numbered("layout", i)).Call(ids(g.symbolNames())...) })
}

// scratchAsker finds the steps whose scratch memory has to be asked for: those
// that cannot differ in it are asked once.
type scratchAsker struct {
	g      *kernelGen
	maker  map[int]int // the step of a view
	viewed map[int]bool
	lines  []jen.Code
}

// describe returns a text that is equal for operands of equal layout.
func (a *scratchAsker) describe(k int) string {
	if k < 0 {
		return "nil"
	}
	text := a.g.p.Buffers[k].Type.String()
	if i, ok := a.maker[k]; ok {
		text += " " + a.g.steps[i].text + "("
		for _, in := range a.g.p.Steps[i].In {
			text += a.describe(in) + ","
		}
		text += ")"
	}
	return text
}

// view lays out a value that is a view, and those that it is a view of.
func (a *scratchAsker) view(k int) {
	i, ok := a.maker[k]
	if k < 0 || !ok || a.viewed[k] {
		return
	}
	a.viewed[k] = true
	for _, in := range a.g.p.Steps[i].In {
		a.view(in)
	}
	a.lines = append(a.lines, a.g.layView(i, func(k int) *jen.Statement { return a.g.refs[k] }))
}

// printScratch prints the function that finds the scratch memory that the steps
// need for the sizes laid out.
func (g *kernelGen) printScratch(files *goFiles) {
	a := &scratchAsker{g: g, maker: map[int]int{}, viewed: map[int]bool{}}
	for i := range g.p.Steps {
		if s := &g.p.Steps[i]; s.View {
			for _, k := range s.Out {
				a.maker[k] = i
			}
		}
	}
	ref := func(k int) *jen.Statement { return g.refs[k] }
	asked := map[string]bool{}
	for i := range g.p.Steps {
		s := &g.p.Steps[i]
		if _, ok := s.Kernel.(kernel.Scratcher); !ok || s.View {
			continue
		}
		key := g.steps[i].text
		for _, list := range [2][]int{s.Out, s.In} {
			for _, k := range list {
				key += " " + a.describe(k)
			}
		}
		if asked[key] {
			continue
		}
		asked[key] = true
		for _, list := range [2][]int{s.Out, s.In} {
			for _, k := range list {
				a.view(k)
			}
		}
		bytes := jen.Add(g.steps[i].expr).Dot("ScratchBytes").Call(jen.Id("s").Dot("Outs").Call(operandList(s.Out, ref)...), jen.Id("s").Dot("Ins").Call(operandList(s.In, ref)...))
		a.lines = append(a.lines, jen.Id("s").Dot("Need").Call(bytes))
	}
	name := g.prefix + "Scratch"
	files.function(a.lines, func(i int) (string, *jen.Statement) {
		return numbered(name, i) + " finds the scratch memory that the steps need.", g.computeFunc(numbered(name, i))
	}, func(i int) jen.Code { return computeCall(numbered(name, i)) })
}

// fixedPeak returns the bytes of arena and scratch of a plan without symbols.
func (g *kernelGen) fixedPeak() (arena, scratch int) {
	arena, _ = g.p.Arena.Int()
	hdr := make([]*array.Array, len(g.p.Buffers))
	for k := range g.p.Buffers {
		d, dims, _ := g.p.Buffers[k].Type.Concrete()
		hdr[k] = array.Make(d, nil, nil, 0, nil)
		hdr[k].Reset(d, dims)
	}
	pick := func(list []int) []*array.Array {
		a := make([]*array.Array, len(list))
		for i, k := range list {
			if k >= 0 {
				a[i] = hdr[k]
			}
		}
		return a
	}
	for i := range g.p.Steps {
		s := &g.p.Steps[i]
		if s.View {
			s.Kernel.(kernel.Viewer).View(pick(s.Out), pick(s.In))
		} else if k, ok := s.Kernel.(kernel.Scratcher); ok {
			scratch = max(scratch, k.ScratchBytes(pick(s.Out), pick(s.In)))
		}
	}
	return arena, scratch
}
