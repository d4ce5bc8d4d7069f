package rules

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/gofx-dev/gofx/cmd/fxvet/internal/flow"
	"github.com/gofx-dev/gofx/tensor"
)

// State reports fields of modules whose tensors have no name of their own.
var State = rule("fxstate", "reports maps of a module whose keys are no names, and fields with one name", state)

func state(c *check) {
	for _, file := range c.Files {
		if c.flow.Test(file.Pos()) {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			obj := c.TypesInfo.Defs[spec.Name]
			if st, ok := spec.Type.(*ast.StructType); ok && obj != nil && forwards(obj.Type()) && !has(obj.Type(), "Walk") {
				c.fields(st)
			}
			return true
		})
	}
}

// fields checks the fields of one module.
func (c *check) fields(st *ast.StructType) {
	type owner struct{ field string }
	names := map[string]owner{}
	for _, f := range st.Fields.List {
		text := ""
		if f.Tag != nil {
			text = tag(strings.Trim(f.Tag.Value, "`"), "fx")
		}
		given, _, _ := strings.Cut(text, ",")
		if given == "-" {
			continue
		}
		t := c.TypesInfo.TypeOf(f.Type)
		if key, ok := unnamed(t); ok {
			c.report(f, tensor.NoName, "the keys of the map are of type "+types.TypeString(key, types.RelativeTo(c.Pkg)), tagFix(f, "-", "Leave the field out of the state")...)
		}
		if given == "." || !flow.IsTensor(t) {
			continue
		}
		for _, id := range f.Names {
			name := given
			if name == "" {
				name = tensor.FieldName(id.Name)
			}
			if old, ok := names[name]; ok {
				if !c.computed(id) && !c.computedName(st, old.field) {
					c.report(id, tensor.SameName, "the fields "+old.field+" and "+id.Name+" are both named "+name, tagFix(f, name+"_2", "Name the field "+name+"_2")...)
				}
				continue
			}
			names[name] = owner{id.Name}
		}
	}
}

// tagFix gives a field a tag.
func tagFix(f *ast.Field, value, message string) []analysis.SuggestedFix {
	text := `fx:"` + value + `"`
	switch {
	case len(f.Names) != 1:
		return nil
	case f.Tag == nil:
		return fix(message, analysis.TextEdit{Pos: f.Type.End(), End: f.Type.End(), NewText: []byte(" `" + text + "`")})
	case tag(strings.Trim(f.Tag.Value, "`"), "fx") == "" && strings.HasPrefix(f.Tag.Value, "`"):
		return fix(message, analysis.TextEdit{Pos: f.Tag.End() - 1, End: f.Tag.End() - 1, NewText: []byte(" " + text)})
	}
	return nil
}

// unnamed returns the type of the keys of a map, or of maps in lists, that holds tensors or
// modules under keys that are neither strings nor integers.
func unnamed(t types.Type) (key types.Type, ok bool) {
	for range 8 {
		switch u := t.Underlying().(type) {
		case *types.Map:
			b, basic := u.Key().Underlying().(*types.Basic)
			if !basic || b.Info()&(types.IsString|types.IsInteger) == 0 {
				return u.Key(), keepsState(u.Elem(), 4)
			}
			t = u.Elem()
		case *types.Slice:
			t = u.Elem()
		case *types.Array:
			t = u.Elem()
		default:
			return nil, false
		}
	}
	return nil, false
}

// keepsState reports whether values of a type hold tensors or modules.
func keepsState(t types.Type, depth int) bool {
	if depth == 0 {
		return false
	}
	if flow.IsTensor(t) || forwards(t) {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		_, isStruct := u.Elem().Underlying().(*types.Struct)
		return isStruct && keepsState(u.Elem(), depth)
	case *types.Slice:
		return keepsState(u.Elem(), depth-1)
	case *types.Array:
		return keepsState(u.Elem(), depth-1)
	case *types.Map:
		return keepsState(u.Elem(), depth-1)
	case *types.Struct:
		for i := range u.NumFields() {
			if tag(u.Tag(i), "fx") != "-" && keepsState(u.Field(i).Type(), depth-1) {
				return true
			}
		}
	}
	return false
}

// forwards reports whether a type, or a pointer to it, has a method Forward of tensors.
func forwards(t types.Type) bool {
	m, _, _ := types.LookupFieldOrMethod(t, true, nil, "Forward")
	fn, ok := m.(*types.Func)
	if !ok {
		return false
	}
	for _, list := range []*types.Tuple{fn.Signature().Params(), fn.Signature().Results()} {
		for v := range list.Variables() {
			s, isSlice := v.Type().Underlying().(*types.Slice)
			if flow.IsTensor(v.Type()) || isSlice && flow.IsTensor(s.Elem()) {
				return true
			}
		}
	}
	return false
}

func has(t types.Type, method string) bool {
	m, _, _ := types.LookupFieldOrMethod(t, true, nil, method)
	_, ok := m.(*types.Func)
	return ok
}

// computedName is computed for the field of a name.
func (c *check) computedName(st *ast.StructType, name string) bool {
	for _, f := range st.Fields.List {
		for _, id := range f.Names {
			if id.Name == name {
				return c.computed(id)
			}
		}
	}
	return false
}

// computed reports whether the package puts what an operator computes into an unexported
// field: such a tensor is no state.
func (c *check) computed(field *ast.Ident) (computed bool) {
	if field.IsExported() {
		return false
	}
	obj := c.TypesInfo.Defs[field]
	operator := func(e ast.Expr) bool {
		call, ok := ast.Unparen(e).(*ast.CallExpr)
		if !ok {
			return false
		}
		fn, ok := c.flow.Callee(call)
		o := flow.Operator(fn)
		return ok && o != nil && len(o.Op.In) > 0 || ok && !flow.InTensor(fn)
	}
	for _, f := range c.Files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, l := range n.Lhs {
					s, ok := l.(*ast.SelectorExpr)
					if ok && n.Tok == token.ASSIGN && c.TypesInfo.Uses[s.Sel] == obj && (len(n.Rhs) != len(n.Lhs) || operator(n.Rhs[i])) {
						computed = true
					}
				}
			case *ast.KeyValueExpr:
				if id, ok := n.Key.(*ast.Ident); ok && c.TypesInfo.Uses[id] == obj && operator(n.Value) {
					computed = true
				}
			}
			return true
		})
	}
	return computed
}
