package flow

import (
	"maps"
	"slices"
	"strconv"
)

// Bits are sets of slots of one function. Flow: the value is computed from what a slot
// holds. Same: it is what the slot holds, a view of it, or part of it.
type Bits struct{ Flow, Same uint64 }

// Or is the union of two sets.
func (b Bits) Or(o Bits) Bits { return Bits{b.Flow | o.Flow, b.Same | o.Same} }

// Slot is a place that a caller gives values in: a parameter (captured variables follow the
// parameters), or what lies below it.
type Slot struct {
	Param int
	Path  []string
}

// Expanded is set among the bits Same of a tensor that shows one element several times, as
// Expand makes it. The other bits are slots.
const (
	Expanded = 1 << maxSlots
	maxSlots = 63
)

// maxDepth is how many steps below a parameter or variable are told apart.
const maxDepth = 3

// Tree is what is known of a value and of what lies below it. A pointer is not told apart
// from what it points to. The fields are exported for facts alone.
type Tree struct {
	Bits
	Below Bits             // of everything below, in addition to Kids
	Sym   int              // 1 + the slot whose contents the value has; 0 for none
	Kids  map[string]*Tree // by field ("f0"), element ("0", "*") and result ("r0")
}

// index reports whether a step is that to an element.
func index(step string) bool { return step == "*" || step[0] >= '0' && step[0] <= '9' }

// matches reports whether what was stored by one step may be what another one loads.
func matches(stored, loaded string) bool {
	return stored == loaded || index(stored) && index(loaded) && (stored == "*" || loaded == "*")
}

// at returns what lies one step below a tree. The table makes slots of the steps below a
// parameter.
func (t *Tree) at(step string, s *slots) *Tree {
	out := &Tree{}
	if t == nil {
		return out
	}
	out.Bits, out.Below = t.Below, t.Below
	if t.Sym != 0 {
		s.below(out, t.Sym-1, step)
	}
	for _, k := range slices.Sorted(maps.Keys(t.Kids)) {
		if matches(k, step) {
			out.join(t.Kids[k], maxDepth)
		}
	}
	return out
}

// join adds what another tree has; it reports whether that changed anything. Below a depth
// parts are not told apart.
func (t *Tree) join(o *Tree, depth int) (changed bool) {
	if o == nil || o == t {
		return false
	}
	before := *t
	t.Bits, t.Below = t.Bits.Or(o.Bits), t.Below.Or(o.Below)
	switch {
	case o.Sym == 0 || o.Sym == t.Sym:
	case t.Sym == 0:
		t.Sym = o.Sym
	default: // of several slots: all that is below counts as any of them
		for _, sym := range []int{t.Sym, o.Sym} {
			b := Bits{1 << (sym - 1), 1 << (sym - 1)}
			t.Bits, t.Below = t.Bits.Or(b), t.Below.Or(b)
		}
	}
	changed = t.Bits != before.Bits || t.Below != before.Below || t.Sym != before.Sym
	for k, kid := range o.Kids {
		changed = t.put(k, kid, depth-1) || changed
	}
	return changed
}

// put adds a tree one step below.
func (t *Tree) put(step string, kid *Tree, depth int) bool {
	if kid == nil || kid.empty() {
		return false
	}
	if depth <= 0 {
		before := t.Below
		t.Below = before.Or(kid.flat())
		return t.Below != before
	}
	mine := t.Kids[step]
	if mine == nil {
		if t.Kids == nil {
			t.Kids = map[string]*Tree{}
		}
		mine = &Tree{}
		t.Kids[step] = mine
	}
	return mine.join(kid, depth)
}

// putAt adds a tree at a path.
func (t *Tree) putAt(path []string, kid *Tree) bool {
	for i := len(path) - 1; i >= 0; i-- {
		up := &Tree{}
		up.put(path[i], kid, maxDepth)
		kid = up
	}
	return t.join(kid, maxDepth)
}

func (t *Tree) empty() bool {
	return t.Bits == Bits{} && t.Below == Bits{} && t.Sym == 0 && len(t.Kids) == 0
}

// flat is the union over a tree.
func (t *Tree) flat() Bits {
	if t == nil {
		return Bits{}
	}
	b := t.Bits.Or(t.Below)
	for _, k := range t.Kids {
		b = b.Or(k.flat())
	}
	return b
}

// self is what is known of the value itself.
func (t *Tree) self() Bits {
	if t == nil {
		return Bits{}
	}
	return t.Bits
}

// elements is the tree of a list of which positions are not known any more.
func (t *Tree) elements(s *slots) *Tree {
	out := &Tree{}
	out.put("*", t.at("*", s), maxDepth)
	return out
}

// replaced is the tree with each slot replaced by what a caller gives in it.
func (t *Tree) replaced(given func(slot int) *Tree, depth int) *Tree {
	out := &Tree{}
	if t == nil {
		return out
	}
	own := t.Bits
	if t.Sym != 0 {
		out.join(given(t.Sym-1), depth)
		own.Flow &^= 1 << (t.Sym - 1)
		own.Same &^= 1 << (t.Sym - 1)
	}
	out.Bits = out.Bits.Or(own.replaced(given))
	out.Below = out.Below.Or(t.Below.replaced(given))
	for _, k := range slices.Sorted(maps.Keys(t.Kids)) { // in order: slots are made on the way
		kid := t.Kids[k]
		out.put(k, kid.replaced(given, depth-1), depth-1)
	}
	return out
}

func (b Bits) replaced(given func(slot int) *Tree) (out Bits) {
	out.Same = b.Same & Expanded
	for i := range maxSlots {
		flow, same := b.Flow>>i&1 != 0, b.Same>>i&1 != 0
		if !flow && !same {
			continue
		}
		all := given(i).flat()
		if flow {
			out.Flow |= all.Flow
		}
		if same {
			out.Same |= all.Same
		}
	}
	return out
}

// slots are those of one function.
type slots struct {
	list  []Slot
	index map[string]int
}

// of returns the slot of a path below a parameter, -1 when there are too many.
func (s *slots) of(param int, path []string) int {
	key := strconv.Itoa(param)
	for _, p := range path {
		key += "." + p
	}
	if i, ok := s.index[key]; ok {
		return i
	}
	if len(s.list) == maxSlots {
		return -1
	}
	if s.index == nil {
		s.index = map[string]int{}
	}
	s.index[key] = len(s.list)
	s.list = append(s.list, Slot{param, slices.Clone(path)})
	return len(s.list) - 1
}

// symbol is the tree of a slot.
func symbol(slot int) *Tree {
	if slot < 0 {
		return &Tree{}
	}
	return &Tree{Bits: Bits{1 << slot, 1 << slot}, Sym: slot + 1}
}

// below joins into a tree what lies a step below a slot.
func (s *slots) below(to *Tree, slot int, step string) {
	from := s.list[slot]
	if len(from.Path) == maxDepth {
		b := Bits{1 << slot, 1 << slot}
		to.join(&Tree{Bits: b, Below: b}, maxDepth)
		return
	}
	to.join(symbol(s.of(from.Param, append(slices.Clone(from.Path), step))), maxDepth)
}
