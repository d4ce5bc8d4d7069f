package module

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/api"
)

// calls prints calls of operators and of leaf modules: of the operator's Go function
// or method if that does exactly what the node does, else of its record.
type calls struct {
	*writer
	*packages
	sizes   *sizes
	state   *state
	pkg     string            // name of the generated package
	wrapped map[*op.Op]string // variables of wrapped functions
	wraps   []jen.Code
}

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
func (p *calls) operands(node *graph.Node) operands {
	out := operands{args: node.Args(), force: -1, static: !hasSymbols(node.Op(), node.Attrs())}
	first := -1
	for i, a := range out.args {
		v := value{}
		if a != nil {
			if v = p.value(a); first < 0 {
				first = i
			}
			out.static = out.static && v.static
			out.depth = max(out.depth, v.depth)
		}
		out.values = append(out.values, v)
	}
	out.depth++
	switch {
	case p.anchor == nil:
	case node.Opcode() == graph.CallMethod && first == 0 && out.values[0].static:
		out.force = 0
	case out.static && first >= 0 && (node.Opcode() != graph.CallFunction || node.Op().Effect != op.Pure || out.depth > maxRecipe || p.definesSymbol(node)):
		out.force = first
	}
	if out.force >= 0 {
		out.static = false
	}
	return out
}

func (p *calls) definesSymbol(n *graph.Node) bool { return len(n.Graph().SymbolsOf(n)) > 0 }

// operand writes one argument.
func (p *calls) operand(o *operands, i int) *jen.Statement {
	switch {
	case i >= len(o.args) || o.args[i] == nil:
		return jen.Nil()
	case i == o.force:
		return p.traced(o.args[i])
	}
	return p.write(o.values[i])
}

func (p *calls) all(o *operands, from int) []jen.Code {
	var list []jen.Code
	for i := from; i < len(o.args); i++ {
		list = append(list, p.operand(o, i))
	}
	return list
}

// operatorCall prints a call_function or call_method node.
func (p *calls) operatorCall(node *graph.Node) {
	operator := node.Op()
	args := p.operands(node)
	count, several := operator.NumResults(node.Attrs())
	var rhs *jen.Statement
	asList := false
	switch {
	case operator.AdHoc:
		if rhs = p.wrappedCall(node, &args); rhs == nil {
			return
		}
	default:
		rhs = p.apiCall(node, &args)
		asList = several && len(operator.Results) == 1 && operator.Results[0] == "..."
		if rhs == nil {
			rhs, asList = p.recordCall(node, &args, several), several
		}
	}
	switch {
	case asList:
		p.list(node, rhs, args.static, args.depth)
	case several:
		p.several(node, rhs, count, args.static, args.depth)
	default:
		p.define(node, rhs, args.static, args.depth)
	}
}

// wrappedCall prints a call of an opaque Go function through a variable that
// wraps it, so that a trace does not look inside.
func (p *calls) wrappedCall(n *graph.Node, args *operands) *jen.Statement {
	operator := n.Op()
	if !p.usable(operator.Path, operator.Name) {
		p.fail(n, OpaqueFunc, "the function "+gosrc.CommentLine(operator.Key())+" cannot be named from package "+p.pkg,
			"export it from a package that can be imported, or generate into its own package")
		return nil
	}
	name := p.wrapped[operator]
	if name == "" {
		name = p.decls.Lower(operator.Name + "_wrapped")
		p.names.Reserve(name)
		p.wrapped[operator] = name
		wrap := "Wrap"
		if operator.Effect == op.Pure {
			wrap = "WrapPure"
		}
		p.wraps = append(p.wraps, jen.Comment(name+" is opaque to traces."),
			jen.Var().Id(name).Op("=").Qual(gosrc.Root+"tensor", wrap).Call(jen.Qual(operator.Path, operator.Name)), jen.Line())
	}
	for len(args.args) < len(operator.In) && !operator.In[len(args.args)].Variadic {
		args.args, args.values = append(args.args, nil), append(args.values, value{})
	}
	return jen.Id(name).Call(p.all(args, 0)...)
}

// recordCall prints a call in the form that takes an operator's record and
// attributes: for operators without a Go function, and for calls that the
// function cannot express.
func (p *calls) recordCall(node *graph.Node, args *operands, several bool) *jen.Statement {
	operator := node.Op()
	record := p.record(operator)
	if record == nil {
		p.foreign(node)
		return jen.Nil()
	}
	attrs := jen.Code(jen.Nil())
	if !operator.Codec().Equal(node.Attrs(), operator.Codec().Zero()) {
		attrs = p.attrs(node)
	}
	apply := "Apply"
	switch {
	case node.Opcode() == graph.CallMethod:
		apply = "ApplyMethod"
	case !several:
		apply = "CallOp"
	}
	call := gosrc.From("tensor", apply).Call(append([]jen.Code{record, attrs}, p.all(args, 0)...)...)
	if apply == "ApplyMethod" && !several {
		call.Index(jen.Lit(0))
	}
	return call
}

// record prints an operator's record, nil where no expression can: its variable, or for a
// derivative a call of the method that makes it.
func (p *calls) record(o *op.Op) *jen.Statement {
	if of, operand := o.DerivedFrom(); of != nil {
		if r := p.record(of); r != nil {
			return r.Dot("Derivative").Call(jen.Lit(operand))
		}
		return nil
	}
	name := recordName(o)
	switch {
	case o.Path == "" && o.Structural():
		return gosrc.From("op", name)
	case o.Path == "":
		return gosrc.From("op/std", name)
	case !p.usable(o.Path, name):
		return nil
	}
	return jen.Qual(o.Path, name)
}

// recordName is the variable that holds an operator's record, "" where the operator
// has a name that no variable follows from.
func recordName(o *op.Op) string {
	other := func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789_", r) }
	if strings.ContainsFunc(o.Name, other) || strings.IndexAny(o.Name, "0123456789") == 0 {
		return ""
	}
	return goname.Upper(o.Name)
}

func (p *calls) foreign(n *graph.Node) {
	p.fail(n, ForeignOp, "operator "+gosrc.CommentLine(n.Op().Key())+" cannot be named from package "+p.pkg,
		"define it in a package that can be imported, as a variable called "+goname.Upper(n.Op().Name)+", or generate into its own package")
}

// apiCall prints a call of an operator's Go function or method, nil when that
// cannot express the call.
func (p *calls) apiCall(node *graph.Node, args *operands) *jen.Statement {
	operator := node.Op()
	if of, _ := operator.DerivedFrom(); of != nil || operator.Structural() || operator.Path != "" && operator.Func == "" {
		return nil
	}
	fn := form(node)
	if fn == nil {
		return nil
	}
	var list []jen.Code
	operand := 0
	fields := map[string]any{}
	for _, a := range operator.Codec().Fields(node.Attrs()) {
		fields[a.GoName] = a.Value
	}
	method := node.Opcode() == graph.CallMethod
	for i, param := range fn.Params {
		switch {
		case param.Kind == api.Tensor:
			if i > 0 || !method {
				list = append(list, p.operand(args, operand))
			}
			operand++
		case param.Kind == api.Tensors && param.Variadic:
			list = append(list, p.all(args, operand)...)
		case param.Kind == api.Tensors:
			list = append(list, jen.Index().Add(tensorType()).Values(p.all(args, operand)...))
		default:
			list = append(list, p.argument(node, param, fields[param.Field])...)
		}
	}
	list = append(list, p.options(node, fn)...)
	if method {
		return p.operand(args, 0).Dot(fn.Name).Call(list...)
	}
	if operator.Func != "" {
		path, name := gosrc.SplitType(operator.Func)
		if !p.usable(path, name) {
			return nil
		}
		return jen.Qual(path, name).Call(list...)
	}
	return gosrc.From("tensor", fn.Name).Call(list...)
}

// form returns the Go function that gives exactly the node's operands and
// attributes, nil when there is none.
func form(n *graph.Node) *api.Func {
	operator, args := n.Op(), n.Args()
	if k := len(args); k > 0 && args[k-1] == nil || k > len(operator.In) && !operator.Variadic() {
		return nil // the functions leave absent operands at the end out
	}
	method := n.Opcode() == graph.CallMethod
	if method && (len(args) == 0 || args[0] == nil || operator.Path != "") {
		return nil
	}
	for _, form := range api.Of(operator) {
		fits := (!method || form.Method) && form.Fits(n.Attrs()) && (operator.Func == "" || form.Form == api.Plain)
		k := 0
		for _, q := range form.Params {
			if q.Kind == api.Tensor {
				fits = fits && (q.Optional || k < len(args) && args[k] != nil)
				k++
			}
		}
		if !operator.Variadic() {
			fits = fits && len(args) <= k
		}
		if fits {
			return form
		}
	}
	return nil
}

// moduleCall prints a call of a leaf module of the user's model.
func (p *calls) moduleCall(node *graph.Node) {
	operator, bound := node.Op(), node.Bound()
	to, ok := p.state.modules[node.Target()]
	if !ok {
		msg, hint := "module "+gosrc.CommentLine(node.Target())+" is opaque and the code has state of its own", "capture it without taking the module for a leaf, or generate over the Go module"
		if p.state.why != "" {
			hint += ": now " + p.state.why
		}
		p.fail(node, OpaqueModule, msg, hint)
		return
	}
	args := p.operands(node)
	for k := len(args.args); k > 1 && args.args[k-1] == nil; k-- {
		args.args, args.values = args.args[:k-1], args.values[:k-1]
	}
	p.ref(p.state.self)
	count, several := operator.NumResults(node.Attrs())
	method := to.method
	direct := !bound.Op.AdHoc && method.NumIn() >= len(args.args) && !method.IsVariadic()
	for i := range method.NumIn() {
		direct = direct && method.In(i) == tensorPtr
	}
	for i := range method.NumOut() {
		direct = direct && method.Out(i) == tensorPtr
	}
	direct = direct && method.NumOut() == count
	if direct {
		list := p.all(&args, 0)
		for len(list) < method.NumIn() {
			list = append(list, jen.Nil())
		}
		rhs := to.code().Dot("Forward").Call(list...)
		if several {
			p.several(node, rhs, count, false, 0)
		} else {
			p.define(node, rhs, false, 0)
		}
		return
	}
	list := append([]jen.Code{to.reference()}, p.all(&args, 0)...)
	if several {
		p.list(node, gosrc.From("nn", "RunAll").Call(list...), false, 0)
	} else {
		p.define(node, gosrc.From("nn", "Run").Call(list...), false, 0)
	}
}
