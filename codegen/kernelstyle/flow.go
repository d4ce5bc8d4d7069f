package kernelstyle

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/lowering/plan"
)

// flow is a control-flow step: its bodies, and the loop that they are rounds of.
type flow struct {
	*plan.Step
	*plan.Control
	bodies []*body
	loop   string   // field of the state, "" for a cond
	keeps  []string // fields of the surrounding state that the bodies get in addition to the operands
}

// body is a body of control flow: a plan printed as a struct with memory of its own
// and methods that compute it. It has its types and functions in the package, and
// its blocks their weights in the model's.
type body struct {
	*pkg
	field string // in the state around it
	late  []bool // results whose sizes the plan around it does not know
}

// within is the model for a body of a step, whose bodies all get the state that
// any of them reads.
func (m *model) within(s *plan.Step, region *plan.Plan) *model {
	inner := *m
	inner.Plan, inner.hints, inner.defaults = region, newHints(region), nil
	inner.kept = nil
	for _, x := range m.kept {
		if slices.ContainsFunc(s.Regions, x.in) {
			inner.kept = append(inner.kept, x)
		}
	}
	return &inner
}

// bodyNames are the names of a body's declarations.
func (n *names) bodyNames(m *model, prefix, what string) *names {
	made := &names{typ: n.typ, weightsType: n.weightsType, body: true, computes: what, top: n.top, kernelVars: n.kernelVars}
	derived := func() (list []string) {
		list = []string{made.prefix + "State"}
		for i := range mostParts(m) {
			list = append(list, made.prefix+numbered("Run", i), made.prefix+numbered("Scratch", i))
		}
		return list
	}
	for made.prefix = n.top.Unique(prefix); slices.ContainsFunc(derived(), n.top.Has); {
		made.prefix = n.top.Unique(prefix)
	}
	n.top.Reserve(derived()...)
	params := newSet("s", "w", "c", "b", "n", "f", "err", "out", "in", "outer", "at", "scope")
	for _, s := range m.Symbols {
		made.symbols = append(made.symbols, params.Unique(goname.Keep(s.Name)))
	}
	for _, s := range m.Same {
		made.same = append(made.same, params.Unique(goname.Keep(s.Name)))
	}
	return made
}

// part is the name of body r, unless it has a name of its own, and of its role.
func (f *flow) part(r int) (name, role string) {
	switch {
	case f.Cond():
		return [...]string{"yes", "no"}[r], [...]string{"the first branch", "the second branch"}[r]
	case f.While() && r == 0:
		return "cond", "the condition"
	case f.Call():
		return "rest", "the part of the model that follows from sizes which it finds"
	}
	return "body", "the body"
}

// nest makes the bodies of the control-flow steps.
func (g *pkg) nest() {
	g.flows = map[int]*flow{}
	for i := range g.Steps {
		c := g.Steps[i].Control()
		if c == nil {
			continue
		}
		f := &flow{Step: &g.Steps[i], Control: c}
		name := g.stepName(i)
		if !c.Cond() && !c.Call() {
			f.loop = g.fields.Lower(name + "_loop")
		}
		for r, region := range f.Regions {
			part, role := f.part(r)
			b := &body{field: g.fields.Lower(f.field(name, cmp.Or(region.Name, part)))}
			for _, k := range f.Out {
				b.late = append(b.late, k >= 0 && g.Buffers[k].Late)
			}
			m := g.within(f.Step, region)
			if !c.Call() {
				role += " of " + name
			}
			b.pkg = newPkg(m, g.bodyNames(m, g.prefix+goname.Upper(b.field), gosrc.Comment(role)))
			f.bodies = append(f.bodies, b)
		}
		for j, x := range g.kept {
			if slices.ContainsFunc(f.Regions, x.in) {
				f.keeps = append(f.keeps, g.keeps[j])
			}
		}
		g.flows[i] = f
	}
}

// field is a name for the memory of a body of a step.
func (f *flow) field(step, body string) string {
	if f.Call() {
		return step // a call has only one body
	}
	return step + "_" + body
}

// eachFlow ranges over the control-flow steps, in order.
func (g *pkg) eachFlow() func(yield func(*flow) bool) {
	return func(yield func(*flow) bool) {
		for i := range g.Steps {
			if f := g.flows[i]; f != nil && !yield(f) {
				return
			}
		}
	}
}

// allBlocks are the repeated blocks of the plan and of the bodies in it.
func (g *pkg) allBlocks() []*block {
	list := slices.Clone(g.blocks)
	for f := range g.eachFlow() {
		for _, b := range f.bodies {
			list = append(list, b.allBlocks()...)
		}
	}
	return list
}

// asks tells that the scratch memory is found by the code that is printed.
func (g *pkg) asks() bool { return g.symbolic() || len(g.flows) > 0 }

// fields are the fields of the state that a control-flow step has.
func (f *flow) fields() (list []jen.Code) {
	switch {
	case f.While():
		list = append(list, jen.Id(f.loop).Add(fromKernel("WhileLoop")))
	case f.loop != "":
		list = append(list, jen.Id(f.loop).Add(fromKernel("ScanLoop")))
	}
	for _, b := range f.bodies {
		list = append(list, jen.Id(b.field).Id(b.prefix+"State"))
	}
	return list
}

// given are a step's arrays as the arguments of its bodies, or of its loop.
func (f *flow) given(refs refs) (out, in *jen.Statement) {
	operands, _ := f.Operands()
	list := refs.list(operands)
	for _, k := range f.keeps {
		list = append(list, jen.Id("s").Dot(k))
	}
	return jen.Id("s").Dot("Outs").Call(refs.list(f.Out)...), jen.Id("s").Dot("Ins").Call(list...)
}

// begin prints the call that begins a loop.
func (f *flow) begin(refs refs) *jen.Statement {
	out, in := f.given(refs)
	var args []jen.Code
	if !f.While() {
		args = append(args, jen.Lit(f.Carry), jen.Lit(f.Seqs))
	}
	loop := jen.Id("s").Dot(f.loop)
	if f.MaxTrips > 0 {
		loop.Dot("AtMost").Call(jen.Lit(f.MaxTrips))
	}
	return loop.Dot("Begin").Call(append(append(args, out, in), refs.list(f.Spare)...)...)
}

// ends are the arrays that body r of a step computes, and is given.
func (f *flow) ends(r int, refs refs) (out, in *jen.Statement) {
	if f.loop == "" {
		return f.given(refs)
	}
	list := "Out"
	if f.While() && r == 0 {
		list = "Test"
	}
	return jen.Id("s").Dot(f.loop).Dot(list), jen.Id("s").Dot(f.loop).Dot("In")
}

// call prints the call of a method of body r.
func (f *flow) call(method string, r int, refs refs) *jen.Statement {
	out, in := f.ends(r, refs)
	return jen.Id("s").Dot(f.bodies[r].field).Dot(method).Call(jen.Op("&").Id("s").Dot("Frame"), jen.Id("w"), out, in)
}

// flowLines print how a control-flow step runs its bodies.
func (p *steps) flowLines(f *flow, name string) []jen.Code {
	if f.Cond() {
		return []jen.Code{jen.If(jen.Id("s").Dot("True").Call(gosrc.Quoted(name), p.refs.list(f.In[:1])[0])).
			Block(f.call("run", 0, p.refs)).Else().Block(f.call("run", 1, p.refs))}
	}
	if f.Call() {
		return []jen.Code{jen.Id("s").Dot("At").Call(gosrc.Quoted(name)), f.call("run", 0, p.refs)}
	}
	loop := func(method string) *jen.Statement { return jen.Id("s").Dot(f.loop).Dot(method) }
	at := jen.Id("s").Dot("At").Call(gosrc.Quoted(name))
	round := []jen.Code{f.call("run", 0, p.refs)}
	more := loop("More").Call()
	if f.While() {
		more = jen.Empty()
		round = append(round, jen.If(jen.Op("!").Add(loop("More").Call())).Block(jen.Break()), f.call("run", 1, p.refs))
	}
	return []jen.Code{at, jen.For(f.begin(p.refs), more, loop("Next").Call()).Block(round...), loop("End").Call(at.Clone())}
}

// ahead prints how the bodies of a step are laid out with the plan around them.
func (a *scratch) ahead(f *flow) {
	if f.Call() {
		return // its sizes are found later
	}
	for _, list := range [2][]int{f.Out, f.In} {
		for _, k := range list {
			a.view(k)
		}
	}
	for r, b := range f.bodies {
		lines := []jen.Code{f.call("enter", r, a.refs), jen.Id("s").Dot(b.field).Dot("leave").Call()}
		if f.loop != "" {
			lines = append(append([]jen.Code{f.begin(a.refs)}, lines...), jen.Id("s").Dot(f.loop).Dot("Forget").Call())
		}
		a.lines = append(a.lines, jen.Id("s").Dot("Ahead").Call(jen.Op("&").Id("s").Dot(b.field).Dot("Frame"), jen.Func().Params().Block(lines...)))
	}
}

const bodyText = `
// enter begins WHAT with its operands and the memory of its results.
func (s *modelState) enter(outer *kernel.Frame, w *modelWeights, out, in []*array.Array) {
	s.Enter(outer)
	TAKE
	SYMBOLS
	GUARDS
	FIT
	if CHANGED {
		PREPARE
		s.Allocate()
	}
}

// leave ends it.
func (s *modelState) leave() {
	GIVE
	s.Leave()
}

// run computes WHAT.
func (s *modelState) run(outer *kernel.Frame, w *modelWeights, out, in []*array.Array) {
	s.enter(outer, w, out, in)
	modelRun(s, w)
	s.leave()
}
`

// print prints the methods of a body, and all that a plan has.
func (b *body) print(files *goFiles) {
	var take, give, symbols, guards, fit []jen.Code
	bind := func(ref *jen.Statement, value jen.Code) {
		take = append(take, jen.Add(ref).Op("=").Add(value))
		give = append(give, jen.Add(ref).Op("=").Nil())
	}
	for i, k := range b.Inputs {
		bind(b.refs[k], fromArray("Contiguous").Call(jen.Id("in").Index(jen.Lit(i))))
	}
	for i, field := range b.keeps {
		bind(jen.Id("s").Dot(field), jen.Id("in").Index(jen.Lit(len(b.Inputs)+i)))
	}
	for i, k := range b.Outputs {
		bind(b.refs[k], jen.Id("out").Index(jen.Lit(i)))
	}
	bindSize := func(name string, x guard.Symbol) {
		symbols = append(symbols, jen.Id(name).Op(":=").Add(b.refs[b.Inputs[x.Input]]).Dot("Dim").Call(jen.Lit(x.Axis)))
	}
	for i, x := range b.Symbols {
		bindSize(b.symbols[i], x)
	}
	for i, x := range b.Same {
		bindSize(b.same[i], x)
	}
	for i, k := range b.Outputs {
		if x := &b.Buffers[k]; i < len(b.late) && b.late[i] && !x.Late {
			fit = append(fit, jen.Id("s").Dot("Fit").Call(append([]jen.Code{jen.Id("out").Index(jen.Lit(i))}, b.dims(x.Type.Dims())...)...))
		}
	}
	if c := (checks{pkg: b.pkg}); len(b.Guards) > 0 {
		guards = append(append([]jen.Code{jen.Var().Id("c").Add(fromKernel("Checker"))}, c.guards()...), jen.Id("c").Dot("Hold").Call())
	}
	changed, prepare := b.laying()
	f := files.next()
	f.template(bodyText, b.with(map[string]any{"WHAT": b.computes, "TAKE": take, "GIVE": give, "SYMBOLS": symbols, "GUARDS": guards, "FIT": fit,
		"CHANGED": changed, "PREPARE": prepare, "modelWeights": b.weightsType}))
	f.lines += 20 + len(take) + len(give) + len(symbols) + len(guards) + len(fit)
	b.printSteps(files, b.prefix+"State is what "+b.computes+" works on.")
}

// laying prints when values are laid out, and how.
func (g *pkg) laying() (changed *jen.Statement, lines []jen.Code) {
	changed = jen.Op("!").Id("s").Dot("Ready").Call()
	for _, x := range g.symbols {
		changed.Op("||").Id("s").Dot(x).Op("!=").Id(x)
	}
	lines = []jen.Code{jen.Id("s").Dot("layout").Call(ids(g.symbols)...)}
	if g.asks() {
		return changed, append(lines, computeCall(g.prefix+"Scratch"))
	}
	_, scratch := g.fixedPeak()
	return changed, append(lines, jen.Id("s").Dot("Need").Call(jen.Lit(scratch)))
}

// stepsOf counts the steps of a plan and of the bodies in it.
func stepsOf(p *plan.Plan) string {
	n := 0
	for q := range p.All() {
		n += len(q.Steps)
	}
	return strconv.Itoa(n)
}
