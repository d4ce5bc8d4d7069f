package effects

import (
	"cmp"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// Tell is a call that tells people something, and that is made again for a call that is replayed: of words that the
// function does not store, so that it says the same.
type Tell struct {
	Line, What string
	Package    string   // of the function
	Name       string   // of the function, or of the method
	Receiver   *Operand // nil for a function
	Args       []Operand
}

// Operand is a value that a call is given: a constant, or a word by its way from an argument or a global.
type Operand struct {
	Const  any        // bool, string, a number of Go's types
	Arg    int        // the number of an argument, from 1
	Global *types.Var // where Arg is 0, and it is no constant
	Fields []string
}

// telling lists the functions that may be made again.
var telling = map[string]string{
	"log":      "Print Printf Println Logger.Print Logger.Printf Logger.Println",
	"log/slog": "Debug Info Warn Error Logger.Debug Logger.Info Logger.Warn Logger.Error",
	"expvar":   "Int.Add Int.Set Float.Add Float.Set String.Set Map.Add Map.AddFloat",
}

// tells takes the calls out of a list that can be made again, in their order: the root makes each of them exactly once
// whenever it returns.
func (r *reach) tells(list []spot) (rest []spot, all []Tell) {
	root := r.w.root
	if !r.rooted() || pathOf(root) != r.w.p.Package.PkgPath {
		return list, nil
	}
	type made struct {
		Tell
		at    *ssa.BasicBlock
		index int
	}
	var found []made
	for _, s := range list {
		call, ok := s.call.(*ssa.Call)
		if !ok || s.fn != root || !returns(s.at) || again(s.at) {
			rest = append(rest, s)
			continue
		}
		p, ok := r.tell(call)
		if !ok {
			rest = append(rest, s)
			continue
		}
		p.Line, p.What = s.Line, s.What
		found = append(found, made{p, s.at, slices.Index(s.at.Instrs, ssa.Instruction(call))})
	}
	slices.SortFunc(found, func(a, b made) int {
		switch {
		case a.at == b.at:
			return cmp.Compare(a.index, b.index)
		case a.at.Dominates(b.at):
			return -1
		}
		return 1
	})
	for _, m := range found {
		all = append(all, m.Tell)
	}
	return rest, all
}

// again reports whether a block may be run twice in one call.
func again(b *ssa.BasicBlock) bool { return leads(b, b) }

// leads reports whether a block may be run after another one.
func leads(from, to *ssa.BasicBlock) bool {
	seen := map[*ssa.BasicBlock]bool{}
	var visit func(from *ssa.BasicBlock) bool
	visit = func(from *ssa.BasicBlock) bool {
		for _, s := range from.Succs {
			if s == to {
				return true
			}
			if !seen[s] {
				if seen[s] = true; visit(s) {
					return true
				}
			}
		}
		return false
	}
	return visit(from)
}

// tell reads one call.
func (r *reach) tell(call *ssa.Call) (p Tell, ok bool) {
	fn := call.Call.StaticCallee()
	if fn == nil || !slices.Contains(strings.Fields(telling[pathOf(fn)]), key(fn)) || len(*call.Referrers()) > 0 {
		return p, false
	}
	p.Package, p.Name = pathOf(fn), fn.Name()
	args := call.Call.Args
	if fn.Signature.Recv() != nil {
		e, ok := r.expr(args[0])
		if !ok {
			return p, false
		}
		p.Receiver, args = &e, args[1:]
	}
	if fn.Signature.Variadic() {
		n := len(args) - 1
		list, ok := elements(args[n])
		if !ok {
			return p, false
		}
		args = append(slices.Clone(args[:n]), list...)
	}
	for i, v := range args {
		if i >= fn.Signature.Params().Len()-1 && fn.Signature.Variadic() {
			if _, basic := types.Unalias(v.Type()).(*types.Basic); !basic { // it might have methods, or insides
				return p, false
			}
		}
		e, ok := r.expr(v)
		if !ok || strings.HasSuffix(p.Name, "Printf") && i == 0 && e.Const == nil {
			return p, false
		}
		p.Args = append(p.Args, e)
	}
	return p, true
}

// elements lists the values of variadic arguments that are interfaces.
func elements(last ssa.Value) ([]ssa.Value, bool) {
	if k, ok := last.(*ssa.Const); ok && k.IsNil() {
		return nil, true
	}
	s, ok := last.(*ssa.Slice)
	if !ok {
		return nil, false
	}
	made, ok := s.X.(*ssa.Alloc)
	if !ok {
		return nil, false
	}
	list := make([]ssa.Value, pointee(made.Type()).Underlying().(*types.Array).Len())
	for _, ref := range *made.Referrers() {
		at, ok := ref.(*ssa.IndexAddr)
		if !ok {
			continue
		}
		k, ok := at.Index.(*ssa.Const)
		if !ok || len(*at.Referrers()) != 1 {
			return nil, false
		}
		st, ok := (*at.Referrers())[0].(*ssa.Store)
		if !ok {
			return nil, false
		}
		m, ok := st.Val.(*ssa.MakeInterface)
		if !ok {
			return nil, false
		}
		list[k.Int64()] = m.X
	}
	return list, !slices.Contains(list, nil)
}

// expr reads the value of an argument.
func (r *reach) expr(v ssa.Value) (e Operand, ok bool) {
	switch v := v.(type) {
	case *ssa.Const:
		return constantOf(v)
	case *ssa.Parameter:
		i := slices.Index(r.w.root.Params, v)
		return Operand{Arg: i + 1}, i >= 0
	case *ssa.UnOp:
		if v.Op == token.MUL {
			return r.loaded(v.X)
		}
	}
	return e, false
}

// loaded is what lies at an address that no code of the function stores to.
func (r *reach) loaded(addr ssa.Value) (e Operand, ok bool) {
	switch at := addr.(type) {
	case *ssa.Global:
		g, ok := at.Object().(*types.Var)
		return Operand{Global: g}, ok && r.globals[globalName(at)]
	case *ssa.FieldAddr:
		f := pointee(at.X.Type()).Underlying().(*types.Struct).Field(at.Field)
		c, ok := fieldWord(pointee(at.X.Type()), at.Field)
		_, within := f.Type().Underlying().(*types.Struct) // whose own fields have entries
		if !ok || !within && !r.kept[word{c.Type, c.Name}] || !f.Exported() && f.Pkg() != r.w.p.Package.Types {
			return e, false
		}
		if e, ok = r.expr(at.X); !ok { // of a struct within a struct
			_, within := at.X.(*ssa.FieldAddr)
			if _, global := at.X.(*ssa.Global); !within && !global {
				return e, false
			}
			if e, ok = r.loaded(at.X); !ok {
				return e, false
			}
		}
		e.Fields = append(slices.Clone(e.Fields), f.Name())
		return e, e.Const == nil
	}
	return e, false
}

// constantOf is the value of a constant of a basic type.
func constantOf(k *ssa.Const) (e Operand, ok bool) {
	t, ok := k.Type().Underlying().(*types.Basic)
	if !ok || k.Value == nil {
		return e, false
	}
	switch t.Kind() {
	case types.Bool:
		e.Const = constant.BoolVal(k.Value)
	case types.String:
		e.Const = constant.StringVal(k.Value)
	case types.Int:
		n, exact := constant.Int64Val(constant.ToInt(k.Value))
		e.Const, ok = int(n), exact
	case types.Int64:
		e.Const, ok = constant.Int64Val(constant.ToInt(k.Value))
	case types.Float64:
		e.Const, ok = constant.Float64Val(constant.ToFloat(k.Value))
	default:
		return e, false
	}
	return e, ok
}
