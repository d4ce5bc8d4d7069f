package plan

import (
	"slices"

	"github.com/gofx-dev/gofx/kernel"
)

// UpdateState has the steps that compute what is assigned to a tensor, or is to be made in an input, write there themselves, so
// that the value takes no memory and is not copied. It comes before Share, and is not for bodies
// of control flow, whose inputs may lie in the state. It is done where no run can tell:
//
//   - nothing reads the old value after the step, through the tensor or a view of it; the step
//     itself only where it may overwrite it;
//   - nothing reads the new value after the tensor is written again;
//   - no step from there to the assignment can refuse its operands, or runs code that is no
//     kernel: a run that fails leaves the state as it would have.
func (p *Plan) UpdateState() {
	dead, certain := map[int]bool{}, p.certain()
	for s := 0; s < len(p.Steps); s++ {
		made := p.writer(s, certain)
		if made < 0 {
			continue
		}
		copied := &p.Steps[s]
		v, w := copied.In[0], copied.Out[0]
		maker := &p.Steps[made]
		maker.Nodes = slices.Concat(maker.Nodes, copied.Nodes)
		p.rename(v, w)
		dead[v] = true
		p.Steps, certain = slices.Delete(p.Steps, s, s+1), slices.Delete(certain, s, s+1)
		s--
	}
	p.drop(dead)
}

// writer returns the step that may write the tensor which step s copies its result to, -1 for
// none.
func (p *Plan) writer(s int, certain []bool) int {
	st := &p.Steps[s]
	if _, is := st.Kernel.(*kernel.Copy); !is || st.View || st.Joined {
		return -1
	}
	v, w := st.In[0], st.Out[0]
	from, to := &p.Buffers[v], &p.Buffers[w]
	if !to.lasts() || to.Pack != nil || from.Kind != Temp || from.Within || !from.Type.Same(to.Type) || p.holds(v) {
		return -1
	}
	made := p.maker(v)
	if made < 0 || made >= s || p.Steps[made].View || !p.Steps[made].over(p, v, w) {
		return -1
	}
	for i := made; i <= s; i++ {
		between := &p.Steps[i]
		if !certain[i] || i > made && between.mentions(p, w) || i < s && slices.Contains(between.Out, w) {
			return -1
		}
	}
	for i := s + 1; i < len(p.Steps); i++ {
		if p.Steps[i].writes(w, to.Path) {
			if slices.ContainsFunc(p.Steps[i:], func(t Step) bool { return t.mentions(p, v) }) {
				return -1
			}
			break
		}
	}
	return made
}

// lasts reports whether what steps write to a buffer outlives the run, in a tensor of the state or an input.
func (b *Buffer) lasts() bool { return b.Kind == Weight || b.Updated }

// over reports whether a step that makes v does not read buffer w, or may write v over it.
func (s *Step) over(p *Plan, v, w int) bool {
	if !s.mentions(p, w) {
		return true
	}
	if !slices.Contains(s.In, w) || !p.alone(s, w) {
		return false
	}
	for i, in := range s.In {
		if in == w && !s.overwrites(slices.Index(s.Out, v), i) {
			return false
		}
	}
	return true
}

// writes reports whether a step, or a body of it, writes a tensor of the state.
func (s *Step) writes(w int, path string) bool {
	return slices.Contains(s.Out, w) || slices.ContainsFunc(s.Regions, func(r *Plan) bool { return r.Written()[path] })
}

// mentions reports whether a step reads the memory of a buffer.
func (s *Step) mentions(p *Plan, k int) bool {
	return slices.ContainsFunc(s.In, func(i int) bool { return i >= 0 && p.root(i) == k })
}

// rename has everything that refers to buffer v refer to w.
func (p *Plan) rename(v, w int) {
	for i := range p.Steps {
		st := &p.Steps[i]
		for _, list := range [3][]int{st.In, st.Out, st.Spare} {
			for k, b := range list {
				if b == v {
					list[k] = w
				}
			}
		}
	}
	for i := range p.Buffers {
		if b := &p.Buffers[i]; b.Kind == View && b.Of == v {
			b.Of = w
		}
	}
}

// drop removes buffers that nothing refers to.
func (p *Plan) drop(dead map[int]bool) {
	if len(dead) == 0 {
		return
	}
	at, kept := make([]int, len(p.Buffers)), p.Buffers[:0:0]
	for i, b := range p.Buffers {
		at[i] = len(kept)
		if !dead[i] {
			kept = append(kept, b)
		}
	}
	move := func(list []int) {
		for k, i := range list {
			if i >= 0 {
				list[k] = at[i]
			}
		}
	}
	p.Buffers = kept
	for i := range kept {
		if b := &kept[i]; b.Kind == View || b.Within {
			b.Of = at[b.Of]
		}
	}
	for i := range p.Steps {
		move(p.Steps[i].In)
		move(p.Steps[i].Out)
		move(p.Steps[i].Spare)
	}
	move(p.Inputs)
	move(p.Outputs)
}
