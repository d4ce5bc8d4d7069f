package plan

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/internal/lifetimes"
)

// Check reports the first broken invariant of the plan: operands that no earlier
// step makes, buffers made twice, views that are none, lifetimes that do not
// cover the uses, sizes for which a kernel has no field, and memory that is used for two
// values at once for some sizes. nil when the plan is sound.
func (p *Plan) Check() error {
	for i := range p.Buffers {
		if err := p.checkBuffer(i); err != nil {
			return err
		}
	}
	made := make([]bool, len(p.Buffers))
	for i := range p.Buffers {
		made[i] = p.Buffers[i].Kind == Input || p.Buffers[i].Kind == Weight
	}
	for s := range p.Steps {
		if err := p.checkStep(s, made); err != nil {
			return err
		}
	}
	for _, o := range p.Outputs {
		if o < 0 || o >= len(p.Buffers) || p.Buffers[o].Kind != Output && !p.Buffers[o].Updated || !made[o] {
			return broken("output " + strconv.Itoa(o) + " is not computed")
		}
	}
	relations, uses := p.Relations(), p.uses()
	for k, n := range []int{1, 2, 3, 7, 64, 1000} {
		env := map[string]int{}
		for i, sym := range p.Symbols {
			env[sym.Name] = n + i*k
		}
		if !relations.Admit(env) {
			continue // no size near these that is allowed
		}
		var sizes Sizes
		if p.Size(&sizes, Values(env)) != nil {
			continue // sizes that the guards exclude
		}
		if err := p.checkMemory(&sizes, uses); err != nil {
			return err
		}
	}
	return nil
}

func broken(msg string) error { return diag.Bug("plan: " + msg) }

func (p *Plan) checkBuffer(i int) error {
	b := &p.Buffers[i]
	switch {
	case !b.Type.Ranked() || b.Type.DType() == array.Invalid:
		return broken("buffer " + b.Name + " is " + b.Type.String())
	case (b.Kind == View || b.Within) && (b.Of < 0 || b.Of >= len(p.Buffers) || p.Buffers[b.Of].Kind == View || p.Buffers[b.Of].Within):
		return broken(b.Kind.String() + " " + b.Name + " lies in no buffer with memory")
	case b.Within && (b.Kind != Temp || p.Buffers[b.Of].Kind != Temp && !p.Buffers[b.Of].Donated):
		return broken(b.Kind.String() + " " + b.Name + " lies in a " + p.Buffers[b.Of].Kind.String() + ", expected temps")
	case b.Within && p.Buffers[b.Of].Kind == Input && !b.At.Is(0):
		return broken(b.Name + " lies inside of input " + p.Buffers[b.Of].Name + ", expected at its beginning")
	case b.Donated && b.Kind != Input:
		return broken(b.Kind.String() + " " + b.Name + " is donated, expected an input")
	case b.Updated && (b.Kind != Input || b.Donated):
		return broken(b.Kind.String() + " " + b.Name + " is updated, expected an input that nothing else overwrites")
	case (b.Kind == View || b.Within) && (b.First < p.Buffers[b.Of].First || b.Last > p.Buffers[b.Of].Last):
		return broken(b.Kind.String() + " " + b.Name + " outlives the memory that it lies in")
	case b.Kind == Weight && b.Path == "":
		return broken("weight " + b.Name + " has no path")
	case b.Late && b.Kind != Sized && b.Kind != Output || b.Kind == Sized && !b.Late:
		return broken(b.Kind.String() + " " + b.Name + " is late or is not, expected sized buffers and outputs to be")
	case b.Pack != nil && b.Kind != Weight:
		return broken(b.Kind.String() + " " + b.Name + " is packed, expected a weight")
	}
	return nil
}

func (p *Plan) checkStep(s int, made []bool) error {
	st := &p.Steps[s]
	name := "step " + strconv.Itoa(s) + " (" + st.Op + ")"
	for _, i := range st.In {
		switch {
		case i == -1:
		case i < 0 || i >= len(p.Buffers):
			return broken(name + " reads no buffer")
		case !made[i]:
			return broken(name + " reads " + p.Buffers[i].Name + " before it is made")
		case s < p.Buffers[i].First || s > p.Buffers[i].Last:
			return broken(name + " reads " + p.Buffers[i].Name + " when its memory is not in use")
		}
	}
	for _, i := range st.Out {
		if i < 0 || i >= len(p.Buffers) {
			return broken(name + " writes no buffer")
		}
		b := &p.Buffers[i]
		switch {
		case b.Kind == Weight && p.Stateful && b.Pack == nil, b.Updated:
		case b.Kind == Input || b.Kind == Weight || made[i]:
			return broken(name + " writes " + b.Kind.String() + " " + b.Name)
		case s < b.First || s > b.Last:
			return broken(name + " writes " + b.Name + " when its memory is not in use")
		case (b.Kind == View) != st.View:
			return broken(name + " and " + b.Name + " disagree on being a view")
		}
		made[i] = true
	}
	if st.Joined {
		for _, i := range st.In {
			if p.root(i) != p.root(st.Out[0]) {
				return broken(name + " joins " + p.Buffers[i].Name + ", which lies elsewhere")
			}
		}
	}
	if st.View {
		_, ok := st.Kernel.(kernel.Viewer)
		if !ok || len(st.Out) == 0 || len(st.In) == 0 || st.In[0] < 0 {
			return broken(name + " is not a view step")
		}
		for _, o := range st.Out {
			if p.root(st.In[0]) != p.Buffers[o].Of {
				return broken(name + " makes a view of another buffer than it reads")
			}
		}
	}
	if err := p.checkControl(name, st); err != nil {
		return err
	}
	if err := p.checkLate(name, st); err != nil {
		return err
	}
	if k := reflect.ValueOf(st.Kernel); k.Kind() != reflect.Pointer || k.IsNil() {
		return broken(name + ": the kernel is not a pointer")
	}
	if _, _, err := st.Instance(); err != nil {
		return broken(name + ": " + err.Error())
	}
	return nil
}

// checkControl checks the bodies of a control-flow step, and that they are given and
// give what the step has.
func (p *Plan) checkControl(name string, st *Step) error {
	c := st.Control()
	if c == nil {
		if len(st.Regions)+len(st.Spare) > 0 {
			return broken(name + " has bodies, but is no control flow")
		}
		return nil
	}
	regions, spare := 1, c.Carry
	switch {
	case c.Cond():
		regions = 2
	case c.While():
		regions, spare = 2, c.Carry+1
	}
	least := max(1, c.Carry+c.Seqs)
	if c.Call() {
		least = 0
	}
	if len(st.Regions) != regions || len(st.Spare) != spare || len(st.Out) < c.Carry || len(st.In) < least {
		return broken(name + " has not the bodies, operands or results that it takes")
	}
	for i, k := range st.Spare {
		if i < c.Carry && k == st.Out[i] && st.Regions[len(st.Regions)-1].Updates(i, i) {
			continue // each round changes what the one before has made
		}
		if k < 0 || k >= len(p.Buffers) || p.Buffers[k].Kind != Temp || p.Buffers[k].Within || p.maker(k) >= 0 {
			return broken(name + " works in a buffer that is not its own")
		}
	}
	operands, _ := st.Operands()
	for i, r := range st.Regions {
		outputs := len(st.Out)
		if c.While() && i == 0 {
			outputs = 1
		}
		if len(r.Inputs) != len(operands) || len(r.Outputs) != outputs {
			return broken(name + " has not what its body " + r.Name + " takes and gives")
		}
		if err := r.Check(); err != nil {
			return err
		}
	}
	return nil
}

// checkLate checks that late results are made by steps that find their sizes: sized
// buffers by kernels that say them and by branches, outputs by calls and branches; calls
// alone read sized buffers.
func (p *Plan) checkLate(name string, st *Step) error {
	_, sizer := st.Kernel.(kernel.Sizer)
	c := st.Control()
	body := c != nil && (c.Call() || c.Cond())
	for _, k := range st.Out {
		switch b := &p.Buffers[max(k, 0)]; {
		case k < 0 || !b.Late:
		case b.Kind == Sized && !sizer && !body, b.Kind == Output && !body:
			return broken(name + " does not find the sizes of " + b.Name)
		}
	}
	for _, k := range st.In {
		if k >= 0 && p.Buffers[k].Late && (c == nil || !c.Call()) {
			return broken(name + " reads " + p.Buffers[k].Name + ", whose sizes it cannot know")
		}
	}
	return nil
}

// root returns the buffer that has the memory of buffer i.
func (p *Plan) root(i int) int {
	if p.Buffers[i].Kind == View || p.Buffers[i].Within {
		return p.Buffers[i].Of
	}
	return i
}

// checkMemory checks the places of buffers in the arena: those in use at one time lie apart.
func (p *Plan) checkMemory(s *Sizes, uses uses) error {
	var blocks []lifetimes.Block
	memory := make([][]int, len(p.Buffers)) // buffers by the one that has their memory
	for i := range p.Buffers {
		r := p.root(i)
		memory[r] = append(memory[r], i)
		a := &p.Buffers[i]
		if a.Kind != Temp || a.Within {
			continue
		}
		if s.Offset[i] < 0 || s.Offset[i]%array.Align != 0 || s.Offset[i]+s.Bytes[i] > s.Arena {
			return broken("buffer " + a.Name + " is not aligned or outside the arena")
		}
		blocks = append(blocks, lifetimes.Block{Span: a.span(), Size: s.Bytes[i], Offset: s.Offset[i]})
	}
	if lifetimes.Clash(blocks) {
		return p.clash(s)
	}
	for _, all := range memory {
		if err := p.checkWithin(s, uses, all); err != nil {
			return err
		}
	}
	return nil
}

// clash tells which buffers overlap.
func (p *Plan) clash(s *Sizes) error {
	own := func(i int) bool { return p.Buffers[i].Kind == Temp && !p.Buffers[i].Within && s.Bytes[i] > 0 }
	for i := range p.Buffers {
		for j := range i {
			a, b := &p.Buffers[i], &p.Buffers[j]
			if own(i) && own(j) && a.span().Overlaps(b.span()) && s.Offset[i] < s.end(j) && s.Offset[j] < s.end(i) {
				return broken("buffers " + b.Name + " and " + a.Name + " overlap")
			}
		}
	}
	return nil
}

// checkWithin checks the buffers that lie in another one: inside it, as long as it is in use, and apart from every
// value there that is made before and read after they are made. all are the buffers in one memory.
func (p *Plan) checkWithin(s *Sizes, uses uses, all []int) error {
	var made, apart, kept, views []lifetimes.Block
	for _, i := range all {
		a := &p.Buffers[i]
		b := lifetimes.Block{Span: lifetimes.Span{First: uses.made[i] + 1, Last: uses.last[i] - 1}, Size: s.Bytes[i], Offset: s.Offset[i]}
		switch {
		case b.Size == 0 || b.First > b.Last:
		case a.Kind == View:
			b.Size, b.Offset = 1, 0 // where a view lies is not known here
			views = append(views, b)
		default:
			kept = append(kept, b)
		}
		if a.Kind != Temp || !a.Within {
			continue
		}
		of := &p.Buffers[a.Of]
		if s.Offset[i] < s.Offset[a.Of] || s.end(i) > s.end(a.Of) {
			return broken("buffer " + a.Name + " reaches out of " + of.Name)
		}
		if a.First >= 0 && (a.First < of.First || a.Last > of.Last) {
			return broken("buffer " + a.Name + " is in use when " + of.Name + " is not")
		}
		if m := uses.made[i]; m >= 0 && !p.Steps[m].Joined { // else it is what its operands wrote
			b.Span = lifetimes.Span{First: m, Last: m}
			made = append(made, b)
			if !uses.part[i] { // parts of a whole may lie next to views
				b.Size, b.Offset = min(s.Bytes[i], 1), 0
				apart = append(apart, b)
			}
		}
	}
	if lifetimes.Meets(kept, made) || lifetimes.Meets(views, apart) {
		return p.overwrites(s, uses, all)
	}
	return nil
}

// overwrites tells which buffer is made in the memory of another one that is read later.
func (p *Plan) overwrites(s *Sizes, uses uses, all []int) error {
	for _, i := range all {
		made := uses.made[i]
		if a := &p.Buffers[i]; a.Kind != Temp || !a.Within || made < 0 || p.Steps[made].Joined || s.Bytes[i] == 0 {
			continue
		}
		for _, k := range all {
			if k == i || s.Bytes[k] == 0 || uses.made[k] >= made || uses.last[k] <= made {
				continue
			}
			view := p.Buffers[k].Kind == View
			if view && !uses.part[i] || !view && s.Offset[i] < s.end(k) && s.Offset[k] < s.end(i) {
				return broken("buffer " + p.Buffers[i].Name + " overwrites " + p.Buffers[k].Name + ", which is read later")
			}
		}
	}
	return nil
}

// uses says where buffers are made and read. A plan of thousands of steps is looked through once.
type uses struct {
	made, last []int  // the step that makes a buffer first, and the last one that reads it; -1 for none
	part       []bool // it is an operand of a concatenation that is joined
}

func (p *Plan) uses() uses {
	u := uses{make([]int, len(p.Buffers)), make([]int, len(p.Buffers)), make([]bool, len(p.Buffers))}
	for i := range p.Buffers {
		u.made[i], u.last[i] = -1, -1
	}
	for s := range p.Steps {
		for _, k := range p.Steps[s].Out {
			if k >= 0 && u.made[k] < 0 {
				u.made[k] = s
			}
		}
		for _, k := range p.Steps[s].In {
			if k >= 0 {
				u.last[k], u.part[k] = s, u.part[k] || p.Steps[s].Joined
			}
		}
	}
	return u
}

// maker returns the step that makes a buffer, -1 for none.
func (p *Plan) maker(k int) int {
	return slices.IndexFunc(p.Steps, func(s Step) bool { return slices.Contains(s.Out, k) })
}
