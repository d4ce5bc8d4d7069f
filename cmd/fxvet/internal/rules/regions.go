package rules

import (
	"go/constant"
	"go/types"
	"strconv"

	"golang.org/x/tools/go/ssa"

	"github.com/gofx-dev/gofx/cmd/fxvet/internal/flow"
	"github.com/gofx-dev/gofx/tensor"
)

// region is one call of Cond, While, WhileAtMost or Scan with a traced operand.
type region struct {
	f         *flow.Func
	call      *ssa.Call
	name      string
	functions []*flow.Func // literals, in order
}

// regions reports functions of Cond, While and Scan that do not fit.
func regions(c *check) {
	for _, f := range c.flow.Funcs {
		if !f.Reached() {
			continue
		}
		for _, b := range f.Fn.Blocks {
			for _, in := range b.Instrs {
				if call, ok := in.(*ssa.Call); ok {
					if fn, _ := flow.Callee(call); flow.IsRegion(flow.Object(fn)) {
						c.region(region{f: f, call: call, name: fn.Name()})
					}
				}
			}
		}
	}
}

func (c *check) region(r region) {
	traced := false
	for _, a := range r.call.Call.Args {
		traced = traced || r.f.Traced(r.f.Of(a))
		if lit, _ := c.flow.Literal(a); lit != nil {
			r.functions = append(r.functions, lit)
		}
	}
	if !traced || len(r.functions) == 0 {
		return
	}
	args := r.call.Call.Args
	in := length(args[len(args)-1])
	switch {
	case r.name == "Cond" && len(r.functions) == 2:
		a, b := returned(r.functions[0], in), returned(r.functions[1], in)
		c.counts(r, a, b, "the functions return "+tensors(a)+" and "+tensors(b))
	case r.name == "Scan":
		carry := length(args[1])
		n := returned(r.functions[0], carry)
		c.counts(r, carry, n, "the loop carries "+tensors(carry)+", and its body returns "+tensors(n)+" for them")
	case len(r.functions) == 2: // a loop
		n := returned(r.functions[1], in)
		c.counts(r, in, n, "the loop carries "+tensors(in)+", and its body returns "+tensors(n))
		c.replaced(r.functions[1])
	}
}

func tensors(n int) string {
	if n == 1 {
		return "1 tensor"
	}
	return strconv.Itoa(n) + " tensors"
}

// counts reports two numbers of tensors that are known and differ.
func (c *check) counts(r region, a, b int, detail string) {
	if call := c.flow.Exprs[r.call.Pos()]; call != nil && a >= 0 && b >= 0 && a != b {
		c.report(call, tensor.RegionMismatch, detail)
	}
}

// length returns how many elements a list has that is written out, -1 where that is not known.
func length(v ssa.Value) int {
	switch v := v.(type) {
	case *ssa.Const:
		if v.IsNil() {
			return 0
		}
	case *ssa.Slice:
		if p, ok := v.X.Type().Underlying().(*types.Pointer); ok && v.Low == nil && v.High == nil {
			if a, ok := p.Elem().Underlying().(*types.Array); ok {
				return int(a.Len())
			}
		}
	}
	return -1
}

// returned returns how many tensors a function returns as its first result, given so many;
// -1 where that is not known.
func returned(f *flow.Func, given int) int {
	n := -1
	for i, list := range results(f) {
		m := length(list)
		if p, ok := list.(*ssa.Parameter); ok && len(f.Fn.Params) > 0 && p == f.Fn.Params[0] {
			m = given
		}
		if m < 0 || i > 0 && m != n {
			return -1
		}
		n = m
	}
	return n
}

// results returns the first results of the returns of a function.
func results(f *flow.Func) (out []ssa.Value) {
	for _, b := range f.Fn.Blocks {
		if ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok && len(ret.Results) > 0 {
			out = append(out, ret.Results[0])
		}
	}
	return out
}

// replaced reports writes in a loop to a carried tensor in whose place the body returns
// another one.
func (c *check) replaced(body *flow.Func) {
	lists := results(body)
	for _, w := range body.Writes {
		_, args := flow.Callee(w.Call)
		call := c.flow.Exprs[w.Call.Pos()]
		k, ok := carried(body, args[0])
		if !ok || call == nil || w.In != "" {
			continue
		}
		for _, list := range lists {
			if v := elementOf(list, k); v != nil {
				if i, same := carried(body, v); !same || i != k {
					c.report(call, tensor.RegionMismatch, w.What+" writes to a carried tensor, in whose place the loop's body returns another one")
				}
			}
		}
	}
}

// carried returns which carried tensor of a loop's body a value is, or a view of.
func carried(body *flow.Func, v ssa.Value) (k int, ok bool) {
	for {
		switch x := v.(type) {
		case *ssa.UnOp:
			at, isElement := x.X.(*ssa.IndexAddr)
			if !isElement || len(body.Fn.Params) == 0 || at.X != body.Fn.Params[0] {
				return 0, false
			}
			return number(at.Index)
		case *ssa.Call:
			fn, args := flow.Callee(x)
			if !flow.Aliases(flow.Object(fn)) || len(args) == 0 {
				return 0, false
			}
			v = args[0]
		default:
			return 0, false
		}
	}
}

func number(v ssa.Value) (int, bool) {
	c, ok := v.(*ssa.Const)
	if !ok || c.Value == nil {
		return 0, false
	}
	i, ok := constant.Int64Val(constant.ToInt(c.Value))
	return int(i), ok
}

// elementOf returns what a list that is written out has at a place, nil where that is not known.
func elementOf(list ssa.Value, k int) (v ssa.Value) {
	s, ok := list.(*ssa.Slice)
	if !ok || s.X.Referrers() == nil {
		return nil
	}
	for _, ref := range *s.X.Referrers() {
		at, ok := ref.(*ssa.IndexAddr)
		if !ok {
			continue
		}
		i, known := number(at.Index)
		if !known {
			return nil
		}
		if i != k {
			continue
		}
		for _, use := range *at.Referrers() {
			if st, ok := use.(*ssa.Store); ok && st.Addr == at {
				if v != nil {
					return nil
				}
				v = st.Val
			}
		}
	}
	return v
}
