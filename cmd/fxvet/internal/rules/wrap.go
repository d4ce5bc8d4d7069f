package rules

import (
	"go/ast"
	"go/types"
	"strconv"

	"github.com/gofx-dev/gofx/cmd/fxvet/internal/flow"
	"github.com/gofx-dev/gofx/tensor"
)

// Wrap reports what tensor.Wrap refuses.
var Wrap = rule("fxwrap", "reports literals, methods and functions of other values than tensors that are given to tensor.Wrap", wrap)

func wrap(c *check) {
	c.calls(func(call *ast.CallExpr, fn *types.Func) {
		if !flow.Is(fn, "tensor.Wrap") && !flow.Is(fn, "tensor.WrapPure") || len(call.Args) == 0 {
			return
		}
		arg := ast.Unparen(call.Args[0])
		sig, ok := c.TypesInfo.TypeOf(arg).Underlying().(*types.Signature)
		if !ok {
			return
		}
		if what := c.nameless(arg); what != "" {
			c.report(call, tensor.BadWrap, "the function is "+what+", expected a top-level function")
			return
		}
		for i := range sig.Params().Len() {
			t := sig.Params().At(i).Type()
			if sig.Variadic() && i == sig.Params().Len()-1 {
				t = t.(*types.Slice).Elem()
			}
			if !flow.IsTensor(t) {
				c.report(call, tensor.BadWrap, "parameter "+strconv.Itoa(i)+" is a "+c.typeName(t)+", expected *tensor.Tensor")
				return
			}
		}
		for i := range sig.Results().Len() {
			if t := sig.Results().At(i).Type(); !flow.IsTensor(t) {
				c.report(call, tensor.BadWrap, "result "+strconv.Itoa(i)+" is a "+c.typeName(t)+", expected *tensor.Tensor")
				return
			}
		}
	})
}

func (c *check) typeName(t types.Type) string { return types.TypeString(t, types.RelativeTo(c.Pkg)) }

// nameless says what keeps a function from having a name of its own, "" when it has one or
// that is not known.
func (c *check) nameless(arg ast.Expr) string {
	switch arg := arg.(type) {
	case *ast.FuncLit:
		return "a literal"
	case *ast.SelectorExpr:
		if s := c.TypesInfo.Selections[arg]; s != nil && (s.Kind() == types.MethodVal || s.Kind() == types.MethodExpr) {
			return "a method"
		}
	}
	return ""
}
