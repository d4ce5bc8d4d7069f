package effects

import (
	"fmt"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"

	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// FuncResult returns the number of the only result of a function type, -1 where there is none, or several.
func FuncResult(s *types.Signature) int {
	at := -1
	for i := range s.Results().Len() {
		if _, ok := s.Results().At(i).Type().Underlying().(*types.Signature); !ok {
			continue
		}
		if at >= 0 {
			return -1
		}
		at = i
	}
	return at
}

// Root returns what a table is of that is named by a function or variable: the function literal that the function returns, or that the
// variable has, and otherwise the function itself. The summary of a literal lists the variables that it has captured as globals.
func (p *Loaded) Root(path, name string) (*ssa.Function, error) {
	if q := p.sources[path]; q != nil {
		if v, ok := q.Types.Scope().Lookup(name).(*types.Var); ok {
			return p.variable(v)
		}
	}
	fn, err := p.FunctionOf(path, name)
	if err != nil {
		return nil, err
	}
	return p.literal(fn)
}

// variable returns the function literal that a variable is initialised with.
func (p *Loaded) variable(v *types.Var) (*ssa.Function, error) {
	pkg := p.ssa.Package(v.Pkg())
	for _, b := range pkg.Func("init").Blocks {
		for _, i := range b.Instrs {
			if s, ok := i.(*ssa.Store); ok && s.Addr == ssa.Value(pkg.Var(v.Name())) {
				if lit := literalOf(s.Val); lit != nil && lit.Parent() == pkg.Func("init") {
					return lit, p.alone(lit)
				}
			}
		}
	}
	return nil, noFunction("the variable "+v.Name()+" is not declared with a function literal", "name the function that returns the literal, or a function or method")
}

func (p *Loaded) literal(maker *ssa.Function) (*ssa.Function, error) {
	at := FuncResult(maker.Signature)
	if at < 0 {
		return maker, nil
	}
	if f, ok := maker.Object().(*types.Func); ok && maker.Synthetic != "" { // a method by a pointer to its receiver
		maker = p.ssa.FuncValue(f)
	}
	var lit *ssa.Function
	for _, b := range maker.Blocks {
		if len(b.Instrs) == 0 || b == maker.Recover {
			continue
		}
		r, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok || isNil(r.Results[at]) {
			continue
		}
		fn := literalOf(r.Results[at])
		switch {
		case fn == nil || fn.Parent() != maker:
			return nil, p.noLiteral(maker, r.Pos(), "returns a function that is no literal of its own")
		case lit != nil && lit != fn:
			return nil, p.noLiteral(maker, r.Pos(), "returns several function literals")
		}
		lit = fn
	}
	if lit == nil {
		return nil, p.noLiteral(maker, maker.Pos(), "returns no function literal")
	}
	return lit, p.alone(lit)
}

func (p *Loaded) noLiteral(maker *ssa.Function, pos token.Pos, what string) error {
	return noFunction(fmt.Sprintf("%s %s, at %s", maker.RelString(p.Package.Types), what, p.Line(pos)), "return one function literal, or make it a method and name that")
}

// Line is a line as tables have it.
func (p *Loaded) Line(pos token.Pos) string {
	at := p.ssa.Fset.Position(pos)
	return fmt.Sprintf("%s:%d", filepath.Base(at.Filename), at.Line)
}

// literalOf is the function literal that a value is of, nil for others.
func literalOf(v ssa.Value) *ssa.Function {
	switch v := v.(type) {
	case *ssa.ChangeType:
		return literalOf(v.X)
	case *ssa.MakeClosure:
		return literalOf(v.Fn)
	case *ssa.Function:
		if v.Parent() != nil && v.Synthetic == "" {
			return v
		}
	}
	return nil
}

// alone refuses a literal where another function of its type begins at the same line: a closure is known by its file and line.
func (p *Loaded) alone(lit *ssa.Function) error {
	for fn := range ssautil.AllFunctions(p.ssa) {
		if fn != lit && fn.Synthetic == "" && fn.Pkg == lit.Pkg && p.Line(fn.Pos()) == p.Line(lit.Pos()) && types.Identical(withoutReceiver(fn.Signature), withoutReceiver(lit.Signature)) {
			return noFunction("two functions of one type begin at "+p.Line(lit.Pos())+", and a closure is known by its line", "write them on lines of their own")
		}
	}
	return nil
}

// Position is where the code of a function begins.
func (p *Loaded) Position(fn *ssa.Function) token.Position { return p.ssa.Fset.Position(fn.Pos()) }

// Declared is where a captured variable is declared.
func (p *Loaded) Declared(v *ssa.FreeVar) token.Position { return p.ssa.Fset.Position(v.Pos()) }

// capturedName is the name that a table has for a captured variable.
func capturedName(v *ssa.FreeVar) string { return v.Parent().Parent().String() + "." + v.Name() }

// capture enters the variables that the root has captured: each call reads what they hold. One that may change is not in a
// closure itself, so that no walk sees it.
func (w *walk) capture() {
	if w.root.Parent() == nil {
		return
	}
	for _, v := range w.root.FreeVars {
		t := pointee(v.Type())
		w.all.name(t)
		w.all.whole(t, Load, v.Pos())
		line := w.all.line(v.Pos())
		w.captured = append(w.captured, Global{capturedName(v), TypeName(t), Load, line, types.NewVar(v.Pos(), w.root.Pkg.Pkg, v.Name(), t), true})
		if at := w.p.Assigned(v); at.IsValid() {
			w.all.unknown(at, "an assignment of "+v.Name(), "a closure has captured the variable, of which it may have no copy; keep it in a struct")
		}
	}
}

// Assigned returns where a captured variable may be assigned once the closure is made: a store, or its address goes to other
// code. It is no position where there is no such place.
func (p *Loaded) Assigned(v *ssa.FreeVar) token.Pos {
	if at := stored(v, v.Referrers()); at.IsValid() {
		return at
	}
	k := slices.Index(v.Parent().FreeVars, v)
	for _, b := range v.Parent().Parent().Blocks {
		for _, i := range b.Instrs {
			made, ok := i.(*ssa.MakeClosure)
			if !ok || made.Fn != ssa.Value(v.Parent()) {
				continue
			}
			a, ok := made.Bindings[k].(*ssa.Alloc)
			if !ok {
				return made.Pos()
			}
			if at := storedAfter(a, made); at.IsValid() {
				return at
			}
		}
	}
	return token.NoPos
}

// storedAfter is stored for a variable of the function that makes a closure. Stores that no way leads to from there do not count.
func storedAfter(a *ssa.Alloc, made *ssa.MakeClosure) token.Pos {
	var others []ssa.Instruction
	for _, r := range *a.Referrers() {
		if s, ok := r.(*ssa.Store); ok && s.Val != ssa.Value(a) && !leads(made.Block(), s.Block()) && (made.Block() != s.Block() || before(s, made)) {
			continue
		}
		others = append(others, r)
	}
	return stored(a, &others)
}

// stored returns where code may store to a variable whose address it has, by what uses the address.
func stored(addr ssa.Value, users *[]ssa.Instruction) token.Pos {
	for _, r := range *users {
		switch r := r.(type) {
		case *ssa.UnOp, *ssa.DebugRef:
		case *ssa.FieldAddr:
			if at := stored(r, r.Referrers()); at.IsValid() {
				return at
			}
		case *ssa.IndexAddr:
			if at := stored(r, r.Referrers()); at.IsValid() {
				return at
			}
		case *ssa.MakeClosure:
			for k, b := range r.Bindings {
				if inner := r.Fn.(*ssa.Function).FreeVars[k]; b == addr {
					if at := stored(inner, inner.Referrers()); at.IsValid() {
						return at
					}
				}
			}
		default:
			return r.Pos()
		}
	}
	return token.NoPos
}
