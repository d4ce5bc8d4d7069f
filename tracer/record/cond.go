package record

import (
	"slices"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// Cond records a branch. The branches are given the very operands, as they are
// eagerly; what either writes is a result of the node.
func (r *Recorder[V, B]) Cond(pred *tensor.Tensor, then, els func([]*tensor.Tensor) []*tensor.Tensor, operands []*tensor.Tensor) []*tensor.Tensor {
	args := r.Values("cond", append([]*tensor.Tensor{pred}, operands...))
	if args == nil {
		return r.Poisoned(1)
	}
	rs := []*Region[V, B]{r.open("then", args[1:], nil), r.open("else", args[1:], nil)}
	for i, f := range []func([]*tensor.Tensor) []*tensor.Tensor{then, els} {
		rs[i].takes(operands, args[1:])
		if !rs[i].body("cond", f) {
			return r.Poisoned(max(1, len(rs[i].results)))
		}
	}
	first, second := rs[0], rs[1]
	if len(first.values) != len(second.values) {
		r.mismatch("cond", "the branches return "+itoa(len(first.values))+" and "+itoa(len(second.values))+" tensors",
			"return as many from both; a branch without a value for one returns its operand or zeros")
		return r.Poisoned(len(first.values))
	}
	for i := range first.values {
		if x, y := first.values[i].Type(), second.values[i].Type(); !shape.Joinable(x, y) {
			r.mismatch("cond", "result "+itoa(i)+" is "+x.String()+" in one branch and "+y.String()+" in the other",
				"cast one of them, so that both have one element type")
		}
	}
	count := len(first.values)
	changed := writes(first, second)
	var none V
	for _, s := range changed {
		for _, in := range rs {
			v := in.after(s)
			if v == none {
				return r.Poisoned(count)
			}
			in.values = append(in.values, v)
		}
	}
	first.settle(nil)
	second.settle(nil)
	n := r.node(op.Cond, nil, rs, args)
	out := r.chosen(n, count, first, second)
	r.update(n, count, changed, func(s *alias.Storage[V]) diag.Pos {
		if c := first.changed[s]; c != nil {
			return c.pos
		}
		return second.changed[s].pos
	})
	return out
}

// takes gives the code of a branch the operands themselves: where it uses one, it
// uses the parameter for it.
func (in *Region[V, B]) takes(operands []*tensor.Tensor, values []V) {
	r := in.rec
	var none V
	for k, v := range values {
		p := in.args[k].Value().(V)
		if in.inner[v] == none {
			in.inner[v] = p
		}
		// A tensor of the state comes in as the operand that it is.
		if x := operands[k]; !r.Eager.Has(x) {
			if place := r.ref(x); place.IsWhole() && memoryOf[V, B](place.Storage).lifted[in.block] == none {
				memoryOf[V, B](place.Storage).lifted[in.block] = p
			}
		}
	}
	in.args = slices.Clone(operands)
}

// chosen makes the tensors of a branch.
func (r *Recorder[V, B]) chosen(n V, count int, first, second *Region[V, B]) []*tensor.Tensor {
	out := make([]*tensor.Tensor, count)
	for i := range out {
		if first.results[i] != second.results[i] || !r.outside(first.results[i], first, second) {
			r.returned(first.results[i], first.block)
			r.returned(second.results[i], second.block)
		}
	}
	for i := range out {
		if first.results[i] == second.results[i] && r.outside(first.results[i], first, second) {
			out[i] = first.results[i] // one tensor from outside, whichever branch runs
			continue
		}
		out[i] = r.member(n, i)
		r.mayBe(out[i], first.results[i], first.block)
		r.mayBe(out[i], second.results[i], second.block)
	}
	r.mayShare(first, out)
	r.mayShare(second, out)
	return out
}
