package codegen

import (
	"reflect"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/shape"
)

// WeightsMode says where a generated package has its weights.
type WeightsMode string

// The places of weights.
const (
	// WeightsAuto is WeightsLiteral for models of at most 4096 elements, else WeightsEmbed.
	WeightsAuto WeightsMode = "auto"
	// WeightsEmbed puts a safetensors file beside the source, which the binary embeds.
	WeightsEmbed WeightsMode = "embed"
	// WeightsExternal puts a safetensors file beside the source; the program loads
	// it, or another one of the same schema, when it runs.
	WeightsExternal WeightsMode = "external"
	// WeightsLiteral prints the numbers into the source.
	WeightsLiteral WeightsMode = "literal"
)

// literalLimit is the most elements that WeightsAuto prints.
const literalLimit = 4096

// KernelOptions are the choices of Kernel.
type KernelOptions struct {
	Package string // package name; "" is "model"
	// Type names the model's type; "" is "Model". Other exported names follow from
	// it: New, Load, PeakBytes and Result for Model, NewNet, LoadNet and so on for Net.
	Type string
	// File is the beginning of the files' names; "" is the type's name in lower case.
	File    string
	Weights WeightsMode // "" is WeightsAuto
	// Eject leaves out the header that marks generated code: the code is to be
	// edited by hand.
	Eject bool
	// Outputs names the results in order; "" or a missing name leaves the choice to
	// the structure that the model returns, else to the graph.
	Outputs []string
}

// Kernel prints a plan as a package that calls kernels: model, steps and weights.
// state holds the arrays of the plan's weights by path. The package imports kernel,
// array, array/safetensors, diag and the standard library alone. The error is a
// diag.List of everything that cannot be printed, with codes FX4020 to FX4026;
// then nothing is returned.
func Kernel(p *plan.Plan, state map[string]*array.Array, o KernelOptions) (*Files, error) {
	if p == nil || len(p.Outputs) == 0 {
		return nil, diag.New(CodeResults, "the plan has no results, expected one or more").WithHint("return what the model computes")
	}
	if !wellFormed(p) {
		return nil, diag.Bug("the plan mentions buffers or inputs that it does not have")
	}
	g := &kernelGen{p: p, state: state, o: o, refs: map[int]*jen.Statement{}, held: map[int]string{}, fields: goname.NewSet(), vars: map[string]string{}, top: goname.NewSet()}
	if err := g.prepare(); err != nil {
		return nil, err
	}
	g.name()
	g.outline()
	files := []*goFile{g.apiFile()}
	files = append(files, g.stepFiles()...)
	files = append(files, g.weightFiles()...)
	out := &Files{}
	if err := render(out, files); err != nil {
		return nil, err
	}
	if g.o.Weights != WeightsLiteral {
		data, err := g.weightData()
		if err != nil {
			return nil, err
		}
		out.Add(g.weightsName(), data)
	}
	return out, nil
}

// kernelGen is one printing in progress.
type kernelGen struct {
	p     *plan.Plan
	state map[string]*array.Array
	o     KernelOptions

	typ, prefix, file string
	top               *goname.Set            // identifiers of the package
	fields            *goname.Set            // of the state of a call
	refs              map[int]*jen.Statement // how code reaches a buffer
	held              map[int]string         // fields of the state: inputs, outputs and values outside repeated blocks
	inputs, outputs   []string               // parameter names
	symbols           map[string]string
	symbolic          bool

	kernels []kernelVar       // package-level kernels, in order
	vars    map[string]string // their names by literal and hint
	steps   []stepCode
	weights []weight
	// defaults are the weights that stand for inputs which are not given, nil for
	// inputs that must be.
	defaults []*weight
	blocks   []*block
	scopes   []string       // of each step, see fillScopes
	widths   []int          // live values when each step begins
	own      map[int]string // see ownNames
	offsets  []shape.Dim    // long offsets that are computed once
	places   map[string]int // where in offsets
}

// weight is a tensor of the model's state.
type weight struct {
	path   string
	array  *array.Array
	field  string // in the struct of weights, or of a block's weights
	buffer int
	block  bool // belongs to a repeated block
	input  int  // the input of which it is the default, -1 for none
}

// prepare checks the options and the plan, and reports all that is wrong.
func (g *kernelGen) prepare() error {
	var errs diag.List
	g.o.Package = orDefault(g.o.Package, "model")
	g.typ = orDefault(g.o.Type, "Model")
	g.file = orDefault(g.o.File, strings.ToLower(g.typ))
	errs = append(errs, checkOptions(g.o.Package, g.typ, g.file, g.o.Weights)...)
	errs = append(errs, g.refuse()...)
	seen := map[string]bool{}
	elements := 0
	for _, k := range g.p.Weights() {
		b := &g.p.Buffers[k]
		if seen[b.Path] {
			continue
		}
		seen[b.Path] = true
		a := g.state[b.Path]
		if err := checkWeight(b, a); err != nil {
			errs = append(errs, err)
			continue
		}
		elements += a.Len()
		g.weights = append(g.weights, weight{path: b.Path, array: array.Contiguous(a), buffer: k, input: -1})
	}
	for i, a := range g.p.Defaults {
		if a == nil {
			continue
		}
		path := g.p.Buffers[g.p.Inputs[i]].Name + ".default"
		for seen[path] {
			path += "_"
		}
		seen[path] = true
		elements += a.Len()
		g.weights = append(g.weights, weight{path: path, array: array.Contiguous(a), buffer: -1, input: i})
	}
	slices.SortFunc(g.weights, func(a, b weight) int { return strings.Compare(a.path, b.path) })
	if g.o.Weights == "" || g.o.Weights == WeightsAuto {
		g.o.Weights = WeightsEmbed
		if elements <= literalLimit {
			g.o.Weights = WeightsLiteral
		}
	}
	g.defaults = make([]*weight, len(g.p.Inputs))
	for i := range g.weights {
		if w := &g.weights[i]; w.input >= 0 {
			g.defaults[w.input] = w
		}
	}
	if len(errs) == 0 {
		errs.Add(g.p.Check())
	}
	errs.Sort()
	return errs.Err()
}

// name chooses the identifiers of everything that has one.
func (g *kernelGen) name() {
	g.prefix = goname.Lower(g.typ)
	g.top.Reserve(goNames...)
	for _, n := range []string{"State", "Weights", "Schema", "Literal", "File", "Read", "With", "Check"} {
		g.top.Reserve(g.prefix + n)
	}
	for _, n := range []string{"", "PeakBytes", "Result"} {
		g.top.Reserve(g.typ + n)
	}
	g.fields.Reserve(goNames...)
	g.fields.Reserve("places", "s", "m", "w", "b")
	// Functions that are too long go on in others with numbers.
	for i := range (4*len(g.p.Buffers)+4*len(g.p.Steps))/maxLines + 2 {
		g.top.Reserve(g.prefix+numbered("Run", i), g.prefix+numbered("Scratch", i))
		g.fields.Reserve(numbered("layout", i))
	}
	g.own = g.ownNames()
	params := goname.NewSet()
	params.Reserve(goNames...)
	params.Reserve("m", "s", "w", "c", "r", "b", "n", "f", "ctx", "err", "l", "dst", g.typ, "New", "Load", "PeakBytes", "Result")
	g.symbols = map[string]string{}
	for _, s := range g.p.Symbols {
		g.symbols[s.Name] = params.Unique(goname.Keep(s.Name))
	}
	g.symbolic = len(g.p.Symbols) > 0
	for _, s := range g.p.Symbols {
		g.fields.Reserve(g.symbols[s.Name])
	}
	for _, k := range g.p.Inputs {
		g.inputs = append(g.inputs, params.Lower(g.p.Buffers[k].Name))
		g.hold(k, g.p.Buffers[k].Name)
	}
	leaf := map[int]string{}
	leafNames(g.p.Structure, "", leaf)
	for i, k := range g.p.Outputs {
		name := g.valueName(k)
		if n := leaf[i]; n != "" {
			name = n
		}
		if i < len(g.o.Outputs) && g.o.Outputs[i] != "" {
			name = g.o.Outputs[i]
		}
		g.outputs = append(g.outputs, params.Lower(name))
		g.hold(k, g.valueName(k))
	}
	g.nameWeights()
	for k := range g.p.Buffers {
		if kind := g.p.Buffers[k].Kind; kind == plan.Temp || kind == plan.View {
			g.hold(k, g.valueName(k))
		}
	}
}

// hold gives a buffer a field in the state of a call.
func (g *kernelGen) hold(k int, hint string) {
	g.held[k] = g.fields.Lower(hint)
	g.refs[k] = jen.Id("s").Dot(g.held[k])
	if kind := g.p.Buffers[k].Kind; kind == plan.Temp || kind == plan.View {
		g.refs[k] = jen.Op("&").Add(g.refs[k])
	}
}

// nameWeights gives tensors fields in the struct of weights.
func (g *kernelGen) nameWeights() {
	w := goname.NewSet()
	w.Reserve(goNames...)
	w.Reserve("w", "l")
	for i := range len(g.weights)/maxLines + 2 {
		w.Reserve(numbered("bind", i))
	}
	byPath := map[string]string{}
	for i := range g.weights {
		g.weights[i].field = w.Lower(g.weights[i].path)
		byPath[g.weights[i].path] = g.weights[i].field
	}
	for k := range g.p.Buffers {
		if b := &g.p.Buffers[k]; b.Kind == plan.Weight {
			g.refs[k] = jen.Id("w").Dot(byPath[b.Path])
		}
	}
}

// ownNames returns the values that are all that a node of the user's graph
// computes, and the node's name, which says more than that of an expansion.
func (g *kernelGen) ownNames() map[int]string {
	steps := map[string]int{}
	for i := range g.p.Steps {
		for _, n := range g.p.Steps[i].Nodes {
			steps[n]++
		}
	}
	own := map[int]string{}
	for i := range g.p.Steps {
		if s := &g.p.Steps[i]; len(s.Nodes) == 1 && steps[s.Nodes[0]] == 1 && len(s.Out) == 1 && s.Out[0] >= 0 {
			own[s.Out[0]] = s.Nodes[0]
		}
	}
	return own
}

func (g *kernelGen) valueName(k int) string {
	return orDefault(g.own[k], g.p.Buffers[k].Name)
}

func orDefault(s, d string) string {
	if s == "" {
		return d
	}
	return s
}

// structOf returns the kernel's struct.
func structOf(s *plan.Step) reflect.Value { return reflect.Indirect(reflect.ValueOf(s.Kernel)) }
