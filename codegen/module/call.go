package module

import (
	"reflect"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/api"
	"github.com/gofx-dev/gofx/shape"
)

// operands are the arguments of one call as expressions.
type operands struct {
	args   []*graph.Node
	values []value
	static bool // a trace would run the call at once
	depth  int
	force  int // the operand to be written so that the trace sees the call; -1 for none
}

// operands decides how the arguments of a call are written. A call that tensors
// of the model alone take part in is not recorded when it is made: the tensor it
// returns remembers how it was made, which a trace records at its first use. Where
// that would not give the same node, one operand is read through tensor.On.
func (p *printer) operands(n *graph.Node) operands {
	o := operands{args: n.Args(), force: -1, static: !hasSymbols(n.Op(), n.Attrs())}
	first := -1
	for i, a := range o.args {
		v := value{}
		if a != nil {
			if v = p.value(a); first < 0 {
				first = i
			}
			o.static = o.static && v.static
			o.depth = max(o.depth, v.depth)
		}
		o.values = append(o.values, v)
	}
	o.depth++
	switch {
	case p.anchor == nil:
	case n.Opcode() == graph.CallMethod && first == 0 && o.values[0].static:
		o.force = 0
	case o.static && first >= 0 && (n.Opcode() != graph.CallFunction || n.Op().Effect != op.Pure || o.depth > maxRecipe || p.definesSymbol(n)):
		o.force = first
	}
	if o.force >= 0 {
		o.static = false
	}
	return o
}

func (p *printer) definesSymbol(n *graph.Node) bool { return len(n.Graph().SymbolsOf(n)) > 0 }

// operand writes one argument.
func (p *printer) operand(o *operands, i int) *jen.Statement {
	switch {
	case i >= len(o.args) || o.args[i] == nil:
		return jen.Nil()
	case i == o.force:
		return p.traced(o.args[i])
	}
	return p.write(o.values[i])
}

func (p *printer) all(o *operands, from int) []jen.Code {
	var list []jen.Code
	for i := from; i < len(o.args); i++ {
		list = append(list, p.operand(o, i))
	}
	return list
}

// operatorCall prints a call_function or call_method node.
func (p *printer) operatorCall(n *graph.Node) {
	o := n.Op()
	args := p.operands(n)
	count, several := o.NumResults(n.Attrs())
	var rhs *jen.Statement
	asList := false
	switch {
	case o.AdHoc:
		if rhs = p.wrappedCall(n, &args); rhs == nil {
			return
		}
	default:
		rhs = p.apiCall(n, &args)
		asList = several && len(o.Results) == 1 && o.Results[0] == "..."
		if rhs == nil {
			rhs, asList = p.recordCall(n, &args, several), several
		}
	}
	switch {
	case asList:
		p.list(n, rhs, args.static, args.depth)
	case several:
		p.several(n, rhs, count, args.static, args.depth)
	default:
		p.define(n, rhs, args.static, args.depth)
	}
}

// wrappedCall prints a call of an opaque Go function through a variable that
// wraps it, so that a trace does not look inside.
func (p *printer) wrappedCall(n *graph.Node, args *operands) *jen.Statement {
	o := n.Op()
	if !p.usable(o.Path, o.Name) {
		p.fail(n, OpaqueFunc, "the function "+gosrc.CommentLine(o.Key())+" cannot be named from package "+p.Package,
			"export it from a package that can be imported, or generate into its own package")
		return nil
	}
	name := p.wrapped[o]
	if name == "" {
		name = p.decls.Lower(o.Name + "_wrapped")
		p.names.Reserve(name)
		p.wrapped[o] = name
		wrap := "Wrap"
		if o.Effect == op.Pure {
			wrap = "WrapPure"
		}
		p.wraps = append(p.wraps, jen.Comment(name+" is opaque to traces."),
			jen.Var().Id(name).Op("=").Qual(gosrc.Root+"tensor", wrap).Call(jen.Qual(o.Path, o.Name)), jen.Line())
	}
	for len(args.args) < len(o.In) && !o.In[len(args.args)].Variadic {
		args.args, args.values = append(args.args, nil), append(args.values, value{})
	}
	return jen.Id(name).Call(p.all(args, 0)...)
}

// recordCall prints a call in the form that takes an operator's record and
// attributes: for operators without a Go function, and for calls that the
// function cannot express.
func (p *printer) recordCall(n *graph.Node, args *operands, several bool) *jen.Statement {
	o := n.Op()
	record := gosrc.From("op/std", goname.Upper(o.Name))
	if o.Path == "" && o.Structural() {
		record = gosrc.From("op", goname.Upper(o.Name))
	}
	if o.Path != "" {
		if !p.usable(o.Path, goname.Upper(o.Name)) {
			p.foreign(n)
			return jen.Nil()
		}
		record = jen.Qual(o.Path, goname.Upper(o.Name))
	}
	attrs := jen.Code(jen.Nil())
	if !o.Codec().Equal(n.Attrs(), o.Codec().Zero()) {
		attrs = p.attrs(n)
	}
	name := "Apply"
	switch {
	case n.Opcode() == graph.CallMethod:
		name = "ApplyMethod"
	case !several:
		name = "CallOp"
	}
	call := gosrc.From("tensor", name).Call(append([]jen.Code{record, attrs}, p.all(args, 0)...)...)
	if name == "ApplyMethod" && !several {
		call.Index(jen.Lit(0))
	}
	return call
}

func (p *printer) foreign(n *graph.Node) {
	p.fail(n, ForeignOp, "operator "+gosrc.CommentLine(n.Op().Key())+" cannot be named from package "+p.Package,
		"define it in a package that can be imported, as a variable called "+goname.Upper(n.Op().Name)+", or generate into its own package")
}

// attrs prints an attributes struct.
func (p *printer) attrs(n *graph.Node) jen.Code {
	t := reflect.TypeOf(n.Attrs())
	if t.PkgPath() != gosrc.Root+"op/std" && t.PkgPath() != gosrc.Root+"op" && !p.usable(t.PkgPath(), t.Name()) {
		p.foreign(n)
		return jen.Nil()
	}
	return gosrc.Literal(reflect.ValueOf(n.Attrs()), func(d shape.Dim) jen.Code { return p.dim(n, d) })
}

// apiCall prints a call of an operator's Go function or method, nil when that
// cannot express the call.
func (p *printer) apiCall(n *graph.Node, args *operands) *jen.Statement {
	o := n.Op()
	if o.Structural() || o.Path != "" && o.Func == "" {
		return nil
	}
	f := form(n)
	if f == nil {
		return nil
	}
	var list []jen.Code
	operand := 0
	fields := map[string]any{}
	for _, a := range o.Codec().Fields(n.Attrs()) {
		fields[a.GoName] = a.Value
	}
	method := n.Opcode() == graph.CallMethod
	for i, q := range f.Params {
		switch {
		case q.Kind == api.Tensor:
			if i > 0 || !method {
				list = append(list, p.operand(args, operand))
			}
			operand++
		case q.Kind == api.Tensors && q.Variadic:
			list = append(list, p.all(args, operand)...)
		case q.Kind == api.Tensors:
			list = append(list, jen.Index().Add(tensorType()).Values(p.all(args, operand)...))
		default:
			list = append(list, p.argument(n, q, fields[q.Field])...)
		}
	}
	list = append(list, p.options(n, f)...)
	if method {
		return p.operand(args, 0).Dot(f.Name).Call(list...)
	}
	if o.Func != "" {
		path, name := gosrc.SplitType(o.Func)
		if !p.usable(path, name) {
			return nil
		}
		return jen.Qual(path, name).Call(list...)
	}
	return gosrc.From("tensor", f.Name).Call(list...)
}

// form returns the Go function that gives exactly the node's operands and
// attributes, nil when there is none.
func form(n *graph.Node) *api.Func {
	o, args := n.Op(), n.Args()
	if k := len(args); k > 0 && args[k-1] == nil || k > len(o.In) && !o.Variadic() {
		return nil // the functions leave absent operands at the end out
	}
	method := n.Opcode() == graph.CallMethod
	if method && (len(args) == 0 || args[0] == nil || o.Path != "") {
		return nil
	}
	zero := map[string]bool{}
	for _, a := range o.Codec().Fields(n.Attrs()) {
		zero[a.GoName] = a.Zero
	}
	for _, f := range api.Of(o) {
		fits := !method || f.Method
		for _, name := range f.Cleared() {
			fits = fits && zero[name]
		}
		if f.Form != api.Plain {
			fits = fits && !zero["Other"]
		}
		if f.Form == api.Swapped {
			fits = fits && !zero["Reverse"]
		}
		k := 0
		for _, q := range f.Params {
			if q.Kind == api.Tensor {
				fits = fits && (q.Optional || k < len(args) && args[k] != nil)
				k++
			}
		}
		if !o.Variadic() {
			fits = fits && len(args) <= k
		}
		if fits {
			return f
		}
	}
	return nil
}

// argument prints a positional attribute: one expression, or one for each
// element of a variadic list.
func (p *printer) argument(n *graph.Node, q api.Param, v any) []jen.Code {
	list := func(elem *jen.Statement, items []jen.Code) []jen.Code {
		if q.Variadic {
			return items
		}
		return []jen.Code{jen.Index().Add(elem).Values(items...)}
	}
	var items []jen.Code
	switch v := v.(type) {
	case array.DType:
		return []jen.Code{gosrc.DType(v)}
	case float64:
		return []jen.Code{gosrc.Float(v)}
	case op.Ints:
		for _, k := range v.Slice() {
			items = append(items, jen.Lit(k))
		}
		return list(jen.Int(), items)
	case op.Floats:
		for _, k := range v.Slice() {
			items = append(items, gosrc.Float(k))
		}
		return list(jen.Float64(), items)
	case op.Scalar:
		return []jen.Code{number(v)}
	case shape.Dim:
		return []jen.Code{p.size(n, v)}
	case shape.Dims:
		elem := jen.Int()
		for _, d := range v.Slice() {
			if _, known := d.Int(); !known {
				elem = jen.Any()
			}
			items = append(items, p.size(n, d))
		}
		return list(elem, items)
	}
	return []jen.Code{jen.Lit(v)} // bool, int, string
}

// number prints a number argument.
func number(s op.Scalar) jen.Code {
	switch {
	case !s.Present():
		return jen.Nil()
	case s.IsFloat():
		return gosrc.Float(s.Float64())
	case s.IsInt():
		return jen.Lit(int(s.Int64()))
	}
	return jen.Lit(s.Int64() != 0)
}

// options prints the struct of the attributes that are not positional, nothing
// when all are zero.
func (p *printer) options(n *graph.Node, f *api.Func) []jen.Code {
	set := map[string]bool{}
	for _, name := range f.Options {
		set[name] = true
	}
	var values []jen.Code
	for _, a := range n.Op().Codec().Fields(n.Attrs()) {
		if set[a.GoName] && !a.Zero {
			v := gosrc.Literal(reflect.ValueOf(a.Value), func(d shape.Dim) jen.Code { return p.dim(n, d) })
			values = append(values, jen.Id(a.GoName).Op(":").Add(v))
		}
	}
	if len(values) == 0 {
		return nil
	}
	t := reflect.TypeOf(n.Attrs())
	if t.PkgPath() == gosrc.Root+"op/std" {
		return []jen.Code{gosrc.From("tensor", t.Name()).Values(values...)}
	}
	if !p.usable(t.PkgPath(), t.Name()) {
		p.foreign(n)
	}
	return []jen.Code{jen.Qual(t.PkgPath(), t.Name()).Values(values...)}
}

// moduleCall prints a call of a leaf module of the user's model.
func (p *printer) moduleCall(n *graph.Node) {
	o, b := n.Op(), n.Bound()
	to, ok := p.modules[n.Target()]
	if !ok {
		msg, hint := "module "+gosrc.CommentLine(n.Target())+" is opaque and the code has state of its own", "capture it without taking the module for a leaf, or generate over the Go module"
		if p.why != "" {
			hint += ": now " + p.why
		}
		p.fail(n, OpaqueModule, msg, hint)
		return
	}
	args := p.operands(n)
	for k := len(args.args); k > 1 && args.args[k-1] == nil; k-- {
		args.args, args.values = args.args[:k-1], args.values[:k-1]
	}
	p.ref(p.self)
	count, several := o.NumResults(n.Attrs())
	t := to.method
	direct := !b.Op.AdHoc && t.NumIn() >= len(args.args) && !t.IsVariadic()
	for i := range t.NumIn() {
		direct = direct && t.In(i) == tensorPtr
	}
	for i := range t.NumOut() {
		direct = direct && t.Out(i) == tensorPtr
	}
	direct = direct && t.NumOut() == count
	if direct {
		list := p.all(&args, 0)
		for len(list) < t.NumIn() {
			list = append(list, jen.Nil())
		}
		rhs := to.code().Dot("Forward").Call(list...)
		if several {
			p.several(n, rhs, count, false, 0)
		} else {
			p.define(n, rhs, false, 0)
		}
		return
	}
	list := append([]jen.Code{to.reference()}, p.all(&args, 0)...)
	if several {
		p.list(n, gosrc.From("nn", "RunAll").Call(list...), false, 0)
	} else {
		p.define(n, gosrc.From("nn", "Run").Call(list...), false, 0)
	}
}
