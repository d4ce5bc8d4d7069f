package train

import (
	"context"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/tensor"
)

// Quantised is a model that learns to be quantised: a module for loss functions to call in the
// place of the model, whose parameters it shares. In training mode it computes what quant.Train
// makes of the model, in evaluation mode what quant.Evaluate does; NewStep and NewEval choose.
type Quantised struct {
	train, eval *fx.GraphModule
	base        *graph.Module // of which all forms are made
	config      *quant.Config
	backend     *quant.Backend
	training    bool
}

// Quantise captures a model to train it for its quantisation. specs describe the inputs of its
// Forward as for fx.Trace. The model's parameters are trained where they are; scales that are learned
// are parameters of the result, "quant.NAME.delta", which a rule may name; what is observed and the
// count of steps are its buffers. So all of it is in the state of a Step and in its checkpoints.
//
// Batch norms have the momentum of the model's modules, and nn.Dropout drops in training. What else
// computes something different in training is refused (FX6003).
func Quantise(ctx context.Context, model any, c *quant.Config, b *quant.Backend, o quant.Training, specs ...fx.Option) (*Quantised, error) {
	nn.Eval(model)
	gm, err := fx.Trace(ctx, model, specs...)
	if err != nil {
		return nil, err
	}
	if _, err := gm.Apply(ctx, functional, fx.PassOptions{}); err != nil {
		return nil, err
	}
	drops, err := dropouts(gm.Module, model)
	if err != nil {
		return nil, err
	}
	if _, err := gm.Apply(ctx, unfolded(), fx.PassOptions{}); err != nil {
		return nil, err
	}
	if o.Momentum == nil {
		o.Momentum = momenta(model)
	}
	q := &Quantised{base: gm.Module, config: c, backend: b}
	if q.train, err = q.form(ctx, quant.Train(c, b, o)); err != nil {
		return nil, err
	}
	if err := drop(ctx, q.train, model, drops); err != nil {
		return nil, err
	}
	if q.eval, err = q.form(ctx, quant.Evaluate(c, b)); err != nil {
		return nil, err
	}
	return q, nil
}

// unfolded is fx.Optimise without what folds batch norms, whose parameters are trained.
func unfolded() []fx.Pass {
	return slices.DeleteFunc(fx.Optimise(), func(p fx.Pass) bool {
		return slices.Contains([]string{"conv-bn", "linear-bn", "bn-affine"}, p.Name)
	})
}

// form makes a form of the model over the same arrays, with the state of training where there is one.
func (q *Quantised) form(ctx context.Context, p fx.Pass) (*fx.GraphModule, error) {
	m := q.base.WithGraph(q.base.Graph.Clone())
	if q.train != nil {
		for _, p := range q.train.Params() {
			m.SetParam(*p)
		}
	}
	gm := fx.NewGraphModule(m)
	_, err := gm.Apply(ctx, []fx.Pass{p}, fx.PassOptions{})
	return gm, err
}

// momenta are the momenta of the batch norms of a model, by the paths of their running means.
func momenta(model any) func(mean string) float64 {
	known := map[string]float64{}
	tensor.Walk(model, func(it tensor.Item) bool {
		var r *nn.RunningStats
		switch m := it.Module.(type) {
		case *nn.BatchNorm1d:
			r = &m.RunningStats
		case *nn.BatchNorm2d:
			r = &m.RunningStats
		case *nn.BatchNorm3d:
			r = &m.RunningStats
		}
		if r != nil && r.RunningMean != nil {
			path := strings.TrimPrefix(it.Path+".running_mean", ".")
			if known[path] = r.Momentum; r.CumulativeAverage {
				known[path] = 0
			}
		}
		return it.Module != nil
	})
	return func(mean string) float64 {
		if m, ok := known[mean]; ok {
			return m
		}
		return 0.1
	}
}

// SetTraining chooses the form that Forward and Call compute.
func (q *Quantised) SetTraining(on bool) { q.training = on }

func (q *Quantised) now() *fx.GraphModule {
	if q.training {
		return q.train
	}
	return q.eval
}

// Walk lists the state under the paths of the model and "quant"; see tensor.Walk.
func (q *Quantised) Walk(visit func(tensor.Item) bool) { q.now().Walk(visit) }

// Call computes the model inside a loss: it panics with *diag.Error as layers do.
func (q *Quantised) Call(inputs ...*tensor.Tensor) []*tensor.Tensor {
	p := interp.Interpreter{State: q.now().State(), Node: func(n *graph.Node, in []interp.Result, next func([]interp.Result) (interp.Result, error)) (interp.Result, error) {
		out, err := next(in)
		if n.Opcode() == graph.GetAttr && err == nil && !written(n) {
			out.T = tensor.On(inputs[0], out.T) // what is computed of the state alone is part of the loss, too
		}
		return out, err
	}}
	out, err := p.Run(context.Background(), inputs...)
	if err != nil {
		panic(err)
	}
	return out
}

// written reports whether a read stands for the tensor itself, which is written.
func written(n *graph.Node) bool {
	for u := range n.Users() {
		if u.Op() == op.Assign && u.Arg(0) == n {
			return true
		}
	}
	return false
}

// Forward is Call for a model with one input and one result.
func (q *Quantised) Forward(x *tensor.Tensor) *tensor.Tensor { return q.Call(x)[0] }

// Trained returns the graph that is trained, Evaluated the one that evaluates it.
func (q *Quantised) Trained() *fx.GraphModule { return q.train }

// Evaluated returns the graph of the model with fake_quantize, over the arrays of the model and of what was
// learned: what a Step computes it sees after Step.Sync.
func (q *Quantised) Evaluated() *fx.GraphModule { return q.eval }

// Convert returns the quantised form of what was trained, as quant.Convert makes it: integer.Lower
// turns it into operators on integers. It computes what Evaluated does, bit for bit. What a Step has trained
// it sees after Step.Sync. The arrays are its own.
func (q *Quantised) Convert(ctx context.Context) (*fx.GraphModule, error) {
	gm, err := q.form(ctx, quant.ConvertTrained(q.config, q.backend))
	if err != nil {
		return nil, err
	}
	return fx.NewGraphModule(graph.Clone(gm.Module)), nil
}
