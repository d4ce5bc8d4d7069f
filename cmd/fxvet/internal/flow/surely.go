package flow

import (
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// Surely reports whether a write is to the memory of an input on all ways that lead to it.
func (f *Func) Surely(w Write) bool {
	_, args := Callee(w.Call)
	return slices.ContainsFunc(args, func(a ssa.Value) bool { return f.Input(f.Of(a)) && f.surely(a, nil, ways{}) })
}

// ways are the values and paths that a search has met: it goes around a loop once.
type ways map[way]bool

type way struct {
	v    ssa.Value
	path string
}

// surely reports whether what lies at a path below a value is memory of an input, however the
// value came about. It is false where that is not known.
func (f *Func) surely(v ssa.Value, path []string, seen ways) bool {
	if _, ok := v.(*ssa.Const); ok {
		return true // nothing, to which nobody writes
	}
	if !f.Input(f.below(v, path).flat()) {
		return false
	}
	at := way{v, strings.Join(path, ".")}
	if seen[at] {
		return true
	}
	seen[at] = true
	switch v := v.(type) {
	case *ssa.Phi:
		return f.allSurely(v.Edges, path, seen)
	case *ssa.Lookup:
		return f.surely(v.X, under("*", path), seen)
	case *ssa.Field:
		return f.surely(v.X, under(field(v.Field), path), seen)
	case *ssa.Index:
		return f.surely(v.X, under(element(v.Index), path), seen)
	case *ssa.Call:
		if b, ok := v.Call.Value.(*ssa.Builtin); ok && b.Name() == "append" && len(path) > 0 {
			return f.allSurely(v.Call.Args, under("*", path[1:]), seen)
		}
		_, args := Callee(v)
		i := slices.IndexFunc(args, func(a ssa.Value) bool { return f.Input(f.Of(a)) })
		return i < 0 || f.surely(args[i], nil, seen)
	}
	base, steps := Base(v)
	path = slices.Concat(steps, path)
	switch base.(type) {
	case *ssa.Phi, *ssa.Call, *ssa.Extract:
		if base != v && !f.surely(base, path, seen) {
			return false
		}
	}
	return f.unreplaced(base, path, seen)
}

func (f *Func) allSurely(vals []ssa.Value, path []string, seen ways) bool {
	return !slices.ContainsFunc(vals, func(v ssa.Value) bool { return !f.surely(v, path, seen) })
}

// below is what is known at a path below a value.
func (f *Func) below(v ssa.Value, path []string) *Tree {
	t := f.tree(v)
	for _, step := range path {
		t = t.at(step, &f.slots)
	}
	return t
}

func under(step string, path []string) []string { return append([]string{step}, path...) }

// unreplaced reports whether nothing but inputs is put at a path below a value.
func (f *Func) unreplaced(base ssa.Value, path []string, seen ways) bool {
	if f.filled[base] {
		return false // by a call, nobody knows with what
	}
	if free, ok := base.(*ssa.FreeVar); ok && !f.unreplacedOutside(free, path, seen) {
		return false
	}
	for _, b := range f.Fn.Blocks {
		for _, in := range b.Instrs {
			to, more, val := put(in)
			if val == nil || !holds(val.Type()) {
				continue
			}
			at, steps := Base(to)
			steps = append(steps, more...)
			if at != base || !overlap(steps, path) {
				continue
			}
			if !f.surely(val, path[min(len(steps), len(path)):], seen) {
				return false
			}
		}
	}
	return true
}

// put returns what an instruction puts somewhere: the address or map, the path from there, the value.
func put(in ssa.Instruction) (to ssa.Value, more []string, val ssa.Value) {
	switch in := in.(type) {
	case *ssa.Store:
		return in.Addr, nil, in.Val
	case *ssa.MapUpdate:
		return in.Map, []string{"*"}, in.Value
	}
	return nil, nil, nil
}

// unreplacedOutside is unreplaced for a variable of the function that a literal stands in.
func (f *Func) unreplacedOutside(free *ssa.FreeVar, path []string, seen ways) bool {
	out := f.r.byCode[f.Fn.Parent()]
	i := slices.Index(f.Fn.FreeVars, free)
	if out == nil || i < 0 {
		return true
	}
	for _, b := range out.Fn.Blocks {
		for _, in := range b.Instrs {
			if m, ok := in.(*ssa.MakeClosure); ok && m.Fn == f.Fn {
				base, steps := Base(m.Bindings[i])
				if !out.unreplaced(base, slices.Concat(steps, path), seen) {
					return false
				}
			}
		}
	}
	return true
}

// overlap reports whether one of two paths may lead to what the other one leads to, or to a part
// of it.
func overlap(a, b []string) bool {
	for i := range min(len(a), len(b)) {
		if !matches(a[i], b[i]) && !matches(b[i], a[i]) {
			return false
		}
	}
	return true
}
