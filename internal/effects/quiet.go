package effects

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// Code is quiet where it stores nothing that was there before, calls only quiet code and operators, and looks at nothing of a
// tensor except whether it is nil. What it does depends on memory, which does not change then, and on which tensors are
// nil. A loop whose rounds are quiet, and that hands from round to round only tensors that are never nil after the first, does the same in all rounds from
// the second on.

// noise is why code is not quiet.
type noise struct {
	at        ssa.Instruction
	what, why string
}

// repeats reports whether the rounds of a loop are quiet.
func (l *loop) repeats() bool {
	for _, b := range l.f.fn.Blocks { // in their order, for the first reason
		if !l.blocks[b] || l.f.skip[b] {
			continue
		}
		for _, i := range b.Instrs {
			if v, ok := i.(ssa.Value); ok && v == l.count { // which is the same in all rounds
				continue
			}
			if n := l.f.p.noisy(i, l); n != nil {
				return l.refuse(n.at.Pos(), n.what, n.why)
			}
		}
	}
	return true
}

// quiet returns why a function is not quiet, nil for one that is.
func (p *Loaded) quiet(fn *ssa.Function) *noise {
	if n, known := p.noises[fn]; known {
		return n
	}
	p.noises[fn] = &noise{nil, "a call of " + shortName(fn), "it calls itself"}
	p.noises[fn] = p.quietly(fn)
	return p.noises[fn]
}

func (p *Loaded) quietly(fn *ssa.Function) *noise {
	if len(fn.Blocks) == 0 || fn.Recover != nil || len(fn.FreeVars) > 0 {
		return &noise{nil, "a call of " + shortName(fn), "it defers, or is a closure, or its code is not loaded"}
	}
	skip := p.panics(fn)
	for _, b := range fn.Blocks {
		if skip[b] {
			continue
		}
		for _, i := range b.Instrs {
			if n := p.noisy(i, nil); n != nil {
				return n
			}
		}
	}
	return nil
}

// noisy returns why an instruction is not quiet, in a loop or, without one, in a function.
func (p *Loaded) noisy(i ssa.Instruction, l *loop) *noise {
	switch i := i.(type) {
	case *ssa.Call:
		if l != nil && l.adds(i) {
			return nil
		}
		return p.calls(i)
	case *ssa.Store:
		if !l.own(i.Addr) {
			return &noise{i, "a store", "a later round may see it"}
		}
	case *ssa.BinOp:
		if isNil(i.X) || isNil(i.Y) {
			break
		}
		if _, basic := i.X.Type().Underlying().(*types.Basic); !basic {
			return &noise{i, "a comparison of " + TypeName(i.X.Type()), "which values are the same may differ from round to round"}
		}
	case *ssa.UnOp:
		if i.Op == token.ARROW {
			return &noise{i, "a receive from a channel", "rounds may receive different values"}
		}
	case *ssa.Alloc, *ssa.Phi, *ssa.FieldAddr, *ssa.IndexAddr, *ssa.Field, *ssa.Index, *ssa.Extract, *ssa.Convert, *ssa.ChangeType,
		*ssa.MakeInterface, *ssa.ChangeInterface, *ssa.If, *ssa.Jump, *ssa.Return, *ssa.DebugRef:
	case *ssa.Slice:
		if !l.own(i.X) {
			return &noise{i, "a slice of memory", "a later round may see what is written there"}
		}
	default:
		return &noise{i, "an instruction " + i.String(), "it may do other things in other rounds"}
	}
	return nil
}

// own reports whether an address is in memory that a round has made, or, without a loop, the function.
func (l *loop) own(addr ssa.Value) bool {
	switch a := addr.(type) {
	case *ssa.Alloc:
		return l == nil || l.blocks[a.Block()]
	case *ssa.FieldAddr:
		return l.own(a.X)
	case *ssa.IndexAddr:
		return l.own(a.X)
	}
	return false
}

// adds reports whether a call adds to a list that rounds hand on: carries looks at it.
func (l *loop) adds(c *ssa.Call) bool {
	if b, ok := c.Call.Value.(*ssa.Builtin); !ok || b.Name() != "append" {
		return false
	}
	phi, ok := c.Call.Args[0].(*ssa.Phi)
	return ok && phi.Block() == l.head && appends(c, phi)
}

// calls returns why a call is not quiet.
func (p *Loaded) calls(c *ssa.Call) *noise {
	if b, ok := c.Call.Value.(*ssa.Builtin); ok {
		switch b.Name() {
		case "len", "min", "max", "ssa:wrapnilchk":
			return nil
		}
		return &noise{c, "a call of " + b.Name(), "a later round may see what it does"}
	}
	fn := c.Call.StaticCallee()
	if _, closure := c.Call.Value.(*ssa.MakeClosure); fn == nil || closure {
		return &noise{c, "a call of a function value or of a method of an interface", "what it does is not looked at in loops"}
	}
	if ran := p.ran(c); ran != nil {
		fn = ran
	}
	switch {
	case len(fn.Blocks) > 0:
		if n := p.quiet(fn); n != nil {
			return &noise{first(n.at, c), n.what, n.why}
		}
		return nil
	case pathOf(fn) == "math" && p.outside(fn):
		return nil
	case p.operates(fn):
		return nil
	}
	return &noise{c, "a call of " + shortName(fn), "it may do other things in other rounds"}
}

func first(at, or ssa.Instruction) ssa.Instruction {
	if at == nil {
		return or
	}
	return at
}

// ran is the method that a call of nn.Run calls, nil for other calls.
func (p *Loaded) ran(c *ssa.Call) *ssa.Function {
	fn := c.Call.StaticCallee()
	if fn == nil || pathOf(fn) != nnPath || fn.Name() != "Run" || fn.Signature.Recv() != nil {
		return nil
	}
	if m, ok := c.Call.Args[0].(*ssa.MakeInterface); ok {
		return p.method(m.X.Type(), "Forward", nil)
	}
	return nil
}

// operates reports whether a function of package tensor calls an operator, and tells code nothing of tensors.
func (p *Loaded) operates(fn *ssa.Function) bool {
	if pathOf(fn) != tensorPath {
		return false
	}
	if k := key(fn); k == "Scalar" || k == "Leaf" {
		return true
	} else if handwritten(k) {
		return false
	}
	return treatment(fn) == operates && !tellsSizes(fn)
}

// makes reports whether a value is a tensor that code has made: never nil.
func (p *Loaded) makes(v ssa.Value, seen map[ssa.Value]bool) bool {
	if seen[v] { // another way says what it is
		return true
	}
	seen[v] = true
	switch v := v.(type) {
	case *ssa.Phi:
		for _, e := range v.Edges {
			if !p.makes(e, seen) {
				return false
			}
		}
		return true
	case *ssa.Call:
		return p.returns(v, 0, seen)
	case *ssa.Extract:
		c, ok := v.Tuple.(*ssa.Call)
		return ok && p.returns(c, v.Index, seen)
	case *ssa.UnOp: // the one result of a leaf module
		at, ok := v.X.(*ssa.IndexAddr)
		if !ok || v.Op != token.MUL {
			return false
		}
		c, ok := at.X.(*ssa.Call)
		return ok && c.Call.StaticCallee() != nil && p.operates(c.Call.StaticCallee())
	}
	return false
}

// returns reports whether a result of a call is a tensor that code has made.
func (p *Loaded) returns(c *ssa.Call, i int, seen map[ssa.Value]bool) bool {
	fn := c.Call.StaticCallee()
	if fn == nil {
		return false
	}
	if ran := p.ran(c); ran != nil {
		fn = ran
	}
	if p.operates(fn) {
		return true
	}
	if len(fn.Blocks) == 0 {
		return false
	}
	skip := p.panics(fn)
	for _, b := range fn.Blocks {
		r, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok || skip[b] {
			continue
		}
		if i >= len(r.Results) || !p.makes(r.Results[i], seen) {
			return false
		}
	}
	return true
}
