package effects

import (
	"go/token"
	"go/types"
	"path/filepath"
	"strconv"

	"golang.org/x/tools/go/ssa"
)

// facts are what one function does by itself, without the functions that it calls.
type facts struct {
	p    *Loaded
	fn   *ssa.Function
	skip map[*ssa.BasicBlock]bool // blocks that lead to a panic only

	fields  map[fieldKey]Access
	elems   map[string]Access
	globals map[*ssa.Global]Access
	lines   map[any]string // of a fieldKey, a name of a type, or a global
	kinds   map[string]types.Type

	made     []types.Type // concrete types that are put into interfaces
	asserted []types.Type
	calls    []called // or made to a value that may be called
	invokes  []invoke
	runs     []run
	dynamic  []dynamic
	opaque   []spot
	observes []spot
	inPlace  []Place
	sizes    []Place
	numbered int               // calls that tell code a size
	compares bool              // two interfaces, which reads what both hold
	same     []compared        // comparisons that may tell which tensors are one
	uses     map[any]int       // accesses of fields and variables, loads and stores of elements
	adds     map[fieldKey]bool // whose every use is x += e
	given    given             // whose every use is a number of an operator; nil where it is not
	sets     map[word]bool     // of which the function makes values by itself
	looped   []*loop
	flows    []*staged
	at       *ssa.BasicBlock // that is being looked at
}

// fieldKey identifies a field of a struct type.
type fieldKey struct {
	owner string
	field int
	name  string
	typ   string
}

type (
	// invoke is a call of a method of an interface.
	invoke struct {
		iface  types.Type
		method *types.Func
		line   string
		from   spot // where it stands
	}
	// run is a call of nn.Run or nn.RunAll with a module of an interface type.
	run struct {
		iface types.Type
		line  string
	}
	// dynamic is a call of a function value.
	dynamic struct {
		sig  *types.Signature
		line string
	}
)

// of looks at a function, once.
func (p *Loaded) of(fn *ssa.Function) *facts {
	if f := p.facts[fn]; f != nil {
		return f
	}
	f := p.empty(fn)
	p.facts[fn] = f
	if len(fn.Blocks) == 0 {
		f.unknown(fn.Pos(), "a call of "+fn.String(), "its code is not Go, or is not loaded")
		return f
	}
	p.dead(fn.Blocks[0])
	f.skip = p.dying[fn]
	for _, b := range fn.Blocks {
		if f.skip[b] || b == fn.Recover {
			continue
		}
		f.at = b
		for _, i := range b.Instrs {
			f.instruction(i)
			f.setting(i)
		}
	}
	f.at = nil
	f.additions()
	f.numbers()
	f.loops()
	return f
}

func (p *Loaded) empty(fn *ssa.Function) *facts {
	return &facts{p: p, fn: fn, fields: map[fieldKey]Access{}, elems: map[string]Access{}, globals: map[*ssa.Global]Access{},
		lines: map[any]string{}, kinds: map[string]types.Type{}, uses: map[any]int{}, adds: map[fieldKey]bool{},
		sets: map[word]bool{}, given: given{}}
}

func (f *facts) line(pos token.Pos) string {
	if !pos.IsValid() {
		pos = f.fn.Pos()
	}
	if !pos.IsValid() && f.fn.Object() != nil {
		pos = f.fn.Object().Pos()
	}
	at := f.p.ssa.Fset.Position(pos)
	if at.Line == 0 {
		return f.fn.Name()
	}
	return filepath.Base(at.Filename) + ":" + strconv.Itoa(at.Line)
}

// told is apart for a call of the standard library.
func (f *facts) told(pos token.Pos, what, why string, lazy bool, call ssa.CallInstruction) {
	f.apart(pos, what, why, lazy)
	f.opaque[len(f.opaque)-1].call = call
}

// apart is unknown, with lazy set for code that is given no tensor, gives none, and waits for nobody.
func (f *facts) apart(pos token.Pos, what, why string, lazy bool) {
	f.opaque = append(f.opaque, f.spot(Place{Line: f.line(pos), What: what, Why: why, Lazy: lazy}))
}

func (f *facts) unknown(pos token.Pos, what, why string) {
	f.opaque = append(f.opaque, f.spot(Place{Line: f.line(pos), What: what, Why: why}))
}

// instruction enters what one instruction reads and writes. Instructions that compute on values
// alone are not mentioned; the default refuses those that nobody has thought of.
func (f *facts) instruction(i ssa.Instruction) {
	switch i := i.(type) {
	case *ssa.UnOp:
		f.unary(i)
	case *ssa.Store:
		f.access(i.Addr, Store, i.Pos())
	case *ssa.FieldAddr:
		f.through(i, i.Pos())
		f.address(i, i.Pos())
	case *ssa.IndexAddr:
		f.through(i, i.Pos())
		f.address(i, i.Pos())
	case *ssa.BinOp:
		if !isNil(i.X) && !isNil(i.Y) {
			f.compare(i.X.Type(), i.Pos())
		}
	case *ssa.Call:
		f.call(i, i.Pos())
	case *ssa.Defer:
		f.call(i, i.Pos())
	case *ssa.Go:
		f.unknown(i.Pos(), "a go statement", "goroutines run in an order that no record has")
	case *ssa.MakeClosure:
		f.value(i.Fn.(*ssa.Function))
	case *ssa.MakeInterface:
		f.boxed(i)
	case *ssa.ChangeType:
		f.changed(i, i.X.Type(), i.Type())
	case *ssa.Convert:
		f.converted(i, i.X, i.Type())
	case *ssa.MultiConvert:
		f.converted(i, i.X, i.Type())
	case *ssa.SliceToArrayPointer:
		f.elem(i.X.Type(), Load|Store|Len, i.Pos())
		f.elem(i.Type(), Load|Store, i.Pos())
	case *ssa.Slice:
		f.slice(i)
	case *ssa.Lookup:
		f.lookup(i)
	case *ssa.MapUpdate:
		f.elem(i.Map.Type(), Store, i.Pos())
		f.compare(i.Key.Type(), i.Pos())
	case *ssa.TypeAssert:
		if !types.IsInterface(i.AssertedType) {
			f.asserted = append(f.asserted, i.AssertedType)
			f.whole(i.AssertedType, Load, i.Pos())
		}
	case *ssa.Range:
		if _, ok := i.X.Type().Underlying().(*types.Map); ok {
			f.elem(i.X.Type(), Load|Len, i.Pos())
			f.whole(i.X.Type().Underlying().(*types.Map).Elem(), Load, i.Pos())
			f.apart(i.Pos(), "a range over a map", "its order differs from call to call; range over slices.Sorted(maps.Keys(m))", true)
		}
	case *ssa.MakeChan, *ssa.Send, *ssa.Select:
		f.unknown(i.Pos(), "a channel", "other goroutines send and receive in an order that no record has")
	case *ssa.Alloc, *ssa.MakeSlice, *ssa.MakeMap, *ssa.Phi, *ssa.Extract, *ssa.Field, *ssa.Index, *ssa.Next, *ssa.ChangeInterface,
		*ssa.If, *ssa.Jump, *ssa.Return, *ssa.Panic, *ssa.RunDefers, *ssa.DebugRef:
	default:
		f.unknown(i.Pos(), "an instruction "+i.String(), "the analysis does not know it")
	}
	f.operands(i)
}

// own is the operand that an instruction itself accounts for: the function that it calls, the
// address that it goes to. nil for none.
func own(i ssa.Instruction) *ssa.Value {
	switch i := i.(type) {
	case ssa.CallInstruction:
		if !i.Common().IsInvoke() {
			return &i.Common().Value
		}
	case *ssa.MakeClosure:
		return &i.Fn
	case *ssa.UnOp:
		return &i.X
	case *ssa.Store:
		return &i.Addr
	case *ssa.FieldAddr:
		return &i.X
	case *ssa.IndexAddr:
		return &i.X
	case *ssa.Slice:
		return &i.X
	}
	return nil
}

// operands enters functions, and addresses of globals, that an instruction uses as values.
func (f *facts) operands(i ssa.Instruction) {
	if _, ok := i.(*ssa.DebugRef); ok {
		return
	}
	plain := own(i)
	var rands [8]*ssa.Value
	for _, r := range i.Operands(rands[:0]) {
		if r == plain {
			continue
		}
		switch v := (*r).(type) {
		case *ssa.Function:
			f.value(v)
		case *ssa.Global:
			f.away(v, i.Pos())
		}
	}
}

// value enters a function that becomes a value: sooner or later it may be called.
func (f *facts) value(fn *ssa.Function) {
	f.callee(fn, nil, fn.Pos())
}

func (f *facts) unary(i *ssa.UnOp) {
	switch i.Op {
	case token.MUL:
		f.access(i.X, Load, i.Pos())
	case token.ARROW:
		f.unknown(i.Pos(), "a receive from a channel", "other goroutines send in an order that no record has")
	}
}

// boxed enters a value that an interface holds from here on. What it reaches without a pointer
// to a struct may be read by the holder.
func (f *facts) boxed(i *ssa.MakeInterface) {
	f.made = append(f.made, i.X.Type())
	if _, ok := i.X.Type().Underlying().(*types.Pointer); !ok {
		f.reach(i.X.Type(), Load, i.Pos())
	}
}

// changed looks at conversions that keep the bits. Behind a pointer, a slice or a map the memory
// has another type from here on.
func (f *facts) changed(i ssa.Instruction, from, to types.Type) {
	f.name(from)
	f.name(to)
	a, ok := from.Underlying().(*types.Pointer)
	b, also := to.Underlying().(*types.Pointer)
	if ok && also && !types.Identical(a.Elem(), b.Elem()) {
		f.unknown(i.Pos(), "a conversion of *"+TypeName(a.Elem())+" to *"+TypeName(b.Elem()), "one piece of memory has two types then")
	}
}

func (f *facts) converted(i ssa.Instruction, x ssa.Value, to types.Type) {
	from := x.Type().Underlying()
	if isUnsafe(from) || isUnsafe(to.Underlying()) {
		f.unknown(i.Pos(), "a conversion of unsafe.Pointer", "the memory that it names has no type")
		return
	}
	if _, ok := from.(*types.Slice); ok { // to a string or an array
		f.elem(x.Type(), Load|Len, i.Pos())
	}
	f.changed(i, x.Type(), to)
}

func isUnsafe(t types.Type) bool {
	b, ok := t.(*types.Basic)
	return ok && b.Kind() == types.UnsafePointer
}

// slice looks at x[a:b], which reads length and capacity; of an array it makes other memory of
// its elements.
func (f *facts) slice(i *ssa.Slice) {
	switch t := i.X.Type().Underlying().(type) {
	case *types.Slice:
		f.elem(i.X.Type(), Len|Cap, i.Pos())
	case *types.Pointer:
		if !f.fresh(i.X) {
			f.access(i.X, Load|Store, i.Pos())
			f.elem(t.Elem(), Load|Store, i.Pos())
			f.elem(i.Type(), Load|Store|Len|Cap, i.Pos())
		}
	}
}

func (f *facts) lookup(i *ssa.Lookup) {
	if _, ok := i.X.Type().Underlying().(*types.Map); ok {
		f.elem(i.X.Type(), Load, i.Pos())
		f.whole(i.Type(), Load, i.Pos())
		f.compare(i.Index.Type(), i.Pos())
	}
}
