package effects

import (
	"go/types"
	"maps"
	"path/filepath"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// walk follows the calls from a function and adds up the facts.
type walk struct {
	p       *Loaded
	root    *ssa.Function
	guess   bool // follow what memory may hold, too
	seen    map[*ssa.Function]bool
	queue   []*ssa.Function
	matched map[*ssa.Function]bool // called through an interface
	anyhow  map[*ssa.Function]bool // of whose calls the blocks are not known
	again   bool                   // the root is called by what it calls
	all     *facts                 // of all functions that were met
	types   []types.Type           // that memory may hold
	made    map[string]types.Type
	dynamic map[string]types.Type
	bodies  []*ssa.Function
	// captured are the variables of the root, where it is a function literal that a table is of.
	captured []Global
}

// Summary says what a function may do, with all that it may call.
func (p *Loaded) Summary(fn *ssa.Function) *Summary {
	w := p.walk(fn, true)
	for _, v := range fn.Params {
		w.all.whole(v.Type(), Load, v.Pos())
	}
	w.capture()
	return w.summary()
}

func (p *Loaded) walk(fn *ssa.Function, guess bool) *walk {
	w := &walk{p: p, root: fn, guess: guess, seen: map[*ssa.Function]bool{}, matched: map[*ssa.Function]bool{}, anyhow: map[*ssa.Function]bool{},
		made: map[string]types.Type{}, dynamic: map[string]types.Type{}}
	w.all = p.empty(fn)
	if guess {
		w.types = p.world.candidates(fn)
	}
	w.add(fn)
	for len(w.queue) > 0 {
		next := w.queue[0]
		w.queue = w.queue[1:]
		w.merge(p.of(next))
	}
	return w
}

// clean reports whether a function does nothing, by what it certainly calls, that keeps it from
// being replayed. One that memory may hold, and that is not clean, is left to the walk at run
// time, which refuses it when it meets it.
func (p *Loaded) clean(fn *ssa.Function) bool {
	if known, ok := p.cleaned[fn]; ok {
		return known
	}
	w := p.walk(fn, false)
	s := w.summary()
	p.cleaned[fn] = !slices.ContainsFunc(s.Opaque, Place.unconditional) && !slices.ContainsFunc(s.Observes, Place.Sure)
	return p.cleaned[fn]
}

func (w *walk) add(fn *ssa.Function) {
	if !w.seen[fn] {
		w.seen[fn] = true
		w.queue = append(w.queue, fn)
	}
}

// merge adds the facts of one function.
func (w *walk) merge(f *facts) {
	a := w.all
	for k, v := range f.fields {
		a.fields[k] |= v
		keepLine(a.lines, f.lines, k)
		if !f.adds[k] {
			a.adds[k] = false
		} else if _, known := a.adds[k]; !known {
			a.adds[k] = true
		}
		a.given.add(k, f.given[k])
	}
	for k, v := range f.elems {
		a.elems[k] |= v
		if v&(Load|Store) != 0 {
			a.given.add(k, f.given[k])
		}
		keepLine(a.lines, f.lines, k)
	}
	for k, v := range f.globals {
		a.globals[k] |= v
		a.given.add(k, f.given[k])
		keepLine(a.lines, f.lines, k)
	}
	for k, t := range f.kinds {
		a.kinds[k] = t
	}
	a.compares = a.compares || f.compares
	a.same = append(a.same, f.same...)
	a.opaque = append(a.opaque, f.opaque...)
	a.observes = append(a.observes, f.observes...)
	a.inPlace = append(a.inPlace, f.inPlace...)
	a.sizes = append(a.sizes, f.sizes...)
	a.numbered += f.numbered
	a.flows = append(a.flows, f.flows...)
	for _, t := range f.asserted {
		w.dynamic[TypeName(t)] = t
	}
	for _, t := range f.made {
		w.make(t)
	}
	for _, i := range f.invokes {
		w.invoke(i)
	}
	for _, r := range f.runs {
		w.run(r)
	}
	for _, d := range f.dynamic {
		w.call(d)
	}
	for _, c := range f.calls {
		if w.again = w.again || c.fn == w.root; c.at == nil {
			w.anyhow[c.fn] = true
		}
		w.add(c.fn)
	}
}

func keepLine(to, from map[any]string, k any) {
	if _, ok := to[k]; !ok {
		to[k] = from[k]
	}
}

// make enters a type that an interface holds from here on. Calls of methods that were met
// before may be calls of its methods.
func (w *walk) make(t types.Type) {
	k := TypeName(t)
	if w.made[k] != nil {
		return
	}
	w.made[k], w.dynamic[k] = t, t
	for _, i := range w.all.invokes {
		w.certain(i, t)
	}
	for _, r := range w.all.runs {
		w.certainRun(r, t)
	}
}

// invoke enters a call of an interface's method: of the types that this code makes to interfaces
// for certain, of those that all code does where their methods are clean.
func (w *walk) invoke(i invoke) {
	// An error of the standard library says what it was made with.
	if n, ok := types.Unalias(i.iface).(*types.Named); ok && n.Obj().Pkg() != nil && w.p.isStandard(n.Obj().Pkg().Path()) {
		i.from.Place = Place{Line: i.line, What: "a call of " + TypeName(i.iface) + "." + i.method.Name(), Why: "an interface of the standard library may hold anything"}
		w.all.opaque = append(w.all.opaque, i.from)
		return
	}
	w.all.invokes = append(w.all.invokes, i)
	for _, k := range slices.Sorted(maps.Keys(w.made)) {
		w.certain(i, w.made[k])
	}
	for _, t := range w.types {
		if types.Implements(t, i.iface.Underlying().(*types.Interface)) {
			w.possible(t, w.p.method(t, i.method.Name(), i.method.Pkg()))
		}
	}
}

func (w *walk) certain(i invoke, t types.Type) {
	if !types.Implements(t, i.iface.Underlying().(*types.Interface)) {
		return
	}
	w.held(t, w.p.method(t, i.method.Name(), i.method.Pkg()), i.line)
}

// held enters a call of a method of a type that an interface holds.
func (w *walk) held(t types.Type, fn *ssa.Function, line string) {
	if fn == nil {
		w.all.opaque = append(w.all.opaque, spot{Place: Place{Line: line, What: "a method of " + TypeName(t), Why: "its code is not loaded"}})
		return
	}
	own := w.p.empty(fn)
	own.whole(t, Load, fn.Pos()) // a value's own receiver
	own.callee(fn, nil, fn.Pos())
	w.merge(own)
}

// possible enters a call of a method of a type that memory may hold.
func (w *walk) possible(t types.Type, fn *ssa.Function) {
	if fn == nil || w.p.trusted[pathOf(fn)] || w.p.outside(fn) || !w.p.clean(fn) {
		return
	}
	w.dynamic[TypeName(t)] = t
	w.held(t, fn, "")
}

// run enters a call of nn.Run with a module that an interface holds.
func (w *walk) run(r run) {
	w.all.runs = append(w.all.runs, r)
	for _, k := range slices.Sorted(maps.Keys(w.made)) {
		w.certainRun(r, w.made[k])
	}
	for _, t := range w.types {
		if types.Implements(t, r.iface.Underlying().(*types.Interface)) {
			if fn := w.p.method(t, "Forward", nil); fn != nil && w.p.clean(fn) {
				w.dynamic[TypeName(t)] = t
				w.forward(t, fn)
			}
		}
	}
}

func (w *walk) certainRun(r run, t types.Type) {
	if types.Implements(t, r.iface.Underlying().(*types.Interface)) {
		if fn := w.p.method(t, "Forward", nil); fn != nil {
			w.forward(t, fn)
		}
	}
}

func (w *walk) forward(t types.Type, fn *ssa.Function) {
	own := w.p.empty(fn)
	own.whole(t, Load, fn.Pos())
	own.forward(t)
	own.made = nil // that memory holds such a type does not say that code here makes one
	w.merge(own)
}

// call enters a call of a function value. Functions that this code makes to values are calls
// already; those that memory may hold are where they give the same at each call and are clean.
func (w *walk) call(d dynamic) {
	if !w.guess {
		return
	}
	for _, fn := range w.p.world.values {
		if slices.Contains(w.bodies, fn) || !types.Identical(withoutReceiver(fn.Signature), withoutReceiver(d.sig)) || !w.p.world.settled(fn) {
			continue
		}
		own := w.p.empty(fn)
		own.callee(fn, nil, fn.Pos())
		if len(own.opaque)+len(own.observes) > 0 || slices.ContainsFunc(own.calls, func(c called) bool { return !w.p.clean(c.fn) }) {
			continue
		}
		w.bodies = append(w.bodies, fn)
		w.merge(own)
	}
}

func withoutReceiver(s *types.Signature) *types.Signature {
	return types.NewSignatureType(nil, nil, nil, s.Params(), s.Results(), s.Variadic())
}

func (w *walk) body(fn *ssa.Function) Body {
	at := w.p.ssa.Fset.Position(fn.Pos())
	path := pathOf(fn)
	if q := w.p.sources[path]; q != nil && q.Name == "main" {
		path = "main"
	}
	return Body{path, filepath.Base(at.Filename), at.Line}
}
