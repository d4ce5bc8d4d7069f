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

// state is where the tensors of the graph are in the generated code: in the user's
// module, or in a struct of its own.
type state struct {
	self     *goVar            // m, the module or the struct
	receiver *jen.Statement    // its type, nil for plain functions
	method   bool              // the function is a method of the generated type
	fields   []stateField      // of the generated type
	byPath   map[string]source // parameter path to Go expression
	modules  map[string]target // leaf path to Go expression
	why      string            // why Root does not serve
}

// stateField is a field of the generated struct that holds the state.
type stateField struct {
	name, path string
	buffer     bool
	dtype      array.DType
	dims       []int
}

// findState decides where the tensors of the graph are: in the user's module where
// that still has them, else in a generated struct.
func (p *printer) findState() {
	if p.Root != nil {
		if p.why = p.useRoot(); p.why == "" {
			return
		}
	}
	p.m = graph.Clone(p.m)
	for g := range p.m.Graphs() {
		inlineModules(g, func(b *graph.Bound) bool { return !b.Op.AdHoc })
	}
	p.ownState()
}

// inlineModules turns the calls of modules that which chooses into calls of their
// operators on parameters, which are read once before their first use.
func inlineModules(region *graph.Graph, which func(*graph.Bound) bool) {
	reads := map[string]*graph.Node{}
	for node := range region.Nodes() {
		for _, r := range node.Regions() {
			inlineModules(r, which)
		}
		if node.Opcode() == graph.GetAttr && reads[node.Target()] == nil {
			reads[node.Target()] = node
		}
		b := node.Bound()
		if b == nil || b.Op == nil || !which(b) {
			continue
		}
		params := make([]*graph.Node, len(b.Params))
		for i, path := range b.Params {
			if path == "" {
				continue
			}
			if reads[path] == nil {
				reads[path] = region.Before(node).GetAttr(path)
			}
			params[i] = reads[path]
		}
		node.ToFunction(params...)
	}
}

// ownState makes a field for every tensor that the graph reads.
func (p *printer) ownState() {
	used := map[string]bool{}
	for n := range p.m.All() {
		if n.Opcode() == graph.GetAttr {
			used[n.Target()] = true
		}
	}
	fields := goname.NewSet(p.Func)
	for _, param := range p.m.Params() {
		if !used[param.Path] {
			continue
		}
		delete(used, param.Path)
		d, dims, ok := param.TypeOf().Concrete()
		switch {
		case !ok:
			p.errs.Add(diag.New(StateType, "parameter "+gosrc.CommentLine(param.Path)+" is "+param.TypeOf().String()+", expected a type without unknown sizes").
				WithHint("give the parameter a value, or declare its sizes"))
		case !taggable(param.Path):
			p.errs.Add(diag.New(StatePath, "parameter path "+gosrc.CommentLine(param.Path)+" cannot be a struct tag, expected no comma, quote or control character").
				WithHint("rename the parameter"))
		}
		name := fields.Upper(param.Path)
		p.fields = append(p.fields, stateField{name, param.Path, param.Buffer || p.written[param.Path], d, dims})
		p.byPath[param.Path] = func() *jen.Statement { return jen.Id("m").Dot(name) }
	}
	for n := range p.m.All() {
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

const stateText = `
// Model is the state of GRAPH. The tags are the names of the tensors in files.
type Model struct {
	FIELDS
}

// NewModel returns a Model whose tensors are zero; see LoadModel.
func NewModel() *Model {
	return &Model VALUES
}

// LoadModel reads a Model from safetensors data of the given size. Missing, unexpected
// and mis-shaped tensors are reported all at once.
func LoadModel(r io.ReaderAt, size int64) (*Model, error) {
	file, err := safetensors.Open(r, size)
	if err != nil {
		return nil, err
	}
	m := NewModel()
	if err := nn.LoadStateDict(m, nn.File(file)); err != nil {
		return nil, err
	}
	return m, nil
}
`

// printState prints the generated struct, its constructor and its loader.
func (p *printer) printState() {
	if len(p.fields) == 0 {
		return
	}
	var fields, values []jen.Code
	for _, s := range p.fields {
		tag := s.path
		if s.buffer {
			tag += ",buffer"
		}
		fields = append(fields, jen.Id(s.name).Add(tensorType()).Tag(map[string]string{"fx": tag}))
		zero := gosrc.From("array", "New").Call(append([]jen.Code{gosrc.DType(s.dtype)}, gosrc.Ints(s.dims)...)...)
		values = append(values, jen.Id(s.name).Op(":").Add(gosrc.From("tensor", "Param").Call(zero)))
	}
	p.file.Add(gosrc.Template(stateText, map[string]any{
		"Model": p.Type, "NewModel": "New" + p.Type, "LoadModel": "Load" + p.Type, "GRAPH": commentName(p.m.Graph.Name),
		"FIELDS": fields, "VALUES": jen.Custom(gosrc.Multiline(), values...),
	}))
	if from := p.About.From(); from != "" {
		name := p.Type + originName
		p.file.Line()
		p.file.Comment("// " + name + " says where the weights next to this file are from.")
		p.file.Const().Id(name).Op("=").Add(gosrc.Quoted(from))
	}
}

// originName ends the name of the constant that says where the weights are from.
const originName = "WeightsOrigin"

func tensorType() *jen.Statement { return jen.Op("*").Qual(gosrc.Root+"tensor", "Tensor") }
