package effects

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// spot is a place with the block that it stands in. Without a function, nothing is known of when it is reached.
type spot struct {
	Place
	fn   *ssa.Function
	at   *ssa.BasicBlock     // nil for all of the function
	call ssa.CallInstruction // nil except for calls of the standard library
}

// called is a function that a block calls, or makes to a value. Without a block, nothing is known of when.
type called struct {
	fn *ssa.Function
	at *ssa.BasicBlock
}

func (f *facts) spot(p Place) spot { return spot{Place: p, fn: f.fn, at: f.at} }

// calling enters a function whose code is analysed.
func (f *facts) calling(fn *ssa.Function) { f.calls = append(f.calls, called{fn, f.at}) }

// word is a field by the names that conditions have.
type word struct{ owner, name string }

// setting notes the fields of which code makes values by itself, in whatever memory: a condition on such a field does not
// hold of the words alone that were there before.
func (f *facts) setting(i ssa.Instruction) {
	switch i := i.(type) {
	case *ssa.FieldAddr:
		for _, r := range *i.Referrers() {
			switch r.(type) {
			case *ssa.UnOp, *ssa.FieldAddr, *ssa.IndexAddr, *ssa.DebugRef:
			default: // a store, or the address goes where others may store
				f.set(pointee(i.X.Type()), i.Field)
			}
		}
	case *ssa.ChangeType:
		f.setAll(i.X.Type(), i.Type())
	case *ssa.Convert:
		f.setAll(i.X.Type(), i.Type())
	case *ssa.MultiConvert:
		f.setAll(i.X.Type(), i.Type())
	}
}

// setAll notes the fields of a struct that a conversion makes of another one.
func (f *facts) setAll(from, to types.Type) {
	if s, ok := to.Underlying().(*types.Struct); ok && !types.Identical(from, to) {
		for k := range s.NumFields() {
			f.set(to, k)
		}
	}
}

func (f *facts) set(t types.Type, i int) {
	if s, ok := t.Underlying().(*types.Struct); ok {
		f.sets[word{TypeName(t), s.Field(i).Name()}] = true
	}
}

// reach says on which ways of the root a walk's functions are called.
type reach struct {
	w       *walk
	inside  map[*ssa.Function]*branches
	ways    map[*ssa.Function]conditions
	sure    map[*ssa.Function]bool // called whenever the root returns
	kept    map[word]bool          // fields that are listed, and that no code makes values of by itself
	globals map[string]bool        // that are listed, and that no code stores
}

// reaches finds the ways. Without places there is nothing to find.
func (w *walk) reaches(globals []Global) *reach {
	r := &reach{w: w, inside: map[*ssa.Function]*branches{}, ways: map[*ssa.Function]conditions{}, sure: map[*ssa.Function]bool{}, kept: map[word]bool{}, globals: map[string]bool{}}
	if len(w.all.opaque)+len(w.all.observes) == 0 {
		return r
	}
	pointed := func(typ string) bool { return w.all.elems["*"+typ]&Store != 0 } // the pointer may have been made anywhere
	for _, g := range globals {
		r.globals[g.Name] = g.Access&Store == 0 && !pointed(g.Type)
	}
	for k, acc := range w.all.fields {
		r.kept[word{k.owner, k.name}] = acc&Store == 0 && !pointed(k.typ)
	}
	for fn := range w.seen {
		for k := range w.p.of(fn).sets {
			r.kept[k] = false
		}
	}
	r.follow(w.root, always(), true)
	for fn := range w.anyhow {
		r.follow(fn, always(), false)
	}
	return r
}

// follow enters that a function is called under conditions, and follows its calls. Conditions that hold more often
// than those of before are looked at again.
func (r *reach) follow(fn *ssa.Function, c conditions, sure bool) {
	old, met := r.ways[fn]
	now := old.or(c)
	if len(now) > maxWays {
		now = always()
	}
	sure = sure || r.sure[fn]
	if met && sure == r.sure[fn] && len(old) == len(now) && old.covers(now) {
		return
	}
	r.ways[fn], r.sure[fn] = now, sure
	for _, call := range r.w.p.of(fn).calls {
		if call.at != nil {
			r.follow(call.fn, now.and(r.of(fn, call.at)), sure && returns(call.at))
		}
	}
}

// covers reports whether each list of o is implied by one of c.
func (c conditions) covers(o conditions) bool {
	for _, b := range o {
		if !slices.ContainsFunc(c, func(a []Cond) bool { return implies(b, a) }) {
			return false
		}
	}
	return true
}

// of returns what holds where a block of a function is run, as far as it can be told by words of before the call.
func (r *reach) of(fn *ssa.Function, at *ssa.BasicBlock) (all conditions) {
	b := r.inside[fn]
	if b == nil {
		b = &branches{root: r.w.root, known: map[*ssa.BasicBlock]conditions{}}
		r.inside[fn] = b
	}
	for _, list := range b.of(at) {
		var told []Cond
		for _, c := range list {
			if general, fixed := r.along(c); !fixed {
				c = general
			}
			if r.usable(c) && !slices.Contains(told, c) {
				told = append(told, c)
			}
		}
		all = all.or(conditions{told})
	}
	return all
}

// rooted reports whether the arguments of the root are those of the call that a table is of.
func (r *reach) rooted() bool { return r.w.guess && !r.w.again }

// along follows the way of a condition from an argument. fixed tells that no code stores anything on the way; general is the condition on
// the field of whichever object.
func (r *reach) along(c Cond) (general Cond, fixed bool) {
	if c.Arg == 0 || c.Name == "" {
		return c, true
	}
	general, fixed = c, r.rooted()
	t := r.w.root.Params[c.Arg-1].Type()
	for name := range strings.SplitSeq(c.Name, ".") {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		s := t.Underlying().(*types.Struct)
		i := 0
		for s.Field(i).Name() != name {
			i++
		}
		general.Arg, general.Type, general.Name = 0, TypeName(t), name
		t = s.Field(i).Type()
		if _, within := t.Underlying().(*types.Struct); !within { // whose own fields have entries
			fixed = fixed && r.kept[word{general.Type, name}]
		}
	}
	return general, fixed
}

// usable reports whether a condition can be told by the words that were there before the call.
func (r *reach) usable(c Cond) bool {
	switch {
	case c.Type != "":
		return !c.zero() && r.kept[word{c.Type, c.Name}]
	case c.Arg > 0:
		return c.Name != "" || r.rooted()
	}
	return r.globals[c.Name]
}

// returns reports whether a block is run whenever its function returns.
func returns(b *ssa.BasicBlock) bool {
	for _, o := range b.Parent().Blocks {
		if n := len(o.Instrs); n > 0 {
			if _, ok := o.Instrs[n-1].(*ssa.Return); ok && o != b.Parent().Recover && !b.Dominates(o) {
				return false
			}
		}
	}
	return true
}

// places lists places with what holds where they are reached; those that are on no way are left out.
func (r *reach) places(list []spot) (all []Place) {
	for _, p := range list {
		ways := always()
		if p.fn != nil {
			if w, met := r.ways[p.fn]; met {
				ways = w
			}
			if p.at != nil {
				ways = ways.and(r.of(p.fn, p.at))
			}
		}
		for _, when := range ways {
			q := p.Place
			if q.When = when; len(when) == 0 {
				q.When = nil
			}
			q.Maybe = len(when) > 0 || p.fn != nil && !(r.sure[p.fn] && (p.at == nil || returns(p.at)))
			all = append(all, q)
		}
	}
	return all
}
