package rules

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/gofx-dev/gofx/cmd/fxvet/internal/flow"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

// Keep reports traced values that outlive their trace.
var Keep = rule("fxkeep", "reports traced values that are kept in fields, global variables and channels, and values of a region that are used outside", keep)

func keep(c *check) {
	used := map[ssa.Instruction]bool{}
	for _, f := range c.flow.Funcs {
		c.leaks(f, used)
	}
	for _, f := range c.flow.Funcs {
		if !f.Reached() {
			continue
		}
		for _, s := range f.Stores {
			if !used[s.Instr] && f.Traced(s.Value) && keeps(stored(s.Instr)) && !c.takenBack(f, s) {
				c.kept(f, s)
			}
		}
		c.handed(f)
	}
}

// stored returns the value that an instruction stores.
func stored(in ssa.Instruction) ssa.Value {
	switch in := in.(type) {
	case *ssa.Store:
		return in.Val
	case *ssa.MapUpdate:
		return in.Value
	case *ssa.Send:
		return in.X
	}
	return nil
}

// keeps reports whether a value can keep a tensor: one, or what is made of tensors.
func keeps(v ssa.Value) bool {
	if m, ok := v.(*ssa.MakeInterface); ok {
		v = m.X
	}
	return v != nil && flow.MadeOfTensors(v.Type())
}

// kept reports a store to what outlives the trace.
func (c *check) kept(f *flow.Func, s flow.Store) {
	global, _ := s.Base.(*ssa.Global)
	if global == nil {
		global = source(s.Base)
	}
	_, sent := s.Instr.(*ssa.Send)
	switch {
	case global != nil:
		c.report(c.statement(f, s.Instr), tracer.Ended, "the global variable "+global.Name()+" keeps it")
	case !f.Held(s.Target):
	case sent:
		c.report(c.statement(f, s.Instr), tracer.Ended, "a channel of the module keeps it")
	default:
		code, where := tracer.Replaced, "a field of the module keeps a traced value"
		if name, left := fieldOf(s); name != "" {
			where = "field " + name + " keeps a traced value"
			if left {
				code, where = tracer.Ended, "field "+name+" keeps it, which is left out of the state"
			}
		}
		c.report(c.statement(f, s.Instr), code, where)
	}
}

// source returns the global variable that a loaded pointer, map or channel is in.
func source(v ssa.Value) *ssa.Global {
	base, _ := flow.Base(v)
	g, _ := base.(*ssa.Global)
	return g
}

// fieldOf returns the field that a store is to, or what is in that field, and whether its
// tag leaves it out of the state.
func fieldOf(s flow.Store) (name string, left bool) {
	var addr ssa.Value
	switch in := s.Instr.(type) {
	case *ssa.Store:
		addr = in.Addr
	case *ssa.MapUpdate:
		addr = in.Map
	}
	for addr != nil {
		switch a := addr.(type) {
		case *ssa.FieldAddr:
			st := a.X.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Struct)
			return st.Field(a.Field).Name(), tag(st.Tag(a.Field), "fx") == "-"
		case *ssa.IndexAddr:
			addr = a.X
		case *ssa.UnOp:
			addr = a.X
		default:
			return "", false
		}
	}
	return "", false
}

// takenBack reports whether the function puts nil into the place, too: what is there for the
// time of a call is not kept.
func (c *check) takenBack(f *flow.Func, s flow.Store) bool {
	for _, g := range append([]*flow.Func{f}, c.literals(f)...) {
		for _, b := range g.Fn.Blocks {
			for _, in := range b.Instrs {
				st, ok := in.(*ssa.Store)
				if !ok {
					continue
				}
				k, ok := st.Val.(*ssa.Const)
				name, _ := fieldOf(flow.Store{Instr: st})
				mine, _ := fieldOf(s)
				if ok && k.IsNil() && (name == mine && name != "" || st.Addr == s.Base) {
					return true
				}
			}
		}
	}
	return false
}

// literals returns the functions inside of a function.
func (c *check) literals(f *flow.Func) (out []*flow.Func) {
	for _, g := range c.flow.Funcs {
		if g.Fn.Parent() == f.Fn {
			out = append(append(out, g), c.literals(g)...)
		}
	}
	return out
}

// handed reports traced values given to containers of the standard library that outlive the trace.
func (c *check) handed(f *flow.Func) {
	for _, b := range f.Fn.Blocks {
		for _, in := range b.Instrs {
			call, ok := in.(ssa.CallInstruction)
			if !ok {
				continue
			}
			fn, args := flow.Callee(call)
			obj := flow.Object(fn)
			if obj == nil || obj.Pkg() == nil || obj.Pkg().Path() != "sync" && obj.Pkg().Path() != "sync/atomic" ||
				obj.Name() != "Store" && obj.Name() != "Swap" && obj.Name() != "LoadOrStore" || obj.Signature().Recv() == nil {
				continue
			}
			v := args[len(args)-1]
			expr := c.flow.Exprs[call.Pos()]
			owner := flow.Owner(args[0])
			if expr == nil || owner == nil || !f.Traced(f.Of(v)) || !keeps(v) {
				continue
			}
			if source(args[0]) != nil || f.Held(f.Self(owner)) {
				c.report(expr, tracer.Ended, fn.Signature.Recv().Type().String()+" keeps it")
			}
		}
	}
}

// statement returns the statement that an instruction comes from.
func (c *check) statement(f *flow.Func, in ssa.Instruction) ast.Node {
	var found ast.Node
	if f.Fn.Syntax() == nil {
		return position{in}
	}
	ast.Inspect(f.Fn.Syntax(), func(n ast.Node) bool {
		if n == nil || n.Pos() > in.Pos() || in.Pos() >= n.End() {
			return false
		}
		switch n := n.(type) {
		case *ast.AssignStmt, *ast.SendStmt:
			found = n
		}
		return true
	})
	if found == nil {
		return position{in}
	}
	return found
}

// position is an instruction as a place in the source.
type position struct{ ssa.Instruction }

func (p position) End() token.Pos { return p.Pos() }

// leaks reports uses of variables that a captured function, or a region, has put a value into
// that does not outlive it.
func (c *check) leaks(f *flow.Func, used map[ssa.Instruction]bool) {
	for _, b := range f.Fn.Blocks {
		for _, in := range b.Instrs {
			call, ok := in.(*ssa.Call)
			if !ok {
				continue
			}
			if arg := flow.Captures(call); arg != nil {
				c.leak(f, call, arg, tracer.Ended, "was kept by the function that "+name(call)+" captures", used)
			}
			if fn, _ := flow.Callee(call); flow.IsRegion(flow.Object(fn)) && f.Reached() {
				for _, a := range call.Call.Args {
					c.leak(f, call, a, tensor.RegionMismatch, "was made in a function of "+fn.Name()+" and is used outside of it", used)
				}
			}
		}
	}
}

func name(call *ssa.Call) string {
	fn, _ := flow.Callee(call)
	return fn.Name()
}

// leak reports uses, after a call, of what the literal that the call is given has kept.
func (c *check) leak(f *flow.Func, call *ssa.Call, arg ssa.Value, code diag.Code, detail string, used map[ssa.Instruction]bool) {
	lit, bindings := c.flow.Literal(arg)
	if lit == nil {
		return
	}
	for _, s := range lit.Stores {
		cell := s.Base
		for i, v := range lit.Fn.FreeVars {
			if v == cell {
				cell = bindings[i]
			}
		}
		_, global := cell.(*ssa.Global)
		_, local := cell.(*ssa.Alloc)
		if !global && !local || len(s.Path) > 0 || !lit.Traced(s.Value) || !keeps(stored(s.Instr)) || outer(stored(s.Instr)) {
			continue
		}
		for _, use := range usesAfter(f, call, cell) {
			if expr := c.flow.Exprs[use.Pos()]; expr != nil {
				used[s.Instr] = true
				c.report(expr, code, "the value of "+variable(cell)+" "+detail)
			}
		}
	}
}

// variable is the name of a variable.
func variable(cell ssa.Value) string {
	if a, ok := cell.(*ssa.Alloc); ok {
		return a.Comment
	}
	return cell.Name()
}

// outer reports whether a value comes from outside of the literal that stores it.
func outer(v ssa.Value) bool {
	u, ok := v.(*ssa.UnOp)
	if !ok {
		return false
	}
	base, _ := flow.Base(u)
	_, free := base.(*ssa.FreeVar)
	return free
}

// usesAfter returns the calls of package tensor after a call that are given what a variable
// holds, none if the function assigns the variable after the call.
func usesAfter(f *flow.Func, call *ssa.Call, cell ssa.Value) (out []*ssa.Call) {
	for _, b := range f.Fn.Blocks {
		for _, in := range b.Instrs {
			if st, ok := in.(*ssa.Store); ok && st.Addr == cell && after(call, st) {
				return nil
			}
			load, ok := in.(*ssa.UnOp)
			if !ok || load.X != cell || !after(call, load) {
				continue
			}
			for _, ref := range *load.Referrers() {
				if use, ok := ref.(*ssa.Call); ok {
					if fn, _ := flow.Callee(use); flow.InTensor(flow.Object(fn)) {
						out = append(out, use)
					}
				}
			}
		}
	}
	return out
}

// after reports whether an instruction runs after a call only.
func after(call *ssa.Call, in ssa.Instruction) bool {
	if call.Block() != in.Block() {
		return call.Block().Dominates(in.Block())
	}
	for _, other := range in.Block().Instrs {
		switch other {
		case ssa.Instruction(call):
			return true
		case in:
			return false
		}
	}
	return false
}
