package effects

import (
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// summary makes the result of a walk.
func (w *walk) summary() *Summary {
	s := &Summary{Func: w.root.String(), Globals: slices.Clone(w.captured)}
	if w.root.Parent() != nil {
		s.Func = w.root.Parent().String()
	}
	a := w.all
	for g, acc := range a.globals {
		w.global(s, g, acc)
	}
	if a.compares {
		for _, t := range w.dynamic {
			a.whole(t, Load, w.root.Pos())
		}
	}
	w.sameMemory()
	for k, acc := range a.fields {
		if acc == 0 {
			continue
		}
		if a.adds[k] && a.uses[k] == 0 {
			acc |= Adds
		}
		s.Fields = append(s.Fields, Field{k.owner, k.name, k.typ, acc, a.lines[k]})
	}
	for k, acc := range a.elems {
		s.Elems = append(s.Elems, Elem{k, acc, a.lines[k]})
	}
	for k := range w.dynamic {
		s.Dynamic = append(s.Dynamic, k)
	}
	for _, fn := range w.bodies {
		s.Bodies = append(s.Bodies, w.body(fn))
	}
	for _, t := range a.kinds {
		if m, ok := t.Underlying().(*types.Map); ok {
			s.Maps = append(s.Maps, m)
		}
	}
	r := w.reaches(s.Globals)
	opaque, tells := r.tells(a.opaque)
	s.Tells = tells
	s.Opaque = append(s.Opaque, r.places(opaque)...)
	s.Observes, s.InPlace, s.Sizes = r.places(a.observes), a.inPlace, append(a.sizes, w.keepsSizes()...)
	s.Regions, s.Flows = w.flows()
	if !s.Regions {
		for _, l := range a.flows {
			s.Sizes = append(s.Sizes, Place{Line: l.line, What: "a call of " + l.what, Why: "its functions run as Go code, which looks at sizes"})
		}
	}
	s.Numbers = w.numbers(s.Globals)
	w.loops(s)
	w.asked(s)
	s.Packages = w.packages()
	s.Types = maps.Clone(a.kinds)
	maps.Copy(s.Types, w.dynamic)
	s.sort()
	return s
}

// packages lists those whose code was looked at, and those that declare the types in it.
func (w *walk) packages() (list []string) {
	paths := map[string]bool{}
	add := func(path string) {
		if path != "" && !paths[path] && w.p.sources[path] != nil {
			paths[path] = true
			list = append(list, path)
		}
	}
	for fn := range w.seen {
		add(pathOf(fn))
	}
	for _, all := range []map[string]types.Type{w.all.kinds, w.dynamic} {
		for _, t := range all {
			if p, ok := t.(*types.Pointer); ok {
				t = p.Elem()
			}
			if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Pkg() != nil {
				add(n.Obj().Pkg().Path())
			}
		}
	}
	return list
}

// global enters a global that code uses: one that a file of the function's package can name. One of
// another package that never changes needs no entry; those of this one have entries, for its tests may
// assign them, and they are not read here.
func (w *walk) global(s *Summary, g *ssa.Global, acc Access) {
	path := g.Pkg.Pkg.Path()
	name, line := path+"."+g.Name(), w.all.lines[g]
	v, _ := g.Object().(*types.Var)
	switch {
	case path != w.p.Package.PkgPath && w.p.world.constant(g):
	case v == nil || path != w.p.Package.PkgPath && (!v.Exported() || Internal(path, w.p.Package.PkgPath)):
		s.Opaque = append(s.Opaque, Place{Line: line, What: "the variable " + name, Why: "generated code in package " + w.p.Package.Name + " cannot name it"})
	default:
		s.Globals = append(s.Globals, Global{name, TypeName(v.Type()), acc, line, v, false})
	}
}

// Internal reports whether a package must not import another one.
func Internal(path, from string) bool {
	i := strings.LastIndex("/"+path+"/", "/internal/")
	if i < 0 {
		return false
	}
	parent := strings.TrimSuffix(path[:max(i-1, 0)], "/")
	return from != parent && !strings.HasPrefix(from, parent+"/")
}

// sameMemory gives all types of one underlying type the accesses of each: a conversion makes one
// of the other without a copy, and a walk meets the memory under either name.
func (w *walk) sameMemory() {
	a := w.all
	list := map[string]Access{}
	line := map[string]string{}
	under := func(t types.Type) string {
		switch u := t.Underlying().(type) {
		case *types.Slice, *types.Map, *types.Array:
			return TypeName(u)
		}
		return ""
	}
	for k, acc := range a.elems {
		if u := under(a.kinds[k]); u != "" {
			list[u] |= acc
			if line[u] == "" || a.lines[k] < line[u] {
				line[u] = a.lines[k]
			}
		}
	}
	for k, t := range a.kinds {
		if u := under(t); u != "" && list[u] != 0 {
			a.elems[k] |= list[u]
			if a.lines[k] == "" {
				a.lines[k] = line[u]
			}
		}
	}
}
