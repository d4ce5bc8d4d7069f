package work

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/dump"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/exchange"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/draw"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/internal/near"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/onnx"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/pt2"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tracer"
)

// Source is something that can be captured: a module, a function, or a graph that
// has been captured before.
type Source struct {
	Name string
	// New makes the module, for sources that are one; Method is the method that is
	// captured, Forward when empty.
	New    func() (any, error)
	Maker  string // the Go expression that New is, where there is one
	Method string
	// Func is the function, for sources that are one.
	Func any
	// Graph is the graph of sources that are files. Gives is the function of sources that capture
	// a graph themselves: it returns a *fx.GraphModule, or what has one, such as a train.Step.
	Graph *graph.Module
	Gives func() (any, error)

	path  string                  // of the file of a model
	onnx  *onnx.File              // of models, which are imported when the source is captured
	pt2   *pt2.File               // of programs of torch.export, which are, too
	llama *models.Llama           // of language models, which are captured then
	bound []string                // inputs of a model that have a value for good
	fixed map[string]*array.Array // the values
	types map[string]shape.Type   // of inputs, in place of the file's

	values []*array.Array // of the inputs, where the source has them

	// File is the file or folder of a graph that is read when the source is captured.
	File string
	// Passes are those of the user, by the names that the job gives them.
	Passes map[string]passes.Pass
	Places map[string]string // of Passes: import path, dot, name of the variable

	// Params, Inputs and Outputs are the names of parameters, of a file's inputs that are
	// the graph's, and of results, where known.
	Params  []string
	Inputs  []string
	Outputs []string
	// Model is the entry of built-in networks: types and rules of inputs, and
	// multipliers of synthetic weights.
	Model *models.Model

	// Stuck is told that the model's code has run for too long, and where it is; it
	// ends the program. nil in programs that cannot be ended.
	Stuck func(error)
}

// Model returns the source of a built-in network.
func Model(m *models.Model) *Source {
	s := &Source{Name: m.Name, New: func() (any, error) { return m.New(), nil }, Outputs: m.Outputs, Model: m}
	for _, in := range m.Inputs {
		s.Params = append(s.Params, in.Name)
	}
	return s
}

// Endings are those of files that are sources.
var Endings = []string{".fx", ".onnx", ".pt2", ".gguf"}

// Open reads a graph for a job: a folder that was saved, or a file in the text form, in ONNX's format, of torch.export or of a language model.
func Open(path string, j *Job) (*Source, error) {
	switch filepath.Ext(path) {
	case ".onnx":
		return openONNX(path)
	case ".pt2":
		return openPT2(path)
	case ".gguf":
		return openGGUF(path, j)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, Unreadable(path, err)
	}
	var m *graph.Module
	if info.IsDir() {
		m, err = graph.Load(path)
	} else if text, readErr := os.ReadFile(path); readErr != nil {
		err = Unreadable(path, readErr)
	} else {
		m, err = graph.Parse(text, path)
	}
	if err == nil {
		err = graph.Lint(m.Graph).Err()
	}
	if err != nil {
		return nil, err
	}
	return &Source{Name: filepath.Base(filepath.Clean(path)), Graph: m}, nil
}

// Unreadable is the error of a source that the operating system does not give.
func Unreadable(path string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return diag.New(BadSource, "cannot read "+path+": "+err.Error()).WithHint("check the path and its permissions")
}

// captured is a source with its graph and, for code, the value it came from.
type captured struct {
	src     *Source
	gm      *graph.Module
	origin  *graph.Module // the graph before passes that keep its results; nil where one may not
	module  any           // nil for functions and files
	options []fx.Option   // that the module was traced with
	page    *draw.Report  // of a drawing that is a page
}

// capture makes the graph of a source. values tells that the weights are needed.
func (s *Source) capture(ctx context.Context, j *Job, values bool) (*captured, error) {
	s, err := s.withGraph(ctx, j)
	if err != nil {
		return nil, err
	}
	c := &captured{src: s}
	if s.Graph != nil {
		if j.Training {
			return nil, trained(s.Name)
		}
		if len(j.Inputs) > 0 && !s.isModel() {
			return nil, diag.New(BadValue, "-input "+j.Inputs[0].Name+"="+j.Inputs[0].Value+": "+s.Name+" is a graph, its inputs have types of their own").
				WithHint("edit the types in the graph's first line, or give sizes with -shape")
		}
		c.gm = graph.Clone(s.Graph)
		if j.Weights != "" && len(c.gm.Params()) == 0 {
			return nil, s.stateless(j)
		}
		return c, loadGraph(c.gm, j, values)
	}
	defer s.watch(j)()
	opts := []fx.Option{fx.Name(graphName(s.Name)), fx.With(func(p *tracer.Tracer) { p.MaxNodes, p.Maker = maxNodes, s.Maker })}
	ins, err := s.inputs(j)
	if err != nil {
		return nil, err
	}
	for _, in := range ins {
		opts = append(opts, fx.Input(in.Name, in.Value))
	}
	fn := s.Func
	if j.Training && s.New == nil {
		return nil, trained(s.Name)
	}
	if s.New != nil {
		if c.module, err = s.make(j); err != nil {
			return nil, err
		}
		if err := s.load(c.module, j, values); err != nil {
			return nil, err
		}
		if s.Method != "" {
			opts = append(opts, fx.Method(s.Method))
		}
		fn = c.module
	} else if j.Weights != "" {
		return nil, diag.New(BadValue, "-weights is given, "+s.Name+" is a function").
			WithHint("a function holds its weights itself; give a module: ./pkg#Type -new NewType")
	}
	if j.Engine == Lazy {
		c.gm, err = inputsOnly(graphName(s.Name), ins)
		return c, err
	}
	if s.Model == nil {
		opts = append(opts, fx.Steady(tracer.Steadiness{Times: tries, For: tryFor}))
	}
	gm, err := fx.Trace(ctx, fn, opts...)
	if err != nil {
		return nil, err
	}
	c.gm, c.options = gm.Module, opts
	if s.New != nil && s.Model == nil {
		return c, s.steady(ctx, c.gm, opts, j)
	}
	return c, nil
}

// How often a user's code is tried, and for how long once it has been tried a few
// times; see decision 0013.
const (
	tries    = 160
	tryFor   = time.Second
	fewTries = 2
)

// steady makes and captures the module several times, to check that the
// constructor gives the same module at each call: one that adds layers in the
// order of a map does not. Values count where they become part of generated code.
func (s *Source) steady(ctx context.Context, gm *graph.Module, opts []fx.Option, j *Job) error {
	start := time.Now()
	opts = append(opts, fx.Steady(tracer.Steadiness{Times: -1}))
	for i := 0; i < tries && (i < fewTries || time.Since(start) < tryFor); i++ {
		m, err := s.New()
		if err != nil {
			return diag.New(BadConstructor, "the constructor of "+s.Name+" failed when it was called again: "+err.Error())
		}
		if j.Training {
			nn.Train(m)
		}
		again, err := fx.Trace(ctx, m, opts...)
		if err != nil {
			return err
		}
		if err := tracer.Compare(gm, again.Module, j.Verb == Gen && j.Weights == ""); err != nil {
			return err
		}
	}
	return nil
}

// maxNodes ends the capture of an endless loop of operators before it fills the
// memory of a small machine: it takes seconds and some hundred megabytes.
const maxNodes = 1 << 20

// make calls the constructor.
func (s *Source) make(j *Job) (m any, err error) {
	err = exchange.Recover(func() (err error) {
		if m, err = s.New(); err != nil {
			return diag.New(BadConstructor, "the constructor of "+s.Name+" failed: "+err.Error()).WithHint("call it in a test of its own; -new names another one")
		}
		if isNil(m) {
			return diag.New(BadConstructor, "the constructor of "+s.Name+" returned nil").WithHint("make it return a module, or an error")
		}
		if j.Training {
			nn.Train(m)
		}
		return nil
	})
	return m, err
}

// watch ends the program when the model's code takes longer than the job allows;
// the returned function ends the watch.
func (s *Source) watch(j *Job) (done func()) {
	if j.Timeout <= 0 || s.Stuck == nil {
		return func() {}
	}
	limit := time.Duration(j.Timeout)
	t := time.AfterFunc(limit, func() {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		s.Stuck(diag.New(tracer.Brake, "the model's code has run for "+limit.String()+" and was here").
			At(dump.Running(string(stacks), exchange.HarnessFile, exchange.NamesFile)).
			WithHint("a loop or a lock may never end; allow more with -timeout"))
	})
	return func() { t.Stop() }
}

// Unended is the name of a source without the ending of a file.
func Unended(name string) string {
	for _, e := range Endings {
		name = strings.TrimSuffix(name, e)
	}
	return name
}

// PackageName makes the name of a package of that of a model or file.
func PackageName(name string) string { return goname.Package(Unended(filepath.Base(name))) }

// isModel reports whether the source is a file whose inputs have types that the job may give, and its own weights.
func (s *Source) isModel() bool { return s.hasSamples() || s.llama != nil }

// hasSamples reports whether the source is of a kind that comes with samples of inputs and results.
func (s *Source) hasSamples() bool { return s.onnx != nil || s.pt2 != nil }

// graphName makes a name for a graph from a source's name.
func graphName(s string) string {
	return Unended(filepath.Base(s))
}

// inputs lists the declared inputs in order: those of the entry, then those of
// -input, by name. Where parameters hold several tensors, or have no name, the
// inputs have the names and the order of -input. All that is wrong is reported.
func (s *Source) inputs(j *Job) ([]Named, error) {
	var all []Named
	if s.Model != nil {
		for _, in := range s.Model.Inputs {
			all = append(all, Named{in.Name, in.Type})
		}
	} else {
		for _, p := range s.Params {
			all = append(all, Named{p, ""})
		}
	}
	var errs diag.List
	for _, in := range j.Inputs {
		if _, err := shape.ParseType(in.Value); err != nil {
			errs.Add(badValue("-input "+in.Name+"="+in.Value, err))
		}
		at := -1
		for k := range all {
			if all[k].Name == in.Name {
				at = k
			}
		}
		switch {
		case at >= 0:
			all[at].Value = in.Value
		case s.Model == nil && len(s.Params) == 0:
			all = append(all, in)
		default:
			errs.Add(unknownInput(in.Name, all))
		}
	}
	return all, errs.Err()
}

func unknownInput(name string, all []Named) error {
	names := make([]string, len(all))
	for i, in := range all {
		names[i] = in.Name
	}
	return diag.New(BadValue, "there is no input "+diag.Name(name)).WithHint(near.Hint(name, names, "the inputs are "+namesText(names)))
}

// namesText lists names that come from a file.
func namesText(names []string) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = diag.Name(name)
	}
	return strings.Join(list, ", ")
}

func badValue(what string, err error) error {
	if l, ok := err.(diag.List); ok && len(l) > 0 {
		err = l[0]
	}
	if e, ok := err.(*diag.Error); ok {
		c := *e
		c.Msg = what + ": " + c.Msg
		return &c
	}
	return diag.New(BadValue, what+": "+err.Error())
}

// stateless refuses weights for something without state: they would be ignored.
func (s *Source) stateless(j *Job) error {
	return diag.New(nn.NoWeightFits, "-weights "+j.Weights+" is given, "+s.Name+" has no tensors to load").
		WithHint("state is what fields of the module lead to; leave -weights out where there is none")
}

// load gives a module its weights.
func (s *Source) load(m any, j *Job, values bool) error {
	if j.Weights != "" && len(nn.StateDict(m)) == 0 {
		return s.stateless(j)
	}
	seed, synthetic := strings.CutPrefix(j.Weights, "synthetic:")
	switch {
	case j.Weights == "" && s.Model != nil:
		seed, synthetic = j.seed(), true
	case j.Weights == "":
		return nil
	case j.Weights == "synthetic":
		seed, synthetic = j.seed(), true
	}
	if !synthetic {
		f, err := openWeights(j)
		if err != nil {
			return err
		}
		return j.unmatched(nn.LoadStateDict(m, f), f, wantedOfState(m))
	}
	if !values {
		return nil
	}
	entry := s.Model
	if entry == nil {
		entry = &models.Model{Name: s.Name}
	}
	models.Synthetic(entry, m, seed)
	return nil
}

func (j *Job) seed() string {
	if j.Seed == "" {
		return DefaultSeed
	}
	return j.Seed
}

// loadGraph gives a graph from a file its weights: a file's, else those it came
// with, else synthetic ones, except where code is generated, which would hide
// that they mean nothing.
func loadGraph(m *graph.Module, j *Job, values bool) error {
	seed, synthetic := strings.CutPrefix(j.Weights, "synthetic:")
	switch {
	case j.Weights == "synthetic":
		seed, synthetic = j.seed(), true
	case j.Weights == "" && !values:
		return nil
	case j.Weights == "":
		missing := ""
		for _, p := range m.Params() {
			if p.Value == nil {
				missing = p.Path
			}
		}
		if missing == "" {
			return nil
		}
		if j.Verb == Gen {
			return diag.New(NoWeights, "parameter "+missing+" has no value").
				WithHint("give -weights FILE, or -weights synthetic:SEED for values that mean nothing")
		}
		seed, synthetic = j.seed(), true
	}
	if synthetic {
		if values {
			fillGraph(m, seed)
		}
		return nil
	}
	return loadGraphFile(m, j)
}

// loadGraphFile sets the parameters from a file of weights; it reports all that
// do not fit.
func loadGraphFile(m *graph.Module, j *Job) error {
	f, err := openWeights(j)
	if err != nil {
		return err
	}
	var errs diag.List
	for _, p := range m.Params() {
		want := p.TypeOf()
		d, dims, ok := f.Type(p.Path)
		if !ok {
			errs.Add(&diag.Error{Code: graph.WeightMissing, Op: p.Path, Msg: "is missing in the file, the graph expects " + want.String()})
			continue
		}
		if got := shape.TensorType(d, shape.ConstDims(dims...)); want.Kind() != shape.None && d != array.Invalid && !got.Same(want) {
			errs.Add(&diag.Error{Code: graph.WeightMismatch, Op: p.Path, Msg: "is " + got.String() + ", the graph expects " + want.String()})
			continue
		}
		a, err := f.Get(p.Path)
		if err != nil {
			errs.Add(err)
			continue
		}
		p.Value = a
	}
	for _, name := range f.Names() {
		if m.Param(name) == nil {
			errs.Add(&diag.Error{Code: graph.WeightUnexpected, Op: name, Msg: "is unexpected, the graph has no such parameter"})
		}
	}
	return j.unmatched(errs.Err(), f, wantedOfParams(m))
}

// fillGraph gives the parameters synthetic values by their paths.
func fillGraph(m *graph.Module, seed string) {
	for _, p := range m.Params() {
		if d, dims, ok := p.TypeOf().Concrete(); ok {
			p.Value = array.New(d, dims...)
		}
	}
	models.Synthetic(&models.Model{Name: m.Graph.Name}, fx.NewGraphModule(m), seed)
}
