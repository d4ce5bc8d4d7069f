package kernelstyle

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/codegen/kernelstyle/outline"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lowering/plan"
)

// Print prints a plan as a package that calls kernels: model, steps and weights.
// state holds the arrays of the plan's weights by path. The package imports kernel,
// array and the standard library, and array/safetensors where it reads files. The error is a
// diag.List of everything that cannot be printed, with codes FX4020 to FX4026;
// then nothing is returned.
func Print(p *plan.Plan, state map[string]*array.Array, o Options) (*gosrc.Files, error) {
	if p == nil || len(p.Outputs) == 0 {
		return nil, diag.New(CodeResults, "the plan has no results, expected one or more").WithHint("return what the model computes")
	}
	for q := range p.All() {
		if !wellFormed(q) {
			return nil, diag.Bug("the plan mentions buffers or inputs that it does not have")
		}
	}
	m, err := newModel(p, state, o)
	if err != nil {
		return nil, err
	}
	g := newPkg(m, newNames(m))
	files := []*goFile{g.entryFile()}
	files = append(files, g.stepFiles()...)
	files = append(files, g.weightFiles()...)
	out, err := render(files)
	if err == nil && m.opts.Weights != WeightsLiteral && !m.opts.Part {
		err = m.addWeights(out)
	}
	if err == nil && m.opts.Tests != nil {
		err = m.opts.Tests.AddTo(out, g.calls())
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// model is the printed object: a plan that has been found printable, complete
// options and the weights. A body of control flow is one too; see within.
type model struct {
	*plan.Plan
	opts  Options
	hints *hints
	*tensors
	// kept are the tensors that the plan, or a body in it, reads from or writes to the
	// state that the caller owns.
	kept []*keptTensor
	// defaults are the weights that stand for inputs which are not given, nil for
	// inputs that must be.
	defaults []*weight
}

// newModel checks the options and the plan, and reports all that is wrong.
func newModel(p *plan.Plan, state map[string]*array.Array, o Options) (*model, error) {
	o.complete()
	m := &model{Plan: p, opts: o, hints: newHints(p), tensors: &tensors{}, defaults: make([]*weight, len(p.Inputs))}
	errs := o.check()
	for q := range p.All() {
		errs = append(errs, refuse(q)...)
	}
	errs = append(errs, m.takeWeights(state)...)
	if len(errs) == 0 {
		errs.Add(p.Check())
	}
	errs.Sort()
	if err := errs.Err(); err != nil {
		return nil, err
	}
	m.nameWeights()
	m.takeKept()
	return m, nil
}

// symbolic tells that sizes depend on those of the inputs.
func (m *model) symbolic() bool { return len(m.Symbols) > 0 }

// pkg is the package in the making: the model and everything that has to be
// decided before a file can be printed, in the order in which it is decided. The
// printers of the files read it and change nothing but the sets of names.
type pkg struct {
	*model
	*names           // identifiers of the package and of Forward
	sizes            // how sizes are written
	buffers          // how code reaches each buffer
	kernels *kernels // how code reaches the kernel of each step
	blocks  []*block // functions for steps that occur several times
	parts   []outline.Part
	flows   map[int]*flow // of control-flow steps
	targets []target      // of the results, once their structs are printed
}

func newPkg(m *model, n *names) *pkg {
	g := &pkg{model: m, names: n}
	g.sizes = newSizes(m, g.names)
	g.kernels = newKernels(m, n)
	cut := outline.Of(m.Plan, func(step int) string { return g.kernels.steps[step].key }, m.readOnce)
	g.parts = cut.Parts
	for _, b := range cut.Blocks {
		g.blocks = append(g.blocks, cutBlock(m, b))
	}
	g.buffers = newBuffers(m, g.names, g.blocks)
	for _, b := range g.blocks {
		b.name(g)
	}
	g.kernels.name(g)
	for _, b := range g.blocks {
		b.nameParams(g)
	}
	g.nest()
	return g
}
