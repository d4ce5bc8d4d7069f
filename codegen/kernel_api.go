package codegen

import (
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/goname"
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
func (g *kernelGen) dense(k int) *jen.Statement {
	return fromArray("Dense").Types(goElem(g.p.Buffers[k].Type.DType()))
}

// apiFile prints what users of the package call.
func (g *kernelGen) apiFile() *goFile {
	s := g.newFile(g.file + ".go")
	g.packageDoc(s)
	g.printModel(s)
	g.printWeightsAPI(s)
	g.printForward(s, g.printResults(s))
	g.printRun(s)
	g.printCheck(s)
	g.printPeak(s)
	return s
}

// packageDoc describes the package: what it computes, from what, how to use it.
func (g *kernelGen) packageDoc(s *goFile) {
	line := func(parts ...string) {
		s.PackageComment(strings.TrimRight("// "+comment(strings.Join(parts, "")), " "))
	}
	code := func(parts ...string) { s.PackageComment("//\t" + comment(strings.Join(parts, ""))) }
	line("Package ", g.o.Package, " computes the model ", orDefault(comment(g.p.Name), g.typ), ".")
	line()
	for i, k := range g.p.Inputs {
		code(g.p.Buffers[k].Name, " ", g.p.Buffers[k].Type.String(), g.mayBeNil(i))
	}
	for i, k := range g.p.Outputs {
		code("-> ", g.outputs[i], " ", g.p.Buffers[k].Type.String())
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
		code("m, err := ", g.exportedName("Load", true), "(file, size) // ", g.weightsName())
	} else {
		code("m, err := ", g.exportedName("New", true), "()")
	}
	outs := "result"
	if !g.structured() {
		outs = strings.Join(g.outputs, ", ")
	}
	code(outs, ", err := m.Forward(", strings.Join(append([]string{"ctx"}, g.inputs...), ", "), ")")
	line()
	line("Many goroutines may share one model.")
}

// mayBeNil notes that an input has a default.
func (g *kernelGen) mayBeNil(i int) string {
	if g.defaults[i] == nil {
		return ""
	}
	return ", with a default"
}

func (g *kernelGen) printModel(s *goFile) {
	t := g.typ
	s.declare(t+" computes the model. It is made by "+g.makers()+" and may be used by many goroutines at once.", 8, jen.Type().Id(t).Struct(
		jen.Comment("// Threads is the most goroutines that one call computes with. Set it before the"),
		jen.Comment("// first call; results do not depend on it."),
		jen.Id("Threads").Int(),
		jen.Line(),
		jen.Id("weights").Qual("sync/atomic", "Pointer").Types(jen.Id(g.prefix+"Weights")),
		jen.Id("free").Add(fromKernel("FreeList").Types(jen.Id(g.prefix+"State"))),
	))
}

func (g *kernelGen) makers() string {
	if g.o.Weights == WeightsExternal {
		return g.exportedName("Load", true)
	}
	return g.exportedName("New", true) + " or " + g.exportedName("Load", true)
}

// makeWeights prints the statements that fill w from a loader.
func (g *kernelGen) makeWeights(loader, result jen.Code) []jen.Code {
	return []jen.Code{
		jen.Id("l").Op(":=").Add(loader),
		jen.Id("w").Op(":=").Op("&").Id(g.prefix + "Weights").Values(),
		jen.Id("w").Dot("bind").Call(jen.Id("l")),
		ifErrOf(jen.Id("l").Dot("Err").Call(jen.Id(g.prefix+"Schema")), jen.Nil(), jen.Err()),
		jen.Return(result, jen.Nil()),
	}
}

// printWeightsAPI prints the functions that make models.
func (g *kernelGen) printWeightsAPI(s *goFile) {
	t, pfx := g.typ, g.prefix
	newName, load := g.exportedName("New", true), g.exportedName("Load", true)
	model := jen.Op("*").Id(t)
	read := jen.List(jen.Id("w"), jen.Err()).Op(":=").Id(pfx + "Read").Call(jen.Id("f"))
	made := jen.Id(pfx + "With").Call(jen.Id("w"))
	if g.o.Weights == WeightsEmbed {
		s.Anon("embed")
		s.Line()
		s.Comment("//go:embed " + g.weightsName())
		s.Var().Id(pfx + "File").Index().Byte()
	}
	if g.o.Weights != WeightsExternal {
		body := g.makeWeights(fromSafetensors("LoaderOf").Call(jen.Id(pfx+"Literal")), made)
		if g.o.Weights == WeightsEmbed {
			body = []jen.Code{
				jen.List(jen.Id("f"), jen.Err()).Op(":=").Add(fromSafetensors("Parse").Call(jen.Id(pfx + "File"))), ifErr(jen.Nil(), jen.Err()),
				read, ifErr(jen.Nil(), jen.Err()),
				jen.Return(made, jen.Nil()),
			}
		}
		s.declare(newName+" returns the model with the weights that it was generated with.", len(body)+2,
			jen.Func().Id(newName).Params().Params(model, jen.Error()).Block(body...))
	}
	file := []jen.Code{jen.Id("r").Qual("io", "ReaderAt"), jen.Id("size").Int64()}
	s.declare(load+" returns the model with weights from a safetensors file of size bytes. The\nerror lists every tensor that is missing, differs or is not expected.", 8,
		jen.Func().Id(load).Params(file...).Params(model, jen.Error()).Block(
			jen.Id("m").Op(":=").Id(pfx+"With").Call(jen.Nil()),
			ifErrOf(jen.Id("m").Dot("Reload").Call(jen.Id("r"), jen.Id("size")), jen.Nil(), jen.Err()),
			jen.Return(jen.Id("m"), jen.Nil()),
		))
	s.declare("Reload replaces the weights by those of a file, as "+load+" reads them. Calls that\nhave begun end with the old ones; after an error all go on with them.", 12,
		jen.Func().Params(jen.Id("m").Add(model)).Id("Reload").Params(file...).Error().Block(
			jen.List(jen.Id("f"), jen.Err()).Op(":=").Add(fromSafetensors("Open").Call(jen.Id("r"), jen.Id("size"))), ifErr(jen.Err()),
			read, ifErr(jen.Err()),
			jen.Id("m").Dot("weights").Dot("Store").Call(jen.Id("w")),
			jen.Return(jen.Nil()),
		))
	s.declare(pfx+"Read takes the weights from a file.", 8,
		jen.Func().Id(pfx+"Read").Params(jen.Id("f").Op("*").Add(fromSafetensors("File"))).Params(jen.Op("*").Id(pfx+"Weights"), jen.Error()).
			Block(g.makeWeights(fromSafetensors("NewLoader").Call(jen.Id("f")), jen.Id("w"))...))
	s.declare(pfx+"With returns a model with the weights w.", 6,
		jen.Func().Id(pfx+"With").Params(g.weightsParam()).Add(model).Block(
			jen.Id("n").Op(":=").Qual("runtime", "GOMAXPROCS").Call(jen.Lit(0)),
			jen.Id("m").Op(":=").Op("&").Id(t).Values(
				jen.Id("Threads").Op(":").Id("n"),
				jen.Id("free").Op(":").Add(fromKernel("NewFreeList").Types(jen.Id(pfx+"State")).Call(jen.Id("n"))),
			),
			jen.Id("m").Dot("weights").Dot("Store").Call(jen.Id("w")),
			jen.Return(jen.Id("m")),
		))
	g.printLoaded(s)
}

// printLoaded prints what gives a call its weights.
func (g *kernelGen) printLoaded(s *goFile) {
	s.declare("loaded returns the weights.", 8,
		jen.Func().Params(jen.Id("m").Op("*").Id(g.typ)).Id("loaded").Params().Params(jen.Op("*").Id(g.prefix+"Weights"), jen.Error()).Block(
			jen.If(jen.Id("m").Op("!=").Nil()).Block(
				jen.If(jen.Id("w").Op(":=").Id("m").Dot("weights").Dot("Load").Call(), jen.Id("w").Op("!=").Nil()).Block(jen.Return(jen.Id("w"), jen.Nil())),
			),
			jen.Return(jen.Nil(), jen.Qual(root+"diag", "New").Call(jen.Lit("FX8020"), jen.Lit("the model has no weights, expected one that "+g.makers()+" made"))),
		))
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
	to  *jen.Statement
	out int
}

// printResults prints the structs of results and returns which result goes where.
func (g *kernelGen) printResults(s *goFile) []assign {
	if !g.structured() {
		return nil
	}
	var list []assign
	g.resultStruct(s, g.exportedName("Result", false), g.p.Structure, jen.Id("r"), &list)
	return list
}

// resultStruct prints one struct, whose value at reaches; nested structs get types
// of their own.
func (g *kernelGen) resultStruct(s *goFile, typ string, st *graph.Structure, at *jen.Statement, list *[]assign) {
	var fields []jen.Code
	used := goname.NewSet()
	top := typ == g.exportedName("Result", false)
	for i, f := range st.Fields {
		if f == nil || f.Kind == graph.NoValue {
			continue
		}
		name := "Value" + strconv.Itoa(i)
		if i < len(st.Keys) && st.Keys[i] != "" {
			name = goname.Upper(st.Keys[i])
		} else if f.Kind == graph.LeafValue && top && f.Index < len(g.o.Outputs) && g.o.Outputs[f.Index] != "" {
			name = goname.Upper(g.o.Outputs[f.Index])
		}
		name = used.Unique(name)
		to := at.Clone().Dot(name)
		if f.Kind == graph.LeafValue {
			fields = append(fields, jen.Id(name).Add(g.dense(g.p.Outputs[f.Index])))
			*list = append(*list, assign{to, f.Index})
			continue
		}
		if f.Kind == graph.SliceOf && g.uniform(f) {
			fields = append(fields, jen.Id(name).Index(jen.Lit(len(f.Fields))).Add(g.dense(g.p.Outputs[f.Fields[0].Index])))
			for k, leaf := range f.Fields {
				*list = append(*list, assign{to.Clone().Index(jen.Lit(k)), leaf.Index})
			}
			continue
		}
		sub := g.top.Unique(typ + name)
		fields = append(fields, jen.Id(name).Id(sub))
		g.resultStruct(s, sub, f, to, list)
	}
	s.declare(typ+" holds results of "+g.typ+".Forward.", len(fields)+2, jen.Type().Id(typ).Struct(fields...))
}

// uniform reports whether a slice holds tensors of one element type alone.
func (g *kernelGen) uniform(f *graph.Structure) bool {
	typeOf := func(x *graph.Structure) *plan.Buffer { return &g.p.Buffers[g.p.Outputs[x.Index]] }
	for _, x := range f.Fields {
		if x == nil || x.Kind != graph.LeafValue || typeOf(x).Type.DType() != typeOf(f.Fields[0]).Type.DType() {
			return false
		}
	}
	return len(f.Fields) > 0
}
