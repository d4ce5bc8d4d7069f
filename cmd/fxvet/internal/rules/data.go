package rules

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/gofx-dev/gofx/cmd/fxvet/internal/flow"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/tracer"
)

// Data reports reads of data and of sizes as numbers.
var Data = rule("fxdata", "reports reads of data, and of sizes as numbers, of what comes from an input of a captured function", data)

// sizes is the flag for models that are captured for inputs of fixed sizes alone.
var sizes bool

func init() {
	Data.Flags.BoolVar(&sizes, "sizes", true, "report sizes that are asked for as numbers (FX1005); false where the inputs' types fix all sizes")
}

func data(c *check) {
	for _, f := range c.flow.Funcs {
		for _, r := range f.Reads {
			call := c.flow.Exprs[r.Call.Pos()]
			code := diag.Code(r.Code)
			if call == nil || !f.Traced(r.Bits) || code != tracer.DataRead && (code != tracer.UnknownSize || !sizes) {
				continue
			}
			detail := strings.TrimPrefix(r.What, "Tensor.")
			if r.In != "" {
				detail += " in " + r.In
			}
			c.report(call, code, detail, c.dataFixes(call, r)...)
			if loop := c.loop(call); loop != nil {
				c.report(call, tracer.Brake, "the condition of the loop asks for "+detail+" in each round; loop with tensor.While")
			}
		}
	}
}

// loop returns the loop whose condition a call is part of, where the loop changes the tensor
// and no number in the condition.
func (c *check) loop(call *ast.CallExpr) *ast.ForStmt {
	for _, p := range c.parents(call) {
		loop, ok := p.(*ast.ForStmt)
		if !ok {
			continue
		}
		if loop.Cond == nil || call.Pos() < loop.Cond.Pos() || loop.Cond.End() < call.End() {
			return nil
		}
		assigned := c.assigned(loop)
		tensors, numbers := false, false
		ast.Inspect(loop.Cond, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && assigned[c.TypesInfo.Uses[id]] {
				if flow.IsTensor(c.TypesInfo.TypeOf(id)) {
					tensors = true
				} else {
					numbers = true
				}
			}
			return true
		})
		if tensors && !numbers {
			return loop
		}
		return nil
	}
	return nil
}

// assigned returns the variables that the rounds of a loop assign.
func (c *check) assigned(loop *ast.ForStmt) map[types.Object]bool {
	out := map[types.Object]bool{}
	note := func(e ast.Expr) {
		if id, ok := e.(*ast.Ident); ok {
			out[c.TypesInfo.ObjectOf(id)] = true
		}
	}
	look := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				note(e)
			}
		case *ast.IncDecStmt:
			note(n.X)
		}
		return true
	}
	ast.Inspect(loop.Body, look)
	if loop.Post != nil {
		ast.Inspect(loop.Post, look)
	}
	delete(out, nil)
	return out
}
