package work

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/near"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/optim"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/grad"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/integer"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/train"
)

// trained refuses training mode for what is no module.
func trained(name string) error {
	return diag.New(BadValue, "-training is given, "+name+" is no module").
		WithHint("modes are those of a module, ./pkg#Type: a function or a file has the mode that it was written in")
}

// Training says how the verb train trains. Paths in it are absolute.
type Training struct {
	Data, Valid []Named // files, by the name of the array where one is given
	Share       float64 // of the data that -valid puts aside, 0 for none
	Target      string  // name of the array, or column, of the targets; "" for the one that is no input
	Output      string  // the result that the loss compares, "" for the first

	Loss, Optimiser string
	Rate            string // of learning, "" for the optimiser's own
	Schedule        string // of the rates, as optim.ParseSchedule reads it; "" for none
	ClipNorm        float64
	Metrics         []string
	Freeze          []string // patterns of parameters

	Epochs, Batch, Every, Patience int
	Seed                           uint64
	Initial                        bool // random weights instead of the source's
	DropLast                       bool
	Evaluation                     bool // what is in evaluation mode is trained as it is
	Mixed                          array.DType
	Recompute                      *fx.RecomputePolicy // without the sizes, which the data have

	Folder string // of the checkpoints
	Resume bool
	Force  bool   // checkpoints of other trainings are replaced
	Log    string // file that gets Progress, a line each
}

// Progress is a line of the log: an epoch that has ended, as train.Trainer logs it, or how far
// this one is.
type Progress struct {
	Epoch, Epochs, Batch, Batches int
	Loss                          float64
}

// learner is a source that is being trained.
type learner struct {
	*captured
	job   *Job
	train *Training
	of    train.Supervised
}

// train trains the graph and puts it, in evaluation mode, in the place of the captured one.
func (c *captured) train(ctx context.Context, j *Job) error {
	l := &learner{captured: c, job: j, train: &j.Train}
	var errs diag.List
	errs.Add(l.supervise(ctx))
	rule, err := l.rule()
	errs.Add(err)
	if err := errs.Err(); err != nil {
		return err
	}
	training, valid, err := l.batches()
	if err != nil {
		return err
	}
	l.of.Options.Recompute = l.recompute(training)
	if err := l.quantise(ctx, training); err != nil {
		return l.cured(err)
	}
	step, err := l.of.Step(ctx, rule)
	if err != nil {
		return l.cured(err)
	}
	t := &train.Trainer{Step: step, Epochs: l.train.Epochs,
		Checkpoints: train.Checkpoints{Dir: l.train.Folder, Every: l.train.Every, Restart: !l.train.Resume}}
	if err := step.Compile(ctx, lowering.Options{Threads: j.Threads}); err != nil {
		return err
	}
	var test train.Loader
	if valid != nil {
		test = valid
		if t.Eval, err = l.of.Evaluation(ctx); err != nil {
			return err
		}
		if err := t.Eval.Compile(ctx, lowering.Options{Threads: j.Threads}); err != nil {
			return err
		}
	}
	if l.train.Patience > 0 {
		t.Stop = &train.EarlyStop{Metric: "loss", Patience: l.train.Patience}
		if valid != nil {
			t.Stop.Metric = "test_loss"
		}
	}
	if err := l.fit(ctx, t, train.Prefetch(training), test); err != nil {
		return l.cured(err)
	}
	if l.of.Quantised == nil {
		c.gm = l.of.Eval.Module
		return nil
	}
	q, err := l.of.Quantised.Convert(ctx)
	if err != nil {
		return err
	}
	c.gm = q.Module
	_, err = q.Apply(ctx, []passes.Pass{integer.Lower}, fx.PassOptions{})
	return err
}

// fit runs the trainer and logs what it does.
func (l *learner) fit(ctx context.Context, t *train.Trainer, training, valid train.Loader) error {
	last, err := t.Checkpoints.Last()
	if err != nil {
		return err
	}
	if last != "" && !l.train.Resume && !l.train.Force {
		return diag.New(train.OtherModel, "there is a checkpoint of an earlier training, "+last).
			WithHint("give -resume to go on from it, -force to begin again, or another folder")
	}
	if l.train.Log != "" {
		f, err := os.OpenFile(l.train.Log, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o666)
		if err != nil {
			return err
		}
		defer f.Close()
		t.Log = f
		var said time.Time
		t.OnBatch = func(_ context.Context, b train.Batch) error {
			if time.Since(said) < 100*time.Millisecond {
				return nil
			}
			said = time.Now()
			p := Progress{b.Epoch + 1, t.Epochs, b.Index + 1, training.Len(), b.Metrics["loss"]}
			text, err := json.Marshal(map[string]Progress{"progress": p})
			if err == nil {
				_, err = f.Write(append(text, '\n'))
			}
			return err
		}
	}
	_, err = t.Fit(ctx, training, valid)
	return err
}

// supervise brings the source into the form that is trained: a graph in training mode, one in
// evaluation mode, and arrays of their own that both share.
func (l *learner) supervise(ctx context.Context) error {
	loss, err := nn.ParseLoss(l.train.Loss)
	if err != nil {
		return err
	}
	l.of = train.Supervised{Loss: loss, Metrics: l.train.Metrics,
		Options: train.StepOptions{Mixed: l.train.Mixed, AllowEvaluation: l.train.Evaluation}}
	for _, name := range l.train.Metrics {
		if known := train.MetricNames(); !slices.Contains(known, name) {
			return diag.New(BadValue, "-metric "+name+": there is no such metric").WithHint(near.Hint(name, known, "expected one of "+strings.Join(known, ", ")))
		}
	}
	if names := l.outputNames(); l.train.Output != "" {
		if l.of.Output = slices.Index(names, l.train.Output); l.of.Output < 0 {
			return diag.New(BadValue, "-output "+l.train.Output+": there is no output of this name").
				WithHint(near.Hint(l.train.Output, names, "the outputs are "+namesText(names)))
		}
	}
	if len(l.gm.Graph.Inputs()) == 0 {
		return diag.New(BadValue, l.src.Name+" has no inputs, expected a model of data")
	}
	if l.train.Initial {
		if l.module == nil {
			return diag.New(BadValue, "-init is given, "+l.src.Name+" is no module").WithHint("initial values are those of modules, ./pkg#Type; give -weights for a graph")
		}
		nn.ResetParameters(l.module, l.train.Seed)
	}
	if l.module == nil {
		for _, p := range l.gm.Params() { // whose arrays may be the file itself
			own := *p
			own.Value = array.Clone(p.Value)
			l.gm.SetParam(own)
		}
		l.of.Model = fx.NewGraphModule(l.gm)
		l.of.Eval = l.of.Model
		return nil
	}
	l.of.Model = fx.NewGraphModule(l.gm)
	nn.Eval(l.module)
	if l.of.Eval, err = fx.Trace(ctx, l.module, l.options...); err != nil {
		return err
	}
	_, err = l.of.Eval.Apply(ctx, []passes.Pass{simplify.Inline, simplify.FunctionalizeAll}, fx.PassOptions{})
	return err
}

// rule is that of the flags.
func (l *learner) rule() (rule optim.Rule, err error) {
	var rate []string
	if l.train.Rate != "" {
		rate = []string{"lr=" + l.train.Rate}
	}
	var errs diag.List
	rule.Optimiser, err = optim.Parse(l.train.Optimiser, rate...)
	errs.Add(err)
	if l.train.Schedule != "" {
		rule.Schedule, err = optim.ParseSchedule(l.train.Schedule)
		errs.Add(err)
	}
	if err := errs.Err(); err != nil {
		return rule, err
	}
	rule.ClipNorm = l.train.ClipNorm
	var params [][]string
	var names []string
	further := l.aliases()
	for _, p := range l.gm.Params() {
		if !p.Buffer && p.TypeOf().DType().IsFloat() {
			paths := append([]string{p.Path}, further[p.Path]...)
			params, names = append(params, paths), append(names, paths...)
		}
	}
	for _, pattern := range l.train.Freeze {
		one := optim.Rule{Optimiser: rule.Optimiser, Groups: []optim.Group{{Params: []string{pattern}}}}
		var frozen []string // by the paths that the graph has
		found := false
		for _, paths := range params {
			switch first := one.For(paths[0]) == nil; {
			case first && !found:
				frozen, found = append(frozen, pattern), true
			case !first && one.For(paths...) == nil:
				frozen = append(frozen, paths[0])
			}
		}
		if len(frozen) == 0 {
			errs.Add(diag.New(BadValue, "-freeze "+pattern+": the model has no such parameter").
				WithHint(near.Hint(pattern, names, "patterns such as 'encoder.*' stand for several; fxgen print lists the parameters")))
		}
		rule.Groups = append(rule.Groups, optim.Group{Params: frozen})
	}
	return rule, errs.Err()
}

// aliases are the further paths of the parameters that modules share, by the first one.
func (l *learner) aliases() map[string][]string {
	list := map[string][]string{}
	if l.module != nil {
		for _, e := range nn.StateDict(l.module) {
			list[e.Name] = e.Aliases
		}
	}
	return list
}

// cured gives mistakes of training, whose cures are fields in Go, the flags that do the same.
func (l *learner) cured(err error) error {
	cures := map[diag.Code]string{
		grad.EvaluationMode: "give -evaluation to train it with its statistics as they are, or freeze it and all before it with -freeze PATTERN; a module, ./pkg#Type, is trained in training mode",
		grad.Unreached:      "leave it as it is with -freeze PATTERN",
		train.OtherModel:    "train with the flags, model and data of the checkpoint, or begin again with -force in place of -resume",
	}
	var list diag.List
	list.Add(err)
	for i, e := range list {
		hint := cures[e.Code]
		if e.Code == quant.NotPrepared && e.Op == std.Dropout.Name && l.module == nil {
			hint = "give -evaluation to train it without dropout, as it was written"
		}
		if e.Code == train.FolderInUse {
			hint = "wait until that training has ended, or give this one another folder with -o"
		}
		if e.Code == train.Unused {
			path := e.Msg[strings.LastIndexByte(e.Msg, ' ')+1:]
			hint = "use it, remove it, or give -freeze '" + path + "'"
		}
		if hint != "" && e.Hint != hint && !strings.Contains(e.Hint, "-resume") {
			cured := *e
			list[i] = cured.WithHint(hint)
		}
	}
	if len(list) == 0 {
		return err
	}
	return list
}

// batches reads the data.
func (l *learner) batches() (training, valid *train.Batches, err error) {
	t := l.train
	data, names, err := l.arrays(t.Data)
	if err != nil {
		return nil, nil, err
	}
	var aside []*array.Array
	asideNames := names
	switch {
	case len(t.Valid) > 0:
		if aside, asideNames, err = l.arrays(t.Valid); err != nil {
			return nil, nil, err
		}
	case t.Share > 0:
		// Rows are counted, and looked at, before they are put aside.
		if _, err := l.loader(data, names, t.Batch, true); err != nil {
			return nil, nil, err
		}
		if data, aside, err = train.Split(data, t.Share, t.Seed); err != nil {
			return nil, nil, err
		}
	}
	if training, err = l.loader(data, names, t.Batch, false); err != nil || aside == nil {
		return training, nil, err
	}
	valid, err = l.loader(aside, asideNames, training.Size, true)
	return training, valid, err
}

// loader brings arrays into the model's types. Data to evaluate stay in their order.
func (l *learner) loader(data []*array.Array, names []string, size int, evaluated bool) (*train.Batches, error) {
	data, target, err := l.of.Fit(data, names)
	if err != nil {
		return nil, err
	}
	l.of.Target = target
	b := train.Batches{Data: data, Names: names, Size: size, Classes: l.of.Classes(), Shuffle: !evaluated, Seed: l.train.Seed, DropLast: l.train.DropLast && !evaluated}
	if c, ok := l.of.Loss.(*nn.CrossEntropyLoss); ok {
		b.Ignore = &c.IgnoreIndex
		if data[len(data)-1].DType().IsFloat() && data[len(data)-1].Rank() > 1 {
			b.Classes = 0 // probabilities of classes
		}
	}
	if fixed, is := target.Dim(0).Int(); is {
		if size != 0 && size != fixed {
			return nil, diag.New(BadValue, "-batch "+strconv.Itoa(size)+": the model takes batches of "+strconv.Itoa(fixed)).
				WithHint("leave -batch out, or declare the model's inputs with an open first size: -input NAME='f32[N,...]'")
		}
		b.Size, b.DropLast = fixed, true
	}
	if b.Size == 0 {
		b.Size = usualBatch
	}
	return train.NewBatches(b)
}

// usualBatch is the size of batches that nobody gives.
const usualBatch = 32

// checkpointFolder is where a folder of results has its checkpoints.
const checkpointFolder = "checkpoints"

// TrainedFiles are the files that training writes to a folder at its end, and the folder in it that
// it writes checkpoints to.
func TrainedFiles(folder string) (files []string, checkpoints string) {
	return []string{filepath.Join(folder, graph.GraphFile), filepath.Join(folder, graph.WeightsFile)}, filepath.Join(folder, checkpointFolder)
}

// recompute is the policy of the flags with the sizes that batches have.
func (l *learner) recompute(b *train.Batches) *fx.RecomputePolicy {
	if l.train.Recompute == nil {
		return nil
	}
	p := *l.train.Recompute
	p.Sizes = map[string]int{}
	for i, n := range l.of.Model.Graph.Inputs() {
		t := n.Type()
		if t.Kind() != shape.Tensor || !t.Ranked() || t.Rank() != b.Data[i].Rank() {
			continue
		}
		for k, d := range t.Dims().Slice() {
			if name, open := d.IsSymbol(); open {
				if p.Sizes[name] = b.Data[i].Dim(k); k == 0 {
					p.Sizes[name] = b.Size
				}
			}
		}
	}
	return &p
}

// quantise has the model learn to be quantised, where the flags ask for it: in the first epoch scales
// follow what is observed, afterwards they are learned. It depends on no number of epochs, so that -resume
// may go on with more of them.
func (l *learner) quantise(ctx context.Context, b *train.Batches) error {
	if l.job.Config.Name == "" {
		return nil
	}
	if l.module != nil && l.train.Evaluation {
		return diag.New(BadValue, "-evaluation is given, "+l.src.Name+" is a module that learns to be quantised").
			WithHint("leave -evaluation out: norms and dropouts of a module are in training mode with -qat")
	}
	config, err := quant.ParseConfig([]byte(l.job.Config.Value), l.job.Config.Name)
	if err != nil {
		return err
	}
	model, options := l.module, l.options
	if model == nil {
		gm := fx.NewGraphModule(l.of.Eval.WithGraph(l.of.Eval.Graph.Clone()))
		if l.train.Evaluation { // dropouts drop nothing
			if _, err := gm.Apply(ctx, []passes.Pass{simplify.Identity}, fx.PassOptions{}); err != nil {
				return err
			}
		}
		model, options = gm, declared(gm.Graph)
	}
	l.of.Quantised, err = train.Quantise(ctx, model, config, cpu.QuantBackend(), quant.Training{Observe: b.Len()}, options...)
	return err
}

// declared describes the inputs of a graph, to trace a call of it.
func declared(g *graph.Graph) (list []fx.Option) {
	var examples []any
	for _, n := range g.Inputs() {
		text := n.Type().String()
		list = append(list, fx.Input(n.Target(), text))
		examples = append(examples, fx.Meta(text))
	}
	return append(list, fx.Args(examples...))
}
