package train

import (
	"context"
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/tensor"
)

// mark notes that the model's tensors are those of the step now.
func (r *run) mark() {
	r.Step.Sync()
	r.synced = r.at
}

// blame returns the error of a loss that is not finite. The steps since the model had the state of
// a step are run again, the last two of them node by node: the first one of these may have written
// what the loss did not show yet.
func (r *run) blame(ctx context.Context, loss float64) error {
	step := r.at.Step + 1
	what := "the loss is " + strconv.FormatFloat(loss, 'g', -1, 64) + " in step " + strconv.Itoa(step) +
		" (epoch " + strconv.Itoa(r.at.Epoch+1) + ", batch " + strconv.Itoa(r.at.Batch+1) + ")"
	n, at, err := r.first(ctx)
	switch {
	case err != nil:
		return (&diag.Error{Code: NotFinite, Msg: what, Err: err})
	case n == nil:
		return diag.New(NotFinite, what+"; interpreted, the step gives a finite one").WithHint("lower the learning rate, or clip gradients (optim.Rule.ClipNorm)")
	}
	e := n.Error(NotFinite, what+"; the first node that gives no number is "+n.Text()+" in step "+strconv.Itoa(at))
	return e.WithHint("lower the learning rate, clip gradients (optim.Rule.ClipNorm), or keep operands away from where the function has no value")
}

// first runs the steps since the last mark again, on a copy of the state, and returns the first
// node whose result is not finite where its operands are, and its step.
func (r *run) first(ctx context.Context) (*graph.Node, int, error) {
	ctx = context.WithoutCancel(ctx)
	m := graph.Clone(r.Step.module.Module)
	p := program{module: fx.NewGraphModule(m)}
	at := r.synced
	last := r.at
	left := func() int { return last.Step - at.Step }
	for ; left() > 1; r.advance(&at) {
		batch, err := r.batches.Batch(at.Epoch, at.Batch)
		if err != nil {
			return nil, 0, err
		}
		if p.exe == nil {
			if p.exe, err = plan(ctx, m, lowering.Options{}); err != nil {
				return nil, 0, err
			}
		}
		if _, err := p.exe.Run(ctx, batch); err != nil {
			return nil, 0, err
		}
	}
	p.sync()
	for ; left() >= 0; r.advance(&at) {
		batch, err := r.batches.Batch(at.Epoch, at.Batch)
		if err != nil {
			return nil, 0, err
		}
		n, err := firstBad(ctx, m, batch)
		if n != nil || err != nil {
			return n, at.Step + 1, err
		}
	}
	return nil, 0, nil
}

// advance moves a position to the next batch.
func (r *run) advance(at *position) {
	at.Step++
	if at.Batch++; at.Batch == r.batches.Len() {
		at.Epoch, at.Batch = at.Epoch+1, 0
	}
}

// firstBad interprets a step and returns the first node that gives NaN, or where none does, an
// infinity, for operands without.
func firstBad(ctx context.Context, m *graph.Module, batch []*array.Array) (*graph.Node, error) {
	var nan, inf *graph.Node
	p := interp.Interpreter{State: interp.NewState(m)}
	p.Node = func(n *graph.Node, in []interp.Result, next func([]interp.Result) (interp.Result, error)) (interp.Result, error) {
		out, err := next(in)
		if err != nil || nan != nil || n.Opcode() == graph.Output {
			return out, err
		}
		isNaN, isInf := inspect(out)
		if isNaN {
			nan = n
		}
		if isInf && inf == nil && !fed(in) {
			inf = n
		}
		return out, nil
	}
	_, err := p.RunArrays(ctx, batch)
	if nan != nil {
		return nan, nil
	}
	return inf, err
}

// fed reports whether an operand is infinite.
func fed(in []interp.Result) bool {
	for _, v := range in {
		if _, isInf := inspect(v); isInf {
			return true
		}
	}
	return false
}

// inspect looks for NaN and infinities.
func inspect(v interp.Result) (isNaN, isInf bool) {
	for _, t := range append([]*tensor.Tensor{v.T}, v.Tuple...) {
		if t == nil || !t.DType().IsFloat() {
			continue
		}
		a := t.Array()
		for i := range a.Len() {
			x := array.Float64At(a, i)
			isNaN = isNaN || math.IsNaN(x)
			isInf = isInf || math.IsInf(x, 0)
		}
	}
	return isNaN, isInf
}
