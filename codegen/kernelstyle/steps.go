package kernelstyle

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/codegen/kernelstyle/outline"
	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/plan"
)

// steps prints the functions that compute the plan: for each step a comment, with
// the module that it belongs to and the type of its result, and the call of its
// kernel with the arrays of the results and of the operands. One function runs a
// short plan; a long one is cut into parts, which it calls one after the other.
// A repeated block is printed once.
type steps struct {
	*pkg
	files *goFiles
	stops int // the last step that the end of ctx stops
}

func (p *steps) print() {
	run := p.prefix + "Run"
	if len(p.parts) == 1 {
		body := p.lines(p.parts[0].Items, "", p.refs)
		p.files.declare(run+" computes "+p.computes+".", len(body)+2, p.computeFunc(run).Block(body...))
		return
	}
	names := make([]string, len(p.parts))
	var calls []jen.Code
	for i, part := range p.parts {
		base := "Part"
		if part.Scope != "" {
			base = goname.Upper(part.Scope)
		}
		names[i] = p.top.Unique(p.prefix + base)
		calls = append(calls, computeCall(names[i]))
	}
	p.files.function(calls, func(i int) (string, *jen.Statement) {
		return numbered(run, i) + " computes " + p.computes + ".", p.computeFunc(numbered(run, i))
	}, func(i int) jen.Code { return computeCall(numbered(run, i)) })
	for i, part := range p.parts {
		what := "a part of the model"
		if part.Scope != "" {
			what = gosrc.Comment(part.Scope)
		}
		body := p.lines(part.Items, "", p.refs)
		p.files.declare(names[i]+" computes "+what+".", len(body)+2, p.computeFunc(names[i]).Block(body...))
	}
}

// printBlock prints the function of a repeated block.
func (p *steps) printBlock(b *block) {
	body := append(p.lines(b.Items, b.Calls[0].Scope, b.inside), jen.Id("s").Dot("Within").Call(jen.Lit("")))
	p.files.declare(b.fn+" computes module i of "+b.paths()+".", len(body)+4, b.open(p.names, body))
}

// lines prints the statements of a function, with a blank line between scopes.
// base is the scope of a block; the names of its steps follow it. A step that is
// joined with another prints only its comment: the kernel of the other one
// computes it.
func (p *steps) lines(items []outline.Item, base string, refs refs) []jen.Code {
	var lines []jen.Code
	for _, it := range items {
		if it.Gap {
			lines = append(lines, jen.Line())
		}
		lines = append(lines, p.settle(it, base)...)
		if it.Block != nil {
			b := p.blockOf(it.Block)
			lines = append(lines, jen.Comment("// "+gosrc.Comment(b.Calls[it.Call].Scope)), b.call(it.Call, refs))
			continue
		}
		name := p.stepName(it.Step)
		if base != "" {
			name = p.innerName(it.Step, base)
		}
		lines = append(lines, jen.Comment("// "+p.stepComment(it.Step, base)))
		if f := p.flows[it.Step]; f != nil {
			lines = append(lines, p.flowLines(f, name)...)
			continue
		}
		if !p.Steps[it.Step].Joined {
			lines = append(lines, p.statement(it.Step, name, refs))
		}
	}
	return lines
}

// settle prints that the call does not stop any more, before the first item with a step after p.stops.
func (p *steps) settle(it outline.Item, base string) []jen.Code {
	last := it.Step
	if it.Block != nil {
		last = it.Block.Calls[it.Call].Last - 1
	}
	if base != "" || last <= p.stops {
		return nil
	}
	p.stops = len(p.Steps)
	return []jen.Code{jen.Comment("// Inputs are written from here on: the call does not stop any more."), jen.Id("s").Dot("Settle").Call()}
}

func (p *steps) blockOf(o *outline.Block) *block {
	return p.blocks[slices.IndexFunc(p.blocks, func(b *block) bool { return b.Block == o })]
}

// perLine is how many arrays stand on a line where there are more.
const perLine = 8

// operands prints the arrays of a step's results and operands.
func operands(s *plan.Step, refs refs) (out, in *jen.Statement) {
	list := func(name string, buffers []int) *jen.Statement {
		arrays := refs.list(buffers)
		call := jen.Id("s").Dot(name)
		if len(arrays) <= 2*perLine {
			return call.Call(arrays...)
		}
		return call.CustomFunc(jen.Options{Open: "(", Close: ")", Separator: ",", Multi: true}, func(g *jen.Group) {
			for line := range slices.Chunk(arrays, perLine) {
				g.List(line...)
			}
		})
	}
	return list("Outs", s.Out), list("Ins", s.In)
}

// statement prints a step's call.
func (g *pkg) statement(i int, name string, refs refs) *jen.Statement {
	s, expr := &g.Steps[i], g.kernels.steps[i].expr
	out, in := operands(s, refs)
	if f := s.Told(); f != "" {
		return jen.Id("s").Dot("Tell").Call(gosrc.Quoted(name), gosrc.Quoted(f), in)
	}
	if g.findsSizes(s) {
		return jen.Id("s").Dot("Sized").Call(gosrc.Quoted(name), expr, out, in)
	}
	if !s.View {
		return jen.Add(expr).Dot("Run").Call(jen.Id("s").Dot("At").Call(gosrc.Quoted(name)), out, in)
	}
	if _, partial := s.Kernel.(kernel.PartialViewer); partial {
		return jen.Id("s").Dot("ViewOrCopy").Call(gosrc.Quoted(name), expr, out, in)
	}
	return jen.Id("s").Dot("Viewed").Call(gosrc.Quoted(name), jen.Add(expr).Dot("View").Call(out, in))
}

// findsSizes tells that a step finds the sizes of its results.
func (m *model) findsSizes(s *plan.Step) bool {
	return len(s.Out) > 0 && s.Out[0] >= 0 && m.Buffers[s.Out[0]].Kind == plan.Sized
}

// innerName names a step of a repeated block in errors, after the block's scope.
func (m *model) innerName(i int, base string) string {
	s := &m.Steps[i]
	return cmp.Or(strings.TrimPrefix(strings.TrimPrefix(s.Scope.Path, base), "."), s.Op)
}

// place returns the module path and type that a step belongs to: its scope, or
// the module whose tensors it reads where that says more.
func (m *model) place(i int) (path, typ string) {
	s := &m.Steps[i]
	path, typ = s.Scope.Path, s.Scope.Type
	if owner, _ := m.hints.owner(s); len(owner) > len(path) && (path == "" || strings.HasPrefix(owner, path+".")) {
		return owner, ""
	}
	return path, typ
}

// stepComment describes a step: scope, type of the module, result type. base is
// the scope of the enclosing function, which is left out.
func (m *model) stepComment(i int, base string) string {
	step := &m.Steps[i]
	path, typ := m.place(i)
	if base != "" && path != base {
		path = strings.TrimPrefix(path, base+".")
	}
	typ = typ[strings.LastIndexByte(typ, '/')+1:]
	text := path
	switch {
	case base != "" && path == base:
		text = typ
	case typ != "":
		text += " (" + typ + ")"
	}
	// A module that is named after its operator needs no more: BatchNorm2d.
	if !strings.HasPrefix(strings.ToLower(typ[strings.LastIndexByte(typ, '.')+1:]), strings.ReplaceAll(step.Op, "_", "")) {
		if text != "" {
			text += ": "
		}
		text += step.Op
	}
	if part := m.hints.part(step); part != "" {
		text += ": " + part
	}
	if text == "" { // of no operator: a result that is copied
		text = strings.ToLower(structOf(step).Type().Name())
	}
	var types []string
	for _, k := range step.Out {
		if k >= 0 {
			types = append(types, m.Buffers[k].Type.String())
		}
	}
	switch {
	case step.Joined:
		types[0] += ", whose operands lie in it"
	case step.View && len(types) == 1:
		types[0] += ", a view"
	case step.View:
		types[0] = "views " + types[0]
	}
	return gosrc.Comment(strings.TrimSpace(text) + " " + strings.Join(types, ", "))
}

// stepName is the name by which errors call a step.
func (m *model) stepName(i int) string {
	s := &m.Steps[i]
	if len(s.Nodes) > 0 && strings.Trim(s.Nodes[0], "_") != "" {
		return s.Nodes[0]
	}
	return cmp.Or(s.Op, structOf(s).Type().Name())
}
