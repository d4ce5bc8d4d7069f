package effects

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// access enters a load or store of all that an address points to.
func (f *facts) access(addr ssa.Value, a Access, pos token.Pos) {
	if f.fresh(addr) || f.record(addr) {
		return
	}
	f.place(addr, a, pos)
	f.whole(pointee(addr.Type()), a, pos)
}

// record reports whether an address is of a global of the trusted rooms: a record of an
// operator, or a constant that Go cannot declare as one.
func (f *facts) record(addr ssa.Value) bool {
	g, ok := addr.(*ssa.Global)
	return ok && f.p.trusted[g.Pkg.Pkg.Path()]
}

// place is access without the parts of a struct or array.
func (f *facts) place(addr ssa.Value, a Access, pos token.Pos) {
	switch v := addr.(type) {
	case *ssa.FieldAddr:
		f.field(pointee(v.X.Type()), v.Field, a, pos)
	case *ssa.IndexAddr:
		f.elem(indexed(v), a, pos)
	case *ssa.Global:
		f.global(v, a, pos)
	default:
		f.elem(addr.Type(), a, pos)
	}
}

// indexed is the slice or array type whose element an address is of.
func indexed(v *ssa.IndexAddr) types.Type {
	if p, ok := v.X.Type().Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return v.X.Type()
}

func pointee(t types.Type) types.Type { return t.Underlying().(*types.Pointer).Elem() }

// captures reports whether the free variables of the function are addresses of captured
// variables. Those of the other functions, which the compiler makes of methods, are values.
func (f *facts) captures() bool { return f.fn.Parent() != nil }

// fresh reports whether an address is in memory that this function, or the one that it is
// written in, has made in this call.
func (f *facts) fresh(addr ssa.Value) bool {
	switch v := addr.(type) {
	case *ssa.Alloc:
		return true
	case *ssa.FreeVar:
		return f.captures()
	case *ssa.Parameter: // the frame of a compiled function
		return f.p.world.compiled.frames(f.fn)
	case *ssa.FieldAddr:
		return f.fresh(v.X)
	case *ssa.IndexAddr:
		if s, ok := v.X.(*ssa.Slice); ok { // the list of variadic arguments
			return f.fresh(s.X)
		}
		if _, ok := v.X.(*ssa.MakeSlice); ok {
			return true
		}
		_, ok := v.X.Type().Underlying().(*types.Pointer)
		return ok && f.fresh(v.X)
	}
	return false
}

// through enters the elements and globals that an address passes: the way to what it points to.
func (f *facts) through(addr ssa.Value, pos token.Pos) {
	for !f.fresh(addr) {
		switch v := addr.(type) {
		case *ssa.FieldAddr: // a field that is passed on the way needs no entry
			addr = v.X
		case *ssa.IndexAddr:
			a := Len // the bound
			if !flat(f.under(addr)) {
				a |= Load
			}
			f.elem(indexed(v), a, pos)
			if _, ok := v.X.Type().Underlying().(*types.Pointer); !ok {
				return
			}
			addr = v.X
		case *ssa.Global:
			f.global(v, Load, pos)
			return
		default:
			if _, ok := f.under(addr).(*types.Array); ok {
				f.elem(addr.Type(), Load, pos)
			}
			return
		}
	}
}

// under is the underlying type of what an address points to.
func (f *facts) under(addr ssa.Value) types.Type { return pointee(addr.Type()).Underlying() }

// flat reports whether a type has no fields or elements within it.
func flat(t types.Type) bool {
	switch t.(type) {
	case *types.Struct, *types.Array:
		return false
	}
	return true
}

// address looks at what becomes of the address of a field or element. Loads and stores through
// it have entries of their own; anywhere else it goes, it may be loaded and stored as a pointer
// to its type, of which nobody knows what it points into.
func (f *facts) address(addr ssa.Value, pos token.Pos) {
	for _, r := range *addr.Referrers() {
		switch r := r.(type) {
		case *ssa.UnOp, *ssa.FieldAddr, *ssa.IndexAddr, *ssa.DebugRef, *ssa.Slice:
		case *ssa.Store:
			if r.Val == addr {
				f.away(addr, pos)
			}
		default:
			f.away(addr, pos)
		}
	}
}

// away enters an address that leaves this function.
func (f *facts) away(addr ssa.Value, pos token.Pos) {
	switch _, isStruct := f.under(addr).(*types.Struct); {
	case f.fresh(addr):
	case isStruct: // whose fields' own entries say what is done with it
		if _, field := addr.(*ssa.FieldAddr); !field {
			f.place(addr, Load, pos)
		}
	default:
		f.access(addr, Load|Store, pos)
	}
}

// field enters an access of field i of a struct type.
func (f *facts) field(t types.Type, i int, a Access, pos token.Pos) {
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return // of a type parameter, which no instance has
	}
	if sealed(t) || empty(s.Field(i).Type()) {
		return
	}
	k := keyOf(t, i)
	f.fields[k] |= a
	f.uses[k]++
	f.first(k, pos)
	f.name(t)
	f.name(s.Field(i).Type())
}

// empty reports whether a type has no memory, as the arrays that keep structs from being compared.
func empty(t types.Type) bool {
	a, ok := t.Underlying().(*types.Array)
	return ok && a.Len() == 0
}

func keyOf(t types.Type, i int) fieldKey {
	v := t.Underlying().(*types.Struct).Field(i)
	return fieldKey{TypeName(t), i, v.Name(), TypeName(v.Type())}
}

// additions finds the integer fields that the function only adds to. Nothing but the sum depends
// on the number that was there, so that number needs no guard.
func (f *facts) additions() {
	found := map[fieldKey]int{}
	for _, b := range f.fn.Blocks {
		if f.skip[b] {
			continue
		}
		for _, i := range b.Instrs {
			if load, ok := i.(*ssa.UnOp); ok {
				if at, ok := load.X.(*ssa.FieldAddr); ok && !f.fresh(at) && adds(load, at) {
					found[keyOf(pointee(at.X.Type()), at.Field)] += 2 // a load and a store
				}
			}
		}
	}
	for k, n := range found {
		f.adds[k] = n == f.uses[k]
	}
}

// adds reports whether a field is loaded only for x += e.
func adds(load *ssa.UnOp, at *ssa.FieldAddr) bool {
	basic, ok := load.Type().Underlying().(*types.Basic)
	if !ok || basic.Info()&types.IsInteger == 0 || len(*load.Referrers()) != 1 {
		return false
	}
	sum, ok := (*load.Referrers())[0].(*ssa.BinOp)
	if !ok || sum.X != ssa.Value(load) || sum.Op != token.ADD && sum.Op != token.SUB || len(*sum.Referrers()) != 1 {
		return false
	}
	store, ok := (*sum.Referrers())[0].(*ssa.Store)
	if !ok {
		return false
	}
	to, ok := store.Addr.(*ssa.FieldAddr)
	return ok && to.X == at.X && to.Field == at.Field
}

// elem enters an access of the elements of a slice, array, map or pointer type.
func (f *facts) elem(t types.Type, a Access, pos token.Pos) {
	f.name(t)
	k := TypeName(t)
	f.elems[k] |= a
	if a&(Load|Store) != 0 {
		f.uses[k]++
	}
	f.first(k, pos)
}

func (f *facts) global(g *ssa.Global, a Access, pos token.Pos) {
	f.globals[g] |= a
	f.uses[g]++
	f.first(g, pos)
	f.name(pointee(g.Type()))
}

// first keeps the line of the first access.
func (f *facts) first(k any, pos token.Pos) {
	if _, ok := f.lines[k]; !ok {
		f.lines[k] = f.line(pos)
	}
}

// name keeps a type that a table may have to name. A type within a function has no name of its
// own at run time.
func (f *facts) name(t types.Type) {
	k := TypeName(t)
	if _, ok := f.kinds[k]; ok {
		return
	}
	f.kinds[k] = t
	if s := local(t); s != "" {
		f.opaque = append(f.opaque, spot{Place: Place{Line: f.line(f.fn.Pos()), What: "the type " + s, Why: "it is declared in a function, and another type may have its name at run time; declare it at top level"}})
	}
}

// whole enters an access of all that lies within a value of a type.
func (f *facts) whole(t types.Type, a Access, pos token.Pos) {
	if sealed(t) || empty(t) {
		return
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for i := range u.NumFields() {
			f.field(t, i, a, pos)
			f.whole(u.Field(i).Type(), a, pos)
		}
	case *types.Array:
		f.elem(t, a, pos)
		f.whole(u.Elem(), a, pos)
	case *types.Tuple:
		for i := range u.Len() {
			f.whole(u.At(i).Type(), a, pos)
		}
	}
}

// reach enters loads of all that a value leads to, of which only the type is known: what a callee
// may read. The value itself, with the structs and arrays in it, was loaded before. A tensor is
// the affair of whoever guards tensors.
func (f *facts) reach(t types.Type, a Access, pos token.Pos) {
	f.reaching(t, a, false, pos, map[string]bool{})
}

// reaching is reach for a part of a value, in memory or in the value itself.
func (f *facts) reaching(t types.Type, a Access, inMemory bool, pos token.Pos, seen map[string]bool) {
	if k := TypeName(t); seen[k] || sealed(t) || empty(t) {
		return
	} else if inMemory {
		seen[k] = true
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		if sealed(u.Elem()) || fixed(u.Elem()) {
			return
		}
		f.elem(t, a, pos)
		f.reaching(u.Elem(), a, true, pos, seen)
	case *types.Slice:
		f.elem(t, a|Len, pos)
		f.reaching(u.Elem(), a, true, pos, seen)
	case *types.Array:
		if inMemory {
			f.elem(t, a, pos)
		}
		f.reaching(u.Elem(), a, inMemory, pos, seen)
	case *types.Map:
		f.elem(t, a|Len, pos)
		f.reaching(u.Key(), a, true, pos, seen)
		f.reaching(u.Elem(), a, true, pos, seen)
	case *types.Struct:
		if fixed(t) {
			if inMemory {
				f.whole(t, a, pos)
			}
			return
		}
		for i := range u.NumFields() {
			if inMemory {
				f.field(t, i, a, pos)
			}
			f.reaching(u.Field(i).Type(), a, inMemory, pos, seen)
		}
	case *types.Tuple:
		for i := range u.Len() {
			f.reaching(u.At(i).Type(), a, inMemory, pos, seen)
		}
	}
}
