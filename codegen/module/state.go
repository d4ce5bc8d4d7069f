package module

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/goname"
)

// stateField is a field of the generated struct that holds the state.
type stateField struct {
	name, path string
	buffer     bool
	dtype      array.DType
	dims       []int
}

// state decides where the tensors of the graph are: in the user's module where
// that still has them, else in a generated struct.
func (p *printer) state() {
	if p.Root != nil {
		if p.why = p.useRoot(); p.why == "" {
			return
		}
	}
	p.m = graph.Clone(p.m)
	inlineModules(p.m.Graph)
	p.ownState()
}

// inlineModules turns calls of leaf modules into calls of their operators on
// parameters, which are read once before their first use. Opaque modules stay.
func inlineModules(g *graph.Graph) {
	reads := map[string]*graph.Node{}
	for n := range g.Nodes() {
		for _, r := range n.Regions() {
			inlineModules(r)
		}
		if n.Opcode() == graph.GetAttr && reads[n.Target()] == nil {
			reads[n.Target()] = n
		}
		b := n.Bound()
		if b == nil || b.Op == nil || b.Op.AdHoc {
			continue
		}
		params := make([]*graph.Node, len(b.Params))
		for i, path := range b.Params {
			if path == "" {
				continue
			}
			if reads[path] == nil {
				reads[path] = g.Before(n).GetAttr(path)
			}
			params[i] = reads[path]
		}
		n.ToFunction(params...)
	}
}

// ownState makes a field for every tensor that the graph reads.
func (p *printer) ownState() {
	used := map[string]bool{}
	for n := range p.m.Graph.All() {
		if n.Opcode() == graph.GetAttr {
			used[n.Target()] = true
		}
	}
	fields := goname.NewSet(p.Func)
	for _, q := range p.m.Params() {
		if !used[q.Path] {
			continue
		}
		delete(used, q.Path)
		d, dims, ok := q.TypeOf().Concrete()
		switch {
		case !ok:
			p.errs.Add(diag.New(StateType, "parameter "+gosrc.CommentLine(q.Path)+" is "+q.TypeOf().String()+", expected a type without unknown sizes").
				WithHint("give the parameter a value, or declare its sizes"))
		case !taggable(q.Path):
			p.errs.Add(diag.New(StatePath, "parameter path "+gosrc.CommentLine(q.Path)+" cannot be a struct tag, expected no comma, quote or control character").
				WithHint("rename the parameter"))
		}
		name := fields.Upper(q.Path)
		p.fields = append(p.fields, stateField{name, q.Path, q.Buffer || p.written[q.Path], d, dims})
		p.byPath[q.Path] = func() *jen.Statement { return jen.Id("m").Dot(name) }
	}
	for n := range p.m.Graph.All() {
		if n.Opcode() == graph.GetAttr && used[n.Target()] {
			used[n.Target()] = false
			p.fail(n, StateType, "parameter "+gosrc.CommentLine(n.Target())+" is not declared", "declare it with its type")
		}
	}
	if len(p.fields) > 0 {
		p.receiver, p.method = jen.Op("*").Id(p.Type), true
		p.self = &goVar{name: "m", typ: jen.Op("*").Id(p.Type)}
	}
}

// taggable reports whether a struct tag can hold a path; see tensor.Walk.
func taggable(path string) bool {
	return path != "" && path != "-" && path != "." && !strings.ContainsAny(path, ",\"`\\") &&
		!strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0xfffd })
}

// renderState prints the generated struct, its constructor and its loader.
func (p *printer) renderState(f *jen.File) {
	if len(p.fields) == 0 {
		return
	}
	f.Comment("// " + p.Type + " is the state of " + commentName(p.m.Graph.Name) + ". The tags are the names of the tensors in files.")
	f.Type().Id(p.Type).StructFunc(func(g *jen.Group) {
		for _, s := range p.fields {
			tag := s.path
			if s.buffer {
				tag += ",buffer"
			}
			g.Id(s.name).Add(tensorType()).Tag(map[string]string{"fx": tag})
		}
	})
	f.Line()
	f.Comment("// New" + p.Type + " returns a " + p.Type + " whose tensors are zero; see Load" + p.Type + ".")
	f.Func().Id("New" + p.Type).Params().Op("*").Id(p.Type).Block(
		jen.Return(jen.Op("&").Id(p.Type).CustomFunc(gosrc.Multiline(), func(g *jen.Group) {
			for _, s := range p.fields {
				g.Id(s.name).Op(":").Qual(gosrc.Root+"tensor", "Param").Call(gosrc.From("array", "New").CallFunc(func(g *jen.Group) {
					g.Add(gosrc.DType(s.dtype))
					for _, n := range s.dims {
						g.Lit(n)
					}
				}))
			}
		})))
	f.Line()
	f.Comment("// Load" + p.Type + " reads a " + p.Type + " from safetensors data of the given size. Missing, unexpected")
	f.Comment("// and mis-shaped tensors are reported all at once.")
	fail := jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err()))
	f.Func().Id("Load"+p.Type).Params(jen.Id("r").Qual("io", "ReaderAt"), jen.Id("size").Int64()).Params(jen.Op("*").Id(p.Type), jen.Error()).Block(
		jen.List(jen.Id("file"), jen.Err()).Op(":=").Qual(gosrc.Root+"array/safetensors", "Open").Call(jen.Id("r"), jen.Id("size")),
		fail,
		jen.Id("m").Op(":=").Id("New"+p.Type).Call(),
		jen.If(jen.Err().Op(":=").Qual(gosrc.Root+"nn", "LoadStateDict").Call(jen.Id("m"), gosrc.From("nn", "File").Call(jen.Id("file"))),
			jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
		jen.Return(jen.Id("m"), jen.Nil()),
	)
	f.Line()
}

func tensorType() *jen.Statement { return jen.Op("*").Qual(gosrc.Root+"tensor", "Tensor") }
