package fix

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/op/api"
)

// call rewrites one call, if it is one of a tensor in an earlier form.
func (r *rewriter) call(n *ast.CallExpr) {
	name, operands, sure := r.callee(n)
	f := r.forms[name]
	if f == nil || len(n.Args) < operands+len(f.old) || len(n.Args) > operands+len(f.old)+1 {
		return
	}
	c := &call{rewriter: r, form: f, name: name, node: n, first: operands, args: n.Args[operands:][:len(f.old)]}
	if len(n.Args) > operands+len(f.old) {
		c.opts = n.Args[len(n.Args)-1]
		if !f.options || !r.holdsAttrs(c.opts, f.AttrsType()) {
			return // a form of this version, or no call of a tensor
		}
	} else if !sure {
		r.unsure(n, name, f)
		return
	}
	why := ""
	switch {
	case n.Ellipsis.IsValid() && c.opts == nil: // a tail, as now
	case n.Ellipsis.IsValid():
		why = "the options are spread"
	case len(becameArguments[f.AttrsType()]) > 0:
		why = c.move()
	default:
		c.lists()
	}
	if why != "" {
		r.problems = append(r.problems, Problem{Pos: r.set.Position(n.Pos()),
			Msg: "the call of " + name + " has to be rewritten by hand: " + why, Hint: "the forms of this version are " + c.usage()})
	}
}

// callee returns the name of the function or method that a call may be of, the number of
// arguments that are operands, and whether it is surely one of package tensor.
func (r *rewriter) callee(c *ast.CallExpr) (name string, operands int, sure bool) {
	if pkg, name := r.declaration(c.Fun); pkg == pkgTensor {
		if f := r.forms[name]; f != nil && !f.inPlace {
			return name, f.operands, true
		}
		return "", 0, false
	}
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok || r.imported(sel.X) != "" {
		return "", 0, false
	}
	f := r.forms[sel.Sel.Name]
	if f == nil {
		return "", 0, false
	}
	if !f.Method { // of a Maker
		return sel.Sel.Name, f.operands, r.isMaker(sel.X)
	}
	return sel.Sel.Name, f.operands - 1, r.isTensor(sel.X)
}

// isMaker reports whether an expression is tensor.In(e).
func (r *rewriter) isMaker(e ast.Expr) bool {
	c, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	pkg, name := r.declaration(c.Fun)
	return pkg == pkgTensor && name == "In"
}

// unsure notes a call that needs another argument, if it is one of a tensor.
func (r *rewriter) unsure(n *ast.CallExpr, name string, f *form) {
	if sel, ok := n.Fun.(*ast.SelectorExpr); r.paths[pkgTensor] == "" && !r.dot[pkgTensor] || ok && r.isOther(sel.X) {
		return
	}
	for _, p := range f.Params {
		if p.Operand == "" && !p.Variadic && !slices.Contains(f.old, p.Field) {
			r.problems = append(r.problems, Problem{Pos: r.set.Position(n.Pos()), Note: true,
				Msg:  name + " of a tensor takes " + p.Name + " now; whether this is one, the file does not show",
				Hint: "if it is one, write " + name + "(" + absent[p.Kind] + ")"})
			return
		}
	}
}

// holdsAttrs reports whether an expression is an attributes struct: a literal of it, or a
// variable whose declaration shows it.
func (r *rewriter) holdsAttrs(e ast.Expr, name string) bool {
	if lit, ok := e.(*ast.CompositeLit); ok {
		return lit.Type != nil && r.isAttrs(lit.Type, name)
	}
	if id, ok := e.(*ast.Ident); ok {
		typ, value := declared(id)
		if ell, ok := typ.(*ast.Ellipsis); ok {
			typ = ell.Elt
		}
		return typ != nil && r.isAttrs(typ, name) || value != nil && value != e && r.holdsAttrs(value, name)
	}
	return false
}

func (r *rewriter) isAttrs(t ast.Expr, name string) bool {
	pkg, n := r.declaration(t)
	return n == name && (pkg == pkgStd || pkg == pkgTensor)
}

// call is a call in an earlier form.
type call struct {
	*rewriter
	*form
	name  string
	node  *ast.CallExpr
	first int        // index of the first argument after the operands
	args  []ast.Expr // the arguments after the operands
	opts  ast.Expr   // the options after them, or nil
	kept  []span     // the parts of the source that the new text has
}

type span struct{ pos, end token.Pos }

// keep returns the text of an expression.
func (c *call) keep(n ast.Node) string {
	c.kept = append(c.kept, span{n.Pos(), n.End()})
	return c.text(n.Pos(), n.End())
}

// lists rewrites a call whose arguments stay in their places: lists are spread where they are
// the tail, and options next to a tail go to the function that takes both.
func (c *call) lists() {
	params := c.Params
	if c.with != nil && c.opts != nil {
		params = c.with.Params
		c.rename(c.with.Name)
	}
	for _, p := range params {
		i := slices.Index(c.old, p.Field)
		if i < 0 || p.Operand != "" || p.Kind != api.Ints && p.Kind != api.Dims {
			continue
		}
		arg := c.args[i]
		if text, why := c.list(p, arg); why == "" && !c.loses(arg.Pos(), arg.End()) {
			if to := strings.Join(text, ", "); to != c.text(arg.Pos(), arg.End()) {
				c.place(i, to)
			}
		}
	}
}

// place replaces an argument. An empty list at the end goes with the comma before it.
func (c *call) place(i int, text string) {
	from, to := c.args[i].Pos(), c.args[i].End()
	if at := c.first + i; text == "" {
		to = c.node.Rparen
		if from = c.node.Lparen + 1; at > 0 {
			from = c.node.Args[at-1].End()
		}
	}
	c.replace(from, to, text)
}

// move rewrites a call of which an option has become an argument. It returns why it does not.
func (c *call) move() string {
	name, text, why := c.spell()
	if why != "" {
		return why
	}
	from := c.node.Lparen + 1
	if c.first > 0 {
		from = c.node.Args[c.first-1].End()
		if text != "" {
			text = ", " + text
		}
	}
	if name == c.name && squeeze(c.text(from, c.node.Rparen)) == squeeze(text) {
		return ""
	}
	if c.loses(from, c.node.Rparen) {
		return "a comment stands between its arguments"
	}
	c.replace(from, c.node.Rparen, text)
	c.rename(name)
	return ""
}

// rename gives the called function another name.
func (c *call) rename(name string) {
	id, ok := c.node.Fun.(*ast.Ident)
	if sel, is := c.node.Fun.(*ast.SelectorExpr); is {
		id, ok = sel.Sel, true
	}
	if ok && id.Name != name {
		c.replace(id.Pos(), id.End(), name)
	}
}

// loses reports whether a comment stands between two places and in no part that is kept.
func (c *call) loses(pos, end token.Pos) bool {
	for _, group := range c.file.Comments {
		for _, comment := range group.List {
			in := comment.Pos() >= pos && comment.End() <= end
			if in && !slices.ContainsFunc(c.kept, func(s span) bool { return s.pos <= comment.Pos() && comment.End() <= s.end }) {
				return true
			}
		}
	}
	return false
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

// usage is the new form of the call, for a message.
func (c *call) usage() string {
	s := c.Signature()
	if c.with != nil {
		s += " and " + c.with.Signature()
	}
	return s
}

// spell returns the new name and arguments, or why there are none.
func (c *call) spell() (name, args, why string) {
	fields, rest, why := c.fields()
	if why != "" {
		return "", "", why
	}
	f := c.Func
	if name = c.name; rest != "" && c.with != nil {
		f, name = c.with, c.with.Name
	}
	list, why := c.arguments(f, fields)
	if t := c.structType(); why != "" && f != c.with && c.with != nil && t != "" { // a list that cannot be spread
		f, name, rest = c.with, c.with.Name, t+"{}"
		list, why = c.arguments(f, fields)
	}
	if why != "" {
		return "", "", why
	}
	if rest != "" {
		list = append(list, rest)
	}
	return name, strings.Join(list, ", "), ""
}

// structType is how the file names the attributes struct.
func (c *call) structType() string {
	if lit, ok := c.opts.(*ast.CompositeLit); ok {
		return c.keep(lit.Type)
	}
	return c.qualified(pkgTensor, c.AttrsType())
}

func (c *call) arguments(f *api.Func, fields map[string]ast.Expr) (list []string, why string) {
	for _, p := range f.Params {
		if p.Operand != "" {
			continue
		}
		arg, why := c.argument(p, fields[p.Field])
		if why != "" {
			return nil, why
		}
		list = append(list, arg...)
	}
	return list, ""
}

// fields returns the values of the arguments by field, and the text of the options that
// are left.
func (c *call) fields() (fields map[string]ast.Expr, rest, why string) {
	fields = map[string]ast.Expr{}
	for i, name := range c.old {
		fields[name] = c.args[i]
	}
	moved := becameArguments[c.AttrsType()]
	lit, ok := c.opts.(*ast.CompositeLit)
	switch {
	case c.opts == nil:
		return fields, "", ""
	case !ok:
		return nil, "", "the options are not written out in the call"
	}
	var left []string
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return nil, "", "the options have no names"
		}
		if key, ok := kv.Key.(*ast.Ident); ok && slices.Contains(moved, key.Name) {
			fields[key.Name] = kv.Value
			continue
		}
		left = append(left, c.keep(kv))
	}
	if len(left) == 0 {
		return fields, "", ""
	}
	if len(left) == len(lit.Elts) {
		return fields, c.keep(lit), ""
	}
	return fields, c.keep(lit.Type) + "{" + strings.Join(left, ", ") + "}", ""
}

// argument spells the value of a parameter.
func (c *call) argument(p api.Param, value ast.Expr) (args []string, why string) {
	if value == nil {
		if p.Variadic {
			return nil, ""
		}
		return []string{absent[p.Kind]}, ""
	}
	switch p.Kind {
	case api.Ints, api.Dims:
		return c.list(p, value)
	case api.Scalar:
		return []string{c.number(value)}, ""
	}
	return []string{c.keep(value)}, ""
}

// list spells a list: its elements where they are the tail, the list or its only element
// elsewhere.
func (c *call) list(p api.Param, value ast.Expr) (args []string, why string) {
	elems, spread, ok := c.elements(value)
	switch {
	case !ok && !p.Variadic, !ok && p.Kind == api.Dims: // a list in one argument
		return []string{c.keep(value)}, ""
	case !ok:
		if id, is := value.(*ast.Ident); is && isInts(id) {
			return []string{c.keep(value) + "..."}, ""
		}
		return nil, "the list " + c.source(value.Pos(), value.End()) + " is not written out in the call"
	case spread != nil && p.Variadic:
		return []string{c.keep(spread) + "..."}, ""
	case spread != nil:
		return []string{c.keep(spread)}, ""
	}
	for _, e := range elems {
		args = append(args, c.keep(e))
	}
	switch {
	case p.Variadic || len(args) == 1:
		return args, ""
	case len(args) == 0 && p.Kind == api.Ints:
		return []string{"nil"}, ""
	case isCall(value):
		return []string{"[]int{" + strings.Join(args, ", ") + "}"}, ""
	}
	return []string{c.keep(value)}, ""
}

func isCall(e ast.Expr) bool { _, ok := e.(*ast.CallExpr); return ok }

// isInts reports whether a variable is declared as a []int.
func isInts(id *ast.Ident) bool {
	typ, value := declared(id)
	if lit, ok := value.(*ast.CompositeLit); ok {
		typ = lit.Type
	}
	a, ok := typ.(*ast.ArrayType)
	if !ok || a.Len != nil {
		return false
	}
	elem, ok := a.Elt.(*ast.Ident)
	return ok && elem.Name == "int"
}

// elements returns the elements of a list that is written out: []int{2, 3}, op.IntList(2,
// 3). A list that op.IntList gets spread is spread.
func (c *call) elements(value ast.Expr) (elems []ast.Expr, spread ast.Expr, ok bool) {
	switch v := value.(type) {
	case *ast.Ident:
		return nil, nil, v.Name == "nil" && v.Obj == nil
	case *ast.CompositeLit:
		if pkg, name := c.declaration(v.Type); pkg == pkgOp && name == "Ints" && len(v.Elts) == 0 {
			return nil, nil, true
		}
		a, is := v.Type.(*ast.ArrayType)
		if !is || a.Len != nil || slices.ContainsFunc(v.Elts, func(e ast.Expr) bool { _, keyed := e.(*ast.KeyValueExpr); return keyed }) {
			return nil, nil, false
		}
		elem, is := a.Elt.(*ast.Ident)
		return v.Elts, nil, is && (elem.Name == "int" || elem.Name == "any")
	case *ast.CallExpr:
		switch pkg, name := c.declaration(v.Fun); {
		case pkg == pkgOp && name == "IntList", pkg == pkgTensor && name == "Ints":
		default:
			return nil, nil, false
		}
		if v.Ellipsis.IsValid() {
			return nil, v.Args[0], true
		}
		return v.Args, nil, true
	}
	return nil, nil, false
}

// number spells a number that was an op.Scalar: op.Float(2) as 2.0. What need not have the
// same type in a call stays a Scalar, which calls take as well.
func (c *call) number(value ast.Expr) string {
	v, ok := value.(*ast.CallExpr)
	if !ok || len(v.Args) != 1 {
		return c.keep(value)
	}
	pkg, name := c.declaration(v.Fun)
	switch arg := v.Args[0].(type) {
	case *ast.BasicLit:
		switch {
		case pkg == pkgOp && name == "Float" && arg.Kind == token.INT && strings.Trim(arg.Value, "0123456789") == "":
			text := c.keep(arg)
			return strings.TrimSuffix(text, ".0") + ".0"
		case pkg == pkgOp && name == "Float" && arg.Kind == token.FLOAT, pkg == pkgOp && name == "Int" && arg.Kind == token.INT:
			return c.keep(arg)
		}
	case *ast.SelectorExpr:
		if id, ok := arg.X.(*ast.Ident); ok && id.Obj != nil && pkg == pkgOp && (name == "Float" || name == "Int") { // a field, which has a type
			return c.keep(arg)
		}
	}
	return c.keep(value)
}
