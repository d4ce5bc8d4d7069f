package module

import (
	"bytes"
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/peek"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

// target is a leaf module of the user's model.
type target struct {
	code   source
	method reflect.Type // of Forward, without the receiver
	value  bool         // the expression is a struct, not a pointer to one
}

// reference writes the module as something that nn.Run takes.
func (t target) reference() *jen.Statement {
	if t.value {
		return jen.Op("&").Add(t.code())
	}
	return t.code()
}

// useRoot lets the graph's tensors and leaf modules be fields of Root. It
// returns why that is not possible, "" when it is.
func (p *printer) useRoot() string {
	t := reflect.TypeOf(p.Root)
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return "the model is no pointer to a struct"
	}
	e := t.Elem()
	if !p.usable(e.PkgPath(), e.Name()) {
		return "type " + e.String() + " cannot be named from this package"
	}
	r := rootWalk{p: p, tensors: map[string]tensor.Item{}, modules: map[string]tensor.Item{}}
	tensor.Walk(p.Root, r.visit)
	for n := range p.m.Graph.All() {
		if why := r.node(n); why != "" {
			return why
		}
	}
	self := jen.Op("*").Qual(e.PkgPath(), e.Name())
	p.receiver, p.self = self, &goVar{name: "m", typ: self}
	return ""
}

// rootWalk finds Go expressions for what the graph uses of a module.
type rootWalk struct {
	p                *printer
	tensors, modules map[string]tensor.Item // by path
}

func (r *rootWalk) visit(it tensor.Item) bool {
	list := r.modules
	if it.Tensor != nil {
		list = r.tensors
	}
	if _, known := list[it.Path]; !known {
		list[it.Path] = it
	}
	return true
}

// node finds what one node uses, or says why it cannot.
func (r *rootWalk) node(n *graph.Node) string {
	switch n.Opcode() {
	case graph.GetAttr:
		if r.p.byPath[n.Target()] != nil {
			return ""
		}
		code, why := r.param(n.Target())
		r.p.byPath[n.Target()] = code
		return why
	case graph.CallModule:
		if _, known := r.p.modules[n.Target()]; known {
			return ""
		}
		return r.leaf(n)
	}
	return ""
}

// param finds a tensor, which must have the value that the graph has.
func (r *rootWalk) param(path string) (code source, why string) {
	if !r.unchanged(path) {
		return nil, "tensor " + path + " is not part of " + r.name() + ", or has another value there"
	}
	it := r.tensors[path]
	code, v, ok := r.resolve(it.Selector)
	if !ok || v.Kind() != reflect.Pointer || v.Interface() != any(it.Tensor) {
		return nil, "tensor " + path + " cannot be selected from " + r.name()
	}
	return code, ""
}

// unchanged reports whether the graph's tensor is the module's.
func (r *rootWalk) unchanged(path string) bool {
	it, ok := r.tensors[path]
	q := r.p.m.Param(path)
	if !ok || q == nil {
		return false
	}
	a := it.Tensor.Array()
	return q.Value == nil || q.Value == a || sameBits(q.Value, a)
}

func (r *rootWalk) name() string { return reflect.TypeOf(r.p.Root).Elem().Name() }

func sameBits(a, b *array.Array) bool {
	if a.DType() != b.DType() || a.Rank() != b.Rank() {
		return false
	}
	for i := range a.Rank() {
		if a.Dim(i) != b.Dim(i) {
			return false
		}
	}
	return bytes.Equal(array.Bytes(array.Contiguous(a)), array.Bytes(array.Contiguous(b)))
}

// leaf finds a leaf module, which must do what the graph says it does.
func (r *rootWalk) leaf(n *graph.Node) string {
	path, b := n.Target(), n.Bound()
	it, ok := r.modules[path]
	if !ok || b == nil {
		return "module " + path + " is not part of " + r.name()
	}
	code, v, ok := r.resolve(it.Selector)
	if ok && v.Kind() == reflect.Interface && v.NumMethod() == 0 {
		code, v, ok = r.concrete(code, v)
	}
	if !ok || !r.is(v, it.Module) {
		return "module " + path + " cannot be selected from " + r.name()
	}
	value := v.Kind() == reflect.Struct
	if value {
		v = v.Addr()
	}
	forward := v.MethodByName("Forward")
	if !forward.IsValid() {
		return "module " + path + " has no Forward"
	}
	for _, q := range b.Params {
		if q != "" && !r.unchanged(q) {
			return "tensor " + q + " of module " + path + " has another value in " + r.name()
		}
	}
	if !b.Op.AdHoc && !r.sameSettings(it.Module, n) {
		return "module " + path + " has other settings in " + r.name()
	}
	r.p.modules[path] = target{code, forward.Type(), value}
	return ""
}

// is reports whether v is the module, or a variable that holds it.
func (r *rootWalk) is(v reflect.Value, module any) bool {
	switch {
	case v.Kind() == reflect.Interface:
		v = v.Elem()
	case v.Kind() == reflect.Struct && v.CanAddr():
		v = v.Addr()
	}
	return v.IsValid() && v.CanInterface() && tensor.ModuleKey(v.Interface()) == tensor.ModuleKey(module)
}

// sameSettings captures the leaf alone and compares what it does with what the
// graph says.
func (r *rootWalk) sameSettings(leaf any, n *graph.Node) bool {
	t := tracer.Tracer{Frames: -1}
	for _, a := range n.Args() {
		if a != nil {
			t.Inputs = append(t.Inputs, tracer.Input{Type: a.Type()})
		}
	}
	m, err := t.Trace(context.Background(), leaf)
	if err != nil {
		return false
	}
	b := n.Bound()
	for _, got := range m.Bounds() {
		return got.Op == b.Op && got.Op.Codec().Equal(got.Attrs, b.Attrs)
	}
	return false
}

// source writes a Go expression anew at each call.
type source func() *jen.Statement

// resolve evaluates a selector below the gosrc.Root (".Layer1[0].Conv1") and returns
// it as Go source, with an assertion wherever it goes through an interface. ok is
// false when generated code cannot write it.
func (r *rootWalk) resolve(selector string) (code source, v reflect.Value, ok bool) {
	if selector == "" { // what lists its contents itself cannot be selected
		return nil, v, false
	}
	e, err := parser.ParseExpr("m" + selector)
	if err != nil {
		return nil, v, false
	}
	return r.expr(e)
}

func (r *rootWalk) expr(e ast.Expr) (code source, v reflect.Value, ok bool) {
	switch e := e.(type) {
	case *ast.Ident:
		return func() *jen.Statement { return jen.Id("m") }, reflect.ValueOf(r.p.Root), e.Name == "m"
	case *ast.SelectorExpr:
		inner, v, ok := r.operand(e.X)
		if !ok {
			return nil, v, false
		}
		if v = reflect.Indirect(v); v.Kind() != reflect.Struct {
			return nil, v, false
		}
		f, ok := v.Type().FieldByName(e.Sel.Name)
		if !ok || !f.IsExported() && f.PkgPath != r.p.Path {
			return nil, v, false // an unexported field is one to its own package alone
		}
		return func() *jen.Statement { return inner().Dot(e.Sel.Name) }, along(v, f.Index), true
	case *ast.IndexExpr:
		lit, isLit := e.Index.(*ast.BasicLit)
		inner, v, ok := r.operand(e.X)
		if !ok || !isLit {
			return nil, v, false
		}
		return index(inner, v, lit)
	}
	return nil, v, false
}

// along follows the index of a field, which may be one of an embedded struct.
func along(v reflect.Value, index []int) reflect.Value {
	for _, i := range index {
		if v = reflect.Indirect(v); !v.IsValid() {
			return v
		}
		v = peek.Field(v, i)
	}
	return v
}

// operand is expr with the type of what lies in an interface asserted.
func (r *rootWalk) operand(e ast.Expr) (source, reflect.Value, bool) {
	code, v, ok := r.expr(e)
	if !ok {
		return nil, v, false
	}
	return r.concrete(code, v)
}

func (r *rootWalk) concrete(code source, v reflect.Value) (source, reflect.Value, bool) {
	if v.Kind() != reflect.Interface {
		return code, v, true
	}
	v = v.Elem()
	if !v.IsValid() {
		return nil, v, false
	}
	t, ok := r.p.typeOf(v.Type())
	return func() *jen.Statement { return code().Assert(t()) }, v, ok
}

func index(inner source, v reflect.Value, lit *ast.BasicLit) (source, reflect.Value, bool) {
	if v.Kind() == reflect.Pointer {
		p := inner
		inner, v = func() *jen.Statement { return jen.Parens(jen.Op("*").Add(p())) }, v.Elem()
	}
	code := func() *jen.Statement { return inner().Index(jen.Op(lit.Value)) }
	switch {
	case lit.Kind == token.INT && (v.Kind() == reflect.Slice || v.Kind() == reflect.Array):
		i, err := strconv.Atoi(lit.Value)
		if err != nil || i >= v.Len() {
			return nil, v, false
		}
		return code, v.Index(i), true
	case lit.Kind == token.INT && v.Kind() == reflect.Map && v.Type().Key().Kind() != reflect.String:
		key, err := strconv.Atoi(lit.Value)
		if err != nil {
			return nil, v, false
		}
		v = v.MapIndex(reflect.ValueOf(key).Convert(v.Type().Key()))
		return code, v, v.IsValid()
	case lit.Kind == token.STRING && v.Kind() == reflect.Map && v.Type().Key().Kind() == reflect.String:
		key, err := strconv.Unquote(lit.Value)
		if err != nil {
			return nil, v, false
		}
		v = v.MapIndex(reflect.ValueOf(key).Convert(v.Type().Key()))
		return code, v, v.IsValid()
	}
	return nil, v, false
}

// typeOf writes a type as Go source; ok is false when the package cannot name it.
func (p *printer) typeOf(t reflect.Type) (code source, ok bool) {
	prefix := func(before *jen.Statement) (source, bool) {
		inner, ok := p.typeOf(t.Elem())
		return func() *jen.Statement { return before.Clone().Add(inner()) }, ok
	}
	switch {
	case t.Name() != "" && t.PkgPath() == "":
		return func() *jen.Statement { return jen.Id(t.Name()) }, true
	case t.Name() != "":
		eachPackage(t, p.importName, map[reflect.Type]bool{})
		return func() *jen.Statement { return jen.Qual(t.PkgPath(), t.Name()) }, p.usable(t.PkgPath(), t.Name())
	case t.Kind() == reflect.Pointer:
		return prefix(jen.Op("*"))
	case t.Kind() == reflect.Slice:
		return prefix(jen.Index())
	case t.Kind() == reflect.Array:
		return prefix(jen.Index(jen.Lit(t.Len())))
	case t.Kind() == reflect.Map && t.Key().Name() == "string":
		return prefix(jen.Map(jen.String()))
	case t.Kind() == reflect.Interface && t.NumMethod() == 0:
		return func() *jen.Statement { return jen.Any() }, true
	}
	return nil, false
}
