package codegen

import (
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering/plan"
)

// exportedName returns the name of something that belongs to the model's type:
// New for Model, NewNet for Net.
func (g *kernelGen) exportedName(what string, before bool) string {
	switch {
	case g.typ == "Model":
		return what
	case before:
		return what + g.typ
	}
	return g.typ + what
}

// dense prints the type of an argument or result.
func (g *kernelGen) dense(k int) string {
	return "array.Dense[" + goElem(g.p.Buffers[k].Type.DType()) + "]"
}

// apiFile prints what users of the package call.
func (g *kernelGen) apiFile() *goFile {
	s := &goFile{name: g.file + ".go", doc: g.packageDoc()}
	g.printModel(s)
	g.printWeightsAPI(s)
	result := g.printResults(s)
	g.printForward(s, result)
	g.printRun(s)
	g.printCheck(s)
	g.printPeak(s)
	return s
}

// packageDoc describes the package: what it computes, from what, how to use it.
func (g *kernelGen) packageDoc() string {
	var b strings.Builder
	line := func(parts ...string) { b.WriteString(strings.TrimRight("// "+strings.Join(parts, ""), " ") + "\n") }
	name := comment(g.p.Name)
	if name == "" {
		name = g.typ
	}
	line("Package ", g.o.Package, " computes the model ", name, ".")
	line()
	for _, k := range g.p.Inputs {
		line("\t", comment(g.p.Buffers[k].Name), " ", g.p.Buffers[k].Type.String())
	}
	for i, k := range g.p.Outputs {
		line("\t-> ", g.outputs[i], " ", g.p.Buffers[k].Type.String())
	}
	line()
	elements, bytes := 0, 0
	for _, w := range g.weights {
		elements += w.array.Len()
		bytes += w.array.Len() * w.array.DType().Size()
	}
	line("It has ", strconv.Itoa(len(g.weights)), " tensors of weights with ", strconv.Itoa(elements), " elements, ", strconv.Itoa(bytes), " bytes, and ",
		strconv.Itoa(len(g.p.Steps)), " steps.")
	line()
	if g.o.Weights == WeightsExternal {
		line("\tm, err := ", g.exportedName("Load", true), "(file, size) // ", g.weightsName())
	} else {
		line("\tm, err := ", g.exportedName("New", true), "()")
	}
	args := append([]string{"ctx"}, g.inputs...)
	outs := "result"
	if !g.structured() {
		outs = strings.Join(g.outputs, ", ")
	}
	line("\t", outs, ", err := m.Forward(", strings.Join(args, ", "), ")")
	line()
	line("Many goroutines may share one model.")
	return b.String()
}

func (g *kernelGen) printModel(s *goFile) {
	t, pfx := g.typ, g.prefix
	s.p("// ", t, " computes the model. It is made by ", g.makers(), " and may be used by many goroutines at once.")
	s.p("type ", t, " struct {")
	s.p("// Threads is the most goroutines that one call computes with. Set it before the")
	s.p("// first call; results do not depend on it.")
	s.p("Threads int")
	s.p()
	s.p("weights atomic.Pointer[", pfx, "Weights]")
	s.p("free chan *", pfx, "State")
	s.p("}")
	s.p()
}

func (g *kernelGen) makers() string {
	if g.o.Weights == WeightsExternal {
		return g.exportedName("Load", true)
	}
	return g.exportedName("New", true) + " or " + g.exportedName("Load", true)
}

// printWeightsAPI prints the functions that make models.
func (g *kernelGen) printWeightsAPI(s *goFile) {
	t, pfx := g.typ, g.prefix
	newName, load := g.exportedName("New", true), g.exportedName("Load", true)
	if g.o.Weights == WeightsEmbed {
		s.p("//go:embed ", g.weightsName())
		s.p("var ", pfx, "File []byte")
		s.p()
	}
	if g.o.Weights != WeightsExternal {
		s.p("// ", newName, " returns the model with the weights that it was generated with.")
		s.p("func ", newName, "() (*", t, ", error) {")
		if g.o.Weights == WeightsEmbed {
			s.p("f, err := safetensors.Parse(", pfx, "File)")
			s.p("if err != nil {\nreturn nil, err\n}")
			s.p("w, err := ", pfx, "Read(f)")
			s.p("if err != nil {\nreturn nil, err\n}")
		} else {
			s.p("l := ", pfx, "Loader{seen: map[string]bool{}, find: ", pfx, "Literal}")
			s.p("w := &", pfx, "Weights{}")
			s.p("w.bind(&l)")
			s.p("if err := l.errs.Err(); err != nil {\nreturn nil, err\n}")
		}
		s.p("return ", pfx, "With(w), nil")
		s.p("}")
		s.p()
	}
	s.p("// ", load, " returns the model with weights from a safetensors file of size bytes. The")
	s.p("// error lists every tensor that is missing, differs or is not expected.")
	s.p("func ", load, "(r io.ReaderAt, size int64) (*", t, ", error) {")
	s.p("m := ", pfx, "With(nil)")
	s.p("if err := m.Reload(r, size); err != nil {\nreturn nil, err\n}")
	s.p("return m, nil")
	s.p("}")
	s.p()
	s.p("// Reload replaces the weights by those of a file, as ", load, " reads them. Calls that")
	s.p("// have begun end with the old ones; after an error all go on with them.")
	s.p("func (m *", t, ") Reload(r io.ReaderAt, size int64) error {")
	s.p("f, err := safetensors.Open(r, size)")
	s.p("if err != nil {\nreturn err\n}")
	s.p("w, err := ", pfx, "Read(f)")
	s.p("if err != nil {\nreturn err\n}")
	s.p("m.weights.Store(w)")
	s.p("return nil")
	s.p("}")
	s.p()
	s.p("func ", pfx, "With(w *", pfx, "Weights) *", t, " {")
	s.p("n := runtime.GOMAXPROCS(0)")
	s.p("m := &", t, "{Threads: n, free: make(chan *", pfx, "State, n)}")
	s.p("m.weights.Store(w)")
	s.p("return m")
	s.p("}")
	s.p()
}

// structured reports whether the results are returned in a struct.
func (g *kernelGen) structured() bool {
	st := g.p.Structure
	if st == nil || st.Kind == graph.LeafValue {
		return false
	}
	if st.Kind != graph.Results {
		return true
	}
	for i, f := range st.Fields {
		if f == nil || f.Kind != graph.LeafValue || f.Index != i {
			return true
		}
	}
	return len(st.Fields) != len(g.p.Outputs)
}

// assign is where a result goes in the struct of results.
type assign struct {
	path string
	out  int
}

// printResults prints the structs of results and returns which result goes where.
func (g *kernelGen) printResults(s *goFile) []assign {
	if !g.structured() {
		return nil
	}
	var list []assign
	g.resultStruct(s, g.exportedName("Result", false), g.p.Structure, "", &list)
	return list
}

// resultStruct prints one struct; nested structs get types of their own.
func (g *kernelGen) resultStruct(s *goFile, typ string, st *graph.Structure, path string, list *[]assign) {
	type field struct{ name, typ string }
	var fields []field
	used := newNames()
	for i, f := range st.Fields {
		if f == nil || f.Kind == graph.NoValue {
			continue
		}
		name := "Value" + strconv.Itoa(i)
		if i < len(st.Keys) && st.Keys[i] != "" {
			name = exported(st.Keys[i])
		} else if f.Kind == graph.LeafValue && path == "" && f.Index < len(g.o.Outputs) && g.o.Outputs[f.Index] != "" {
			name = exported(g.o.Outputs[f.Index])
		}
		name = used.add(name)
		at := path + "." + name
		if f.Kind == graph.LeafValue {
			fields = append(fields, field{name, g.dense(g.p.Outputs[f.Index])})
			*list = append(*list, assign{at, f.Index})
			continue
		}
		if f.Kind == graph.SliceOf && g.uniform(f) {
			fields = append(fields, field{name, "[" + strconv.Itoa(len(f.Fields)) + "]" + g.dense(g.p.Outputs[f.Fields[0].Index])})
			for k, leaf := range f.Fields {
				*list = append(*list, assign{at + "[" + strconv.Itoa(k) + "]", leaf.Index})
			}
			continue
		}
		sub := g.top.add(typ + name)
		fields = append(fields, field{name, sub})
		g.resultStruct(s, sub, f, at, list)
	}
	s.p("// ", typ, " holds results of ", g.typ, ".Forward.")
	s.p("type ", typ, " struct {")
	for _, f := range fields {
		s.p(f.name, " ", f.typ)
	}
	s.p("}")
	s.p()
}

// uniform reports whether a slice holds tensors of one element type alone.
func (g *kernelGen) uniform(f *graph.Structure) bool {
	for _, x := range f.Fields {
		if x == nil || x.Kind != graph.LeafValue || g.dense(g.p.Outputs[x.Index]) != g.dense(g.p.Outputs[f.Fields[0].Index]) {
			return false
		}
	}
	return len(f.Fields) > 0
}

// inputParams prints the parameters of the inputs, each with its type.
func (g *kernelGen) inputParams() string {
	text := "ctx context.Context"
	for i, k := range g.p.Inputs {
		text += ", " + g.inputs[i] + " " + g.dense(k)
	}
	return text
}

// arrays prints the arrays of arguments, each behind ", ".
func arrays(list []string, suffix string) string {
	text := ""
	for _, x := range list {
		text += ", " + x + suffix
	}
	return text
}

// printForward prints Forward and ForwardInto.
func (g *kernelGen) printForward(s *goFile, result []assign) {
	pfx := g.prefix
	s.p("// Forward computes the results for the inputs")
	s.p("//")
	for i, k := range g.p.Inputs {
		s.p("//\t", g.inputs[i], " ", g.p.Buffers[k].Type.String())
	}
	s.p("//")
	s.p("// and returns")
	s.p("//")
	for i, k := range g.p.Outputs {
		s.p("//\t", g.outputs[i], " ", g.p.Buffers[k].Type.String())
	}
	s.p("//")
	s.p("// Arguments that do not fit are an error, as is the end of ctx.")
	var types, zeros []string
	res := ""
	if g.structured() {
		res = g.exportedName("Result", false)
		zeros = []string{res + "{}"}
		s.p("func (m *", g.typ, ") Forward(", g.inputParams(), ") (_ ", res, ", err error) {")
	} else {
		for i, k := range g.p.Outputs {
			types = append(types, g.outputs[i]+" "+g.dense(k))
			zeros = append(zeros, g.dense(k)+"{}")
		}
		s.p("func (m *", g.typ, ") Forward(", g.inputParams(), ") (", strings.Join(append(types, "err error"), ", "), ") {")
	}
	fail := "return " + strings.Join(append(zeros, "err"), ", ") + "\n}"
	s.p("defer ", pfx, "Recovered(&err)")
	g.printChecked(s, fail)
	for i, k := range g.p.Outputs {
		assign := " = "
		if g.structured() {
			assign = " := "
		}
		dims := g.dims(g.p.Buffers[k].Type.Dims())
		if assign == " := " {
			s.p(g.outputs[i], ", err := ", pfx, "Output[", goElem(g.p.Buffers[k].Type.DType()), "](", dims, ")")
		} else {
			s.p(g.outputs[i], ", err = ", pfx, "Output[", goElem(g.p.Buffers[k].Type.DType()), "](", dims, ")")
		}
		s.p("if err != nil {\n", fail)
	}
	s.p("if err := m.run(ctx", g.symbolArgs(", "), arrays(g.inputs, ".Array"), arrays(g.outputs, ".Array"), "); err != nil {\n", fail)
	if g.structured() {
		s.p("var r ", res)
		for _, a := range result {
			s.p("r", a.path, " = ", g.outputs[a.out])
		}
		s.p("return r, nil")
	} else {
		s.p("return ", strings.Join(append(append([]string(nil), g.outputs...), "nil"), ", "))
	}
	s.p("}")
	s.p()
	g.printForwardInto(s)
}

// printChecked prints the check of the inputs, which binds the symbols.
func (g *kernelGen) printChecked(s *goFile, fail string) {
	call := g.prefix + "Check(" + strings.TrimPrefix(arrays(g.inputs, ".Array"), ", ") + ")"
	if g.symbolic {
		s.p(strings.TrimPrefix(g.symbolArgs(", "), ", "), ", err := ", call)
		s.p("if err != nil {\n", fail)
		return
	}
	s.p("if err := ", call, "; err != nil {\n", fail)
}

func (g *kernelGen) printForwardInto(s *goFile) {
	pfx := g.prefix
	s.p("// ForwardInto is Forward with memory of the caller for the results. It must have")
	s.p("// their shapes, without gaps, and be apart from that of the inputs. A call of")
	s.p("// sizes that have occurred before does not allocate.")
	params := g.inputParams()
	for i, k := range g.p.Outputs {
		params += ", " + g.outputs[i] + " " + g.dense(k)
	}
	s.p("func (m *", g.typ, ") ForwardInto(", params, ") (err error) {")
	s.p("defer ", pfx, "Recovered(&err)")
	g.printChecked(s, "return err\n}")
	s.p("var c ", pfx, "Checker")
	for i, k := range g.p.Outputs {
		b := &g.p.Buffers[k]
		s.p("c.checkOutput(", strconv.QuoteToASCII(g.outputs[i]), ", ", g.outputs[i], ".Array, ", dtypeText(b.Type.DType()), g.comma(b.Type.Dims()), ")")
		s.p("c.checkApart(", strconv.QuoteToASCII(g.outputs[i]), ", ", g.outputs[i], ".Array", arrays(g.inputs, ".Array"), ")")
	}
	s.p("if err := c.err(); err != nil {\nreturn err\n}")
	s.p("return m.run(ctx", g.symbolArgs(", "), arrays(g.inputs, ".Array"), arrays(g.outputs, ".Array"), ")")
	s.p("}")
	s.p()
}

// printRun prints what both forms of Forward share.
func (g *kernelGen) printRun(s *goFile) {
	pfx := g.prefix
	params := "ctx context.Context" + g.symbolParams(", ")
	if all := append(append([]string(nil), g.inputs...), g.outputs...); len(all) > 0 {
		params += ", " + strings.Join(all, ", ") + " *array.Array"
	}
	s.p("// run computes the results for inputs that have been checked.")
	s.p("func (m *", g.typ, ") run(", params, ") (err error) {")
	s.p("if m == nil || m.weights.Load() == nil {")
	s.p("return diag.New(\"FX8020\", \"the model has no weights, expected one that ", g.makers(), " made\")")
	s.p("}")
	s.p("w := m.weights.Load()")
	s.p("s := m.take(ctx)")
	s.p("defer m.done(s, &err)")
	for i, k := range g.p.Inputs {
		s.p(g.refs[k], " = array.Contiguous(", g.inputs[i], ")")
	}
	for i, k := range g.p.Outputs {
		s.p(g.refs[k], " = ", g.outputs[i])
	}
	if !g.symbolic {
		_, scratch := g.fixedPeak()
		s.p("if s.arena == nil {")
		s.p("s.layout()")
		s.p("s.work.Reserve(", strconv.Itoa(scratch), ")")
	} else {
		cond := "s.arena == nil"
		for _, x := range g.p.Symbols {
			cond += " || s." + g.symbols[x.Name] + " != " + g.symbols[x.Name]
		}
		s.p("if ", cond, " {")
		s.p("s.layout(", strings.TrimPrefix(g.symbolArgs(", "), ", "), ")")
		s.p(pfx, "Scratch(s, w)")
		s.p("s.work.Reserve(s.need)")
	}
	s.p("}")
	s.p(pfx, "Run(s, w)")
	s.p("return nil")
	s.p("}")
	s.p()
}

// printCheck prints the check of the inputs.
func (g *kernelGen) printCheck(s *goFile) {
	pfx := g.prefix
	params := ""
	if len(g.inputs) > 0 {
		params = strings.Join(g.inputs, ", ") + " *array.Array"
	}
	s.p("// ", pfx, "Check compares the inputs with what the model takes", map[bool]string{true: " and finds the symbolic sizes"}[g.symbolic], ".")
	zeros := ""
	if g.symbolic {
		s.p("func ", pfx, "Check(", params, ") (", g.symbolParams(""), ", err error) {")
		s.p("defer ", pfx, "Recovered(&err)")
		zeros = strings.Repeat("0, ", len(g.p.Symbols))
	} else {
		s.p("func ", pfx, "Check(", params, ") error {")
	}
	s.p("var c ", pfx, "Checker")
	for i, k := range g.p.Inputs {
		b := &g.p.Buffers[k]
		line := "c.checkInput(" + strconv.QuoteToASCII(b.Name) + ", " + g.inputs[i] + ", " + dtypeText(b.Type.DType()) + ", " + strconv.Quote(b.Type.String())
		for _, d := range b.Type.Dims().Slice() {
			if n, ok := d.Int(); ok {
				line += ", " + strconv.Itoa(n)
			} else {
				line += ", -1"
			}
		}
		s.p(line, ")")
	}
	if !g.symbolic {
		s.p("return c.err()")
		s.p("}")
		s.p()
		return
	}
	s.p("if err := c.err(); err != nil {\nreturn ", zeros, "err\n}")
	defines := map[[2]int]bool{}
	for _, x := range g.p.Symbols {
		s.p(g.symbols[x.Name], " = ", g.inputs[x.Input], ".Dim(", strconv.Itoa(x.Axis), ")")
		defines[[2]int{x.Input, x.Axis}] = true
	}
	for i, k := range g.p.Inputs {
		b := &g.p.Buffers[k]
		for axis, d := range b.Type.Dims().Slice() {
			if _, fixed := d.Int(); !fixed && !defines[[2]int{i, axis}] {
				s.p("c.checkSize(", strconv.QuoteToASCII(b.Name), ", ", g.inputs[i], ", ", strconv.Quote(b.Type.String()), ", ", strconv.Itoa(axis), ", ", g.dim(d), ")")
			}
		}
	}
	for _, x := range g.p.Guards {
		text := x.A.String() + " == " + x.B.String()
		s.p("c.checkGuard(", strconv.Quote(text), ", ", strconv.QuoteToASCII(guardText(x)), ", ", g.dim(x.A), ", ", g.dim(x.B), ")")
	}
	s.p("return ", strings.TrimPrefix(g.symbolArgs(", "), ", "), ", c.err()")
	s.p("}")
	s.p()
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
	name, pfx := g.exportedName("PeakBytes", false), g.prefix
	if !g.symbolic {
		arena, scratch := g.fixedPeak()
		s.p("// ", name, " is the memory in bytes that one call takes on one thread, besides")
		s.p("// weights, inputs and results.")
		s.p("const ", name, " = ", strconv.Itoa(arena), " + ", strconv.Itoa(scratch))
		return
	}
	s.p("// ", name, " returns the memory in bytes that one call takes on one thread, besides")
	s.p("// weights, inputs and results; -1 for sizes that no call can have.")
	s.p("func ", name, "(", g.symbolParams(""), ") (bytes int64) {")
	s.p("defer func() {\nif recover() != nil {\nbytes = -1\n}\n}()")
	s.p("s := &", pfx, "State{dry: true}")
	for _, list := range [2][]int{g.p.Inputs, g.p.Outputs} {
		for _, k := range list {
			b := &g.p.Buffers[k]
			s.p(g.refs[k], " = s.header(new(array.Array), ", dtypeText(b.Type.DType()), g.comma(b.Type.Dims()), ")")
		}
	}
	s.p("w := &", pfx, "Weights{}")
	s.p("w.bind(&", pfx, "Loader{})")
	s.p("s.layout(", strings.TrimPrefix(g.symbolArgs(", "), ", "), ")")
	s.p(pfx, "Scratch(s, w)")
	s.p("return int64(s.size) + int64(s.need)")
	s.p("}")
}
