package work

import (
	"context"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/train"
)

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
