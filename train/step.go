package train

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/optim"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// Step is one step of training as a graph: its inputs are a batch, its results the loss and
// metrics, and it writes the parameters, the buffers of the model and the optimiser's state.
//
// The plan has a state of its own, which Sync copies to the model. Graph().Run interprets the step
// on the model's tensors themselves. Runs follow one another.
type Step struct {
	program
	params []string // that are trained
	slots  string   // in front of the paths of the optimiser's state
	rule   optim.Rule
	mixed  passes.PassReport
}

// NewStep captures a step of training. loss is a function of the tensors of a batch, or a module
// with such a Forward: it calls the model, a pointer to a module, and returns the loss, a tensor
// with one element, or that and Metrics. specs describe the batch as for fx.Trace.
//
// The model is captured in training mode and is in evaluation mode afterwards. Its parameters
// follow the rule; those of other modules that loss calls stay as they are. All updates of a step see what was before it. Mistakes are returned at once, as
// those of fx.Trace and of gradients; FX3101 to FX3103 are of the rule, of parameters that the
// loss does not use, and of metrics that are no numbers.
func NewStep(ctx context.Context, model, loss any, rule optim.Rule, specs ...fx.Option) (*Step, error) {
	return NewStepWith(ctx, model, loss, rule, StepOptions{}, specs...)
}

// StepOptions are options of a step.
type StepOptions struct {
	// Mixed is array.BF16 or array.F16: products, and the elementwise calls and movements after them, compute in it, also
	// in the gradient. Parameters, their gradients, the optimiser, norms, softmax and reductions stay in f32. With
	// F16 the gradient is that of the loss times a scale, which is halved where a gradient is not finite, and that
	// update is left out; it is doubled after 2,000 updates (Micikevicius et al., 2018). Step.Mixed says which calls stay in f32, and why.
	Mixed array.DType
	// Recompute has values of the forward half computed again for the gradients instead of being
	// kept for them: less memory, more time, the same bits. nil keeps all.
	Recompute *fx.RecomputePolicy
	// AllowEvaluation differentiates calls in evaluation mode as they are, which are mistakes without it (FX3093).
	AllowEvaluation bool
}

// NewStepWith is NewStep with options. A policy of Recompute that does not fit the graph, or whose
// budget cannot be kept, is a mistake (FX3051, FX3052).
func NewStepWith(ctx context.Context, model, loss any, rule optim.Rule, o StepOptions, specs ...fx.Option) (*Step, error) {
	gm, err := capture(ctx, model, loss, true, specs)
	if err != nil {
		return nil, err
	}
	structure, results := gm.Graph.Output().Structure(), len(metricNames(gm.Graph.Output()))
	var halved passes.PassReport
	if o.Mixed != array.Invalid {
		if halved, err = mix(ctx, gm, o.Mixed); err != nil {
			return nil, err
		}
	}
	paths, optimisers, err := trained(gm.Module, model, rule)
	if err != nil {
		return nil, err
	}
	b, of := &update{ctx: ctx, rule: rule, params: paths, optimisers: optimisers}, 0
	if o.Mixed == array.F16 {
		b.prefix = freshPrefix(gm.Module)
		b.scale, of = scaleLoss(gm, b.prefix), results
	}
	g, err := gm.ValueAndGrad(ctx, fx.GradOptions{Wrt: paths, Loss: of, AllowEvaluation: o.AllowEvaluation})
	if err != nil {
		return nil, err
	}
	share(g.Module, gm.Module)
	if o.Recompute != nil {
		if _, err := g.Apply(ctx, []fx.Pass{fx.Recompute(*o.Recompute)}, fx.PassOptions{}); err != nil {
			return nil, err
		}
	}
	b.gm = g
	if err := b.build(results, structure); err != nil {
		return nil, err
	}
	step := &Step{params: paths, slots: b.prefix, rule: rule, mixed: halved}
	step.module, step.names = g, metricNames(g.Graph.Output())
	return step, nil
}

// Params returns the paths of the parameters that are trained.
func (s *Step) Params() []string { return slices.Clone(s.params) }

// Sync copies the state of the plan to the tensors of the model and of Graph. It must not overlap
// a run.
func (s *Step) Sync() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sync()
}

// Load takes the state of the plan from the tensors of the model and of Graph, where something
// else has written them. It must not overlap a run.
func (s *Step) Load() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load()
}

// Average copies the moving averages of the parameters (optim.Rule.Average) to the model, for its
// evaluation or to save it; Sync brings the parameters back. false: there are none, for the rule
// keeps none, or there was no update.
func (s *Step) Average() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sync()
	if s.rule.Average == 0 || array.Int64At(s.module.Param(s.slots+updatesPath).Value, 0) == 0 {
		return false
	}
	for _, path := range s.params {
		to := s.module.Param(path).Value
		array.Copy(to, s.module.Param(s.slots+averageSlot+"."+path).Value)
		to.Storage().Bump()
	}
	return true
}

// Updates returns how often the parameters were updated.
func (s *Step) Updates() int { return int(array.Int64At(s.state(s.slots+updatesPath), 0)) }

// Scale returns the number that all learning rates are multiplied by, 1 at first.
func (s *Step) Scale() float64 { return array.Float64At(s.state(s.slots+scalePath), 0) }

// SetScale sets the number that all learning rates are multiplied by. It must not overlap a run.
func (s *Step) SetScale(v float64) {
	array.SetFloat64At(s.module.Param(s.slots+scalePath).Value, 0, v)
	array.SetFloat64At(s.state(s.slots+scalePath), 0, v)
}

// state returns the array of a tensor of the state that runs use.
func (s *Step) state(path string) *array.Array {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.exe != nil {
		if a := s.exe.State(path); a != nil {
			return a
		}
	}
	return s.module.Param(path).Value
}

// Eval is a model's loss and metrics for evaluation, a graph over the arrays of the model.
type Eval struct{ program }

// NewEval captures a function as NewStep does, in evaluation mode and without gradients. What a
// step writes, it sees after Step.Sync.
func NewEval(ctx context.Context, model, loss any, specs ...fx.Option) (*Eval, error) {
	gm, err := capture(ctx, model, loss, false, specs)
	if err != nil {
		return nil, err
	}
	if _, err := gm.Apply(ctx, functional, fx.PassOptions{}); err != nil {
		return nil, err
	}
	// Live reads are not folded into what other weights are, which the next step changes.
	for n := range gm.Module.All() {
		if n.Opcode() == graph.GetAttr {
			n.SetLive(true)
		}
	}
	e := &Eval{}
	e.module, e.names = gm, metricNames(gm.Graph.Output())
	return e, nil
}

// capture traces the loss of a model and checks its results.
func capture(ctx context.Context, model, loss any, training bool, specs []fx.Option) (*fx.GraphModule, error) {
	if v := reflect.ValueOf(model); v.Kind() != reflect.Pointer || v.IsNil() {
		return nil, diag.New(BadTrainer, "the model is no pointer to a module").WithHint("pass the pointer whose tensors are trained")
	}
	if training {
		nn.Train(model)
		defer nn.Eval(model)
	} else {
		nn.Eval(model)
	}
	opts := append(slices.Clone(specs), fx.Root(model))
	if training {
		opts = append(opts, fx.Name("step"))
	} else {
		opts = append(opts, fx.Name("eval"))
	}
	gm, err := fx.Trace(ctx, loss, opts...)
	if err != nil {
		return nil, err
	}
	return gm, checkResults(gm.Graph.Output())
}

// checkResults refuses what is no number.
func checkResults(out *graph.Node) error {
	var errs diag.List
	for i, name := range metricNames(out) {
		n := out.Arg(i)
		if n == nil || n.Type().DType().IsFloat() && single(n.Type()) {
			continue
		}
		errs.Add(n.Error(NotMetric, name+" is "+n.Type().String()+", expected a float with one element").WithHint("reduce it by Mean or Sum"))
	}
	return errs.Err()
}

func single(t shape.Type) bool {
	return t.Ranked() && !slices.ContainsFunc(t.Dims().Slice(), func(d shape.Dim) bool { return !d.Is(1) })
}

// trained returns the parameters of the model that the rule does not freeze, and the optimiser of
// each. Those that the graph does not read are mistakes.
func trained(m *graph.Module, model any, rule optim.Rule) (paths []string, optimisers []optim.Optimiser, err error) {
	all := parameters(model)
	var errs diag.List
	names := slices.Sorted(maps.Keys(all))
	errs.Add(rule.Check(names))
	of := map[*array.Array][]string{} // the graph has one path of a tensor that modules share
	for _, path := range names {
		of[all[path]] = append(of[all[path]], path)
	}
	read := map[*array.Array]bool{}
	for _, p := range m.Params() {
		if read[p.Value] = true; p.Buffer || of[p.Value] == nil {
			continue
		}
		if o := rule.For(append(of[p.Value], p.Path)...); o != nil {
			paths, optimisers = append(paths, p.Path), append(optimisers, o)
		}
	}
	for _, path := range names {
		if rule.For(of[all[path]]...) != nil && !read[all[path]] {
			errs.Add(diag.New(Unused, "the loss does not use the parameter "+path).WithHint("use it, remove it, or freeze it by optim.Group{Params: []string{\"" + path + "\"}}"))
		}
	}
	errs.Add(apart(m, paths))
	if len(paths) == 0 && errs.Err() == nil {
		errs.Add(diag.New(optim.BadSetting, "no parameter is trained").WithHint("give the rule an Optimiser, and the model parameters"))
	}
	return paths, optimisers, errs.Err()
}

// apart checks that no other tensor of the graph lies over the memory of one that is trained: an update
// of either would be lost, or not be seen.
func apart(m *graph.Module, trained []string) error {
	var errs diag.List
	for _, path := range trained {
		own := m.Param(path)
		for _, p := range m.Params() {
			if p.Path == path || p.Value == own.Value || !array.Overlap(p.Value, own.Value) || p.Path < path && slices.Contains(trained, p.Path) {
				continue
			}
			errs.Add(diag.New(BadTrainer, p.Path+" lies in the memory of "+path+", which is trained, and is another tensor").
				WithHint("use one tensor in both places, and have Forward transpose or slice it; or Clone it where they are to differ"))
		}
	}
	return errs.Err()
}

// parameters returns the tensors of a model that are no buffers and hold floats, by path.
func parameters(model any) map[string]*array.Array {
	all := map[string]*array.Array{}
	tensor.Walk(model, func(it tensor.Item) bool {
		if it.Tensor != nil && !it.Buffer && it.Tensor.DType().IsFloat() {
			all[strings.TrimPrefix(it.Path, ".")] = it.Tensor.Array()
		}
		return it.Module != nil
	})
	return all
}

// share gives a module the arrays of another one for the tensors of both.
func share(m, with *graph.Module) {
	for _, p := range m.Params() {
		if q := with.Param(p.Path); q != nil && q.Value != p.Value {
			own := *p
			own.Value = q.Value
			m.SetParam(own)
		}
	}
}
