package tracer

import (
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/tensor"
)

// Assign implements tensor.Engine. What is written to the model's state is stored when
// the graph ends.
func (t *trace) Assign(dst, src *tensor.Tensor, what string) {
	if !t.enter(nil, dst, src) {
		return
	}
	defer t.leave()
	t.rec.Assign(dst, src, what, diag.Here())
}

// Lift implements tensor.Capturer.
func (t *trace) Lift(x *tensor.Tensor) *tensor.Tensor {
	if !t.enter(nil, x) {
		return t.rec.Poisoned(1)[0]
	}
	defer t.leave()
	return t.rec.Lift(x)
}

// Cond implements tensor.Capturer.
func (t *trace) Cond(pred *tensor.Tensor, then, els func([]*tensor.Tensor) []*tensor.Tensor, in []*tensor.Tensor) []*tensor.Tensor {
	if !t.enter(nil, in...) {
		return then(in)
	}
	defer t.leave()
	return t.rec.Cond(pred, then, els, in)
}

// While implements tensor.Capturer.
func (t *trace) While(trips int, cond func([]*tensor.Tensor) *tensor.Tensor, body func([]*tensor.Tensor) []*tensor.Tensor, in []*tensor.Tensor) []*tensor.Tensor {
	if !t.enter(nil, in...) {
		return t.rec.Poisoned(len(in))
	}
	defer t.leave()
	return t.rec.While(trips, cond, body, in)
}

// Scan implements tensor.Capturer.
func (t *trace) Scan(body func(carry, slices []*tensor.Tensor) (next, out []*tensor.Tensor), carry, seqs []*tensor.Tensor) (last, stacked []*tensor.Tensor) {
	if !t.enter(nil, carry...) {
		return body(carry, seqs)
	}
	defer t.leave()
	return t.rec.Scan(body, carry, seqs)
}
