package effects

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// ready lists packages whose functions wait for no other goroutine of the program, unless their arguments make them.
const ready = "errors expvar fmt log log/slog maps math/rand math/rand/v2 os strconv strings sync/atomic time unicode"

// harmless reports whether a call of the standard library is given no tensor, gives none, and waits for nobody. Printing looks
// at tensors, which tells whoever has their data.
func (f *facts) harmless(fn *ssa.Function, i ssa.CallInstruction) bool {
	path := pathOf(fn)
	if i == nil || !slices.Contains(strings.Fields(ready), path) {
		return false
	}
	for k := range fn.Signature.Results().Len() {
		if !inert(fn.Signature.Results().At(k).Type()) {
			return false
		}
	}
	args := i.Common().Args
	prints := path == "fmt" || path == "log"
	if n := len(args) - 1; fn.Signature.Variadic() && n >= 0 {
		if s, ok := args[n].Type().Underlying().(*types.Slice); ok && types.IsInterface(s.Elem()) {
			list, seen := boxedIn(args[n])
			if !seen || slices.ContainsFunc(list, func(t types.Type) bool { return !inert(t) && !(prints && isTensor(t)) }) {
				return false
			}
			args = args[:n]
		}
	}
	return !slices.ContainsFunc(args, func(v ssa.Value) bool {
		if m, ok := v.(*ssa.MakeInterface); ok {
			v = m.X
		}
		return !inert(v.Type())
	})
}

func isTensor(t types.Type) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	return ok && isNamed(p.Elem(), tensorPath, "Tensor")
}

// inert reports whether a value of a type leads to no tensor, and to no code but that of such packages.
func inert(t types.Type) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
		if _, named := types.Unalias(t).(*types.Named); !named {
			return false
		}
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		if isError(t) {
			return true
		}
		return n.Obj().Pkg() != nil && n.TypeArgs().Len() == 0 && slices.Contains(strings.Fields(ready), n.Obj().Pkg().Path())
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return !isUnsafe(u)
	case *types.Slice:
		return inert(u.Elem())
	}
	return false
}

// panics finds the blocks of a function from which all ways lead to a panic. A call that panics
// leaves no record, so what happens there needs no entry.
func (p *Loaded) panics(fn *ssa.Function) map[*ssa.BasicBlock]bool {
	found := map[*ssa.BasicBlock]bool{}
	for _, b := range fn.Blocks {
		if p.ends(b) {
			found[b] = true
		}
	}
	for again := true; again; {
		again = false
		for _, b := range fn.Blocks {
			if found[b] || len(b.Succs) == 0 {
				continue
			}
			all := true
			for _, s := range b.Succs {
				all = all && found[s]
			}
			if all {
				found[b], again = true, true
			}
		}
	}
	return found
}

// dead reports whether all ways from a block lead to a panic.
func (p *Loaded) dead(b *ssa.BasicBlock) bool {
	found, ok := p.dying[b.Parent()]
	if !ok {
		found = p.panics(b.Parent())
		p.dying[b.Parent()] = found
	}
	return found[b]
}

// ends reports whether a block panics, or calls a function that does nothing else.
func (p *Loaded) ends(b *ssa.BasicBlock) bool {
	for _, i := range b.Instrs {
		switch i := i.(type) {
		case *ssa.Panic:
			return true
		case *ssa.Call:
			if fn := i.Call.StaticCallee(); fn != nil && p.refuses(fn) {
				return true
			}
		}
	}
	return false
}

// refuses reports whether all ways of a function lead to a panic. One that calls itself is taken
// to return, and so is one with deferred calls, which may recover.
func (p *Loaded) refuses(fn *ssa.Function) bool {
	if known, ok := p.refusing[fn]; ok {
		return known
	}
	p.refusing[fn] = false
	if len(fn.Blocks) > 0 && fn.Recover == nil {
		p.refusing[fn] = p.panics(fn)[fn.Blocks[0]]
	}
	return p.refusing[fn]
}

func isNil(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.IsNil()
}
