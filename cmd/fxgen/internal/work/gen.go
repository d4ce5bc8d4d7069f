package work

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/exchange"
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/codegen/certificate"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
)

// Styles of generated code.
const (
	Kernel = "kernel"
	Module = "module"
)

// gen writes Go source into the result.
func (c *captured) gen(ctx context.Context, j *Job, res *Result) error {
	tests, err := c.certify(ctx, j, res)
	if err != nil {
		return err
	}
	var files *codegen.Files
	if j.Style == Module {
		files, err = c.genModule(j, tests)
	} else {
		files, err = c.genKernel(j, tests)
	}
	if err != nil {
		return err
	}
	if j.Verb == Gen && !c.ofModule(j) {
		c.warnOfWeights(j, res)
	}
	for _, f := range files.List {
		res.Files = append(res.Files, File{Name: f.Name, Data: f.Data})
	}
	return nil
}

func (c *captured) genKernel(j *Job, tests *codegen.Tests) (*codegen.Files, error) {
	o := j.options()
	o.MaxBytes = j.MaxBytes
	ready, err := lowering.Prepare(c.gm, o)
	if err != nil {
		return nil, err
	}
	p, err := cpu.Plan(ready, o)
	if err != nil {
		return nil, err
	}
	return codegen.Kernel(p, ready.Values(), codegen.KernelOptions{Package: j.Package, Type: j.Type, File: j.File,
		Weights: codegen.WeightsMode(j.WeightsMode), Eject: j.Eject, Outputs: c.src.Outputs,
		About: c.about(j), Tests: tests})
}

// genGraphs writes the graphs of a session as Go. Those that have no code are notes: a session
// runs them call by call.
func genGraphs(c *captured, s *lazy.Session, j *Job, res *Result) error {
	o := lowering.Options{Exact: !j.Rounding, MaxBytes: j.MaxBytes}
	graphs, modules := s.Recorded()
	all := graphs.List
	graphs.Source, graphs.List = c.src.Name, nil
	var plans []codegen.Planned
	leave := func(name string, err error) {
		var l diag.List
		l.Add(err)
		res.Notes.Add(&diag.Error{Note: true, Pos: l[0].Pos, Msg: name + " is not generated, sessions run it call by call: " + l[0].Msg})
	}
	for i, m := range modules {
		o.Into = all[i].Into
		p, err := planOf(m, o)
		if err != nil {
			leave(all[i].Name, err)
			continue
		}
		graphs.List, plans = append(graphs.List, all[i]), append(plans, *p)
	}
	files, left, err := codegen.Graphs(graphs, plans, codegen.TableOptions{Package: j.Package, Eject: j.Eject})
	if err != nil {
		return err
	}
	for _, i := range slices.Sorted(maps.Keys(left)) {
		leave(graphs.List[i].Name, left[i])
	}
	if len(left) == len(graphs.List) {
		return diag.New(BadValue, c.src.Name+" has no graph that code can be generated for").WithHint("fxgen lazy without -gen tells what it does in a session")
	}
	for _, f := range files.List {
		res.Files = append(res.Files, File{Name: f.Name, Data: f.Data})
	}
	return nil
}

// planOf plans a graph of a session.
func planOf(m *graph.Module, o lowering.Options) (*codegen.Planned, error) {
	ready, err := lowering.Prepare(m, o)
	if err != nil {
		return nil, err
	}
	p, err := cpu.Plan(ready, o)
	if err != nil {
		return nil, err
	}
	return &codegen.Planned{Plan: p, State: ready.Values()}, nil
}

func (c *captured) genModule(j *Job, tests *codegen.Tests) (*codegen.Files, error) {
	o := codegen.ModuleOptions{Package: j.Package, Path: j.PackagePath, Func: j.Func, Type: j.Type, Eject: j.Eject, Weights: true,
		About: c.about(j), Tests: tests}
	if j.File != "" {
		o.File = j.File + ".go"
	}
	if c.ofModule(j) {
		o.Root = c.module
		fn, err := c.function()
		if err != nil {
			return nil, err
		}
		for i := range fn.Type().NumOut() {
			if t := fn.Type().Out(i); t != errorType {
				o.Results = append(o.Results, t)
			}
		}
	}
	return codegen.Module(c.gm, o)
}

// ofModule reports whether code of module style is a function of the user's module.
func (c *captured) ofModule(j *Job) bool {
	return c.src.Model == nil && c.src.Graph == nil && j.Verb == Gen && !j.OwnState && j.Style == Module
}

// feed writes Go source and the inputs of a run, for the engines that build.
func (c *captured) feed(ctx context.Context, j *Job, res *Result) error {
	in, dims, err := c.values(j)
	if err != nil {
		return err
	}
	if err := c.gen(ctx, j, res); err != nil {
		return err
	}
	if j.Style == Kernel && dims != nil {
		r, _, err := c.runner(&Job{Engine: Plan})
		if err != nil {
			return err
		}
		res.PeakBytes = r.peak(dims)
		r.close()
	}
	for i, n := range c.gm.Graph.Inputs() {
		a := in[i]
		if a == nil {
			def, ok := n.Default().(*array.Array)
			if !ok {
				return diag.New(BadValue, "the default of input "+n.Target()+" is no array").WithHint("give a value with -in")
			}
			a = def
		}
		b, err := exchange.Encode(a)
		if err != nil {
			return err
		}
		res.Files = append(res.Files, File{Name: exchange.InputFile(i), Data: b})
		res.InputTypes = append(res.InputTypes, a.DType().String())
		res.Shapes = append(res.Shapes, append([]int{}, a.Shape()...))
	}
	return nil
}

// IsSource reports whether a file of the verb Feed is part of the package.
func IsSource(name string) bool {
	return !(strings.HasPrefix(name, "in") && strings.HasSuffix(name, ".value"))
}

// madeUp makes samples: one where all sizes are known or given. Where some are open, there
// are two of small sizes and more until every size that follows from them has had three
// values, the largest that passes.Cover allows among them; open lists those that have not.
func (c *captured) madeUp(ctx context.Context, j *Job) (list []certificate.Sample, open []shape.Dim, err error) {
	t := trial{c: c, j: j, free: map[string]bool{}}
	if err := t.smallest(ctx); err != nil {
		return nil, nil, err
	}
	if t.list, err = c.steps(ctx, t.list[0]); err != nil || len(t.free) == 0 {
		return t.list, nil, err
	}
	steps := len(t.list)
	cover := passes.NewCover(c.gm.Graph, t.base, func(symbol string) bool { return !t.free[symbol] })
	three := maps.Clone(t.base)
	for symbol := range t.first {
		if t.free[symbol] {
			three[symbol] = 3
		}
	}
	if s, err := t.at(ctx, three); err == nil && s.Name != t.list[0].Name {
		t.list = append(t.list, *s)
		cover.Add(three)
	}
	most := mostMade + steps - 1
	for tries := 0; tries < mostTries && len(t.list) < most && ctx.Err() == nil; tries++ {
		sizes, ok := cover.Next()
		if !ok {
			break
		}
		if s, err := t.at(ctx, sizes); err == nil {
			t.list = append(t.list, *s)
			cover.Add(sizes)
		}
	}
	return t.list, cover.Missing(), ctx.Err()
}

const (
	mostTries = 24 // of sizes that a model may not take: it may have a table of positions
	mostMade  = 6  // samples
)

// trialSizes are values for sizes after the first, tried in turn: lengths of sequences,
// then those of pictures. Not all models work with all.
var trialSizes = []int{7, 16, 32, 64, 224, 1}

// trial makes samples of a graph by sizes.
type trial struct {
	c     *captured
	j     *Job
	list  []certificate.Sample
	base  map[string]int  // of the first sample
	first map[string]bool // symbols of a first axis
	free  map[string]bool // symbols that neither -shape nor the model's entry gives
}

// smallest makes a sample of a batch of one, with other sizes that the model takes.
func (t *trial) smallest(ctx context.Context) error {
	t.first = map[string]bool{}
	for _, n := range t.c.gm.Graph.Inputs() {
		if typ := n.Type(); typ.Kind() == shape.Tensor && typ.Ranked() && typ.Rank() > 0 {
			if s, ok := typ.Dim(0).IsSymbol(); ok {
				t.first[s] = true
			}
		}
	}
	var failed error
	for _, size := range trialSizes {
		f := t.feed(func(symbol string, usual int) int {
			switch {
			case t.first[symbol]:
				return 1
			case usual > 1:
				return usual
			}
			return size
		})
		s, err := t.sample(ctx, f)
		if t.base = f.dims; err == nil {
			t.list = append(t.list, *s)
			return nil
		}
		if failed == nil {
			failed = err
		}
		if len(t.c.gm.Graph.Symbols()) == 0 || ctx.Err() != nil {
			return failed
		}
	}
	return t.guarded(ctx, failed)
}

// guarded makes a sample of sizes that the guards allow, such as even ones.
func (t *trial) guarded(ctx context.Context, failed error) error {
	given := maps.Clone(t.base)
	maps.DeleteFunc(given, func(symbol string, _ int) bool { return t.free[symbol] })
	in, err := passes.Inputs(t.c.gm.Graph, given, 1)
	if err != nil {
		return failed
	}
	sizes := map[string]int{}
	for _, s := range t.c.gm.Graph.Symbols() {
		if i := slices.Index(t.c.gm.Graph.Inputs(), s.Node); i >= 0 && in[i] != nil {
			sizes[s.Name] = in[i].Dim(s.Axis)
		}
	}
	s, err := t.at(ctx, sizes)
	if err != nil {
		return failed
	}
	t.base, t.list = sizes, append(t.list, *s)
	return nil
}

// at makes a sample of the sizes of all symbols.
func (t *trial) at(ctx context.Context, sizes map[string]int) (*certificate.Sample, error) {
	return t.sample(ctx, t.feed(func(symbol string, _ int) int { return sizes[symbol] }))
}

// feed gives symbols the sizes of -shape, and else those that open chooses.
func (t *trial) feed(open func(symbol string, usual int) int) *feed {
	return &feed{job: &Job{Shapes: t.j.Shapes}, graph: t.c.gm.Graph, model: t.c.src.Model, files: map[string]*array.Array{}, dims: map[string]int{},
		open: func(symbol string, usual int) int {
			if s, ok := t.c.gm.Graph.Symbol(symbol); ok && s.Node.Opcode() == graph.Placeholder {
				t.free[symbol] = true
			}
			return open(symbol, usual)
		}}
}

// sample makes inputs and runs them.
func (t *trial) sample(ctx context.Context, f *feed) (*certificate.Sample, error) {
	if err := f.known(); err != nil {
		return nil, err
	}
	if err := f.sizes(); err != nil {
		return nil, err
	}
	s := &certificate.Sample{}
	var sizes []string
	for i, n := range t.c.gm.Graph.Inputs() {
		d, dims, err := f.shapeOf(n)
		if err != nil {
			return nil, err
		}
		if n, ok := array.NumElems(dims); !ok || n > certificate.MaxMade/8 {
			return nil, diag.New(BadValue, "an input would have "+strconv.Itoa(n)+" elements")
		}
		s.Inputs = append(s.Inputs, certificate.Made(d, dims, uint64(i+1)))
		sizes = append(sizes, fmt.Sprint(dims))
	}
	s.Name = strings.Join(sizes, " ")
	out, err := t.c.reference(ctx, s.Arrays())
	for _, a := range out {
		s.Outputs = append(s.Outputs, certificate.Expect(a))
	}
	return s, err
}

// mostSteps is how many calls of a model with state are made up, one next to the other.
const mostSteps = 4

// carried says for each input which result the next call takes for it, 1 for the first, and 0
// for data. Inputs and results of a type are taken for a state where there are as many of both
// in one order, and there are other inputs, which are data.
func (c *captured) carried() []int {
	g := c.gm.Graph
	of := make([]int, len(g.Inputs()))
	data := false
	for i, n := range g.Inputs() {
		place, inputs := 0, 0
		for k, other := range g.Inputs() {
			if other.Type().Same(n.Type()) {
				inputs++
				if k < i {
					place++
				}
			}
		}
		var results []int
		for k, a := range output(g).Args() {
			if a != nil && a.Type().Same(n.Type()) {
				results = append(results, k+1)
			}
		}
		if n.Default() == nil && len(results) == inputs {
			of[i] = results[place]
			continue
		}
		data = true
	}
	if !data {
		clear(of)
	}
	return of
}

// steps adds calls next to that of a made-up sample, with data of their own, where the model has
// state: parameters that calls write, or results that are inputs of the next call.
func (c *captured) steps(ctx context.Context, s certificate.Sample) ([]certificate.Sample, error) {
	list := []certificate.Sample{s}
	from := c.carried()
	writes := remembers(c.gm)
	if !writes && !slices.ContainsFunc(from, func(k int) bool { return k > 0 }) {
		return list, nil
	}
	m := c.gm
	if c.origin != nil {
		m = c.origin
	}
	r := interpreted{module: m}
	if _, err := r.run(ctx, &s); err != nil {
		return nil, err
	}
	for k := 1; k < mostSteps; k++ {
		next := certificate.Sample{Name: s.Name + ", call " + strconv.Itoa(k+1), Continues: true}
		for i, in := range s.Inputs {
			if from[i] > 0 {
				next.Inputs = append(next.Inputs, certificate.Input{From: from[i]})
				continue
			}
			next.Inputs = append(next.Inputs, certificate.Made(in.Value.DType(), in.Value.Shape(), in.Seed+uint64(k*len(s.Inputs))))
		}
		out, err := r.run(ctx, &next)
		if err != nil {
			break // a state may count, and end
		}
		for _, a := range out {
			next.Outputs = append(next.Outputs, certificate.Expect(a))
		}
		list = append(list, next)
	}
	return list, nil
}

// weightsOrigin says where the values of the parameters come from, in words that do not depend on
// the machine, and whether nobody has chosen them. "" where there are none.
func (c *captured) weightsOrigin(j *Job) (text string, unchosen bool) {
	some := false
	for _, p := range c.gm.Params() {
		some = some || !p.Buffer
	}
	seed, synthetic := strings.CutPrefix(j.Weights, "synthetic:")
	if j.Weights == "synthetic" {
		seed, synthetic = j.seed(), true
	}
	const random = ", values that mean nothing"
	switch {
	case len(c.gm.Params()) == 0:
		return "", false
	case synthetic:
		return "synthetic:" + seed + random, false
	case j.Weights != "":
		return filepath.Base(j.Weights), false
	case c.src.isModel():
		return c.src.Name, false
	case c.src.Model != nil:
		return "synthetic:" + j.seed() + random, some
	case c.src.New != nil:
		return "the constructor of " + c.src.Name, some
	case c.src.Graph != nil:
		return "the graph " + c.src.Name, false
	}
	return "the function " + c.src.Name, false
}

// about is the information on the model for the comments of its package.
func (c *captured) about(j *Job) *codegen.About {
	about := c.src.about()
	about.Weights, _ = c.weightsOrigin(j)
	return about
}

// warnOfWeights notes that the output has weights that nobody has chosen: the usual
// cause is a forgotten flag.
func (c *captured) warnOfWeights(j *Job, res *Result) {
	text, unchosen := c.weightsOrigin(j)
	if !unchosen {
		return
	}
	if c.src.Model == nil {
		text += ", random initial values unless it loads others"
	}
	res.Notes.Add(&diag.Error{Note: true, Msg: "no -weights is given, what is written has weights from " + text,
		Hint: "give -weights FILE, or -weights synthetic:SEED for values that mean nothing"})
}
