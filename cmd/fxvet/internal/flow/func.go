package flow

import (
	"go/constant"
	"go/token"
	"slices"
	"strconv"

	"golang.org/x/tools/go/ssa"
)

// Func is one function with its body.
type Func struct {
	Fn     *ssa.Function
	Reads  []Read
	Writes []Write
	Stores []Store

	r       *Result
	slots   slots
	values  map[ssa.Value]*Tree
	sum     *Summary
	edges   []edge
	callers map[*Func]bool
	moved   bool // a call has put something into a variable
	entry   entry
}

// Read is a call that needs data or a number of a value.
type Read struct {
	Call ssa.CallInstruction
	What string // the method, such as Item
	Code string
	In   string // where the method is called: "" here, else the function of another package
	Bits Bits
}

// Write is a call that writes to a tensor in place.
type Write struct {
	Call ssa.CallInstruction
	What string
	In   string // as in Read
	Bits Bits   // of the tensor
}

// Store is a value that is put into a field, an element, a variable or a channel.
type Store struct {
	Instr  ssa.Instruction
	Base   ssa.Value // the pointer, map or channel that leads there
	Path   []string  // from there
	Target Bits      // of the base
	Value  Bits
}

// params are what a call gives: parameters, then captured variables.
func (f *Func) params() []ssa.Value {
	out := make([]ssa.Value, 0, len(f.Fn.Params)+len(f.Fn.FreeVars))
	for _, p := range f.Fn.Params {
		out = append(out, p)
	}
	for _, v := range f.Fn.FreeVars {
		out = append(out, v)
	}
	return out
}

// tree returns what is known of a value.
func (f *Func) tree(v ssa.Value) *Tree {
	t := f.values[v]
	if t == nil {
		t = &Tree{}
		f.values[v] = t
	}
	return t
}

// Of returns the bits of a value and of all below it.
func (f *Func) Of(v ssa.Value) Bits { return f.tree(v).flat() }

// evaluate goes over the function until nothing changes, and reports whether its summary did.
func (f *Func) evaluate() bool {
	before := f.sum.size()
	for changed := true; changed; {
		changed = false
		f.Reads, f.Writes, f.Stores, f.edges = nil, nil, nil, nil
		f.moved = false
		for _, b := range f.Fn.Blocks {
			for _, in := range b.Instrs {
				changed = f.instruction(in) || changed
			}
		}
		changed = changed || f.moved
	}
	f.summarise()
	return f.sum.size() != before
}

// instruction evaluates one instruction.
func (f *Func) instruction(in ssa.Instruction) bool {
	switch in := in.(type) {
	case *ssa.Store:
		return f.store(in, in.Addr, f.tree(in.Val))
	case *ssa.MapUpdate:
		return f.storeAt(in, in.Map, []string{"*"}, f.tree(in.Value))
	case *ssa.Send:
		return f.storeAt(in, in.Chan, []string{"*"}, f.tree(in.X))
	case *ssa.MakeClosure:
		return f.closure(in)
	case *ssa.Go:
		f.call(in)
	case *ssa.Defer:
		f.call(in)
	case *ssa.Call:
		return f.tree(in).join(f.call(in), maxDepth+1)
	case ssa.Value:
		if from := f.value(in); from != nil {
			return f.tree(in).join(from, maxDepth+1)
		}
	}
	return false
}

// value evaluates an instruction that computes a value of others.
func (f *Func) value(v ssa.Value) *Tree {
	switch v := v.(type) {
	case *ssa.Phi:
		out := &Tree{}
		for _, e := range v.Edges {
			out.join(f.tree(e), maxDepth+1)
		}
		return out
	case *ssa.UnOp:
		if v.Op == token.ARROW {
			return f.tree(v.X).at("*", &f.slots)
		}
		if v.Op == token.MUL {
			return f.tree(v.X)
		}
	case *ssa.FieldAddr:
		return f.tree(v.X).at(field(v.Field), &f.slots)
	case *ssa.Field:
		return f.tree(v.X).at(field(v.Field), &f.slots)
	case *ssa.IndexAddr:
		return f.tree(v.X).at(element(v.Index), &f.slots)
	case *ssa.Index:
		return f.tree(v.X).at(element(v.Index), &f.slots)
	case *ssa.Lookup:
		if v.CommaOk {
			return &Tree{Kids: map[string]*Tree{"r0": f.tree(v.X).at("*", &f.slots)}}
		}
		return f.tree(v.X).at("*", &f.slots)
	case *ssa.Next:
		if !v.IsString {
			return &Tree{Kids: map[string]*Tree{"r2": f.tree(v.Iter.(*ssa.Range).X).at("*", &f.slots)}}
		}
	case *ssa.Extract:
		return f.tree(v.Tuple).at("r"+strconv.Itoa(v.Index), &f.slots)
	case *ssa.TypeAssert:
		if v.CommaOk {
			return &Tree{Kids: map[string]*Tree{"r0": f.tree(v.X)}}
		}
		return f.tree(v.X)
	case *ssa.Slice:
		if v.Low == nil {
			return f.tree(v.X)
		}
		return f.tree(v.X).elements(&f.slots)
	case *ssa.MakeInterface:
		return f.tree(v.X)
	case *ssa.ChangeInterface:
		return f.tree(v.X)
	case *ssa.ChangeType:
		return f.tree(v.X)
	case *ssa.Convert:
		return f.tree(v.X)
	case *ssa.MultiConvert:
		return f.tree(v.X)
	case *ssa.SliceToArrayPointer:
		return f.tree(v.X)
	}
	return nil
}

func field(i int) string { return "f" + strconv.Itoa(i) }

// element is the step to an element: its number where that is constant.
func element(index ssa.Value) string {
	if c, ok := index.(*ssa.Const); ok && c.Value != nil {
		if i, ok := constant.Int64Val(constant.ToInt(c.Value)); ok && i >= 0 && i < 64 {
			return strconv.FormatInt(i, 10)
		}
	}
	return "*"
}

// Base returns the pointer that leads to an address, and the path from there. A local
// variable that is loaded leads on to where it is stored, unless that is not known.
func Base(addr ssa.Value) (base ssa.Value, path []string) {
	for {
		switch a := addr.(type) {
		case *ssa.FieldAddr:
			addr, path = a.X, append(path, field(a.Field))
		case *ssa.IndexAddr:
			addr, path = a.X, append(path, element(a.Index))
		case *ssa.UnOp:
			if a.Op != token.MUL {
				slices.Reverse(path)
				return addr, path
			}
			addr = a.X
		case *ssa.Slice:
			addr = a.X
		case *ssa.ChangeType:
			addr = a.X
		case *ssa.MakeInterface:
			addr = a.X
		case *ssa.ChangeInterface:
			addr = a.X
		case *ssa.TypeAssert:
			if a.CommaOk {
				slices.Reverse(path)
				return addr, path
			}
			addr = a.X
		default:
			slices.Reverse(path)
			return addr, path
		}
	}
}

// Owner returns the value whose memory an address is in: that of the last pointer on the way,
// nil for memory of a variable of the function itself.
func Owner(addr ssa.Value) ssa.Value {
	for {
		switch a := addr.(type) {
		case *ssa.FieldAddr:
			addr = a.X
		case *ssa.IndexAddr:
			addr = a.X
		case *ssa.Alloc, *ssa.MakeMap, *ssa.MakeSlice, *ssa.MakeChan:
			return nil
		default:
			return addr
		}
	}
}

// store evaluates a store to an address.
func (f *Func) store(in ssa.Instruction, addr ssa.Value, val *Tree) bool {
	base, path := Base(addr)
	if owner := Owner(addr); owner != nil {
		f.Stores = append(f.Stores, Store{in, owner, path, f.tree(owner).self(), val.flat()})
	}
	return f.tree(base).putAt(path, val)
}

// storeAt evaluates a store to an element of a map or channel.
func (f *Func) storeAt(in ssa.Instruction, to ssa.Value, path []string, val *Tree) bool {
	base, more := Base(to)
	if owner := Owner(to); owner != nil {
		f.Stores = append(f.Stores, Store{in, owner, append(more, path...), f.tree(owner).self(), val.flat()})
	}
	return f.tree(base).putAt(append(more, path...), val)
}

// Self returns the bits of a value itself.
func (f *Func) Self(v ssa.Value) Bits { return f.tree(v).self() }

// Surely reports whether a write is to the memory of an input on all ways that lead to it.
func (f *Func) Surely(w Write) bool {
	_, args := Callee(w.Call)
	for _, a := range args {
		if f.Input(f.Of(a)) && f.surely(a, map[ssa.Value]bool{}) {
			return true
		}
	}
	return false
}

func (f *Func) surely(v ssa.Value, seen map[ssa.Value]bool) bool {
	if seen[v] {
		return true // the way around a loop
	}
	seen[v] = true
	switch v := v.(type) {
	case *ssa.Phi:
		return f.allSurely(v.Edges, seen)
	case *ssa.UnOp:
		if cell, ok := v.X.(*ssa.Alloc); ok {
			var vals []ssa.Value
			for _, ref := range *cell.Referrers() {
				if st, ok := ref.(*ssa.Store); ok && st.Addr == cell {
					vals = append(vals, st.Val)
				}
			}
			return f.allSurely(vals, seen)
		}
		return f.unreplaced(v.X, seen)
	case *ssa.Lookup:
		return f.unreplaced(v.X, seen)
	case *ssa.Call:
		_, args := Callee(v)
		for _, a := range args {
			if f.Input(f.Of(a)) {
				return f.surely(a, seen)
			}
		}
	}
	return true
}

// unreplaced reports whether the function puts nothing but inputs where an element or a field
// is loaded from.
func (f *Func) unreplaced(addr ssa.Value, seen map[ssa.Value]bool) bool {
	base, path := Base(addr)
	for _, b := range f.Fn.Blocks {
		for _, in := range b.Instrs {
			var to, val ssa.Value
			switch in := in.(type) {
			case *ssa.Store:
				to, val = in.Addr, in.Val
			case *ssa.MapUpdate:
				to, val = in.Map, in.Value
			default:
				continue
			}
			at, steps := Base(to)
			if at == base && overlap(steps, path) && IsTensor(val.Type()) && !f.allSurely([]ssa.Value{val}, seen) {
				return false
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

func (f *Func) allSurely(vals []ssa.Value, seen map[ssa.Value]bool) bool {
	for _, v := range vals {
		if !f.Input(f.Of(v)) || !f.surely(v, seen) {
			return false
		}
	}
	return true
}
