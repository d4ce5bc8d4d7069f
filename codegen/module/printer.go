package module

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
)

// Print prints a graph as Go over the tensor API: code that a person would
// write, that runs, and that can be traced again to an isomorphic graph. Names
// come from the model; comments give scopes and types. Where the code has state
// of its own (see Options.Root), calls of modules are printed as calls of their
// operators. If parts cannot be printed, Print reports all of them at once, as
// a diag.List with codes FX4001 to FX4008, and returns no code.
//
// A graph that graph.Lint refuses is refused here as well, with Lint's errors.
func Print(m *graph.Module, o Options) (*gosrc.Files, error) {
	o.complete()
	if err := o.check().Err(); err != nil {
		return nil, err
	}
	if m == nil || m.Graph == nil {
		return nil, diag.New(graph.NoOutput, "no graph, expected a module with one")
	}
	broken := graph.Lint(m.Graph)
	files, errs := printGraph(m, o, len(broken) > 0)
	errs = append(errs, broken...)
	errs.Sort()
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return files, nil
}

// printGraph prints a graph. Its findings about an invalid graph are worth
// reporting in addition to Lint's, up to the point where it can go no further.
func printGraph(mod *graph.Module, opts Options, broken bool) (files *gosrc.Files, errs diag.List) {
	var printing *printer
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		if printing != nil {
			errs = append(errs, printing.errs...)
		}
		if e, ok := r.(*diag.Error); ok {
			errs = append(errs, e)
		} else if !broken {
			errs = append(errs, diag.Bug(fmt.Sprint("printing of graph ", mod.Graph.Name, " failed: ", r)))
		}
	}()
	if mod.Graph.Output() == nil {
		return nil, nil // Lint says so
	}
	printing = newPrinter(mod, opts)
	printing.findState()
	printing.subs.prepare()
	units := []*unit{printing.function(printing.m.Graph)}
	for _, g := range printing.subs.order {
		units = append(units, printing.subs.function(g))
	}
	if len(printing.errs) > 0 {
		return nil, printing.errs
	}
	files, err := printing.render(units)
	errs.Add(err)
	return files, errs
}

// weightsFile is the name of the file with the values of the state.
const weightsFile = "weights.safetensors"

// printer prints one module. Its parts, each with one job, hold its findings about
// the graph.
type printer struct {
	Options
	*writer   // statements
	*packages // imports and identifiers
	state     // where the tensors are
	m         *graph.Module
	sizes     *sizes
	calls     *calls
	results   *results
	subs      *subs
	params    []*goVar
	written   map[string]bool // paths of tensors that the graph writes
}

func newPrinter(m *graph.Module, o Options) *printer {
	m = called(m)
	made := &printer{Options: o, m: m, packages: newPackages(m, &o), written: map[string]bool{}}
	made.state = state{byPath: map[string]source{}, modules: map[string]target{}}
	made.writer = &writer{locals: made.names, values: map[*graph.Node]value{}, tuples: map[*graph.Node]*tuple{}}
	made.sizes = &sizes{writer: made.writer, vars: map[*graph.Graph]map[string]*goVar{}}
	made.calls = &calls{writer: made.writer, packages: made.packages, sizes: made.sizes, state: &made.state, pkg: o.Package, wrapped: map[*op.Op]string{}}
	made.results = &results{writer: made.writer, packages: made.packages, fn: o.Func, want: o.Results, structs: map[string]string{}}
	made.subs = &subs{printer: made}
	for _, path := range graph.EffectsOf(m.Graph).Paths() {
		made.written[path] = true
	}
	return made
}

// render puts the file together.
func (p *printer) render(units []*unit) (*gosrc.Files, error) {
	file := p.file
	if !p.Eject {
		file.HeaderComment("// " + gosrc.Header)
	}
	p.aboutPackage(file)
	p.printState()
	for _, t := range p.results.decls {
		file.Add(t)
	}
	for _, w := range p.calls.wraps {
		file.Add(w)
	}
	for _, u := range units {
		cut := splitter{max: p.MaxStatements, fn: u.name, decls: p.decls, self: p.self}
		u.parts = cut.split(u.body)
	}
	if p.self != nil && p.self.uses == 0 && !p.method && len(units) == 1 && len(units[0].parts) == 1 {
		p.self.name = "_"
	}
	for i, u := range units {
		if i > 0 {
			file.Line()
		}
		functions{p}.print(file, u)
	}
	var b bytes.Buffer
	if err := file.Render(&b); err != nil {
		e := diag.Bug("generated code does not parse")
		e.Err = err
		return nil, e
	}
	files := &gosrc.Files{}
	files.Add(p.File, gosrc.GroupImports(b.Bytes()))
	if p.Weights && len(p.fields) > 0 {
		data, err := p.weights()
		if err != nil {
			return nil, err
		}
		files.Add(weightsFile, data)
	}
	if p.testedBy() {
		if err := p.Tests.AddTo(files, p.callsOf(units[0])); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// doc describes the generated function.
func (p *printer) doc() []string {
	g := p.m.Graph
	lines := []string{gosrc.CommentLine(p.Func + " computes " + commentName(g.Name) + ".")}
	var in []string
	for _, n := range g.Inputs() {
		if t := gosrc.TypeComment(n.Type()); t != "" {
			in = append(in, n.Target()+" is "+t)
		}
	}
	means := p.meanings()
	for _, n := range g.Inputs() {
		switch {
		case n.Default() == nil:
		case defaultLit(n) == nil:
			in = append(in, n.Target()+" must not be nil, its default value is not part of the code")
		default:
			in = append(in, n.Target()+" may be nil")
		}
	}
	if len(in) > 0 {
		lines = append(lines, "", gosrc.CommentLine("Inputs: "+strings.Join(in, ", ")+"."))
	}
	if means != nil {
		lines = append(append(lines, ""), means...)
	}
	if p.why != "" {
		lines = append(lines, "", gosrc.CommentLine("The state is a copy: "+p.why+"."))
	}
	return lines
}

// meanings are the author's descriptions of inputs and results.
func (p *printer) meanings() (lines []string) {
	for i, n := range p.m.Graph.Inputs() {
		if text := p.About.Input(i); text != "" {
			lines = append(lines, "\t"+gosrc.CommentLine(n.Target()+text))
		}
	}
	for i := range p.m.Graph.Output().NumArgs() {
		if text := p.About.Output(i); text != "" {
			lines = append(lines, "\t"+gosrc.CommentLine("-> result "+strconv.Itoa(i+1)+text))
		}
	}
	return lines
}

func commentName(s string) string {
	if s = gosrc.CommentLine(s); s == "" {
		return "the graph"
	}
	return s
}

func (p *printer) weights() ([]byte, error) {
	var list []safetensors.Named
	var missing diag.List
	for _, f := range p.fields {
		v := p.m.Param(f.path).Value
		if v == nil {
			missing.Add(diag.New(graph.WeightMissing, "parameter "+f.path+" has no value"))
			continue
		}
		list = append(list, safetensors.Named{Name: f.path, Array: v})
	}
	if err := missing.Err(); err != nil {
		return nil, missing
	}
	var b bytes.Buffer
	err := safetensors.Write(&b, list, nil)
	return b.Bytes(), err
}
