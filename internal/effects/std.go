package effects

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// library enters a call of the standard library; i is nil where the function is made to a value.
func (f *facts) library(fn *ssa.Function, i ssa.CallInstruction, pos token.Pos) {
	what := "a call of " + shortName(fn)
	e := standard(fn)
	switch {
	case !e.known:
		f.told(pos, what, "what it reads and does is not known", f.harmless(fn, i), i)
		return
	case e.basic:
		if bad := notBasic(i); bad != "" {
			f.apart(pos, what, bad, f.harmless(fn, i))
		}
		return
	case e.unordered && !sorted(i):
		f.apart(pos, what, "the order of its results differs from call to call; pass it to slices.Sorted", true)
		f.arguments(fn, i, Load, pos)
		return
	}
	if slices.Contains(strings.Fields(comparing), shortName(fn)) {
		for _, t := range fn.TypeArgs() {
			f.compare(t, pos)
		}
	}
	a := Load
	if e.writes {
		a |= Store
	}
	f.arguments(fn, i, a, pos)
}

// comparing are the functions that compare elements by ==.
const comparing = "slices.Compact slices.Contains slices.Equal slices.Index maps.Equal"

// arguments enters loads of all that the parameters lead to, and calls of functions among them.
func (f *facts) arguments(fn *ssa.Function, i ssa.CallInstruction, a Access, pos token.Pos) {
	var list []types.Type
	if r := fn.Signature.Recv(); r != nil {
		list = append(list, r.Type())
	}
	for i := range fn.Signature.Params().Len() {
		list = append(list, fn.Signature.Params().At(i).Type())
	}
	for k, t := range list {
		var v ssa.Value
		if i != nil && k < len(i.Common().Args) {
			v = i.Common().Args[k]
		}
		switch u := t.Underlying().(type) {
		case *types.Signature:
			f.handed(v, u, pos)
		case *types.Interface:
			if u.NumMethods() > 0 && !isError(t) {
				f.unknown(pos, "an argument of "+shortName(fn), "its methods are called where nothing is known of them")
			}
		default:
			f.passed(v, t, a, pos)
		}
	}
}

// passed enters what a callee may do with an argument: with a slice of spare capacity, more
// than with its elements. A list of variadic arguments is made for the call.
func (f *facts) passed(v ssa.Value, t types.Type, a Access, pos token.Pos) {
	switch x := v.(type) {
	case *ssa.Const:
		return
	case *ssa.Alloc:
		f.reach(pointee(x.Type()), a, pos)
		return
	case *ssa.Slice:
		if f.fresh(x.X) && a&Store == 0 {
			f.reach(t.Underlying().(*types.Slice).Elem(), a, pos)
			return
		}
	}
	f.reach(t, a, pos)
	if _, ok := t.Underlying().(*types.Slice); ok && a&Store != 0 {
		f.elem(t, Cap, pos)
	}
}

// handed enters the call of a function value that a callee makes.
func (f *facts) handed(v ssa.Value, sig *types.Signature, pos token.Pos) {
	switch v := v.(type) {
	case *ssa.Function, *ssa.MakeClosure, *ssa.Const: // known where it was made
		return
	case *ssa.ChangeType:
		f.handed(v.X, sig, pos)
		return
	}
	if v == nil || !f.iterates(v) {
		f.dynamic = append(f.dynamic, dynamic{sig, f.line(pos)})
	}
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

// shortName is a function's name with its package's.
func shortName(fn *ssa.Function) string {
	path := pathOf(fn)
	return path[strings.LastIndexByte(path, '/')+1:] + "." + key(fn)
}

// key is a function's name, for a method with its type's.
func key(fn *ssa.Function) string {
	name, _, _ := strings.Cut(fn.Name(), "[")
	if r := fn.Signature.Recv(); r != nil {
		t := types.Unalias(r.Type())
		if p, ok := t.(*types.Pointer); ok {
			t = types.Unalias(p.Elem())
		}
		if n, ok := t.(*types.Named); ok {
			return n.Obj().Name() + "." + name
		}
	}
	return name
}

// entry is what is known of a function of the standard library: it reads what its arguments
// lead to, and does no more than the flags say.
type entry struct {
	known     bool
	writes    bool // to what its arguments lead to
	iterator  bool // returns one
	unordered bool // its results come in any order
	basic     bool // calls methods of its arguments, unless they are of basic types
}

// standard looks a function up.
func standard(fn *ssa.Function) entry {
	pkg, ok := stdlib[pathOf(fn)]
	if !ok {
		return entry{}
	}
	k := key(fn)
	typ, _, method := strings.Cut(k, ".")
	has := func(list string) bool {
		return slices.Contains(strings.Fields(list), k) || method && slices.Contains(strings.Fields(list), typ+".")
	}
	e := entry{writes: has(pkg.writes), iterator: has(pkg.iterators), unordered: has(pkg.unordered), basic: has(pkg.basic)}
	e.known = e.writes || e.iterator || e.unordered || e.basic || has(pkg.reads) || pkg.all && !method && !has(pkg.not)
	return e
}

// library lists functions of a package: F, T.M for a method, T. for all methods of a type.
type listed struct {
	all   bool   // functions that are not in a list read what their arguments lead to
	not   string // except these, of which nothing is known
	reads string

	writes, iterators, unordered, basic string
}

// stdlib is the standard library. A package or function that it lacks is opaque.
var stdlib = map[string]listed{
	"cmp":       {all: true},
	"context":   {reads: "Background TODO"},
	"errors":    {reads: "New"},
	"fmt":       {basic: "Sprint Sprintf Sprintln Errorf"},
	"maps":      {reads: "Clone Equal", writes: "Copy", unordered: "Keys Values"},
	"math":      {all: true},
	"math/bits": {all: true}, "math/cmplx": {all: true},
	"path":    {all: true},
	"runtime": {reads: "KeepAlive"},
	"slices": {reads: "BinarySearch BinarySearchFunc Clip Clone Collect Compare CompareFunc Concat Contains ContainsFunc Equal EqualFunc " +
		"Index IndexFunc IsSorted IsSortedFunc Max MaxFunc Min MinFunc Repeat Sorted",
		writes: "AppendSeq Compact CompactFunc Delete DeleteFunc Grow Insert Replace Reverse Sort SortFunc SortStableFunc", iterators: "All Backward Values Chunk"},
	"sort": {reads: "Search SearchInts SearchStrings SearchFloat64s IntsAreSorted StringsAreSorted Float64sAreSorted",
		writes: "Ints Strings Float64s"},
	"strconv": {all: true, writes: "AppendBool AppendFloat AppendInt AppendUint AppendQuote AppendQuoteRune AppendQuoteToASCII AppendQuoteToGraphic AppendQuoteRuneToASCII AppendQuoteRuneToGraphic"},
	"strings": {all: true, not: "NewReader NewReplacer", writes: "Builder.", iterators: "SplitSeq SplitAfterSeq FieldsSeq Lines FieldsFuncSeq"},
	"time":    {reads: "Duration. Month. Weekday."},
	"unicode": {all: true}, "unicode/utf16": {all: true, writes: "AppendRune"},
	"unicode/utf8": {all: true, writes: "AppendRune EncodeRune"},
}

// notBasic says why the variadic arguments of a call of package fmt are not of basic types
// without methods, "" if they are.
func notBasic(i ssa.CallInstruction) string {
	const unseen = "the values that it prints are not seen here"
	if i == nil {
		return unseen
	}
	list, seen := boxedIn(i.Common().Args[len(i.Common().Args)-1])
	if !seen {
		return unseen
	}
	for _, t := range list {
		if _, ok := types.Unalias(t).(*types.Basic); !ok {
			return "it prints a " + TypeName(t) + ", whose methods and insides it reads; pass numbers and strings"
		}
	}
	return ""
}

// boxedIn lists the types of the values in a list of variadic arguments that are interfaces. seen is false where the code
// does not tell all of them.
func boxedIn(last ssa.Value) (all []types.Type, seen bool) {
	if k, ok := last.(*ssa.Const); ok && k.IsNil() {
		return nil, true
	}
	s, ok := last.(*ssa.Slice)
	if !ok {
		return nil, false
	}
	list, ok := s.X.(*ssa.Alloc)
	if !ok {
		return nil, false
	}
	for _, r := range *list.Referrers() {
		at, ok := r.(*ssa.IndexAddr)
		if !ok {
			continue
		}
		for _, r := range *at.Referrers() {
			st, ok := r.(*ssa.Store)
			if !ok {
				return nil, false
			}
			if k, ok := st.Val.(*ssa.Const); ok && k.IsNil() {
				continue
			}
			m, ok := st.Val.(*ssa.MakeInterface)
			if !ok {
				return nil, false
			}
			all = append(all, m.X.Type())
		}
	}
	return all, true
}

// sorted reports whether all that becomes of an unordered iterator is a sorted slice.
func sorted(i ssa.CallInstruction) bool {
	v, ok := i.(*ssa.Call)
	if !ok {
		return false
	}
	for _, r := range *v.Referrers() {
		c, ok := r.(*ssa.Call)
		if !ok {
			return false
		}
		fn := c.Call.StaticCallee()
		if fn == nil || pathOf(fn) != "slices" || key(fn) != "Sorted" {
			return false
		}
	}
	return true
}
