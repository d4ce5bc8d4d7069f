package plan

// Live sets First and Last of every buffer: between which steps its memory is in
// use, both included. A view keeps the memory that it lies in alive. Memory that
// the caller or the model holds is in use throughout.
func (p *Plan) Live() {
	last := max(len(p.Steps)-1, 0)
	for i := range p.Buffers {
		b := &p.Buffers[i]
		b.First, b.Last = -1, -1
		if b.Kind == Input || b.Kind == Output || b.Kind == Weight {
			b.First, b.Last = 0, last
		}
	}
	touch := func(i, step int) {
		b := &p.Buffers[i]
		if b.First < 0 {
			b.First = step
		}
		b.Last = max(b.Last, step)
	}
	for s := range p.Steps {
		for _, list := range [3][]int{p.Steps[s].Out, p.Steps[s].In, p.Steps[s].Spare} {
			for _, i := range list {
				if i < 0 {
					continue
				}
				touch(i, s)
				if r := p.root(i); r != i {
					touch(r, s)
				}
			}
		}
	}
}

// overlap reports whether the memory of two buffers is in use at the same time.
func overlap(a, b *Buffer) bool { return a.First <= b.Last && b.First <= a.Last }
