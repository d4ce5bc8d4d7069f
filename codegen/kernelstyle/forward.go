package kernelstyle

import (
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/codegen/gosrc"
)

// forward prints Forward, ForwardInto and their common code.
type forward struct {
	*pkg
	file    *goFile
	results []target
}

func (f *forward) print() {
	f.printForward()
	f.printForwardInto()
	if f.opts.Part {
		f.printCall()
	}
	f.printRun()
}

// inputParams are the parameters of the inputs, each with its type.
func (f *forward) inputParams() []jen.Code {
	list := append([]jen.Code{jen.Id("ctx").Qual("context", "Context")}, f.takesState()...)
	return append(list, f.typed(f.inputs, f.Inputs)...)
}

// typed are names of buffers with their types, those of one type together.
func (m *model) typed(names []string, buffers []int) (list []jen.Code) {
	for i := 0; i < len(names); {
		d, from := m.Buffers[buffers[i]].Type.DType(), i
		for i++; i < len(names) && m.Buffers[buffers[i]].Type.DType() == d; i++ {
		}
		list = append(list, jen.List(ids(names[from:i])...).Add(m.dense(buffers[from])))
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

// printForward prints Forward, which makes the results.
func (f *forward) printForward() {
	returns := f.typed(f.outputs, f.Outputs)
	var zeros []jen.Code
	for _, k := range f.Outputs {
		zeros = append(zeros, f.dense(k).Values())
	}
	assignOp, last := "=", ids(append(append([]string(nil), f.outputs...), "nil"))
	if f.structured() {
		name := f.owned("Result")
		returns, zeros = []jen.Code{jen.Id("_").Id(name)}, []jen.Code{jen.Id(name).Values()}
		assignOp, last = ":=", []jen.Code{jen.Id("r"), jen.Nil()}
	}
	fail := append(zeros, jen.Err())
	body := f.begin(fail)
	for i, k := range f.Outputs {
		t := f.Buffers[k].Type
		if f.Buffers[k].Updated {
			body = append(body, jen.Id(f.outputs[i]).Op(assignOp).Id(f.inputs[slices.Index(f.Inputs, k)]))
			continue
		}
		if f.Buffers[k].Late {
			body = append(body, jen.Id(f.outputs[i]).Op(assignOp).Add(fromKernel("Late").Types(gosrc.Elem(t.DType())).Call(jen.Lit(t.Rank()))))
			continue
		}
		made := fromKernel("Result").Types(gosrc.Elem(t.DType())).Call(f.dims(t.Dims())...)
		body = append(body, jen.List(jen.Id(f.outputs[i]), jen.Err()).Op(assignOp).Add(made), gosrc.IfErr(fail...))
	}
	body = append(body, f.checkState(fail, f.inputs)...)
	body = append(body, gosrc.IfErrOf(f.runCall(), fail...))
	if f.structured() {
		body = append(body, jen.Var().Id("r").Id(f.owned("Result")))
		for _, t := range f.results {
			body = append(body, jen.Add(t.to).Op("=").Id(f.outputs[t.out]))
		}
	}
	body = append(body, jen.Return(last...))
	f.file.declare(f.doc(), len(body)+2, jen.Func().Params(jen.Id("m").Op("*").Id(f.typ)).Id("Forward").
		Params(f.inputParams()...).Params(append(returns, jen.Err().Error())...).Block(body...))
}

func (f *forward) doc() string {
	doc := "Forward computes the results for the inputs\n\n"
	for i, k := range f.Inputs {
		doc += "\t" + f.inputs[i] + " " + gosrc.Comment(f.Buffers[k].Type.String()) + f.mayBeNil(i) + f.opts.About.Input(i) + "\n"
	}
	doc += "\nand returns\n\n"
	for i, k := range f.Outputs {
		doc += "\t" + f.outputs[i] + " " + gosrc.Comment(f.Buffers[k].Type.String()) + f.opts.About.Output(i) + "\n"
	}
	if f.anyLate() {
		doc += "\nSizes written ? follow from values.\n"
	}
	if made, in := f.updated(); len(made) > 0 {
		doc += "\nIt makes " + gosrc.Comment(strings.Join(made, ", ")) + " in the memory of " + gosrc.Comment(strings.Join(in, ", ")) + ", which have no gaps, and memory apart from that of other inputs and of the weights. After an error they are what they were.\n"
	}
	if len(f.kept) > 0 {
		doc += "\nIt changes the state, also where it ends with an error."
	}
	return doc + "\nArguments that do not fit are an error, as is the end of ctx."
}

// updated are the results that are made in the memory of inputs, and these inputs.
func (f *forward) updated() (made, in []string) {
	for i, k := range f.Outputs {
		if f.Buffers[k].Updated {
			made, in = append(made, f.outputs[i]), append(in, f.inputs[slices.Index(f.Inputs, k)])
		}
	}
	return made, in
}

// own are the names of results with memory of their own, and their buffers.
func (f *forward) own() (names []string, buffers []int) {
	for i, k := range f.Outputs {
		if !f.Buffers[k].Updated {
			names = append(names, f.outputs[i])
		}
	}
	return names, f.ownOutputs()
}

// ownOutputs are the buffers of results that are made in no input.
func (m *model) ownOutputs() []int {
	return slices.DeleteFunc(slices.Clone(m.Outputs), func(k int) bool { return m.Buffers[k].Updated })
}

// begin prints how both forms begin: the weights, the defaults of inputs, and the
// check of the inputs, which binds the symbols.
func (f *forward) begin(fail []jen.Code) []jen.Code {
	body := []jen.Code{
		jen.Defer().Add(fromKernel("Recover").Call(jen.Op("&").Err())),
		jen.List(jen.Id("w"), jen.Err()).Op(":=").Id("m").Dot("loaded").Call(), gosrc.IfErr(fail...),
	}
	for i, name := range f.inputs {
		if f.defaults[i] != nil {
			arg := jen.Id(name).Dot("Array")
			body = append(body, jen.If(jen.Add(arg).Op("==").Nil()).Block(jen.Add(arg).Op("=").Id("w").Dot(f.defaults[i].field)))
		}
	}
	check := jen.Id(f.prefix + "Check").Call(arrays(f.inputs)...)
	if f.symbolic() {
		return append(body, jen.List(append(ids(f.symbols), jen.Err())...).Op(":=").Add(check), gosrc.IfErr(fail...))
	}
	return append(body, gosrc.IfErrOf(check, fail...))
}

// checkState prints the check of the caller's state, where there is one.
func (f *forward) checkState(fail []jen.Code, arguments []string) []jen.Code {
	if len(f.kept) == 0 {
		return nil
	}
	return []jen.Code{gosrc.IfErrOf(jen.Id("state").Dot("check").Call(arrays(arguments)...), fail...)}
}

func (f *forward) runCall() jen.Code {
	args := []jen.Code{jen.Id("ctx"), jen.Id("w")}
	if len(f.kept) > 0 {
		args = append(args, jen.Id("state"))
	}
	args = append(args, ids(f.symbols)...)
	own, _ := f.own()
	return jen.Id("m").Dot("run").Call(append(append(args, arrays(f.inputs)...), arrays(own)...)...)
}

// anyLate tells that the sizes of results follow from values.
func (m *model) anyLate() bool {
	return slices.ContainsFunc(m.Outputs, func(k int) bool { return m.Buffers[k].Late })
}

// intoLate is the doc of ForwardInto about such results.
const intoLate = `// Results whose sizes follow from values get these sizes, and new memory where theirs
// is not large enough.
func (m *Model) ForwardInto(`

const forwardIntoText = `
// ForwardInto is Forward with memory of the caller for the results. It must have
// their shapes, without gaps, and be apart from that of the inputs. A call of
// sizes that have occurred before does not allocate.
func (m *Model) ForwardInto(PARAMS) (err error) {
	BEGIN
	var c kernel.Checker
	OUTPUTS
	if err := c.Err(); err != nil {
		return err
	}
	STATE
	return RUN
}
`

func (f *forward) printForwardInto() {
	own, buffers := f.own()
	params := append(append([]jen.Code{jen.Id("ctx").Qual("context", "Context")}, f.takesState()...),
		f.typed(slices.Concat(f.inputs, own), slices.Concat(f.Inputs, buffers))...)
	var outputs []jen.Code
	for i, k := range buffers {
		name, a := gosrc.Quoted(own[i]), jen.Id(own[i]).Dot("Array")
		check := jen.Id("c").Dot("Output").Call(append([]jen.Code{name, a}, f.typeArgs(&f.Buffers[k])...)...)
		if b := &f.Buffers[k]; b.Late {
			check = jen.Id("c").Dot("Late").Call(name, a, gosrc.DType(b.Type.DType()))
		}
		outputs = append(outputs, check,
			jen.Id("c").Dot("Apart").Call(append([]jen.Code{name, a}, arrays(f.inputs)...)...))
	}
	text := forwardIntoText
	if f.anyLate() {
		text = strings.Replace(text, "func (m *Model) ForwardInto(", intoLate, 1)
	}
	f.file.template(text, f.with(map[string]any{
		"PARAMS": jen.List(params...), "BEGIN": f.begin([]jen.Code{jen.Err()}), "OUTPUTS": outputs, "RUN": f.runCall(),
		"STATE": f.checkState([]jen.Code{jen.Err()}, slices.Concat(f.inputs, own)),
	}))
}

const callText = `
// Call is Forward for arrays, in the order of inputs and results.
func (m *Model) Call(ctx context.Context, in []*array.Array) ([]*array.Array, error) {
	if err := kernel.Arguments(in, COUNT); err != nil {
		return nil, err
	}
	FORWARD
	if err != nil {
		return nil, err
	}
	return RESULTS, nil
}
`

// printCall prints Forward for programs that know inputs and results by their numbers.
func (f *forward) printCall() {
	args := []jen.Code{jen.Id("ctx")}
	for i, k := range f.Inputs {
		args = append(args, f.dense(k).Values(jen.Dict{jen.Id("Array"): jen.Id("in").Index(jen.Lit(i))}))
	}
	f.file.template(callText, f.with(map[string]any{
		"COUNT":   jen.Lit(len(f.Inputs)),
		"FORWARD": jen.List(append(ids(f.outputs), jen.Err())...).Op(":=").Id("m").Dot("Forward").Call(args...),
		"RESULTS": jen.Index().Add(arrayPointer()).Values(arrays(f.outputs)...),
	}))
}

const runText = `
// run computes the results for inputs that have been checked.
func (m *Model) run(PARAMS) (err error) {
	BUSY
	s := m.free.Take()
	s.Begin(ctx, m.Threads)
	LISTEN
	defer m.done(s, &err)
	TAKE
	if CHANGED {
		PREPARE
		s.Allocate()
	}
	modelRun(s, w)
	return nil
}

// done ends a call: it keeps s for the next one, or turns a panic into the error,
// after which s is not used again.
func (m *Model) done(s *modelState, err *error) {
	if r := recover(); r != nil {
		*err = s.Failure(r)
		return
	}
	s.End()
	GIVE
	m.free.Give(s)
}
`

// printRun prints the common code of both forms of Forward, and the end of a call.
func (f *forward) printRun() {
	params := []jen.Code{jen.Id("ctx").Qual("context", "Context"), f.weightsParam()}
	params = append(append(params, f.takesState()...), f.symbolParams()...)
	own, results := f.own()
	if all := slices.Concat(f.inputs, own); len(all) > 0 {
		params = append(params, jen.List(ids(all)...).Add(arrayPointer()))
	}
	var take, give []jen.Code
	for i, k := range f.Inputs {
		take = append(take, jen.Add(f.refs[k]).Op("=").Add(fromArray("Contiguous").Call(jen.Id(f.inputs[i]))))
		if f.Buffers[k].Updated {
			give = append(give, jen.Add(f.refs[k]).Dot("Storage").Call().Dot("Bump").Call())
		}
		give = append(give, jen.Add(f.refs[k]).Op("=").Nil())
	}
	for i, k := range results {
		take = append(take, jen.Add(f.refs[k]).Op("=").Id(own[i]))
		give = append(give, jen.Add(f.refs[k]).Op("=").Nil())
	}
	for i, x := range f.kept {
		field := jen.Id("s").Dot(f.keeps[i])
		take = append(take, jen.Add(field).Op("=").Id("state").Dot(x.field).Dot("Array"))
		give = append(give, jen.Add(field).Op("=").Nil())
	}
	changed, prepare := f.laying()
	var listen []jen.Code
	if len(f.told()) > 0 {
		listen = append(listen, jen.Id("s").Dot("Listen").Call(jen.Id("m").Dot("Hook")))
	}
	f.file.template(runText, f.with(map[string]any{
		"PARAMS": jen.List(params...), "TAKE": take, "GIVE": give, "CHANGED": changed, "PREPARE": prepare, "BUSY": f.inUse(), "LISTEN": listen,
	}))
}
