package plan

import "slices"

// Hasten moves the steps that write state, or inputs that become results, up to where what they read is there, so that a gradient is
// used as soon as it exists, and its memory then serves other values. With them go steps that
// lay out values or compute single numbers for them, which take no memory to speak of. It comes after
// UpdateState and before Share. Nothing is moved before a step that may refuse its operands:
// a run that fails leaves the state as it would have.
func (p *Plan) Hasten() {
	if !slices.ContainsFunc(p.Steps, p.updates) {
		return
	}
	moves := p.needed()
	first := p.refusing()
	for s := first + 1; s < len(p.Steps); s++ {
		if !moves[s] {
			continue
		}
		st, to := p.Steps[s], s
		for to > first && !p.bound(&p.Steps[to-1], &st) {
			to--
		}
		for to < s && p.updates(p.Steps[to]) {
			to++ // in the order that they have
		}
		copy(p.Steps[to+1:s+1], p.Steps[to:s])
		p.Steps[to] = st
	}
}

// needed tells of each step whether it writes state of values that take memory, or lays out or
// computes a single number for one that does.
func (p *Plan) needed() []bool {
	list, read := make([]bool, len(p.Steps)), make([]bool, len(p.Buffers))
	for s := len(p.Steps) - 1; s >= 0; s-- {
		st := &p.Steps[s]
		frees := slices.ContainsFunc(st.In, func(k int) bool { return k >= 0 && p.Buffers[p.root(k)].Kind == Temp })
		light := (st.View || p.single(st)) && slices.ContainsFunc(st.Out, func(k int) bool { return k >= 0 && read[k] })
		if list[s] = p.updates(*st) && frees || light; !list[s] {
			continue
		}
		for _, k := range st.In {
			if k >= 0 {
				read[k] = true
			}
		}
	}
	return list
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
