package lazy

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/tensor"
)

// update is a tensor of a model that a cone reads and gives a new value, by the numbers of
// the leaf and of the call.
type update struct{ leaf, call int }

// updates finds the tensors of models whose new values may be made in their memory: of each
// the cone has the old value and the new one, and nobody else has the memory.
func (c *cache) updates(k *cone) (all []update) {
	s := c.s
	given := map[*place]int{}
	for _, v := range s.written() {
		given[v]++
	}
	for _, m := range s.rec.Eager.Held() {
		at := s.slots[m.Root().ID()]
		if !m.Dirty() || m.Shared() || at == nil || at.value == nil || at.own {
			continue
		}
		v, old := s.rec.Eager.StorageOf(m).Value, at.value
		if v.mark != s.mark || v.known() || v.err() != nil || v.kept || given[v] > 1 || old.mark != s.mark || old.kept || !v.typ.Same(old.typ) {
			continue
		}
		if old.slot() != at || at.array != m.Array() || !at.array.IsContiguous() || !c.sole(at) {
			continue
		}
		all = append(all, update{int(old.number), int(v.number)})
	}
	return all
}

// sole reports whether no other tensor that the session knows lies in the memory of one.
func (c *cache) sole(k *slot) bool {
	st := k.array.Storage()
	if len(c.s.rec.Eager.MemoryOf(st)) != 1 {
		return false
	}
	for _, o := range c.s.slots {
		if o != k && (o.array.Storage() == st || o.array.Storage().Overlaps(st)) {
			return false
		}
	}
	return true
}

// repeated notes the program of a barrier. One that is equal to the two before it is compiled
// with its updates in the memory of the tensors.
func (c *cache) repeated(p *program, k *cone) {
	same := c.barriers[0] == p && c.barriers[1] == p
	c.barriers[0], c.barriers[1] = p, c.barriers[0]
	if !same || len(k.updates) == 0 || p.into != nil || p.open != nil {
		return
	}
	p.into = k.updates
	p.mu.Lock()
	makes := p.exe != nil && p.exe.makes(p.into) // generated code may
	p.mu.Unlock()
	if p.queue && !makes {
		p.again()
	}
}

// writes reports whether the plan of a program makes the new value of a leaf in its memory.
func (p *program) writes(leaf int) bool {
	return slices.ContainsFunc(p.into, func(u update) bool { return u.leaf == leaf })
}

// pairs are those of a program's options for its updates, and those updates that have one.
func (e *compiled) pairs(list []update) (into []lowering.Into) {
	for _, u := range list {
		result, input := slices.Index(e.keep, u.call), slices.Index(e.inputs, u.leaf)
		if result >= 0 && input >= 0 {
			into = append(into, lowering.Into{Result: result, Input: input})
			e.into = append(e.into, u)
		}
	}
	return into
}

// intoOf takes the pairs that code has for its updates. It reports whether the graph has them: a tensor of a
// model that is an input, and a result of its type, each once.
func (e *compiled) intoOf(pairs []lowering.Into, k *cone) bool {
	inputs, results := map[int]bool{}, map[int]bool{}
	for _, x := range pairs {
		if x.Input < 0 || x.Input >= len(e.inputs) || x.Result < 0 || x.Result >= len(e.keep) || inputs[x.Input] || results[x.Result] {
			return false
		}
		inputs[x.Input], results[x.Result] = true, true
		u := update{e.inputs[x.Input], e.keep[x.Result]}
		if l := k.leaves[u.leaf]; l.slot() == nil || !l.typ.Same(k.calls[u.call].typ) {
			return false
		}
		e.into = append(e.into, u)
	}
	return true
}

// makes reports whether a plan makes exactly these updates in memory of the model's.
func (e *compiled) makes(list []update) bool {
	return len(e.into) == len(list) && !slices.ContainsFunc(list, func(u update) bool { return !slices.Contains(e.into, u) })
}

// donate gives a run the memory of the tensors that it may update there, and copies of the
// others that its plan writes. It returns what may be updated.
func (e *compiled) donate(k *cone, in []*array.Array) (list []update) {
	for _, u := range e.into {
		if slices.Contains(k.updates, u) {
			list = append(list, u)
			continue
		}
		i := slices.Index(e.inputs, u.leaf)
		in[i] = array.Clone(in[i])
	}
	return list
}

// made are those updates that a run has made in its inputs: code of a table is believed no more than its results say.
func (e *compiled) made(list []update, in, out []*array.Array) []update {
	return slices.DeleteFunc(list, func(u update) bool {
		return out[slices.Index(e.keep, u.call)].Storage() != in[slices.Index(e.inputs, u.leaf)].Storage()
	})
}

// updated tells that a run has made the new value of a tensor in its memory. What was read of
// it before is not there any more.
func (c *cache) updated(old, v *place) {
	s := c.s
	k := old.slot()
	old.own().err = (&diag.Error{Code: Donated, Msg: "the value needs memory of a model that a barrier has updated",
		Hint:    "call s.Keep(x) for the tensor before the barrier, read it there, or compute it again",
		Related: []diag.Related{{Pos: diag.Resolve(s.log.at.pc), Msg: "the barrier"}}})
	old.data, old.rare.slot, old.gone, old.lent = nil, nil, true, false
	old.form = &form{op: old.op, attrs: old.attrs, typ: old.typ, pc: old.pc} // no member, which would be fetched again
	v.own().slot, v.lent = k, true
	k.value, k.runs, k.wrote = v, 0, true
	st := k.array.Storage()
	st.Bump()
	for _, m := range s.rec.Eager.MemoryOf(st) {
		s.rec.Eager.Settle(m)
	}
	s.stats.Donated++
}

// mistake is why a value cannot be computed. One that a barrier has made unreachable has the
// line of its call.
func (p *place) mistake() *diag.Error {
	err := p.err()
	if err.Code != Donated {
		return err
	}
	e := *err
	if e.Op = opName(p.op); p.pc == 0 {
		return e.At(diag.Here())
	}
	e.Pos = diag.Resolve(p.pc)
	return &e
}

// Keep has the next Barrier keep the values that tensors have now: without it, Options.Donate
// lets go of what it computes on the way. It counts for one barrier.
func (s *Session) Keep(x ...*tensor.Tensor) {
	defer s.enter("Keep")()
	for _, t := range x {
		if p := s.rec.Value(t, "Keep"); p != nil && !p.kept {
			p.kept = true
			s.keep = append(s.keep, p)
		}
	}
}
