package fix

import (
	"go/ast"
	"go/token"

	"github.com/gofx-dev/gofx/op/api"
)

// maxChain bounds how many declarations the search for a type follows.
const maxChain = 100

// isTensor reports whether the file shows that an expression is a tensor.
func (r *rewriter) isTensor(e ast.Expr) bool { return r.tensor(e, maxChain) }

func (r *rewriter) tensor(e ast.Expr, depth int) bool {
	if depth == 0 {
		return false
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return r.tensor(e.X, depth-1)
	case *ast.Ident:
		t, value := declared(e)
		return t != nil && r.isTensorType(t) || value != nil && r.tensor(value, depth-1)
	case *ast.CallExpr:
		if pkg, name := r.declaration(e.Fun); pkg == pkgTensor {
			return r.single[name]
		}
		sel, ok := e.Fun.(*ast.SelectorExpr)
		return ok && r.single[sel.Sel.Name] && r.tensor(sel.X, depth-1)
	}
	return false
}

// singles lists the functions and methods of package tensor that return one tensor.
func singles() map[string]bool {
	out := map[string]bool{"New": true, "Scalar": true, "FromSlice": true, "CallOp": true, "Param": true, "At": true}
	for _, o := range api.Ops() {
		for _, f := range api.Of(o) {
			out[f.Name] = !f.List && f.Results == nil
			if f.InPlace != "" {
				out[f.InPlace] = true
			}
		}
	}
	return out
}

// isTensorType reports whether a type is *tensor.Tensor.
func (r *rewriter) isTensorType(t ast.Expr) bool {
	if id, ok := t.(*ast.Ident); ok && id.Obj != nil {
		if s, ok := id.Obj.Decl.(*ast.TypeSpec); ok && s.Assign.IsValid() { // a name for it
			t = s.Type
		}
	}
	star, ok := t.(*ast.StarExpr)
	if !ok {
		return false
	}
	pkg, name := r.declaration(star.X)
	return pkg == pkgTensor && name == "Tensor"
}

// isOther reports whether the file shows that an expression is no tensor.
func (r *rewriter) isOther(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	if !ok {
		return false
	}
	typ, value := declared(id)
	_, literal := value.(*ast.CompositeLit)
	return literal || typ != nil && !r.isTensorType(typ)
}

// declared returns the type or the value that an identifier is declared with, nil where
// the file does not show it.
func declared(id *ast.Ident) (typ, value ast.Expr) {
	if id.Obj == nil {
		return nil, nil
	}
	switch d := id.Obj.Decl.(type) {
	case *ast.Field:
		return d.Type, nil
	case *ast.ValueSpec:
		if d.Type != nil || len(d.Values) != len(d.Names) {
			return d.Type, nil
		}
		for i, n := range d.Names {
			if n.Obj == id.Obj {
				return nil, d.Values[i]
			}
		}
	case *ast.AssignStmt:
		if d.Tok != token.DEFINE || len(d.Lhs) != len(d.Rhs) {
			return nil, nil
		}
		for i, l := range d.Lhs {
			if n, ok := l.(*ast.Ident); ok && n.Obj == id.Obj {
				return nil, d.Rhs[i]
			}
		}
	}
	return nil, nil
}
