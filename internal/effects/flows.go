package effects

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A record has a call of Cond, While or Scan with the calls that its functions make when they are run once. That is the call for all rounds,
// and for both ways, where the functions store nothing that was there before, and no code asks which tensors are one: then
// what they do depends on memory that does not change meanwhile. Writes to tensors are the session's affair.

// staged is such a call.
type staged struct {
	what string // it is
	line string
	fns  []*ssa.Function
	any  []ssa.Value // functions that are not made where they are given
	none bool        // nothing is known of them
}

const flowing = "Cond While WhileAtMost Scan"

func isFlow(fn *ssa.Function) bool {
	return pathOf(fn) == tensorPath && slices.Contains(strings.Fields(flowing), key(fn))
}

// flow enters a call of control flow; i is nil where the function is made to a value.
func (f *facts) flow(fn *ssa.Function, i ssa.CallInstruction, pos token.Pos) {
	l := &staged{what: shortName(fn), line: f.line(pos), none: i == nil}
	f.flows = append(f.flows, l)
	if i == nil {
		return
	}
	for _, v := range i.Common().Args {
		if _, ok := v.Type().Underlying().(*types.Signature); ok {
			l.any = append(l.any, v)
		}
	}
}

// flows says whether a record may have the control flow of the walk, and where not, why.
func (w *walk) flows() (may bool, why []Place) {
	list := w.all.flows
	roots := map[*ssa.Function]bool{} // whose captured variables were there before
	for _, l := range list {
		for _, v := range l.any {
			found, ok := w.functions(v, map[ssa.Value]bool{})
			if !ok {
				sig := v.Type().Underlying().(*types.Signature)
				found = w.alike(func(fn *ssa.Function) bool {
					return types.Identical(withoutReceiver(fn.Signature), withoutReceiver(sig))
				})
			}
			l.none = l.none || len(found) == 0
			l.fns = append(l.fns, found...)
		}
		for _, fn := range l.fns {
			roots[fn] = true
		}
	}
	for _, l := range list {
		if l.none {
			why = append(why, Place{Line: l.line, What: "a call of " + l.what, Why: "the functions that it is given are not known"})
			continue
		}
		s := &still{w: w, roots: roots, in: map[*ssa.Function]bool{}}
		for _, fn := range l.fns {
			s.add(fn)
		}
		for len(s.queue) > 0 {
			fn := s.queue[0]
			s.queue = s.queue[1:]
			s.function(fn)
		}
		for _, p := range s.why {
			p.What += " in a function of " + l.what
			why = append(why, p)
		}
	}
	if len(list) > 0 {
		why = append(why, w.identities()...)
	}
	return len(list) > 0 && len(why) == 0, why
}

// functions lists the functions that a value may be; ok is false where other code may have made it.
func (w *walk) functions(v ssa.Value, seen map[ssa.Value]bool) (list []*ssa.Function, ok bool) {
	if seen[v] {
		return nil, true
	}
	seen[v] = true
	switch v := v.(type) {
	case *ssa.ChangeType:
		return w.functions(v.X, seen)
	case *ssa.MakeClosure:
		return []*ssa.Function{v.Fn.(*ssa.Function)}, true
	case *ssa.Function:
		return []*ssa.Function{v}, true
	case *ssa.Phi:
		for _, e := range v.Edges {
			more, ok := w.functions(e, seen)
			if !ok {
				return nil, false
			}
			list = append(list, more...)
		}
		return list, true
	case *ssa.Parameter:
		return w.arguments(v, seen)
	}
	return nil, false
}

// arguments lists the functions that a parameter may be, by the calls of its function.
func (w *walk) arguments(v *ssa.Parameter, seen map[ssa.Value]bool) (list []*ssa.Function, ok bool) {
	fn := v.Parent()
	if fn == w.root || w.anyhow[fn] || fn.Parent() != nil {
		return nil, false
	}
	at := slices.Index(fn.Params, v)
	for from := range w.seen {
		for _, b := range from.Blocks {
			for _, i := range b.Instrs {
				if valued(i, fn) {
					return nil, false
				}
				c, call := i.(ssa.CallInstruction)
				if !call || c.Common().StaticCallee() != fn {
					continue
				}
				more, ok := w.functions(c.Common().Args[at], seen)
				if !ok {
					return nil, false
				}
				list = append(list, more...)
			}
		}
	}
	return list, true
}

// alike lists the functions of the walk of which is says so.
func (w *walk) alike(is func(*ssa.Function) bool) (list []*ssa.Function) {
	for fn := range w.seen {
		if is(fn) {
			list = append(list, fn)
		}
	}
	slices.SortFunc(list, func(a, b *ssa.Function) int { return strings.Compare(a.String(), b.String()) })
	return list
}

// still finds what functions, and all that they may call, store outside of themselves.
type still struct {
	w     *walk
	roots map[*ssa.Function]bool
	in    map[*ssa.Function]bool
	queue []*ssa.Function
	why   []Place
}

func (s *still) add(fn *ssa.Function) {
	if !s.in[fn] && s.w.seen[fn] {
		s.in[fn] = true
		s.queue = append(s.queue, fn)
	}
}

// function looks at one function.
func (s *still) function(fn *ssa.Function) {
	f := s.w.p.of(fn)
	for _, c := range f.calls {
		s.add(c.fn)
	}
	for _, i := range f.invokes {
		s.all(func(o *ssa.Function) bool { return o.Signature.Recv() != nil && o.Name() == i.method.Name() })
	}
	if len(f.runs) > 0 {
		s.all(func(o *ssa.Function) bool { return o.Signature.Recv() != nil && o.Name() == "Forward" })
	}
	for _, d := range f.dynamic {
		s.all(func(o *ssa.Function) bool {
			return types.Identical(withoutReceiver(o.Signature), withoutReceiver(d.sig))
		})
	}
	for _, b := range fn.Blocks {
		if f.skip[b] || b == fn.Recover {
			continue
		}
		for _, i := range b.Instrs {
			if what, why := s.moves(i); what != "" {
				s.why = append(s.why, Place{Line: f.line(i.Pos()), What: what, Why: why})
			}
		}
	}
}

func (s *still) all(is func(*ssa.Function) bool) {
	for _, fn := range s.w.alike(is) {
		s.add(fn)
	}
}

const runsOnce = "the function runs once where its call is recorded, and once in each round elsewhere"

// moves says what an instruction does that depends on how often its function runs, "" for nothing.
func (s *still) moves(i ssa.Instruction) (what, why string) {
	switch i := i.(type) {
	case *ssa.Store:
		if !s.own(i.Addr, nil) {
			return "a store", runsOnce + "; return the value, or make a new list of tensors"
		}
	case *ssa.MapUpdate:
		if !s.own(i.Map, nil) {
			return "a store in a map", runsOnce
		}
	case ssa.CallInstruction:
		return s.call(i.Common())
	}
	return "", ""
}

func (s *still) call(c *ssa.CallCommon) (what, why string) {
	if b, ok := c.Value.(*ssa.Builtin); ok {
		switch b.Name() {
		case "append", "copy", "delete", "clear":
			if !s.own(c.Args[0], nil) {
				return "a call of " + b.Name(), runsOnce + "; make a new list"
			}
		}
		return "", ""
	}
	fn := c.StaticCallee()
	if fn == nil || !s.w.p.outside(fn) || !standard(fn).writes {
		return "", ""
	}
	if len(c.Args) == 0 || !s.own(c.Args[0], nil) {
		return "a call of " + shortName(fn), runsOnce
	}
	return "", ""
}

// own reports whether memory was made by the functions themselves.
func (s *still) own(v ssa.Value, seen map[ssa.Value]bool) bool {
	if seen[v] {
		return true
	}
	switch v := v.(type) {
	case *ssa.Alloc, *ssa.MakeSlice, *ssa.MakeMap:
		return true
	case *ssa.Const:
		return v.IsNil()
	case *ssa.FieldAddr:
		return s.own(v.X, seen)
	case *ssa.IndexAddr:
		return s.own(v.X, seen)
	case *ssa.Slice:
		return s.own(v.X, seen)
	case *ssa.ChangeType:
		return s.own(v.X, seen)
	case *ssa.Call:
		return s.returned(v, 0, seen)
	case *ssa.Extract:
		c, ok := v.Tuple.(*ssa.Call)
		return ok && s.returned(c, v.Index, seen)
	case *ssa.UnOp:
		return v.Op == token.MUL && s.holds(v.X, with(seen, v))
	case *ssa.FreeVar:
		return s.captured(v, seen)
	case *ssa.Parameter: // the frame of a compiled function
		return s.w.p.world.compiled.frames(v.Parent())
	case *ssa.Phi:
		more := with(seen, v)
		return !slices.ContainsFunc(v.Edges, func(e ssa.Value) bool { return !s.own(e, more) })
	}
	return false
}

func with(seen map[ssa.Value]bool, v ssa.Value) map[ssa.Value]bool {
	more := map[ssa.Value]bool{v: true}
	for k := range seen {
		more[k] = true
	}
	return more
}

// returned reports whether memory that a call returns was made by it, or by the functions before.
func (s *still) returned(c *ssa.Call, at int, seen map[ssa.Value]bool) bool {
	if b, ok := c.Call.Value.(*ssa.Builtin); ok {
		return b.Name() == "append" && s.own(c.Call.Args[0], seen)
	}
	fn := c.Call.StaticCallee()
	switch {
	case fn == nil:
		return false
	case len(fn.Blocks) == 0: // lists of operators are new ones
		return pathOf(fn) == tensorPath && !isFlow(fn) && treatment(fn) == operates
	}
	more := with(seen, c)
	for _, b := range fn.Blocks {
		r, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if ok && !s.w.p.of(fn).skip[b] && !s.own(r.Results[at], more) {
			return false
		}
	}
	return true
}

// holds reports whether all that is stored at an address, or in the list that it lies in, is memory that was made by the functions: the
// list goes nowhere else.
func (s *still) holds(addr ssa.Value, seen map[ssa.Value]bool) bool {
	base := addr
	if at, ok := addr.(*ssa.IndexAddr); ok {
		base = at.X
	}
	var places []ssa.Value
	switch base.(type) {
	case *ssa.MakeSlice:
		for _, r := range *base.Referrers() {
			switch r := r.(type) {
			case *ssa.IndexAddr:
				places = append(places, r)
			case *ssa.DebugRef:
			case *ssa.Call:
				if b, ok := r.Call.Value.(*ssa.Builtin); !ok || b.Name() != "len" {
					return false
				}
			default:
				return false
			}
		}
	case *ssa.Alloc:
		if base != addr {
			return false
		}
		places = append(places, base)
	default:
		return false
	}
	for _, p := range places {
		for _, r := range *p.Referrers() {
			switch r := r.(type) {
			case *ssa.Store:
				if r.Addr != p || !s.own(r.Val, seen) {
					return false
				}
			case *ssa.UnOp, *ssa.DebugRef:
			default:
				return false
			}
		}
	}
	return true
}

// captured reports whether a captured variable is one of the functions themselves.
func (s *still) captured(v *ssa.FreeVar, seen map[ssa.Value]bool) bool {
	fn := v.Parent()
	if fn.Parent() == nil || s.roots[fn] || !s.in[fn.Parent()] {
		return false
	}
	at, found := slices.Index(fn.FreeVars, v), false
	for _, b := range fn.Parent().Blocks {
		for _, i := range b.Instrs {
			if c, ok := i.(*ssa.MakeClosure); ok && c.Fn == ssa.Value(fn) {
				if found = true; !s.own(c.Bindings[at], seen) {
					return false
				}
			}
		}
	}
	return found
}

// Cond, While and Scan may return the very tensors that they are given, and do so in some calls and not in others: an empty loop does. A record has
// one tensor for all calls. So a record cannot have the control flow of code that asks which tensors are one.

// compared is a comparison of values of a type.
type compared struct {
	typ  types.Type
	line string
}

// compare enters a comparison of values of a type: where interfaces are in it, of what those hold.
func (f *facts) compare(t types.Type, pos token.Pos) {
	interfaces, tensors := identifies(t)
	f.compares = f.compares || interfaces
	if (interfaces || tensors) && pathOf(f.fn) != nnPath { // attention computes the same in one product where its operands are one
		f.same = append(f.same, compared{t, f.line(pos)})
	}
}

// identifies reports whether a comparison of values of a type compares interfaces, and tensors.
func identifies(t types.Type) (interfaces, tensors bool) {
	add := func(t types.Type) {
		i, x := identifies(t)
		interfaces, tensors = interfaces || i, tensors || x
	}
	switch u := t.Underlying().(type) {
	case *types.Interface:
		interfaces = true
	case *types.Pointer:
		tensors = isTensor(t)
	case *types.Array:
		add(u.Elem())
	case *types.Struct:
		for i := range u.NumFields() {
			add(u.Field(i).Type())
		}
	}
	return interfaces, tensors
}

// identities lists the comparisons that may tell which tensors are one.
func (w *walk) identities() (list []Place) {
	for _, c := range w.all.same {
		if w.tells(c.typ, map[string]bool{}) {
			list = append(list, Place{Line: c.line, What: "a comparison of " + TypeName(c.typ), Why: "what control flow returns may be one of the tensors that it is given"})
		}
	}
	return list
}

// tells reports whether values of a type are compared by the tensors in them. Interfaces hold what code makes to such.
func (w *walk) tells(t types.Type, met map[string]bool) bool {
	if isTensor(t) {
		return true
	}
	if met[TypeName(t)] {
		return false
	}
	met[TypeName(t)] = true
	switch u := t.Underlying().(type) {
	case *types.Interface:
		for _, d := range w.dynamic {
			if types.Implements(d, u) && w.tells(d, met) {
				return true
			}
		}
	case *types.Array:
		return w.tells(u.Elem(), met)
	case *types.Struct:
		for i := range u.NumFields() {
			if w.tells(u.Field(i).Type(), met) {
				return true
			}
		}
	}
	return false
}
