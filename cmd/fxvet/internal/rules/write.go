package rules

import (
	"go/ast"

	"golang.org/x/tools/go/analysis"

	"github.com/gofx-dev/gofx/cmd/fxvet/internal/flow"
	"github.com/gofx-dev/gofx/tracer"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// Write reports writes in place that a graph does not make, and regions that do not fit.
var Write = rule("fxwrite", "reports writes in place to inputs and to expanded tensors, and functions of Cond, While and Scan that do not fit", write)

func write(c *check) {
	for _, f := range c.flow.Funcs {
		for _, w := range f.Writes {
			call := c.flow.Exprs[w.Call.Pos()]
			if call == nil || !f.Reached() {
				continue
			}
			detail := w.What
			if w.In != "" {
				detail += " in " + w.In
			}
			switch {
			case f.Input(w.Bits) && f.Surely(w):
				c.report(call, tracer.InputWrite, detail, c.cloneFix(f, call, w)...)
			case w.Bits.Same&flow.Expanded != 0 && f.Traced(w.Bits):
				c.report(call, alias.NoInverse, detail)
			}
		}
	}
	regions(c)
}

// cloneFix clones what is written before the write, in a statement that writes to a variable:
// that becomes the clone, so that what follows sees the write. A function that others call
// may write for its callers.
func (c *check) cloneFix(f *flow.Func, call *ast.CallExpr, w flow.Write) []analysis.SuggestedFix {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || w.In != "" || !f.Root() {
		return nil
	}
	id, ok := ast.Unparen(sel.X).(*ast.Ident)
	parents := c.parents(call)
	if !ok || len(parents) < 2 {
		return nil
	}
	stmt, ok := parents[0].(*ast.ExprStmt)
	if !ok {
		return nil
	}
	if _, ok := parents[1].(*ast.BlockStmt); !ok {
		return nil
	}
	for _, p := range parents {
		switch p.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.FuncLit:
			return nil // what the variable is at the next round, or outside, is not known
		}
	}
	return fix("Clone "+id.Name+" first", analysis.TextEdit{Pos: stmt.Pos(), End: stmt.Pos(), NewText: []byte(id.Name + " = " + id.Name + ".Clone()\n")})
}
