package flow

import (
	"encoding/json"
	"go/types"
	"slices"
	"strconv"

	"golang.org/x/tools/go/ssa"
)

// Summary is what callers in other packages know of a function.
type Summary struct {
	Slots  []Slot
	Result *Tree
	Stored map[int]*Tree // below parameters
	Reads  []Effect
	Writes []Effect
}

// Effect is what a function does with a slot.
type Effect struct {
	Bits Bits
	What string
	Code string
	In   string // the function and line
}

// AFact makes summaries facts.
func (*Summary) AFact() {}

// GobEncode implements gob.GobEncoder: facts are the same bytes each time, which gob's own form
// of a map is not.
func (s *Summary) GobEncode() ([]byte, error) { return json.Marshal(summary(*s)) }

// GobDecode implements gob.GobDecoder.
func (s *Summary) GobDecode(data []byte) error { return json.Unmarshal(data, (*summary)(s)) }

// summary is a Summary without methods.
type summary Summary

// String returns the fact for tests.
func (s *Summary) String() string {
	out := "summary"
	for _, e := range s.Reads {
		out += " reads " + e.What
	}
	for _, e := range s.Writes {
		out += " writes " + e.What
	}
	return out
}

// size grows whenever a summary does.
func (s *Summary) size() int {
	n := s.Result.size() + len(s.Reads) + len(s.Writes)
	for _, t := range s.Stored {
		n += t.size()
	}
	for _, list := range [][]Effect{s.Reads, s.Writes} {
		for _, e := range list {
			n += e.Bits.size()
		}
	}
	return n
}

func (b Bits) size() (n int) {
	for _, m := range []uint64{b.Flow, b.Same} {
		for ; m != 0; m &= m - 1 {
			n++
		}
	}
	return n
}

func (t *Tree) size() int {
	if t == nil {
		return 0
	}
	n := t.Bits.size() + t.Below.size() + t.Sym
	for _, k := range t.Kids {
		n += 1 + k.size()
	}
	return n
}

// summarise makes the summary of what was evaluated.
func (f *Func) summarise() {
	s := f.sum
	for _, b := range f.Fn.Blocks {
		ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok {
			continue
		}
		for i, v := range ret.Results {
			switch {
			case !holds(v.Type()):
			case len(ret.Results) == 1:
				s.Result.join(f.tree(v), maxDepth+1)
			default:
				s.Result.put("r"+strconv.Itoa(i), f.tree(v), maxDepth+1)
			}
		}
	}
	for i, p := range f.params() {
		if kids := f.tree(p).Kids; len(kids) > 0 || f.tree(p).Sym == 0 && !f.tree(p).empty() {
			if s.Stored[i] == nil {
				s.Stored[i] = &Tree{}
			}
			s.Stored[i].join(f.stored(i, p), maxDepth)
		}
	}
	for _, r := range f.Reads {
		s.Reads = effect(s.Reads, Effect{r.Bits, r.What, r.Code, f.place(r.In, r.Call)})
	}
	for _, w := range f.Writes {
		s.Writes = effect(s.Writes, Effect{w.Bits, w.What, "", f.place(w.In, w.Call)})
	}
	for _, e := range f.edges {
		for _, r := range e.to.sum.Reads {
			r.Bits = r.Bits.replaced(e.given)
			s.Reads = effect(s.Reads, r)
		}
		for _, w := range e.to.sum.Writes {
			w.Bits = w.Bits.replaced(e.given)
			s.Writes = effect(s.Writes, w)
		}
	}
	s.Slots = f.slots.list
}

// stored is what the function has put into a parameter or below it.
func (f *Func) stored(i int, p ssa.Value) *Tree {
	t := *f.tree(p)
	own := Bits{}
	if t.Sym != 0 {
		own = Bits{1 << (t.Sym - 1), 1 << (t.Sym - 1)}
	}
	t.Sym = 0
	t.Bits.Flow &^= own.Flow
	t.Bits.Same &^= own.Same
	return &t
}

// place says where something is done.
func (f *Func) place(in string, call ssa.CallInstruction) string {
	if in != "" {
		return in
	}
	return f.Fn.RelString(nil) + ":" + strconv.Itoa(f.r.pass.Fset.Position(call.Pos()).Line)
}

// maxEffects bounds a summary.
const maxEffects = 32

// effect adds an effect to a list.
func effect(list []Effect, e Effect) []Effect {
	if e.Bits.Flow == 0 && e.Bits.Same == 0 {
		return list
	}
	for i := range list {
		if o := &list[i]; o.What == e.What && o.In == e.In {
			o.Bits = o.Bits.Or(e.Bits)
			return list
		}
	}
	if len(list) == maxEffects {
		return list
	}
	return append(list, e)
}

// export makes facts of the summaries of functions that other packages can call.
func (r *Result) export() {
	for _, f := range r.Funcs {
		obj, ok := f.Fn.Object().(*types.Func)
		if !ok || !obj.Exported() || f.Fn.Parent() != nil || obj.Pkg() != r.pass.Pkg {
			continue
		}
		s := *f.sum
		s.Slots = slices.Clone(s.Slots)
		if !s.Result.empty() || len(s.Reads)+len(s.Writes)+len(s.Stored) > 0 {
			r.pass.ExportObjectFact(obj, &s)
		}
	}
}
