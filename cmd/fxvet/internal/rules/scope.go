package rules

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/gofx-dev/gofx/cmd/fxvet/internal/flow"
)

// Scope reports calls of modules whose scope the graph loses.
var Scope = rule("fxscope", "reports calls of a field's Forward whose scope a graph loses, because the stack does not show the receiver", scope)

func scope(c *check) {
	c.calls(func(call *ast.CallExpr, fn *types.Func) {
		sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !ok || fn.Name() != "Forward" || fn.Signature().Recv() == nil || !c.flow.InCapture(call) {
			return
		}
		why := hidden(fn)
		if why == "" || !c.isField(sel.X) || !c.loses(fn) {
			return
		}
		text := c.text(sel.X)
		c.say(call, "", "the graph loses the scope of "+text+": its Forward "+why+"; nn.Run("+text+", ...) says it", c.runFix(call, sel, fn))
	})
}

// hidden says why a trace does not see whose Forward runs, "" when it does.
func hidden(fn *types.Func) string {
	if fn.Pkg() != nil && fn.Pkg().Path() == flow.Module+"nn" {
		return "" // layers, which are nodes
	}
	recv := fn.Signature().Recv().Type()
	p, ok := types.Unalias(recv).(*types.Pointer)
	if !ok {
		if _, isInterface := recv.Underlying().(*types.Interface); isInterface {
			return ""
		}
		return "is a method on a value"
	}
	if n, ok := types.Unalias(p.Elem()).(*types.Named); ok && n.TypeParams().Len() > 0 {
		return "is one of a generic type"
	}
	return ""
}

// loses reports whether a method calls an operator on nothing that is the module's own: whose
// that is, the operands do not tell either. Of other packages that is not known.
func (c *check) loses(fn *types.Func) bool {
	for _, f := range c.flow.Funcs {
		if flow.Object(f.Fn) != fn.Origin() || f.Fn.Parent() != nil {
			continue
		}
		for _, b := range f.Fn.Blocks {
			for _, in := range b.Instrs {
				call, ok := in.(*ssa.Call)
				if !ok {
					continue
				}
				callee, args := flow.Callee(call)
				if flow.Operator(flow.Object(callee)) != nil && !slices.ContainsFunc(args, func(a ssa.Value) bool { return f.Own(f.Of(a)) }) {
					return true
				}
			}
		}
	}
	return false
}

// isField reports whether an expression is a field of a variable, or an element of one.
func (c *check) isField(e ast.Expr) bool {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			s := c.TypesInfo.Selections[x]
			return s != nil && s.Kind() == types.FieldVal
		default:
			return false
		}
	}
}

// runFix calls the module by nn.Run, where its Forward takes and returns tensors alone.
func (c *check) runFix(call *ast.CallExpr, sel *ast.SelectorExpr, fn *types.Func) []analysis.SuggestedFix {
	sig := fn.Signature()
	if sig.Results().Len() != 1 || !flow.IsTensor(sig.Results().At(0).Type()) || sig.Variadic() || call.Ellipsis.IsValid() {
		return nil
	}
	for v := range sig.Params().Variables() {
		if !flow.IsTensor(v.Type()) {
			return nil
		}
	}
	run, edits := c.imported(call.Pos(), flow.Module+"nn")
	if run == "" {
		return nil
	}
	module := c.text(sel.X)
	if _, pointer := c.TypesInfo.TypeOf(sel.X).Underlying().(*types.Pointer); !pointer {
		module = "&" + module
	}
	args := []string{module}
	for _, a := range call.Args {
		args = append(args, c.text(a))
	}
	return fix("Call it by nn.Run", append(edits, replace(call, run+".Run("+strings.Join(args, ", ")+")"))...)
}
