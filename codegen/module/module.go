package module

import (
	"bytes"
	"cmp"
	"fmt"
	"go/token"
	"reflect"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/op"
)

// Options says how module-style code looks. The zero value works.
type Options struct {
	// Package is the name of the generated package, Path its import path: what
	// that package declares is then named without an import, unexported names
	// included. Path may be empty when nothing of it is needed.
	Package, Path string
	// File is the name of the generated file, "model.go" by default.
	File string
	// Func names the generated function or method, "Forward" by default; Type the
	// struct of a model that has state of its own, "Model" by default.
	Func, Type string
	// Root is the Go module (a pointer) from which the graph was captured. With it
	// the code is a function of that module: func Forward(m *Net, x ...), as long
	// as every tensor and leaf that the graph uses is still the module's own and
	// can be reached from m. Otherwise the code has state of its own.
	Root any
	// Results are the result types of the captured function. With them results of
	// the user's types are built exactly; without them only structs whose fields
	// are all tensors are, and generated types stand for the others.
	Results []reflect.Type
	// Eject leaves out the header that forbids editing.
	Eject bool
	// Weights adds the file weights.safetensors with the values of the state, when
	// the code has state of its own.
	Weights bool
	// MaxStatements bounds a generated function, 200 by default; longer ones are
	// split by the scopes of the model.
	MaxStatements int
}

// The codes of what module style cannot print.
const (
	OpaqueFunc   diag.Code = "FX4001" // a wrapped Go function that the package cannot name
	ForeignOp    diag.Code = "FX4002" // an operator that the package cannot name
	OpaqueModule diag.Code = "FX4003" // an opaque module, without the Go module that has it
	WholeTuple   diag.Code = "FX4004" // several results used as one value
	BadAssign    diag.Code = "FX4005" // a write to something that is no tensor of the state
	LostSize     diag.Code = "FX4006" // a size that no Go expression gives
	StateType    diag.Code = "FX4007" // a tensor of the state whose type is not known
	StatePath    diag.Code = "FX4008" // a tensor of the state whose path no struct tag can hold
)

// Print prints a graph as Go over the tensor API: code that a person would
// write, that runs, and that can be traced again to an isomorphic graph. Names
// come from the model; comments give scopes and types. Where the code has state
// of its own (see Options.Root), calls of modules are printed as calls of
// their operators. What cannot be printed is reported all at once, as a
// diag.List with codes FX4001 to FX4008, and nothing is returned then.
//
// A graph that graph.Lint refuses is refused here as well, with what Lint says.
func Print(m *graph.Module, o Options) (*gosrc.Files, error) {
	o.defaults()
	if err := o.check().Err(); err != nil {
		return nil, err
	}
	if m == nil || m.Graph == nil {
		return nil, diag.New(graph.NoOutput, "no graph, expected a module with one")
	}
	broken := graph.Lint(m.Graph)
	files, errs := printGraph(m, o, len(broken) > 0)
	errs = append(errs, broken...)
	errs.Sort()
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return files, nil
}

// printGraph prints a graph. What it finds wrong with a broken one is worth
// reporting beside what Lint says, as far as it comes before it can go no further.
func printGraph(m *graph.Module, o Options, broken bool) (files *gosrc.Files, errs diag.List) {
	var p *printer
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		if p != nil {
			errs = append(errs, p.errs...)
		}
		if e, ok := r.(*diag.Error); ok {
			errs = append(errs, e)
		} else if !broken {
			errs = append(errs, diag.Bug(fmt.Sprint("printing of graph ", m.Graph.Name, " failed: ", r)))
		}
	}()
	if m.Graph.Output() == nil {
		return nil, nil // Lint says so
	}
	p = newPrinter(m, o)
	p.state()
	body := p.function(p.m.Graph)
	if len(p.errs) > 0 {
		return nil, p.errs
	}
	files, err := p.render(body)
	errs.Add(err)
	return files, errs
}

func (o *Options) defaults() {
	o.Package, o.Func = cmp.Or(o.Package, "model"), cmp.Or(o.Func, "Forward")
	o.Type, o.File = cmp.Or(o.Type, "Model"), cmp.Or(o.File, "model.go")
	if o.MaxStatements <= 0 {
		o.MaxStatements = 200
	}
}

// check refuses names that no Go file can have or declare.
func (o *Options) check() diag.List {
	var errs diag.List
	bad := func(what, name string) {
		errs = append(errs, diag.New(gosrc.CodeOptions, what+" is "+strconv.Quote(name)+", expected a Go identifier that nothing else has").
			WithHint("choose another name, or leave it empty"))
	}
	if !gosrc.Package(o.Package) {
		bad("the package name", o.Package)
	}
	taken := map[string]bool{"_": true, "init": true, "main": o.Package == "main"}
	for _, name := range goname.Predeclared {
		taken[name] = taken[name] || name != "main"
	}
	for _, x := range [][2]string{{"the function's name", o.Func}, {"the type's name", o.Type}, {"the constructor's name", "New" + o.Type}, {"the loader's name", "Load" + o.Type}} {
		if !token.IsIdentifier(x[1]) || taken[x[1]] {
			bad(x[0], x[1])
		}
		taken[x[1]] = true
	}
	if err := gosrc.CheckFile(o.File); err != nil {
		errs = append(errs, err)
	}
	return errs
}

// printer prints one module.
type printer struct {
	Options
	m    *graph.Module
	errs diag.List
	file *jen.File

	decls    *goname.Set       // package-level names
	names    *goname.Set       // local names
	imports  map[string]string // import path to name
	receiver *jen.Statement    // type of m, nil for plain functions
	method   bool              // the function is a method of the generated type
	fields   []stateField      // of the generated type
	byPath   map[string]source // parameter path to Go expression
	modules  map[string]target // leaf path to Go expression
	why      string            // why Root does not serve
	wrapped  map[*op.Op]string // variables of wrapped functions
	wraps    []jen.Code
	types    []jen.Code        // generated result types
	structs  map[string]string // generated type by its text

	written map[string]bool
	values  map[*graph.Node]value
	tuples  map[*graph.Node]*tuple
	sizes   map[*graph.Graph]map[string]*goVar
	anchor  *goVar // a traced tensor for tensor.On
	params  []*goVar
	self    *goVar
	body    *body
	results []jen.Code

	resultTypes []jen.Code
}

func newPrinter(m *graph.Module, o Options) *printer {
	p := &printer{Options: o, m: m, imports: map[string]string{}, byPath: map[string]source{}, modules: map[string]target{},
		wrapped: map[*op.Op]string{}, structs: map[string]string{}, written: map[string]bool{}, values: map[*graph.Node]value{},
		tuples: map[*graph.Node]*tuple{}, sizes: map[*graph.Graph]map[string]*goVar{}}
	p.file = jen.NewFilePathName(o.Path, o.Package)
	p.decls = goname.NewSet(o.Func, o.Type, "New"+o.Type, "Load"+o.Type)
	p.importNames()
	p.names = goname.NewSet("m")
	p.names.Include(p.decls)
	for n := range m.Graph.All() {
		if n.Op() == op.Assign {
			if path := assigned(n); path != "" {
				p.written[path] = true
			}
		}
	}
	return p
}

// importNames gives every package that may be named an identifier of its own,
// so that no local name shadows one.
func (p *printer) importNames() {
	for _, room := range []string{"tensor", "nn", "op", "op/std", "array", "array/safetensors", "shape"} {
		p.importName(gosrc.Root+room, room[strings.LastIndexByte(room, '/')+1:])
	}
	p.importName("math", "math")
	p.importName("io", "io")
	add := func(full string) {
		path, _ := gosrc.SplitType(full)
		p.importName(path, "")
	}
	for n := range p.m.Graph.All() {
		if o := n.Op(); o != nil {
			p.importName(o.Path, "")
			add(o.Func)
			p.importName(o.Codec().GoType().PkgPath(), "")
		}
		if n.Opcode() == graph.Output {
			for s := range n.Structure().All() {
				add(s.Type)
			}
		}
	}
	if p.Root != nil {
		eachPackage(reflect.TypeOf(p.Root), p.importName, map[reflect.Type]bool{})
	}
	for _, t := range p.Results {
		eachPackage(t, p.importName, map[reflect.Type]bool{})
	}
}

// importName enters a package; name is its name where that is known.
func (p *printer) importName(path, name string) {
	if path == "" || path == p.Path || p.imports[path] != "" {
		return
	}
	base := path[strings.LastIndexByte(path, '/')+1:]
	if name == "" && strings.HasPrefix(path, gosrc.Root) {
		name = base
	}
	hint := name
	if hint == "" {
		hint = base
	}
	alias := p.decls.Lower(hint)
	p.imports[path] = alias
	if p.names != nil {
		p.names.Reserve(alias)
	}
	if alias == name {
		p.file.ImportName(path, name)
	} else {
		p.file.ImportAlias(path, alias)
	}
}

// fail reports something that cannot be printed.
func (p *printer) fail(n *graph.Node, c diag.Code, msg, hint string) {
	p.errs = append(p.errs, n.Error(c, msg).WithHint(hint))
}

// render puts the file together.
func (p *printer) render(body *body) (*gosrc.Files, error) {
	f := p.file
	if !p.Eject {
		f.HeaderComment("// " + gosrc.Header)
	}
	p.renderState(f)
	for _, t := range p.types {
		f.Add(t)
	}
	for _, w := range p.wraps {
		f.Add(w)
	}
	parts := p.split(body)
	if p.self != nil && p.self.uses == 0 && !p.method && len(parts) == 1 {
		p.self.name = "_"
	}
	for _, line := range p.doc() {
		f.Comment("// " + line)
	}
	f.Add(p.mainFunc(parts))
	for _, part := range parts {
		if part.name != "" {
			f.Line()
			f.Comment("// " + part.doc)
			f.Add(p.partFunc(part))
		}
	}
	var b bytes.Buffer
	if err := f.Render(&b); err != nil {
		e := diag.Bug("generated code does not parse")
		e.Err = err
		return nil, e
	}
	files := &gosrc.Files{}
	files.Add(p.File, b.Bytes())
	if p.Weights && len(p.fields) > 0 {
		data, err := p.weights()
		if err != nil {
			return nil, err
		}
		files.Add("weights.safetensors", data)
	}
	return files, nil
}

// doc describes the generated function.
func (p *printer) doc() []string {
	g := p.m.Graph
	lines := []string{gosrc.CommentLine(p.Func + " computes " + commentName(g.Name) + ".")}
	var in []string
	for _, n := range g.Inputs() {
		if t := gosrc.TypeComment(n.Type()); t != "" {
			in = append(in, n.Target()+" is "+t)
		}
	}
	for _, n := range g.Inputs() {
		switch {
		case n.Default() == nil:
		case defaultLit(n) == nil:
			in = append(in, n.Target()+" must not be nil, its default value is not part of the code")
		default:
			in = append(in, n.Target()+" may be nil")
		}
	}
	if len(in) > 0 {
		lines = append(lines, "", gosrc.CommentLine("Inputs: "+strings.Join(in, ", ")+"."))
	}
	if p.why != "" {
		lines = append(lines, "", gosrc.CommentLine("The state is a copy: "+p.why+"."))
	}
	return lines
}

func commentName(s string) string {
	if s = gosrc.CommentLine(s); s == "" {
		return "the graph"
	}
	return s
}

func (p *printer) weights() ([]byte, error) {
	var list []safetensors.Named
	var missing diag.List
	for _, f := range p.fields {
		v := p.m.Param(f.path).Value
		if v == nil {
			missing.Add(diag.New(graph.WeightMissing, "parameter "+f.path+" has no value"))
			continue
		}
		list = append(list, safetensors.Named{Name: f.path, Array: v})
	}
	if err := missing.Err(); err != nil {
		return nil, missing
	}
	var b bytes.Buffer
	err := safetensors.Write(&b, list, nil)
	return b.Bytes(), err
}

// assigned returns the path of the parameter that an assign node writes, through
// earlier writes of the same; "" when it is none.
func assigned(n *graph.Node) string {
	for n != nil && n.Op() == op.Assign {
		n = n.Arg(0)
	}
	if n == nil || n.Opcode() != graph.GetAttr {
		return ""
	}
	return n.Target()
}

// eachPackage enters the packages of the types that a type is made of.
func eachPackage(t reflect.Type, enter func(path, name string), seen map[reflect.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	if t.PkgPath() != "" {
		name, _, _ := strings.Cut(t.String(), ".")
		enter(t.PkgPath(), name)
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		eachPackage(t.Elem(), enter, seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if t.Field(i).IsExported() {
				eachPackage(t.Field(i).Type, enter, seen)
			}
		}
	}
}

// usable reports whether generated code can name what path declares.
func (p *printer) usable(path, name string) bool {
	if !token.IsIdentifier(name) {
		return false
	}
	return path == p.Path && path != "" || gosrc.Importable(path) && token.IsExported(name)
}
