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
	elem := t.Elem()
	if !p.usable(elem.PkgPath(), elem.Name()) {
		return "type " + elem.String() + " cannot be named from this package"
	}
	r := rootWalk{p: p, tensors: map[string]tensor.Item{}, modules: map[string]tensor.Item{}, embedded: map[string]tensor.Item{}, asserted: map[string]*assertion{}}
	tensor.Walk(p.Root, r.visit)
	for n := range p.m.All() {
		if why := r.node(n); why != "" {
			return why
		}
	}
	self := jen.Op("*").Qual(elem.PkgPath(), elem.Name())
	p.receiver, p.self = self, &goVar{name: "m", typ: self}
	return ""
}

// rootWalk finds Go expressions for the parts of a module that the graph uses.
type rootWalk struct {
	p                *printer
	tensors, modules map[string]tensor.Item // by path
	embedded         map[string]tensor.Item // modules by selector, which have the paths of others
	asserted         map[string]*assertion  // by selector
	selector         string                 // that is being resolved
}

func (r *rootWalk) visit(it tensor.Item) bool {
	list := r.modules
	if it.Tensor != nil {
		list = r.tensors
	}
	if _, known := list[it.Path]; !known {
		list[it.Path] = it
	} else if it.Module != nil {
		r.embedded["m"+it.Selector] = it
	}
	return true
}

// node finds the parts that one node uses, or says why it cannot.
func (r *rootWalk) node(node *graph.Node) string {
	switch node.Opcode() {
	case graph.GetAttr:
		if r.p.byPath[node.Target()] != nil {
			return ""
		}
		code, why := r.param(node.Target())
		r.p.byPath[node.Target()] = code
		return why
	case graph.CallModule:
		if _, known := r.p.modules[node.Target()]; known {
			return ""
		}
		return r.leaf(node)
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
func (r *rootWalk) leaf(node *graph.Node) string {
	path, bound := node.Target(), node.Bound()
	it, ok := r.modules[path]
	if !ok && bound != nil {
		it, ok = r.embedded[bound.Selector]
	}
	if !ok || bound == nil {
		return "module " + path + " is not part of " + r.name()
	}
	code, found, ok := r.resolve(it.Selector)
	if ok && found.Kind() == reflect.Interface && found.NumMethod() == 0 {
		code, found, ok = r.concrete(code, found, r.selector)
	}
	if !ok || !r.is(found, it.Module) {
		return "module " + path + " cannot be selected from " + r.name()
	}
	value := found.Kind() == reflect.Struct
	if value {
		found = found.Addr()
	}
	forward := found.MethodByName("Forward")
	if !forward.IsValid() {
		return "module " + path + " has no Forward"
	}
	for _, q := range bound.Params {
		if q != "" && !r.unchanged(q) {
			return "tensor " + q + " of module " + path + " has another value in " + r.name()
		}
	}
	if !bound.Op.AdHoc && !r.sameSettings(it.Module, node) {
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

// sameSettings captures the leaf alone and compares its calls with the graph's.
func (r *rootWalk) sameSettings(leaf any, node *graph.Node) bool {
	t := tracer.Tracer{Frames: -1}
	for _, a := range node.Args() {
		if a != nil {
			t.Inputs = append(t.Inputs, tracer.Input{Type: a.Type()})
		}
	}
	m, err := t.Trace(context.Background(), leaf)
	if err != nil {
		return false
	}
	b := node.Bound()
	for _, got := range m.Bounds() {
		return got.Op == b.Op && got.Op.Codec().Equal(got.Attrs, b.Attrs)
	}
	return false
}

// source writes a Go expression again at each call.
type source func() *jen.Statement

// resolve evaluates a selector below the gosrc.Root (".Layer1[0].Conv1") and returns
// it as Go source, with an assertion wherever it goes through an interface. ok is
// false when generated code cannot write it.
func (r *rootWalk) resolve(selector string) (code source, v reflect.Value, ok bool) {
	if selector == "" { // a container that lists its contents itself cannot be selected
		return nil, v, false
	}
	r.selector = "m" + selector
	e, err := parser.ParseExpr(r.selector)
	if err != nil {
		return nil, v, false
	}
	return r.expr(e)
}

func (r *rootWalk) expr(source ast.Expr) (code source, value reflect.Value, ok bool) {
	switch source := source.(type) {
	case *ast.Ident:
		return func() *jen.Statement { return jen.Id("m") }, reflect.ValueOf(r.p.Root), source.Name == "m"
	case *ast.SelectorExpr:
		inner, value, ok := r.operand(source.X)
		if !ok {
			return nil, value, false
		}
		if value = reflect.Indirect(value); value.Kind() != reflect.Struct {
			return nil, value, false
		}
		f, ok := value.Type().FieldByName(source.Sel.Name)
		if !ok || !f.IsExported() && f.PkgPath != r.p.Options.Path {
			return nil, value, false // an unexported field is one to its own package alone
		}
		return func() *jen.Statement { return inner().Dot(source.Sel.Name) }, along(value, f.Index), true
	case *ast.IndexExpr:
		lit, isLit := source.Index.(*ast.BasicLit)
		inner, value, ok := r.operand(source.X)
		if !ok || !isLit {
			return nil, value, false
		}
		return index(inner, value, lit)
	}
	return nil, value, false
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

// operand is expr with a type assertion for a value in an interface.
func (r *rootWalk) operand(e ast.Expr) (source, reflect.Value, bool) {
	code, v, ok := r.expr(e)
	if !ok {
		return nil, v, false
	}
	return r.concrete(code, v, r.selector[e.Pos()-1:e.End()-1])
}

// concrete asserts the type of the value in an interface that selector reaches.
func (r *rootWalk) concrete(code source, v reflect.Value, selector string) (source, reflect.Value, bool) {
	if v.Kind() != reflect.Interface {
		return code, v, true
	}
	v = v.Elem()
	if !v.IsValid() {
		return nil, v, false
	}
	t, ok := r.p.typeOf(v.Type())
	if v.Kind() != reflect.Pointer { // a variable would be a copy
		return func() *jen.Statement { return code().Assert(t()) }, v, ok
	}
	a := r.asserted[selector]
	if a == nil {
		a = &assertion{p: r.p, code: code, typ: t, hint: selector}
		for path, it := range r.modules {
			if "m"+it.Selector == selector && (a.hint == selector || path < a.hint) {
				a.hint = path
			}
		}
		r.asserted[selector] = a
	}
	a.uses++
	return a.write, v, ok
}

func index(inner source, value reflect.Value, lit *ast.BasicLit) (source, reflect.Value, bool) {
	if value.Kind() == reflect.Pointer {
		p := inner
		inner, value = func() *jen.Statement { return jen.Parens(jen.Op("*").Add(p())) }, value.Elem()
	}
	code := func() *jen.Statement { return inner().Index(jen.Op(lit.Value)) }
	switch {
	case lit.Kind == token.INT && (value.Kind() == reflect.Slice || value.Kind() == reflect.Array):
		i, err := strconv.Atoi(lit.Value)
		if err != nil || i >= value.Len() {
			return nil, value, false
		}
		return code, value.Index(i), true
	case lit.Kind == token.INT && value.Kind() == reflect.Map && value.Type().Key().Kind() != reflect.String:
		key, err := strconv.Atoi(lit.Value)
		if err != nil {
			return nil, value, false
		}
		value = value.MapIndex(reflect.ValueOf(key).Convert(value.Type().Key()))
		return code, value, value.IsValid()
	case lit.Kind == token.STRING && value.Kind() == reflect.Map && value.Type().Key().Kind() == reflect.String:
		key, err := strconv.Unquote(lit.Value)
		if err != nil {
			return nil, value, false
		}
		value = value.MapIndex(reflect.ValueOf(key).Convert(value.Type().Key()))
		return code, value, value.IsValid()
	}
	return nil, value, false
}
