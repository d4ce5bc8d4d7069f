package effects

import "golang.org/x/tools/go/ssa"

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
