package codegen

import (
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/shape"
)

// inputParams are the parameters of the inputs, each with its type.
func (g *kernelGen) inputParams() []jen.Code {
	list := []jen.Code{jen.Id("ctx").Qual("context", "Context")}
	for i, k := range g.p.Inputs {
		list = append(list, jen.Id(g.inputs[i]).Add(g.dense(k)))
	}
	return list
}

// arrays are the arrays of arguments.
func arrays(names []string) []jen.Code {
	list := make([]jen.Code, len(names))
	for i, n := range names {
		list[i] = jen.Id(n).Dot("Array")
	}
	return list
}

func (g *kernelGen) method() *jen.Statement {
	return jen.Func().Params(jen.Id("m").Op("*").Id(g.typ))
}

// printForward prints Forward and ForwardInto.
func (g *kernelGen) printForward(s *goFile, result []assign) {
	doc := "Forward computes the results for the inputs\n\n"
	for i, k := range g.p.Inputs {
		doc += "\t" + g.inputs[i] + " " + comment(g.p.Buffers[k].Type.String()) + g.mayBeNil(i) + "\n"
	}
	doc += "\nand returns\n\n"
	for i, k := range g.p.Outputs {
		doc += "\t" + g.outputs[i] + " " + comment(g.p.Buffers[k].Type.String()) + "\n"
	}
	doc += "\nArguments that do not fit are an error, as is the end of ctx."
	var returns, zeros []jen.Code
	name := g.exportedName("Result", false)
	for i, k := range g.p.Outputs {
		returns = append(returns, jen.Id(g.outputs[i]).Add(g.dense(k)))
		zeros = append(zeros, g.dense(k).Values())
	}
	assignOp, last := "=", ids(append(append([]string(nil), g.outputs...), "nil"))
	if g.structured() {
		returns, zeros = []jen.Code{jen.Id("_").Id(name)}, []jen.Code{jen.Id(name).Values()}
		assignOp, last = ":=", []jen.Code{jen.Id("r"), jen.Nil()}
	}
	fail := append(zeros, jen.Err())
	body := g.begin(fail)
	for i, k := range g.p.Outputs {
		t := g.p.Buffers[k].Type
		body = append(body, jen.List(jen.Id(g.outputs[i]), jen.Err()).Op(assignOp).Add(fromKernel("Result").Types(goElem(t.DType())).Call(g.dims(t.Dims())...)), ifErr(fail...))
	}
	body = append(body, ifErrOf(g.runCall(), fail...))
	if g.structured() {
		body = append(body, jen.Var().Id("r").Id(name))
		for _, a := range result {
			body = append(body, jen.Add(a.to).Op("=").Id(g.outputs[a.out]))
		}
	}
	body = append(body, jen.Return(last...))
	s.declare(doc, len(body)+2, g.method().Id("Forward").Params(g.inputParams()...).Params(append(returns, jen.Err().Error())...).Block(body...))
	g.printForwardInto(s)
}

// begin prints how Forward begins: the weights, the defaults of inputs, and the
// check of the inputs, which binds the symbols.
func (g *kernelGen) begin(fail []jen.Code) []jen.Code {
	body := []jen.Code{
		jen.Defer().Add(fromKernel("Recover").Call(jen.Op("&").Err())),
		jen.List(jen.Id("w"), jen.Err()).Op(":=").Id("m").Dot("loaded").Call(), ifErr(fail...),
	}
	for i, name := range g.inputs {
		if g.defaults[i] != nil {
			arg := jen.Id(name).Dot("Array")
			body = append(body, jen.If(jen.Add(arg).Op("==").Nil()).Block(jen.Add(arg).Op("=").Id("w").Dot(g.defaults[i].field)))
		}
	}
	call := jen.Id(g.prefix + "Check").Call(arrays(g.inputs)...)
	if g.symbolic {
		return append(body, jen.List(append(ids(g.symbolNames()), jen.Err())...).Op(":=").Add(call), ifErr(fail...))
	}
	return append(body, ifErrOf(call, fail...))
}

func (g *kernelGen) runCall() jen.Code {
	args := append([]jen.Code{jen.Id("ctx"), jen.Id("w")}, ids(g.symbolNames())...)
	return jen.Id("m").Dot("run").Call(append(append(args, arrays(g.inputs)...), arrays(g.outputs)...)...)
}

func (g *kernelGen) printForwardInto(s *goFile) {
	params := g.inputParams()
	for i, k := range g.p.Outputs {
		params = append(params, jen.Id(g.outputs[i]).Add(g.dense(k)))
	}
	body := append(g.begin([]jen.Code{jen.Err()}), jen.Var().Id("c").Add(fromKernel("Checker")))
	for i, k := range g.p.Outputs {
		name, a := quoted(g.outputs[i]), jen.Id(g.outputs[i]).Dot("Array")
		body = append(body,
			jen.Id("c").Dot("Output").Call(append([]jen.Code{name, a}, g.typeArgs(&g.p.Buffers[k])...)...),
			jen.Id("c").Dot("Apart").Call(append([]jen.Code{name, a}, arrays(g.inputs)...)...))
	}
	body = append(body, ifErrOf(jen.Id("c").Dot("Err").Call(), jen.Err()), jen.Return(g.runCall()))
	s.declare("ForwardInto is Forward with memory of the caller for the results. It must have\ntheir shapes, without gaps, and be apart from that of the inputs. A call of\nsizes that have occurred before does not allocate.",
		len(body)+2, g.method().Id("ForwardInto").Params(params...).Params(jen.Err().Error()).Block(body...))
}

// printRun prints what both forms of Forward share.
func (g *kernelGen) printRun(s *goFile) {
	params := append([]jen.Code{jen.Id("ctx").Qual("context", "Context"), g.weightsParam()}, g.symbolParams()...)
	if all := append(append([]string(nil), g.inputs...), g.outputs...); len(all) > 0 {
		params = append(params, jen.List(ids(all)...).Add(arrayPointer()))
	}
	state := jen.Id("s")
	do := func(method string, args ...jen.Code) jen.Code { return state.Clone().Dot(method).Call(args...) }
	body := []jen.Code{
		jen.Id("s").Op(":=").Id("m").Dot("free").Dot("Take").Call(),
		do("Begin", jen.Id("ctx"), jen.Id("m").Dot("Threads")),
		jen.Defer().Id("m").Dot("done").Call(jen.Id("s"), jen.Op("&").Err()),
	}
	for i, k := range g.p.Inputs {
		body = append(body, jen.Add(g.refs[k]).Op("=").Add(fromArray("Contiguous").Call(jen.Id(g.inputs[i]))))
	}
	for i, k := range g.p.Outputs {
		body = append(body, jen.Add(g.refs[k]).Op("=").Id(g.outputs[i]))
	}
	laid := jen.Op("!").Add(do("Ready"))
	prepare := []jen.Code{do("layout", ids(g.symbolNames())...)}
	if g.symbolic {
		for _, x := range g.symbolNames() {
			laid.Op("||").Id("s").Dot(x).Op("!=").Id(x)
		}
		prepare = append(prepare, computeCall(g.prefix+"Scratch"))
	} else {
		_, scratch := g.fixedPeak()
		prepare = append(prepare, do("Need", jen.Lit(scratch)))
	}
	body = append(body, jen.If(laid).Block(append(prepare, do("Allocate"))...), computeCall(g.prefix+"Run"), jen.Return(jen.Nil()))
	s.declare("run computes the results for inputs that have been checked.", len(body)+4, g.method().Id("run").Params(params...).Params(jen.Err().Error()).Block(body...))
	g.printDone(s)
}

// printDone prints the end of a call.
func (g *kernelGen) printDone(s *goFile) {
	body := []jen.Code{
		jen.If(jen.Id("r").Op(":=").Recover(), jen.Id("r").Op("!=").Nil()).Block(
			jen.Op("*").Err().Op("=").Id("s").Dot("Failure").Call(jen.Id("r")), jen.Return()),
		jen.Id("s").Dot("End").Call(),
	}
	for _, list := range [2][]int{g.p.Inputs, g.p.Outputs} {
		for _, k := range list {
			body = append(body, jen.Add(g.refs[k]).Op("=").Nil())
		}
	}
	body = append(body, jen.Id("m").Dot("free").Dot("Give").Call(jen.Id("s")))
	s.declare("done ends a call: it keeps the state for the next one, or turns a panic into the\nerror. A state in which something failed is not used again.", len(body)+4,
		g.method().Id("done").Params(g.stateParam(), jen.Err().Op("*").Error()).Block(body...))
}

// printCheck prints the check of the inputs.
func (g *kernelGen) printCheck(s *goFile) {
	name := g.prefix + "Check"
	var params []jen.Code
	if len(g.inputs) > 0 {
		params = []jen.Code{jen.List(ids(g.inputs)...).Add(arrayPointer())}
	}
	body := []jen.Code{jen.Var().Id("c").Add(fromKernel("Checker"))}
	for i, k := range g.p.Inputs {
		b := &g.p.Buffers[k]
		args := []jen.Code{quoted(b.Name), jen.Id(g.inputs[i]), dtypeLit(b.Type.DType()), quoted(b.Type.String())}
		for _, d := range b.Type.Dims().Slice() {
			n, ok := d.Int()
			if !ok {
				n = -1
			}
			args = append(args, jen.Lit(n))
		}
		body = append(body, jen.Id("c").Dot("Input").Call(args...))
	}
	problems := jen.Id("c").Dot("Err").Call()
	if !g.symbolic {
		body = append(body, jen.Return(problems))
		s.declare(name+" compares the inputs with what the model takes.", len(body)+2, jen.Func().Id(name).Params(params...).Error().Block(body...))
		return
	}
	var zeros []jen.Code
	for range g.p.Symbols {
		zeros = append(zeros, jen.Lit(0))
	}
	body = append([]jen.Code{jen.Defer().Add(fromKernel("Recover").Call(jen.Op("&").Err()))}, body...)
	body = append(body, ifErrOf(problems, append(zeros, jen.Err())...))
	body = append(body, g.sizeChecks()...)
	body = append(body, jen.Return(append(ids(g.symbolNames()), problems)...))
	s.declare(name+" compares the inputs with what the model takes and finds the symbolic sizes.", len(body)+2,
		jen.Func().Id(name).Params(params...).Params(append(g.symbolParams(), jen.Err().Error())...).Block(body...))
}

// sizeChecks prints what binds the symbols and compares sizes with them.
func (g *kernelGen) sizeChecks() []jen.Code {
	var body []jen.Code
	defines := map[[2]int]bool{}
	for _, x := range g.p.Symbols {
		body = append(body, jen.Id(g.symbols[x.Name]).Op("=").Id(g.inputs[x.Input]).Dot("Dim").Call(jen.Lit(x.Axis)))
		defines[[2]int{x.Input, x.Axis}] = true
	}
	for i, k := range g.p.Inputs {
		b := &g.p.Buffers[k]
		for axis, d := range b.Type.Dims().Slice() {
			if _, fixed := d.Int(); !fixed && !defines[[2]int{i, axis}] {
				body = append(body, jen.Id("c").Dot("Size").Call(quoted(b.Name), jen.Id(g.inputs[i]), quoted(b.Type.String()), jen.Lit(axis), g.dim(d)))
			}
		}
	}
	for _, x := range g.p.Guards {
		body = append(body, g.guard(x))
	}
	return body
}

// guard prints the check of a relation of sizes.
func (g *kernelGen) guard(x plan.Guard) jen.Code {
	rel := fromKernel(map[shape.Rel]string{shape.EQ: "Equal", shape.GE: "AtLeast", shape.MOD: "Multiple"}[x.Rel])
	claim := jen.Dict{jen.Id("Rel"): rel.Clone(), jen.Id("A"): g.side(x.A), jen.Id("B"): g.side(x.B)}
	if x.Op != "" {
		claim[jen.Id("Op")] = quoted(x.Op)
	}
	input := jen.Nil()
	if all := append(x.A.Symbols(), x.B.Symbols()...); len(all) > 0 {
		s := g.symbolOf(all[0])
		input = jen.Id(g.inputs[s.Input])
		claim[jen.Id("Input")] = quoted(g.p.Buffers[g.p.Inputs[s.Input]].Name)
	}
	return jen.If(jen.Op("!").Add(rel).Dot("Holds").Call(g.dim(x.A), g.dim(x.B))).Block(
		jen.Id("c").Dot("Guard").Call(input, quoted(guardText(x)), fromKernel("Claim").Values(claim)))
}

// side prints a side of a guard with what its symbols are.
func (g *kernelGen) side(d shape.Dim) *jen.Statement {
	fields := jen.Dict{jen.Id("Text"): quoted(d.String()), jen.Id("Value"): g.dim(d)}
	var sizes []jen.Code
	for _, name := range d.Symbols() {
		s := g.symbolOf(name)
		sizes = append(sizes, jen.Values(jen.Dict{jen.Id("Symbol"): quoted(name), jen.Id("Input"): quoted(g.p.Buffers[g.p.Inputs[s.Input]].Name),
			jen.Id("Axis"): jen.Lit(s.Axis), jen.Id("Value"): jen.Id(g.symbols[name])}))
	}
	if sizes != nil {
		fields[jen.Id("Sizes")] = jen.Index().Add(fromKernel("SizeOf")).Values(sizes...)
	}
	return fromKernel("Side").Values(fields)
}

func (g *kernelGen) symbolOf(name string) plan.Symbol {
	for _, s := range g.p.Symbols {
		if s.Name == name {
			return s
		}
	}
	return plan.Symbol{}
}

// guardText tells where a guard comes from, without a line number, which would
// change with every edit above it.
func guardText(x plan.Guard) string {
	name := x.Text[strings.LastIndexAny(x.Text, "/\\")+1:]
	if i := strings.IndexByte(name, ':'); i >= 0 {
		name = name[:i]
	}
	if name == "" {
		return ""
	}
	return "required in " + name
}

// printPeak prints PeakBytes.
func (g *kernelGen) printPeak(s *goFile) {
	name := g.exportedName("PeakBytes", false)
	if !g.symbolic {
		arena, scratch := g.fixedPeak()
		s.declare(name+" is the memory in bytes that one call takes on one thread, besides\nweights, inputs and results.", 1,
			jen.Const().Id(name).Op("=").Op(strconv.Itoa(arena)).Op("+").Op(strconv.Itoa(scratch)))
		return
	}
	body := []jen.Code{
		jen.Defer().Func().Params().Block(jen.If(jen.Recover().Op("!=").Nil()).Block(jen.Id("bytes").Op("=").Lit(-1))).Call(),
		jen.Id("s").Op(":=").Op("&").Id(g.prefix + "State").Values(),
		jen.Id("s").Dot("Measure").Call(),
	}
	for _, list := range [2][]int{g.p.Inputs, g.p.Outputs} {
		for _, k := range list {
			header := append([]jen.Code{jen.New(fromArray("Array"))}, g.typeArgs(&g.p.Buffers[k])...)
			body = append(body, jen.Add(g.refs[k]).Op("=").Id("s").Dot("Header").Call(header...))
		}
	}
	body = append(body,
		jen.Id("w").Op(":=").Op("&").Id(g.prefix+"Weights").Values(),
		jen.Id("w").Dot("bind").Call(jen.Op("&").Add(fromSafetensors("Loader")).Values()),
		jen.Id("s").Dot("layout").Call(ids(g.symbolNames())...),
		computeCall(g.prefix+"Scratch"),
		jen.Return(jen.Id("s").Dot("Bytes").Call()),
	)
	s.declare(name+" returns the memory in bytes that one call takes on one thread, besides\nweights, inputs and results; -1 for sizes that no call can have.", len(body)+4,
		jen.Func().Id(name).Params(g.symbolParams()...).Params(jen.Id("bytes").Int64()).Block(body...))
}
