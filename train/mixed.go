package train

import (
	"context"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/arrange"
	"github.com/gofx-dev/gofx/tensor"
)

// Where the scale of the loss and the number of updates since it changed lie, below a prefix.
const (
	lossScalePath = "loss_scale" // f32[]
	finitePath    = "finite"     // i64[]
)

// The first scale of the loss, and after how many updates it is doubled: those of PyTorch's GradScaler.
const (
	firstScale = 0x1p16
	doubled    = 2000
)

// mix has products of a captured loss compute in 16 bits. The report lists what stays in f32.
func mix(ctx context.Context, gm *fx.GraphModule, dtype array.DType) (passes.PassReport, error) {
	if dtype != array.BF16 && dtype != array.F16 {
		return passes.PassReport{}, diag.New(BadTrainer, "the step is mixed with "+dtype.String()).WithHint("use array.BF16 or array.F16, or leave Mixed out")
	}
	r, err := gm.Apply(ctx, append(slices.Clone(functional), arrange.Mixed(dtype)), fx.PassOptions{})
	if err != nil {
		return passes.PassReport{}, err
	}
	return r.Passes[len(r.Passes)-1], nil
}

// scaleLoss adds the loss times a scale, a number of the state, to the results, as the last of them.
func scaleLoss(gm *fx.GraphModule, prefix string) (path string) {
	path = prefix + lossScalePath
	gm.SetParam(graph.Param{Path: path, Value: array.Scalar(float32(firstScale)), Buffer: true})
	out := gm.Graph.Output()
	args := out.Args()
	c := gm.Graph.Before(out)
	scale := c.GetAttr(path)
	scale.SetLive(true)
	args = append(args, c.Function(std.Mul, nil, args[0], scale))
	s := &graph.Structure{Kind: graph.Results}
	for i := range args {
		s.Fields = append(s.Fields, graph.Leaf(i))
	}
	if err := gm.Graph.Erase(out); err != nil {
		panic(err)
	}
	gm.Graph.At().Output(s, args...)
	return path
}

// unscale makes the gradients those of the loss itself.
func (b *update) unscale() (err error) {
	if b.scale == "" {
		return nil
	}
	b.grads, err = b.record("", func(in ...*tensor.Tensor) []*tensor.Tensor {
		out := make([]*tensor.Tensor, len(in)-1)
		for i, g := range in[1:] {
			out[i] = g.Div(in[0])
		}
		return out
	}, append([]*graph.Node{b.read(b.scale)}, b.grads...)...)
	return err
}

// finite leaves the update out where a gradient is not finite, and fits the scale of the loss.
func (b *update) finite() error {
	if b.scale == "" {
		return nil
	}
	scale, good := b.read(b.scale), b.slot(finitePath, array.New(array.I64))
	args := append([]*graph.Node{scale, good}, b.grads...)
	if b.apply != nil {
		args = append(args, b.apply)
	}
	out, err := b.record("", func(in ...*tensor.Tensor) []*tensor.Tensor {
		scale, good := in[0], in[1].AddScalar(1)
		fine := in[2].Isfinite().All()
		for _, g := range in[3 : 2+len(b.grads)] {
			fine = fine.LogicalAnd(g.Isfinite().All())
		}
		grow := good.GeScalar(doubled)
		next := tensor.Where(fine, tensor.Where(grow, scale.MulScalar(2), scale), scale.MulScalar(0.5))
		good = good.MaskedFill(grow.LogicalOr(fine.LogicalNot()), 0)
		if b.apply == nil {
			return []*tensor.Tensor{fine, next, good}
		}
		apply := in[len(in)-1]
		return []*tensor.Tensor{fine.LogicalAnd(apply), tensor.Where(apply, next, scale), tensor.Where(apply, good, in[1])}
	}, args...)
	if err != nil {
		return err
	}
	b.apply = out[0]
	b.write(scale, out[1])
	b.write(good, out[2])
	return nil
}

// Mixed says what computes in the type of StepOptions.Mixed, and what does not, with reasons: a call that is in neither
// list is neither a product nor a call after one.
func (s *Step) Mixed() (half, full []passes.Event) { return s.mixed.Log, s.mixed.Refused }

// LossScale returns what the loss is multiplied by before it is differentiated, 1 unless the step is mixed with f16.
func (s *Step) LossScale() float64 {
	if s.module.Param(s.slots+lossScalePath) == nil {
		return 1
	}
	return array.Float64At(s.state(s.slots+lossScalePath), 0)
}
