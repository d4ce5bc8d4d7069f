package effects

import (
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// loops lists the loops that roll, and those that do not.
func (w *walk) loops(s *Summary) {
	fields, sizes, params := map[fieldKey]int{}, map[ssa.Value]bool{}, map[ssa.Value]bool{}
	uses := map[fieldKey]int{}
	for fn := range w.seen {
		f := w.p.of(fn)
		for k, n := range f.uses {
			if k, ok := k.(fieldKey); ok {
				uses[k] += n
			}
		}
		for v := range f.rolling() {
			switch v := v.(type) {
			case *ssa.UnOp:
				at := v.X.(*ssa.FieldAddr)
				if k := keyOf(pointee(at.X.Type()), at.Field); !f.fresh(at) {
					fields[k]++
				}
			case *ssa.Parameter:
				params[v] = w.rooted(v)
			case *ssa.Call:
				sizes[v] = w.given(v.Call.Args[0], map[ssa.Value]bool{})
			}
		}
	}
	counted := func(k fieldKey) bool {
		return fields[k] > 0 && fields[k] == uses[k] && w.all.fields[k] == Load && w.all.uses[k] == 0
	}
	for k := range fields {
		if counted(k) {
			s.Counts = append(s.Counts, Number{Type: k.owner, Name: k.name, Param: -1, Exprs: []Expr{nil}})
		}
	}
	for i, v := range w.root.Params {
		if params[v] {
			s.Counts = append(s.Counts, Number{Name: v.Name(), Param: i, Exprs: []Expr{nil}})
		}
	}
	known := 0
	for _, ok := range sizes {
		if ok {
			known++
		}
	}
	s.Counted = known == w.all.numbered
	for fn := range w.seen {
		f := w.p.of(fn)
		for _, l := range f.looped {
			if why := l.why; why.What != "" {
				if l.tensors() {
					s.Unrolled = append(s.Unrolled, why)
				}
				continue
			}
			ok, what := false, "the count is an argument of another function, or a size of a tensor that the code has made"
			switch v := l.count.(type) {
			case *ssa.UnOp:
				at := v.X.(*ssa.FieldAddr)
				ok, what = counted(keyOf(pointee(at.X.Type()), at.Field)), "other code depends on it, too"
			case *ssa.Parameter:
				ok = params[v]
			case *ssa.Call:
				if ok = sizes[v]; ok && !s.Counted {
					ok, what = false, "other code looks at sizes, too"
				}
			}
			if ok {
				s.Loops = append(s.Loops, l.Loop)
			} else {
				s.Unrolled = append(s.Unrolled, Place{Line: f.line(l.count.Pos()), What: "a count of rounds", Why: what})
			}
		}
	}
}

// rolling lists the counts of the loops that roll, as far as the function goes.
func (f *facts) rolling() map[ssa.Value]*loop {
	all := map[ssa.Value]*loop{}
	for _, l := range f.looped {
		if l.why.What == "" {
			all[l.count] = l
		}
	}
	return all
}

// tensors reports whether a loop calls anything.
func (l *loop) tensors() bool {
	for b := range l.blocks {
		for _, i := range b.Instrs {
			if c, ok := i.(*ssa.Call); ok {
				if _, builtin := c.Call.Value.(*ssa.Builtin); !builtin {
					return true
				}
			}
		}
	}
	return false
}

// rooted reports whether a parameter is one of the root, to which no other code gives it.
func (w *walk) rooted(v *ssa.Parameter) bool {
	return v.Parent() == w.root && !w.again && !w.anyhow[w.root]
}

// given reports whether a tensor is one that was there when the root was called.
func (w *walk) given(v ssa.Value, seen map[ssa.Value]bool) bool {
	if seen[v] {
		return true
	}
	seen[v] = true
	switch v := v.(type) {
	case *ssa.Parameter:
		return w.rooted(v) || w.handed(v, seen)
	case *ssa.UnOp:
		at, ok := v.X.(*ssa.FieldAddr)
		return ok && v.Op == token.MUL && !w.p.of(v.Parent()).fresh(at) && w.all.fields[keyOf(pointee(at.X.Type()), at.Field)] == Load
	}
	return false
}

// handed reports whether all that a parameter is given was there before.
func (w *walk) handed(v *ssa.Parameter, seen map[ssa.Value]bool) bool {
	fn := v.Parent()
	if fn == w.root || w.anyhow[fn] || fn.Parent() != nil {
		return false
	}
	at, found := slices.Index(fn.Params, v), false
	for from := range w.seen {
		for _, b := range from.Blocks {
			for _, i := range b.Instrs {
				if valued(i, fn) {
					return false
				}
				c, ok := i.(ssa.CallInstruction)
				if !ok || c.Common().StaticCallee() != fn {
					continue
				}
				if found = true; !w.given(c.Common().Args[at], seen) {
					return false
				}
			}
		}
	}
	return found
}

// valued reports whether an instruction makes a value of a function, or may have package nn call it.
func valued(i ssa.Instruction, fn *ssa.Function) bool {
	if c, ok := i.(ssa.CallInstruction); ok && fn.Name() == "Forward" {
		if runs := c.Common().StaticCallee(); runs != nil && pathOf(runs) == nnPath && (runs.Name() == "Run" || runs.Name() == "RunAll") {
			return true
		}
	}
	plain := own(i)
	var rands [8]*ssa.Value
	for _, r := range i.Operands(rands[:0]) {
		if r != plain && *r == ssa.Value(fn) {
			return true
		}
	}
	return false
}
