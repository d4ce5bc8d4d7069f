package plan

import (
	"slices"

	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/shape"
)

// Share lets values lie in the memory of others: the operands of a concatenation in
// its result, where they are contiguous there, so that nothing is copied; and the
// result of a step that may overwrite an operand where that operand lay, when
// nothing reads its memory any more, a donated input's too. It comes before Live.
func (p *Plan) Share() {
	h := &sharing{p, make([][]int, len(p.Buffers))}
	for i := range p.Buffers {
		if r := p.root(i); r != i {
			h.inside[r] = append(h.inside[r], i)
		}
	}
	h.join()
	h.overwrite()
}

// sharing is a plan whose values get places in each other's memory.
type sharing struct {
	*Plan
	inside [][]int // buffers that have their memory in another one, by its number
}

// join goes through the concatenations from the last to the first, because one of
// some values often is the beginning of a later one of more.
func (p *sharing) join() {
	for s := len(p.Steps) - 1; s >= 0; s-- {
		k, ok := p.Steps[s].Kernel.(*kernel.Concat)
		if !ok || p.Steps[s].View {
			continue
		}
		st := &p.Steps[s]
		at, ok := p.slices(st, k.Dim)
		switch {
		case !ok:
		case p.together(st, at):
			first := &p.Buffers[st.In[0]]
			p.put(st.Out[0], first.Of, first.At)
			st.Joined = true
		case p.gains(st, at):
			p.lay(s, at)
		}
	}
}

// slices returns where the operands of a concatenation lie in its result, in bytes;
// not ok when they are not contiguous there, or when their sizes are not known to be its own:
// by what they say, or by a guard.
func (p *Plan) slices(s *Step, dim int) (at []shape.Dim, ok bool) {
	out := &p.Buffers[s.Out[0]]
	rank := out.Type.Rank()
	if dim < 0 {
		dim += rank
	}
	if out.Kind != Temp || !out.Type.Dims().Sub(0, dim).Prod().Is(1) {
		return nil, false
	}
	end := shape.Const(0)
	for _, k := range s.In {
		b := &p.Buffers[k]
		if b.Type.Rank() != rank || b.Type.DType() != out.Type.DType() {
			return nil, false
		}
		for axis := range rank {
			if axis != dim && !shape.Implied(b.Type.Dim(axis), out.Type.Dim(axis), p.known) {
				return nil, false
			}
		}
		at = append(at, end)
		// Over the sizes of the result, so that what is equal is written in one way.
		end = end.Add(bytesOf(out.Type.WithDims(out.Type.Dims().With(dim, b.Type.Dim(dim)))))
	}
	return at, shape.Implied(end, bytesOf(out.Type), p.known)
}

// known yields the relations, which few plans are asked for.
func (p *Plan) known(yield func(shape.Relation) bool) { slices.Values(p.Relations())(yield) }

// Relations returns what is checked before the first step, over the symbols of the plan.
func (p *Plan) Relations() guard.Relations {
	list := make(guard.Relations, len(p.Guards))
	for i, g := range p.Guards {
		list[i] = g.Relation.Bind(func(name string) shape.Dim {
			for _, s := range p.Same {
				if s.Name == name {
					return p.Buffers[p.Inputs[s.Input]].Type.Dim(s.Axis)
				}
			}
			return shape.Sym(name)
		})
	}
	return list
}

// InputName returns what users call input i.
func (p *Plan) InputName(i int) string {
	if i < len(p.Names) {
		return p.Names[i]
	}
	return p.Buffers[p.Inputs[i]].Name
}

// together reports whether the operands of a concatenation lie in one buffer already,
// one after the other.
func (p *sharing) together(s *Step, at []shape.Dim) bool {
	first, whole := &p.Buffers[s.In[0]], &p.Buffers[s.Out[0]]
	if !first.Within || whole.Within || slices.ContainsFunc(p.inside[s.Out[0]], func(i int) bool { return p.Buffers[i].Within }) {
		return false
	}
	for i, k := range s.In {
		if b := &p.Buffers[k]; !b.Within || b.Of != first.Of || !b.At.Equal(first.At.Add(at[i])) {
			return false
		}
	}
	return true
}

// gains reports whether an operand of a concatenation lies in the result or can be
// made there, so that it need not be copied.
func (p *Plan) gains(s *Step, at []shape.Dim) bool {
	for i, k := range s.In {
		if p.placed(k, s.Out[0], at[i]) || p.movable(s, k) {
			return true
		}
	}
	return false
}

// bytesOf is the size of a value without padding.
func bytesOf(t shape.Type) shape.Dim {
	unit, per := footprint(t)
	return unit.MulInt(per)
}

// movable reports whether a value can be made in another place: it has memory of its
// own, and the step reads it once.
func (p *Plan) movable(s *Step, k int) bool {
	uses := 0
	for _, i := range s.In {
		if i == k {
			uses++
		}
	}
	return p.Buffers[k].Kind == Temp && !p.Buffers[k].Within && uses == 1
}

// placed reports whether buffer k lies in buffer whole at so many bytes.
func (p *Plan) placed(k, whole int, at shape.Dim) bool {
	b, w := &p.Buffers[k], &p.Buffers[whole]
	base := shape.Const(0)
	if w.Within {
		base = w.At
	}
	return b.Within && b.Of == p.root(whole) && b.At.Equal(base.Add(at))
}

// lay makes operands of step s parts of its result, and copies those that cannot be,
// in steps before it.
func (p *sharing) lay(s int, at []shape.Dim) {
	whole := p.Steps[s].Out[0]
	base := shape.Const(0)
	if p.Buffers[whole].Within {
		base = p.Buffers[whole].At
	}
	for i := range at {
		st := &p.Steps[s]
		k := st.In[i]
		switch {
		case p.placed(k, whole, at[i]):
		case p.movable(st, k):
			p.put(k, p.root(whole), base.Add(at[i]))
		default:
			part := Buffer{Name: p.Buffers[whole].Name + "_" + p.Buffers[k].Name, Kind: Temp, Type: p.Buffers[k].Type}
			p.Buffers, p.inside = append(p.Buffers, part), append(p.inside, nil)
			made := len(p.Buffers) - 1
			p.put(made, p.root(whole), base.Add(at[i]))
			c := *st
			c.Kernel, c.In, c.Out, c.Flops = &kernel.Copy{}, []int{k}, []int{made}, shape.Const(0)
			st.In[i] = made
			p.Steps = slices.Insert(p.Steps, s, c)
			s++
		}
	}
	p.Steps[s].Joined = true
}

// holds reports whether others lie in a buffer.
func (p *Plan) holds(whole int) bool {
	return slices.ContainsFunc(p.Buffers, func(b Buffer) bool { return b.Within && b.Of == whole })
}

// put places buffer k, with what lies in it and the views of it, in another buffer.
func (p *sharing) put(k, root int, at shape.Dim) {
	for _, i := range p.inside[k] {
		if b := &p.Buffers[i]; b.Within {
			b.Of, b.At = root, b.At.Add(at)
		} else {
			b.Of = root
		}
	}
	b := &p.Buffers[k]
	b.Within, b.Of, b.At = true, root, at
	p.inside[root] = append(append(p.inside[root], p.inside[k]...), k)
	p.inside[k] = nil
}

// overwrite puts results in the place of operands that are dead.
func (p *sharing) overwrite() {
	spans := p.spans()
	for s := range p.Steps {
		st := &p.Steps[s]
		if len(st.Out) != 1 || st.Out[0] < 0 {
			continue
		}
		out := &p.Buffers[st.Out[0]]
		if out.Kind != Temp || out.Within {
			continue
		}
		for i, k := range st.In {
			if k < 0 || !st.overwrites(0, i) {
				continue
			}
			if b := &p.Buffers[k]; (b.Kind == Temp || b.Donated) && b.Type.Same(out.Type) && spans[p.root(k)].Last <= s && p.alone(st, k) {
				at := shape.Const(0)
				if b.Within {
					at = b.At
				}
				spans.Join(p.root(k), st.Out[0])
				p.put(st.Out[0], p.root(k), at)
				break
			}
		}
	}
}

// overwrites reports whether result out of a step may lie where operand in does.
func (s *Step) overwrites(out, in int) bool {
	switch k := s.Kernel.(type) {
	case kernel.Overwriter:
		return k.Overwrites(out, in)
	case kernel.Updater:
		return out == 0 && in == 0
	}
	return false
}

// alone reports whether a step reads the memory of its operand k through nothing else.
func (p *Plan) alone(s *Step, k int) bool {
	for _, i := range s.In {
		if i >= 0 && i != k && p.root(i) == p.root(k) {
			return false
		}
	}
	return true
}
