package train

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/internal/near"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/optim"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// Supervised trains a graph, such as an imported model, towards targets: its batches are the
// graph's inputs in their order, and the target after them. Write a loss function and use NewStep
// for what does not have this form.
type Supervised struct {
	// Model is the graph in the mode that it is trained in, Eval the same in evaluation mode over
	// the same arrays; nil stands for Model.
	Model, Eval *fx.GraphModule
	// Output is the result that Loss compares with the target.
	Output int
	Loss   nn.Loss
	// Metrics are of MetricNames.
	Metrics []string
	// Target is the type of the targets; TargetType makes it.
	Target shape.Type
	// Options are those of the step.
	Options StepOptions
	// Quantised is trained and evaluated in the place of Model and Eval, whose inputs and results it
	// has: Quantise made it of the same model. Options.Mixed is refused with it.
	Quantised *Quantised
}

// caller is a graph that a loss function calls.
type caller interface {
	Call(inputs ...*tensor.Tensor) []*tensor.Tensor
}

// metrics compare results with targets, which are classes or numbers like the results.
var metrics = map[string]func(loss nn.Loss, x, target *tensor.Tensor) *tensor.Tensor{
	"accuracy": accuracy,
	"mae": func(_ nn.Loss, x, target *tensor.Tensor) *tensor.Tensor {
		return x.Sub(target).Abs().Mean()
	},
}

// MetricNames lists the metrics of Supervised: accuracy, the part of the examples whose class is
// found, and mae, the mean absolute error.
func MetricNames() []string { return []string{"accuracy", "mae"} }

// accuracy is the part of the targets that are found: classes where the loss takes them, else
// yes and no, for logits above 0 and for probabilities above one half.
func accuracy(loss nn.Loss, x, target *tensor.Tensor) *tensor.Tensor {
	switch {
	case takesClasses(loss):
		return x.Argmax(min(x.Rank()-1, 1)).Eq(target).Cast(array.F32).Mean()
	case probabilities(loss):
		return x.GtScalar(0.5).Eq(target.GtScalar(0.5)).Cast(array.F32).Mean()
	}
	return x.GtScalar(0).Eq(target.GtScalar(0.5)).Cast(array.F32).Mean()
}

// TakesClasses reports whether targets are classes, integers from 0 on, along axis 1 of the results.
func (s Supervised) TakesClasses() bool { return takesClasses(s.Loss) }

func takesClasses(loss nn.Loss) bool {
	switch loss.(type) {
	case *nn.CrossEntropyLoss, *nn.NLLLoss:
		return true
	}
	return false
}

func probabilities(loss nn.Loss) bool { _, is := loss.(*nn.BCELoss); return is }

// Step captures the step; its results are the loss and the metrics.
func (s Supervised) Step(ctx context.Context, rule optim.Rule) (*Step, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	var model caller = s.Model
	if s.Quantised != nil {
		model = s.Quantised
	}
	return NewStepWith(ctx, model, s.lossOf(model), rule, s.Options, s.specs()...)
}

// Evaluation captures loss and metrics in evaluation mode.
func (s Supervised) Evaluation(ctx context.Context) (*Eval, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	var model caller = s.Model
	switch {
	case s.Quantised != nil:
		model = s.Quantised
	case s.Eval != nil:
		model = s.Eval
	}
	return NewEval(ctx, model, s.lossOf(model), s.specs()...)
}

// lossOf returns the loss function of a graph.
func (s Supervised) lossOf(model caller) func(batch ...*tensor.Tensor) (*tensor.Tensor, Metrics) {
	return func(batch ...*tensor.Tensor) (*tensor.Tensor, Metrics) {
		last := len(batch) - 1
		x, target := model.Call(batch[:last]...)[s.Output], batch[last]
		m := Metrics{}
		for _, name := range s.Metrics {
			m[name] = metrics[name](s.Loss, x, target)
		}
		return s.Loss.Forward(x, target), m
	}
}

// specs describe the batch.
func (s Supervised) specs() []fx.Option {
	var list []fx.Option
	var examples []any
	add := func(name string, t shape.Type) {
		list = append(list, fx.Input(name, t.String()))
		examples = append(examples, fx.Meta(t.String()))
	}
	name := "target"
	for _, n := range s.Model.Graph.Inputs() {
		add(n.Target(), n.Type())
		if n.Target() == name {
			name += "_"
		}
	}
	add(name, s.Target)
	return append(list, fx.Args(examples...))
}

func (s Supervised) check() error {
	var errs diag.List
	if s.Model == nil || s.Loss == nil {
		return diag.New(BadTrainer, "Model or Loss is missing, expected a graph and a loss")
	}
	if s.Quantised != nil && s.Options.Mixed != array.Invalid {
		errs.Add(diag.New(BadTrainer, "a step that is trained for quantisation is mixed with "+s.Options.Mixed.String()+", expected f32").
			WithHint("what is learned are scales of values in f32: leave Mixed, or Quantised, out"))
	}
	if n := s.Model.Graph.Output().NumArgs(); s.Output < 0 || s.Output >= n {
		errs.Add(diag.New(BadTrainer, "the loss is to be of result "+strconv.Itoa(s.Output)+", the model has "+strconv.Itoa(n)))
	}
	for _, name := range s.Metrics {
		switch {
		case metrics[name] == nil:
			errs.Add(diag.New(BadTrainer, "there is no metric "+strconv.Quote(name)).WithHint(near.Hint(name, MetricNames(), "expected one of "+strings.Join(MetricNames(), ", "))))
		case name == "mae" && s.TakesClasses():
			errs.Add(diag.New(BadTrainer, "mae compares numbers, the targets are classes").WithHint("ask for accuracy"))
		}
	}
	return errs.Err()
}

// result is the type of the result that the loss looks at.
func (s Supervised) result() shape.Type { return s.Model.Graph.Output().Arg(s.Output).Type() }

// Classes returns the number of classes that the model tells apart, 0 where the loss takes none,
// or the number is not known.
func (s Supervised) Classes() int {
	t := s.result()
	if !s.TakesClasses() || !t.Ranked() || t.Rank() == 0 {
		return 0
	}
	n, _ := t.Dim(min(t.Rank()-1, 1)).Int()
	return n
}

// Fit brings data into the types of the batch, and returns it with the type of the targets, the last
// array: numbers become those of the inputs' element types, classes i64, and targets of one
// number an example get the rank of the results. What would change a number, and sizes that do
// not fit, are refused (FX3104), all at once, with names as messages call the arrays.
func (s Supervised) Fit(data []*array.Array, names []string) ([]*array.Array, shape.Type, error) {
	inputs := s.Model.Graph.Inputs()
	if len(data) != len(inputs)+1 {
		return nil, shape.Type{}, diag.New(BadData, strconv.Itoa(len(data))+" arrays are given, expected "+strconv.Itoa(len(inputs))+" inputs and the target")
	}
	data = slices.Clone(data)
	var errs diag.List
	fault := func(i int, msg, hint string) { errs.Add(diag.New(BadData, names[i]+" "+msg).WithHint(hint)) }
	sizes := map[string]int{}
	for i, n := range inputs {
		t := n.Type()
		if msg := misfit(data[i], t, sizes); msg != "" {
			fault(i, "is "+typeOf(data[i])+", the model takes "+t.String()+": "+msg, "bring the array into the form of the input, whose first axis are the examples")
			continue
		}
		if t.Kind() == shape.Tensor && data[i].DType() != t.DType() {
			if data[i] = converted(data[i], t.DType()); data[i] == nil {
				fault(i, "has numbers that are none of "+t.DType().String()+", which the model takes", "save whole numbers for it")
			}
		}
	}
	last := len(data) - 1
	target, msg := s.target(data[last])
	if msg != "" {
		fault(last, msg, "see the loss's description of its targets")
	}
	if err := errs.Err(); err != nil {
		return nil, shape.Type{}, err
	}
	data[last] = target
	dims := shape.ConstDims(target.Shape()...)
	if t := inputs[0].Type(); t.Ranked() && t.Rank() > 0 {
		dims = dims.With(0, t.Dim(0))
	}
	return data, shape.TensorType(target.DType(), dims), nil
}

func typeOf(a *array.Array) string {
	return shape.TensorType(a.DType(), shape.ConstDims(a.Shape()...)).String()
}

// misfit says why rows of an array are no input; sizes are those of symbols so far.
func misfit(a *array.Array, t shape.Type, sizes map[string]int) string {
	if !t.Ranked() {
		return ""
	}
	if a.Rank() != t.Rank() {
		return "the ranks differ"
	}
	for k, d := range t.Dims().Slice() {
		name, open := d.IsSymbol()
		n, fixed := d.Int()
		if fixed && k == 0 || k == 0 && open {
			continue // the batch
		}
		if open {
			if old, seen := sizes[name]; seen && old != a.Dim(k) {
				return name + " is " + strconv.Itoa(old) + " elsewhere"
			}
			sizes[name] = a.Dim(k)
		}
		if fixed && n != a.Dim(k) {
			return "the sizes of axis " + strconv.Itoa(k) + " differ"
		}
	}
	return ""
}

// converted returns the array with another element type, nil where that would change whole numbers or
// cut fractions off.
func converted(a *array.Array, d array.DType) *array.Array {
	out := array.Cast(a, d)
	if d.IsFloat() && (a.DType().IsFloat() || a.DType() == array.Bool) {
		return out
	}
	for i := range a.Len() {
		if array.Float64At(a, i) != array.Float64At(out, i) {
			return nil
		}
	}
	return out
}

// target brings the targets into the type that the loss takes, or says why that cannot be.
func (s Supervised) target(a *array.Array) (*array.Array, string) {
	t := s.result()
	if s.TakesClasses() {
		if a.DType().IsFloat() {
			return a, "" // probabilities, or labels that NewBatches refuses
		}
		return array.Cast(a, array.I64), ""
	}
	if !t.DType().IsFloat() {
		return nil, "cannot be compared: the result of the model is " + t.String()
	}
	a = array.Cast(a, t.DType())
	if !t.Ranked() || a.Rank() == 0 {
		return a, ""
	}
	if width(a) == 1 && a.Rank() != t.Rank() {
		ones := []int{a.Dim(0)}
		for len(ones) < t.Rank() {
			ones = append(ones, 1)
		}
		a = array.Reshape(array.Contiguous(a), ones...)
	}
	if a.Rank() != t.Rank() {
		return nil, "is " + typeOf(a) + ", the result of the model is " + t.String() + ": the ranks differ"
	}
	for k := 1; k < t.Rank(); k++ {
		if n, fixed := t.Dim(k).Int(); fixed && n != a.Dim(k) {
			return nil, "is " + typeOf(a) + ", the result of the model is " + t.String() + ": the sizes of axis " + strconv.Itoa(k) + " differ"
		}
	}
	return a, ""
}

// width is the number of elements of a row.
func width(a *array.Array) int { return a.Len() / max(a.Dim(0), 1) }
