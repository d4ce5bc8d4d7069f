package plan

import "slices"

// Hasten moves the steps that write state up to where what they read is there, so that a gradient is
// used as soon as it exists, and its memory then serves other values. With them go the steps that
// lay out values or compute single numbers, which take no memory to speak of. It comes after
// UpdateState and before Share. Nothing is moved before a step that may refuse its operands:
// a run that fails leaves the state as it would have.
func (p *Plan) Hasten() {
	if !p.Stateful {
		return
	}
	first := p.refusing()
	for s := first + 1; s < len(p.Steps); s++ {
		if st := p.Steps[s]; !p.updates(st) && !st.View && !p.single(&st) {
			continue
		}
		to := s
		for to > first && !p.bound(&p.Steps[to-1], &p.Steps[s]) {
			to--
		}
		st := p.Steps[s]
		copy(p.Steps[to+1:s+1], p.Steps[to:s])
		p.Steps[to] = st
	}
}

// single reports whether all results of a step are single numbers.
func (p *Plan) single(s *Step) bool {
	for _, k := range s.Out {
		if k >= 0 && !p.Buffers[k].Type.Dims().Prod().Is(1) {
			return false
		}
	}
	return true
}

// bound reports whether a step must stay after another: one of the two writes what the other
// reads or writes.
func (p *Plan) bound(before, s *Step) bool {
	shares := func(a, b []int) bool {
		for _, i := range a {
			if i >= 0 && slices.ContainsFunc(b, func(k int) bool { return k >= 0 && p.root(k) == p.root(i) }) {
				return true
			}
		}
		return false
	}
	return shares(before.Out, s.In) || shares(before.Out, s.Out) || shares(before.In, s.Out)
}
