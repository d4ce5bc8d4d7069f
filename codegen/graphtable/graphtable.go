package graphtable

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/codegen/kernelstyle"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/lowering/generated"
	"github.com/gofx-dev/gofx/lowering/plan"
)

// File is the name of the file with the table.
const File = "graphs.go"

// Options are the choices of Print. The zero value works.
type Options struct {
	Package string // package name; "" is "graphs"
	// Eject leaves out the header that marks generated code.
	Eject bool
}

// Planned is the plan of a graph, and the arrays of its weights by path.
type Planned struct {
	Plan  *plan.Plan
	State map[string]*array.Array
}

// Print prints a package with the graphs, of which plans has one each. A graph that cannot be
// printed is left out: left says why, by its index, with the codes of kernelstyle.Print.
func Print(g *generated.Graphs, plans []Planned, o Options) (files *gosrc.Files, left map[int]error, err error) {
	o.Package = cmp.Or(o.Package, "graphs")
	if len(plans) != len(g.List) {
		return nil, nil, diag.Bug("there are not as many plans as graphs")
	}
	files, left = &gosrc.Files{}, map[int]error{}
	var printed []generated.Graph
	for i, x := range g.List {
		part, err := kernelstyle.Print(plans[i].Plan, plans[i].State, kernelstyle.Options{
			Package: o.Package, Type: x.Name, Weights: kernelstyle.WeightsGiven, Part: true, Eject: o.Eject})
		if err != nil {
			left[i] = err
			continue
		}
		files.List = append(files.List, part.List...)
		printed = append(printed, x)
	}
	table, err := printTable(g, printed, o)
	if err != nil {
		return nil, nil, err
	}
	files.List = append([]gosrc.File{{Name: File, Data: table}}, files.List...)
	return files, left, nil
}

// printTable prints the file with the table.
func printTable(g *generated.Graphs, list []generated.Graph, o Options) ([]byte, error) {
	f := jen.NewFilePathName("", o.Package)
	if !o.Eject {
		f.HeaderComment("// " + gosrc.Header)
	}
	for _, line := range []string{"Package " + o.Package + " has the graphs of " + gosrc.Comment(g.Source) + " in a lazy session, as Go.", "",
		"\ts := lazy.New(lazy.Options{Generated: " + o.Package + ".Graphs})", "",
		"The session gives them the weights of its model."} {
		f.PackageComment(strings.TrimRight("// "+line, " "))
	}
	f.ImportName(gosrc.Root+"lowering/generated", "generated")
	f.Comment("// Graphs are the graphs, each with the function that makes its model. Many sessions may share them.")
	fields := jen.Dict{
		jen.Id("Source"): gosrc.Quoted(g.Source), jen.Id("Form"): jen.Lit(g.Form),
		jen.Id("List"): jen.Index().Add(ours("Graph")).CustomFunc(gosrc.Multiline(), func(lines *jen.Group) {
			for i := range list {
				lines.Add(entry(&list[i]))
			}
		}),
	}
	if g.Rounding {
		fields[jen.Id("Rounding")] = jen.True()
	}
	f.Var().Id("Graphs").Op("=").Op("&").Add(ours("Graphs")).Values(fields)
	for i := range list {
		f.Line()
		f.Const().Id(textName(&list[i])).Op("=").Add(text(list[i].Text))
	}
	var b bytes.Buffer
	if err := f.Render(&b); err != nil {
		e := diag.Bug("the printed table cannot be formatted")
		e.Err = err
		return nil, e
	}
	return gosrc.GroupImports(b.Bytes()), nil
}

// entry prints one graph of the table.
func entry(x *generated.Graph) jen.Code {
	fields := jen.Dict{
		jen.Id("Name"): gosrc.Quoted(x.Name), jen.Id("Text"): jen.Id(textName(x)), jen.Id("Digest"): jen.Op("0x" + strconv.FormatUint(x.Digest, 16)),
		jen.Id("New"): jen.Func().Params(jen.Id("find").Add(ours("Find")), jen.Id("pack").Add(ours("Pack")), jen.Id("threads").Int()).Params(ours("Model"), jen.Error()).
			Block(jen.Return(jen.Id("New"+x.Name).Call(jen.Id("find"), jen.Id("pack"), jen.Id("threads")))),
	}
	for name, list := range map[string][]int{"Weights": x.Weights, "Numbers": x.Numbers, "Kept": x.Kept} {
		if len(list) > 0 {
			fields[jen.Id(name)] = jen.Index().Int().Values(gosrc.Ints(list)...)
		}
	}
	if len(x.Into) > 0 {
		fields[jen.Id("Into")] = jen.Index().Add(gosrc.From("lowering", "Into")).ValuesFunc(func(g *jen.Group) {
			for _, p := range x.Into {
				g.Values(jen.Dict{jen.Id("Result"): jen.Lit(p.Result), jen.Id("Input"): jen.Lit(p.Input)})
			}
		})
	}
	if len(x.Sizes) > 0 {
		fields[jen.Id("Sizes")] = jen.Index().Index().Int().ValuesFunc(func(g *jen.Group) {
			for _, sizes := range x.Sizes {
				g.Values(gosrc.Ints(sizes)...)
			}
		})
	}
	return jen.Values(fields)
}

func textName(x *generated.Graph) string { return goname.Lower(x.Name) + "Text" }

// text prints a text as people read it, where a raw literal can hold it.
func text(s string) jen.Code {
	if strings.ContainsAny(s, "`\r\ufeff") || !utf8.ValidString(s) {
		return gosrc.Quoted(s)
	}
	return jen.Op("`" + s + "`")
}

func ours(name string) *jen.Statement { return gosrc.From("lowering/generated", name) }
