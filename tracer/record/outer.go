package record

import "github.com/gofx-dev/gofx/diag"

// Outer returns the value around a region that a parameter of the region stands for; none
// where v is no parameter of a region that is being recorded. varies tells that this is
// so in the first iteration of a loop alone: that the loop carries the value, or takes a
// slice of it. What a loop may write yet does not vary unless it does: see Fix.
func (r *Recorder[V, B]) Outer(v V) (outer V, varies bool) {
	in := r.region
	for in != nil && in.block != r.program.Block(v) {
		in = in.outer
	}
	var none V
	if in == nil {
		return none, false
	}
	for i, p := range in.params {
		if p == v {
			return in.operands[i], in.loop
		}
	}
	for s, p := range in.bases {
		if p == v {
			around := none
			if c := in.changed[s]; c != nil {
				around = c.before
			} else {
				around = r.baseIn(s, in.outer)
			}
			return around, in.loop && in.changed[s] != nil
		}
	}
	for outer, p := range in.inner {
		if p == v && r.program.Block(outer) == r.blockOf(in.outer) {
			return outer, false
		}
	}
	return none, false
}

// Fix demands that no loop whose code is being recorded writes what its parameter v stands
// for, neither before nor after this call. e is reported where one does.
func (r *Recorder[V, B]) Fix(v V, e *diag.Error) {
	for in := r.region; in != nil; in = in.outer {
		if !in.loop || in.block != r.program.Block(v) {
			continue
		}
		for s, p := range in.bases {
			if p == v {
				in.fixed = append(in.fixed, fixture[V]{s, e})
			}
		}
	}
}
