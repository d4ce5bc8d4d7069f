package rules

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/gofx-dev/gofx/cmd/fxvet/internal/flow"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/api"
)

// dataFixes are the ways to do without a read.
func (c *check) dataFixes(call *ast.CallExpr, r flow.Read) []analysis.SuggestedFix {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || r.In != "" {
		return nil
	}
	switch r.What {
	case "Tensor.Dim":
		return c.sizeFix(call, sel)
	case "Tensor.Item":
		if f := c.operandFix(call, sel); f != nil {
			return f
		}
		return c.condFix(call, sel)
	case "Tensor.Bool":
		return c.condFix(call, sel)
	}
	return nil
}

// sizeFix asks for a Size instead of a number, where all that is done with the number is that an
// operator gets it as a size.
func (c *check) sizeFix(call *ast.CallExpr, sel *ast.SelectorExpr) []analysis.SuggestedFix {
	parents := c.parents(call)
	if len(parents) == 0 {
		return nil
	}
	edit := replace(sel.Sel, "Size")
	if c.isSize(call, parents[0]) {
		return fix("Use Size", edit)
	}
	define, ok := parents[0].(*ast.AssignStmt)
	if !ok || define.Tok != token.DEFINE || len(define.Lhs) != len(define.Rhs) {
		return nil
	}
	for i, e := range define.Rhs {
		if ast.Unparen(e) != call {
			continue
		}
		if id, ok := define.Lhs[i].(*ast.Ident); ok && c.onlySizes(id) {
			return fix("Use Size", edit)
		}
	}
	return nil
}

// isSize reports whether an expression is an argument that an operator takes as a size.
func (c *check) isSize(e ast.Expr, parent ast.Node) bool {
	call, ok := parent.(*ast.CallExpr)
	if !ok {
		return false
	}
	fn, ok := c.flow.Callee(call)
	o := flow.Operator(fn)
	if !ok || o == nil {
		return false
	}
	params := o.Params
	if fn.Signature().Recv() != nil {
		params = params[1:]
	}
	for i, a := range call.Args {
		if ast.Unparen(a) != e || len(params) == 0 {
			continue
		}
		p := params[min(i, len(params)-1)]
		return (i < len(params) || p.Variadic) && (p.Kind == api.Dim || p.Kind == api.Dims)
	}
	return false
}

// onlySizes reports whether a variable is defined once and is then a size of operators alone.
func (c *check) onlySizes(id *ast.Ident) bool {
	obj := c.TypesInfo.Defs[id]
	if obj == nil {
		return false
	}
	only, uses := true, 0
	for _, f := range c.Files {
		if f.FileStart > id.Pos() || id.Pos() > f.FileEnd {
			continue
		}
		var path []ast.Node
		ast.Inspect(f, func(n ast.Node) bool {
			if n == nil {
				path = path[:len(path)-1]
				return true
			}
			if use, ok := n.(*ast.Ident); ok && c.TypesInfo.Uses[use] == obj {
				uses++
				only = only && len(path) > 0 && c.isSize(use, path[len(path)-1])
			}
			path = append(path, n)
			return true
		})
	}
	return only && uses > 0
}

// operandFix gives the tensor itself in place of its number: x.MulScalar(s.Sum().Item()) is
// x.Mul(s.Sum()).
func (c *check) operandFix(call *ast.CallExpr, sel *ast.SelectorExpr) []analysis.SuggestedFix {
	parents := c.parents(call)
	outer, ok := parents[0].(*ast.CallExpr)
	if !ok || !c.scalar(sel.X) {
		return nil
	}
	fn, ok := c.flow.Callee(outer)
	o := flow.Operator(fn)
	name, isSelector := outer.Fun.(*ast.SelectorExpr)
	if !ok || o == nil || o.Form != api.Number || !isSelector {
		return nil
	}
	place := len(o.Params) - 1
	for i, p := range o.Params {
		if p.Kind == api.Scalar {
			place = i
		}
	}
	if fn.Signature().Recv() != nil {
		place--
	}
	if place < 0 || place >= len(outer.Args) || ast.Unparen(outer.Args[place]) != call {
		return nil
	}
	plain, inPlace := strings.TrimSuffix(fn.Name(), "InPlace"), ""
	if plain != fn.Name() {
		inPlace = "InPlace"
	}
	return fix("Use the tensor as an operand", replace(name.Sel, strings.TrimSuffix(plain, "Scalar")+inPlace), replace(outer.Args[place], c.text(sel.X)))
}

// scalar reports whether an expression is a tensor without axes for certain: a reduction over
// all of them.
func (c *check) scalar(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	fn, ok := c.flow.Callee(call)
	o := flow.Operator(fn)
	if !ok || o == nil || !reduces(o) {
		return false
	}
	if fn.Signature().Recv() != nil {
		return len(call.Args) == 0
	}
	return len(call.Args) == 1
}

// reduces reports whether a function of one tensor reduces over all axes when it is given none.
func reduces(o *api.Func) bool {
	return o.Op.Class == op.Reduction && len(o.Op.In) == 1 && o.Results == nil && (len(o.Params) == 1 || len(o.Params) == 2 && o.Params[1].Variadic)
}

// comparisons are the operators that compare a tensor with a number.
var comparisons = map[token.Token]string{token.GTR: "Gt", token.LSS: "Lt", token.GEQ: "Ge", token.LEQ: "Le", token.EQL: "Eq", token.NEQ: "Ne"}

// condFix makes a tensor.Cond of an if that only chooses what a variable is, or what is returned.
func (c *check) condFix(call *ast.CallExpr, sel *ast.SelectorExpr) []analysis.SuggestedFix {
	var stmt *ast.IfStmt
	parents := c.parents(call)
	pred := c.predicate(call, sel, parents)
	for i, p := range parents {
		if s, ok := p.(*ast.IfStmt); ok && i <= 1 && s.Init == nil {
			stmt = s
		}
	}
	pkg := c.name(call.Pos(), flow.Module+"tensor")
	if stmt == nil || pred == "" || pkg == "" {
		return nil
	}
	block, at := c.siblings(stmt)
	if block == nil {
		return nil
	}
	target, yes := c.only(stmt.Body.List)
	no, end := "", stmt.End()
	switch {
	case yes == "":
		return nil
	case stmt.Else != nil:
		other, ok := stmt.Else.(*ast.BlockStmt)
		if !ok {
			return nil
		}
		name := ""
		if name, no = c.only(other.List); no == "" || name != target {
			return nil
		}
	case target != "":
		no = target
	default: // return in the if, and after it
		if at+1 >= len(block) {
			return nil
		}
		name := "-"
		if name, no = c.only(block[at+1 : at+2]); no == "" || name != "" {
			return nil
		}
		end = block[at+1].End()
	}
	list := "[]*" + pkg + ".Tensor"
	branch := func(result string) string {
		return "func(" + list + ") " + list + " {\nreturn " + list + "{" + result + "}\n}"
	}
	text := pkg + ".Cond(" + pred + ", " + branch(yes) + ", " + branch(no) + ")[0]"
	if target != "" {
		text = target + " = " + text
	} else {
		text = "return " + text
	}
	return fix("Branch with tensor.Cond", analysis.TextEdit{Pos: stmt.Pos(), End: end, NewText: []byte(text)})
}

// predicate writes the condition of an if as a tensor: a comparison of Item with a whole number, or
// Bool of a tensor without axes.
func (c *check) predicate(call *ast.CallExpr, sel *ast.SelectorExpr, parents []ast.Node) string {
	if !c.scalar(sel.X) || len(parents) == 0 {
		return ""
	}
	of := c.text(sel.X)
	if sel.Sel.Name == "Bool" {
		if s, ok := parents[0].(*ast.IfStmt); ok && ast.Unparen(s.Cond) == call {
			return of + ".NeScalar(0)"
		}
		return ""
	}
	cmp, ok := parents[0].(*ast.BinaryExpr)
	if !ok || len(parents) < 2 || ast.Unparen(cmp.X) != call {
		return ""
	}
	if s, ok := parents[1].(*ast.IfStmt); !ok || ast.Unparen(s.Cond) != cmp {
		return ""
	}
	v := c.TypesInfo.Types[cmp.Y].Value
	if v == nil || constant.ToInt(v).Kind() != constant.Int || comparisons[cmp.Op] == "" {
		return ""
	}
	if n, exact := constant.Int64Val(constant.ToInt(v)); !exact || n > 1<<20 || n < -1<<20 {
		return ""
	}
	return of + "." + comparisons[cmp.Op] + "Scalar(" + constant.ToInt(v).ExactString() + ")"
}

// siblings returns the statements that a statement is one of, and its place.
func (c *check) siblings(stmt ast.Stmt) (list []ast.Stmt, at int) {
	for _, f := range c.Files {
		if f.FileStart > stmt.Pos() || stmt.Pos() > f.FileEnd {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if b, ok := n.(*ast.BlockStmt); ok {
				for i, s := range b.List {
					if s == stmt {
						list, at = b.List, i
					}
				}
			}
			return true
		})
	}
	return list, at
}

// only returns the variable and the value of statements that are one assignment of a tensor to
// a local variable, or one return of a tensor, whose variable is "". The value is "" for others.
func (c *check) only(list []ast.Stmt) (target, value string) {
	if len(list) != 1 {
		return "", ""
	}
	switch s := list[0].(type) {
	case *ast.AssignStmt:
		if s.Tok != token.ASSIGN || len(s.Lhs) != 1 || len(s.Rhs) != 1 {
			return "", ""
		}
		id, ok := s.Lhs[0].(*ast.Ident)
		if !ok || !c.local(id) || !c.plain(s.Rhs[0]) {
			return "", ""
		}
		return id.Name, c.text(s.Rhs[0])
	case *ast.ReturnStmt:
		if len(s.Results) == 1 && c.plain(s.Results[0]) {
			return "", c.text(s.Results[0])
		}
	}
	return "", ""
}

// local reports whether a variable is one of a function.
func (c *check) local(id *ast.Ident) bool {
	v, ok := c.TypesInfo.ObjectOf(id).(*types.Var)
	return ok && v.Parent() != nil && v.Parent() != c.Pkg.Scope()
}

// plain reports whether an expression is a tensor computed by operators without other effects.
func (c *check) plain(e ast.Expr) bool {
	if !flow.IsTensor(c.TypesInfo.TypeOf(e)) || c.TypesInfo.Types[e].IsNil() {
		return false
	}
	plain := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			fn, ok := c.flow.Callee(n)
			o := flow.Operator(fn)
			plain = plain && ok && o != nil && fn.Name() != o.InPlace
		case *ast.FuncLit, *ast.IndexExpr, *ast.StarExpr:
			plain = false
		}
		return plain
	})
	return plain
}
