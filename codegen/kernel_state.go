package codegen

import (
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/plan"
)

// stepFiles prints the kernels, the state of a call, and the functions that
// compute the plan.
func (g *kernelGen) stepFiles() []*goFile {
	files := &goFiles{base: g.file + "_steps"}
	layout := g.layoutLines()
	g.printState(files)
	g.printLayout(files, layout)
	for _, k := range g.kernels {
		s := files.next()
		s.p(k)
		s.p()
	}
	ref := func(k int) string { return g.refs[k] }
	pfx := g.prefix
	chunks := g.chunks(g.items(), 1)
	open := func(name string) string { return "func " + name + "(s *" + pfx + "State, w *" + pfx + "Weights) {" }
	if len(chunks) == 1 {
		s := files.next()
		s.p("// ", pfx, "Run computes the results.")
		s.p(open(pfx + "Run"))
		g.printItems(s, chunks[0].items, "", ref)
		s.p("}")
		s.p()
	} else {
		var calls []string
		fns := make([]string, len(chunks))
		for i, c := range chunks {
			base := "Part"
			if c.prefix != "" {
				base = exported(c.prefix)
			}
			fns[i] = g.top.add(pfx + base)
			calls = append(calls, fns[i]+"(s, w)")
		}
		files.function(calls, func(i int) string {
			return "// " + numbered(pfx+"Run", i) + " computes the results.\n" + open(numbered(pfx+"Run", i))
		},
			func(i int) string { return numbered(pfx+"Run", i) + "(s, w)" })
		for i, c := range chunks {
			s := files.next()
			what := "a part of the model"
			if c.prefix != "" {
				what = comment(c.prefix)
			}
			s.p("// ", fns[i], " computes ", what, ".")
			s.p(open(fns[i]))
			g.printItems(s, c.items, "", ref)
			s.p("}")
			s.p()
		}
	}
	for _, b := range g.blocks {
		b.print(g, files)
	}
	if g.symbolic {
		g.printScratch(files)
	}
	return files.list
}

// printItems prints the statements of a function, with a blank line between
// scopes.
func (g *kernelGen) printItems(s *goFile, items []item, base string, ref func(int) string) {
	depth := 1
	if base != "" {
		depth += 1 + strings.Count(base, ".")
	} else if c := g.common(items); c != "" {
		depth += 1 + strings.Count(c, ".")
	}
	last := ""
	for n, it := range items {
		scope := g.scopePrefix(it.step, depth)
		if n > 0 && scope != last {
			s.p()
		}
		last = scope
		if it.block != nil {
			s.p("// ", comment(it.block.insts[it.inst].prefix))
			s.p(it.block.call(g, it.inst))
			continue
		}
		name := g.stepName(it.step)
		if base != "" {
			name = g.innerName(it.step, base)
		}
		s.p(g.stepComment(it.step, base))
		s.p(g.statement(it.step, name, ref))
	}
}

// innerName names a step of a repeated block in errors, behind the block's scope.
func (g *kernelGen) innerName(i int, base string) string {
	s := &g.p.Steps[i]
	if path := strings.TrimPrefix(strings.TrimPrefix(s.Scope.Path, base), "."); path != "" {
		return path
	}
	return s.Op
}

// printState prints the struct with everything that one call works on.
func (g *kernelGen) printState(files *goFiles) {
	s := files.next()
	pfx := g.prefix
	s.p("// ", pfx, "State is what one call works on. States are kept for later calls.")
	s.p("type ", pfx, "State struct {")
	s.p("ctx context.Context")
	s.p("scope, step string // what is computed, for errors")
	s.p("work kernel.Workspace")
	s.p("arena *array.Storage // of all intermediate values")
	s.p("size int // bytes of the arena that the sizes ask for")
	if g.symbolic {
		s.p("need int // bytes of scratch memory that the sizes ask for")
	}
	s.p("dry bool // sizes are computed, memory is not made")
	s.p("inList, outList []*array.Array")
	if g.symbolic {
		var sym []string
		for _, x := range g.p.Symbols {
			sym = append(sym, g.symbols[x.Name])
		}
		s.p()
		writeFields(s, sym, "int")
	}
	if len(g.offsets) > 0 {
		s.p("places [", strconv.Itoa(len(g.offsets)), "]int // in the arena, in bytes")
	}
	var ends, values []string
	for k := range g.p.Buffers {
		ref := g.refs[k]
		switch g.p.Buffers[k].Kind {
		case plan.Input, plan.Output:
			ends = append(ends, ref[len("s."):])
		case plan.Temp, plan.View:
			if !strings.Contains(ref, "[") {
				values = append(values, ref[len("&s."):])
			}
		}
	}
	s.p()
	writeFields(s, ends, "*array.Array")
	writeFields(s, values, "array.Array")
	for _, b := range g.blocks {
		if len(b.locals) > 0 {
			s.p(b.field, " [", strconv.Itoa(len(b.insts)), "]", b.fn, "Values")
		}
	}
	done := map[string]bool{}
	for i, c := range g.steps {
		if c.field != "" && !done[c.field] {
			done[c.field] = true
			s.p(c.field, " kernel.", structOf(&g.p.Steps[i]).Type().Name())
		}
	}
	s.p("}")
	s.p()
	s.p("// release lets go of the arguments.")
	s.p("func (s *", pfx, "State) release() {")
	for _, e := range ends {
		s.p("s.", e, " = nil")
	}
	s.p("}")
	s.p()
}

// layoutLines prints the statements that give all values their sizes and places.
func (g *kernelGen) layoutLines() []string {
	g.places = map[string]int{}
	var lines []string
	done := map[string]bool{}
	for i, c := range g.steps {
		if c.field != "" && !done[c.field] {
			done[c.field] = true
			lines = append(lines, g.fieldLines(i, "s."+c.field)...)
		}
	}
	for k := range g.p.Buffers {
		b, ref := &g.p.Buffers[k], g.refs[k]
		if strings.Contains(ref, "[") {
			continue
		}
		switch b.Kind {
		case plan.Temp:
			lines = append(lines, g.placeLine(ref, g.offset(b), b))
		case plan.View:
			lines = append(lines, g.headerLine(ref, b))
		}
	}
	for _, b := range g.blocks {
		for n := range b.insts {
			if len(b.locals) > 0 {
				lines = append(lines, b.layoutCall(g, n))
			}
		}
	}
	var first []string
	for _, x := range g.p.Symbols {
		first = append(first, "s."+g.symbols[x.Name]+" = "+g.symbols[x.Name])
	}
	first = append(first, "s.reserve("+g.dim(g.p.Arena)+")")
	for i, text := range g.offsets {
		first = append(first, "s.places["+strconv.Itoa(i)+"] = "+text)
	}
	return append(first, lines...)
}

// printLayout prints what gives all values their sizes and places.
func (g *kernelGen) printLayout(files *goFiles, lines []string) {
	files.function(lines, func(i int) string {
		name := numbered("layout", i)
		return "// " + name + " gives every value its sizes and its place in the arena.\nfunc (s *" + g.prefix + "State) " + name + "(" + g.symbolParams("") + ") {"
	}, func(i int) string {
		return "s." + numbered("layout", i) + "(" + strings.TrimPrefix(g.symbolArgs(", "), ", ") + ")"
	})
}

// printScratch prints the function that finds the scratch memory that the steps
// need for the sizes laid out. Steps that cannot differ in it are asked once.
func (g *kernelGen) printScratch(files *goFiles) {
	maker := map[int]int{} // the step of a view
	for i := range g.p.Steps {
		if s := &g.p.Steps[i]; s.View {
			maker[s.Out[0]] = i
		}
	}
	var describe func(k int) string
	describe = func(k int) string {
		if k < 0 {
			return "nil"
		}
		text := g.p.Buffers[k].Type.String()
		if i, ok := maker[k]; ok {
			text += " " + g.steps[i].expr + "("
			for _, in := range g.p.Steps[i].In {
				text += describe(in) + ","
			}
			text += ")"
		}
		return text
	}
	var lines []string
	viewed := map[int]bool{}
	ref := func(k int) string { return g.refs[k] }
	var view func(k int)
	view = func(k int) {
		i, ok := maker[k]
		if !ok || viewed[k] {
			return
		}
		viewed[k] = true
		for _, in := range g.p.Steps[i].In {
			if in >= 0 {
				view(in)
			}
		}
		lines = append(lines, g.statement(i, g.stepName(i), ref))
	}
	asked := map[string]bool{}
	for i := range g.p.Steps {
		s := &g.p.Steps[i]
		if _, ok := s.Kernel.(kernel.Scratcher); !ok || s.View {
			continue
		}
		key := g.steps[i].expr
		for _, list := range [2][]int{s.Out, s.In} {
			for _, k := range list {
				key += " " + describe(k)
			}
		}
		if asked[key] {
			continue
		}
		asked[key] = true
		args := [2]string{}
		for a, list := range [2][]int{s.Out, s.In} {
			var parts []string
			for _, k := range list {
				parts = append(parts, "nil")
				if k >= 0 {
					view(k)
					parts[len(parts)-1] = g.refs[k]
				}
			}
			args[a] = strings.Join(parts, ", ")
		}
		lines = append(lines, "s.need = max(s.need, "+g.steps[i].expr+".ScratchBytes(s.outs("+args[0]+"), s.ins("+args[1]+")))")
	}
	name := g.prefix + "Scratch"
	files.function(append([]string{"s.need = 0"}, lines...), func(i int) string {
		return "// " + numbered(name, i) + " finds the scratch memory that the steps need.\nfunc " + numbered(name, i) + "(s *" + g.prefix + "State, w *" + g.prefix + "Weights) {"
	}, func(i int) string { return numbered(name, i) + "(s, w)" })
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
			s.Kernel.(kernel.Viewer).View(hdr[s.Out[0]], pick(s.In))
		} else if k, ok := s.Kernel.(kernel.Scratcher); ok {
			scratch = max(scratch, k.ScratchBytes(pick(s.Out), pick(s.In)))
		}
	}
	return arena, scratch
}
