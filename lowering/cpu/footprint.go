package cpu

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/plan"
)

// Stats says what an executable has made of its plan.
type Stats struct {
	Specialised int // plans for sizes that came again, at most MaxSpecialised
	Rounded     int // steps, those of bodies included, that round the operands of a product to bf16
	// Measured are the steps, those of bodies included, of which implementations were compared: see
	// lowering.Options.Measure.
	Measured []plan.Measured
}

// Stats counts the plans.
func (e *Executable) Stats() (st Stats) {
	if e.special != nil {
		st.Specialised = len(e.special.made())
	}
	st.Rounded = rounded(e.plan)
	st.Measured = measured(e.plan, nil)
	return st
}

// measured appends those of a plan and of its bodies.
func measured(p *plan.Plan, list []plan.Measured) []plan.Measured {
	list = append(list, p.Measured...)
	for i := range p.Steps {
		for _, body := range p.Steps[i].Regions {
			list = measured(body, list)
		}
	}
	return list
}

// Granted says what became of Options.Products: "bf16: vdpbf16ps" where this processor multiplies pairs of
// bf16, "bf16: rounded operands, f32 arithmetic" on others, with the number of steps that it is about; ""
// where no step rounds its operands.
func (e *Executable) Granted() string {
	n, steps := e.Stats().Rounded, " steps"
	switch n {
	case 0:
		return ""
	case 1:
		steps = " step"
	}
	return "bf16: " + kernel.ProductsOfBF16() + ", in " + strconv.Itoa(n) + steps
}

// rounded counts the steps of a plan that round operands to bf16.
func rounded(p *plan.Plan) (n int) {
	for i := range p.Steps {
		switch k := p.Steps[i].Kernel.(type) {
		case *kernel.LinearPacked:
			if k.BF16 {
				n++
			}
		case *kernel.ConvPacked:
			if k.BF16 {
				n++
			}
		}
		for _, body := range p.Steps[i].Regions {
			n += rounded(body)
		}
	}
	return n
}

// Footprint is the memory that executables hold between runs, in bytes, besides the tensors of the model.
type Footprint struct {
	Packed int64 // weights laid out for this processor
	State  int64 // copies of tensors that the plans write, and of weights with gaps
	Idle   int64 // of instances that wait for a run, which Trim drops
}

// Footprint adds up what e and others hold. Weights that several of them share are counted
// once.
func (e *Executable) Footprint(others ...*Executable) Footprint {
	var f Footprint
	seen := map[*array.Storage]bool{}
	for _, e := range append([]*Executable{e}, others...) {
		e.each(func(e *Executable) { e.add(&f, seen) })
	}
	return f
}

// Trim drops instances that wait for a run, with their memory. Runs make new ones.
func (e *Executable) Trim() {
	e.each(func(e *Executable) { e.free = nil })
}

// each calls f for e, the bodies of its control flow, and the plans for sizes that came again, with
// the mutex of each.
func (e *Executable) each(f func(e *Executable)) {
	e.mu.Lock()
	f(e)
	e.mu.Unlock()
	for _, bodies := range e.regions {
		for _, b := range bodies {
			b.each(f)
		}
	}
	if e.special != nil {
		for _, p := range e.special.made() {
			p.each(f)
		}
	}
}

// add adds what e itself holds, with mu.
func (e *Executable) add(f *Footprint, seen map[*array.Storage]bool) {
	for i := range e.weights {
		w := &e.weights[i]
		s := w.value.Storage()
		if s == nil || seen[s] {
			continue
		}
		a := w.from.Value()
		switch size := int64(len(s.Bytes())); {
		case w.pack != nil:
			f.Packed += size
		case a == nil || a.Storage() != s:
			f.State += size
		default:
			continue // the model's
		}
		seen[s] = true
	}
	for _, x := range e.free {
		f.Idle += x.bytes()
	}
}

// bytes returns the memory that an instance keeps.
func (x *instance) bytes() int64 {
	n := int64(x.ws.Reserved())
	kept := append([]*array.Storage{x.arena}, x.dense...)
	for _, s := range x.copies {
		kept = append(kept, s)
	}
	for _, s := range kept {
		if s != nil {
			n += int64(len(s.Bytes()))
		}
	}
	return n
}
