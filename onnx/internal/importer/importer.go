package importer

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/goname"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/onnx/internal/modelfile"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
)

// Options say how a model is imported; those of the front have the same fields.
type Options struct {
	Values  map[string]*array.Array
	Lengths map[string]int
	Ranks   map[string]int
	Inputs  map[string]shape.Type
	Sizes   map[string][]int
}

// Import returns the graph of a model and the decisions that the given sizes made.
func Import(f *modelfile.File, o Options) (*graph.Module, *form, error) {
	first := newImporter(f, o)
	m, form, err := first.run(o)
	if least := first.LeastSizes(); first.Unproved && len(least) > 0 { // conditions of later nodes on sizes may simplify them
		again := newImporter(f, o)
		again.Least = least
		if m, form, err := again.run(o); err == nil && again.Needs(least) {
			return m, form, nil
		}
	}
	return m, form, err
}

func newImporter(f *modelfile.File, o Options) *importer {
	return &importer{Draft: rule.NewDraft(f, o.Sizes), values: o.Values, lengths: o.Lengths, ranks: o.Ranks,
		opsets: map[string]int{}, functions: map[string]*pb.Function{}}
}

func (im *importer) run(o Options) (*graph.Module, *form, error) {
	im.declare()
	im.initial = modelfile.InitializerNames(im.Model.Graph)
	im.readGiven(o.Inputs)
	im.reserveSymbols()
	s := &scope{values: map[string]*rule.Datum{}, cur: im.Module.Graph.At(), opsets: im.opsets}
	im.initializers(s, im.Model.Graph)
	im.placeholders(s)
	im.nodes(s, im.Model.Graph.Nodes)
	if im.errs.Err() == nil {
		im.outputs(s)
	}
	if im.errs.Err() == nil { // parts that no rule looks at: the branches of an If, the rounds of a Loop
		im.errs.Add(graph.Lint(im.Module.Graph).Err())
	}
	if err := im.errs.Err(); err != nil {
		return nil, nil, err
	}
	if im.counting {
		if _, err := simplify.DCE.Run(passes.NewCtx(context.Background(), im.Module), im.Module.Graph); err != nil {
			return nil, nil, err
		}
	}
	im.Module.DropUnused()
	return im.Module, im.formed(), nil
}

// importer is one call of Import.
type importer struct {
	*rule.Draft
	values    map[string]*array.Array
	lengths   map[string]int
	ranks     map[string]int
	errs      diag.List
	opsets    map[string]int // of the model, by domain
	functions map[string]*pb.Function
	symbols   map[string]string // of sizes whose names are not legal
	defined   map[string]bool   // sizes whose names are
	initial   map[string]bool   // names of initializers
	given     given             // types of inputs
	labels    goname.Labels     // of placeholders
	inlined   int               // nodes of functions
	counting  bool              // unused nodes remain: a while that counts rounds, nodes that a branch began
	form      form
}

// scope is a graph of the model, or the body of a function, while it is imported.
type scope struct {
	values map[string]*rule.Datum
	outer  *scope // of a body
	cur    *graph.Cursor
	opsets map[string]int
	attrs  map[string]*pb.Attr // of the call of a function
	prefix string              // of the names of a function's nodes
	depth  int                 // of functions
	bodies int                 // around it
}

func (s *scope) find(name string) *rule.Datum {
	for ; s != nil; s = s.outer {
		if v := s.values[name]; v != nil {
			return v
		}
	}
	return nil
}

// mostErrors is how many errors are listed: enough for every operator there is.
const mostErrors = 500

// full reports that no more errors are listed; the rest of the model is skipped.
func (im *importer) full() bool { return len(im.errs) > mostErrors }

func (im *importer) fail(at string, e *diag.Error) {
	if at != "" {
		at = ": " + at
	}
	switch {
	case len(im.errs) == mostErrors:
		im.errs.Add(diag.New(spec.CodeModel, "more than "+strconv.Itoa(mostErrors)+" errors; the rest is left out").At(diag.Pos{File: im.Name}))
		return
	case im.full():
		return
	}
	im.errs.Add(e.At(diag.Pos{File: im.Name + at}))
}

// declare notes the operator sets and functions of the model.
func (im *importer) declare() {
	im.opsets = im.versions("", im.Model.Opsets)
	if len(im.opsets) == 0 {
		im.opsets[""] = 1 // files of the first version do not say
	}
	for _, f := range im.Model.Functions {
		key := functionKey(f.Domain, f.Name, f.Overload)
		if im.functions[key] != nil {
			im.fail("", diag.New(spec.CodeModel, "function "+diag.Quote(f.Name)+" is defined twice"))
		}
		im.functions[key] = f
	}
}

// versions are the operator sets of the model, or of a function, by domain.
func (im *importer) versions(at string, list []*pb.Opset) map[string]int {
	m := map[string]int{}
	for _, o := range list {
		d := modelfile.Domain(o.Domain)
		if have, twice := m[d]; twice && have != int(o.Version) {
			im.fail(at, diag.New(spec.CodeModel, "the operator set of "+diag.Quote(o.Domain)+" is given twice, as "+strconv.Itoa(have)+" and "+strconv.FormatInt(o.Version, 10)))
		}
		if d == "" && o.Version > spec.NewestOpset {
			im.fail(at, diag.New(spec.CodeOperator, "operator set "+strconv.FormatInt(o.Version, 10)+" is newer than "+strconv.Itoa(spec.NewestOpset)+", the newest that is known").
				WithHint("export the model with an older operator set"))
		}
		m[d] = int(o.Version)
	}
	return m
}

func functionKey(d, name, overload string) string {
	return modelfile.Domain(d) + "\x00" + name + "\x00" + overload
}

// initializers enters the constants of a graph.
func (im *importer) initializers(s *scope, g *pb.Graph) {
	for _, t := range g.Initializers {
		at := "initializer " + diag.Quote(t.Name)
		v := &rule.Datum{Name: t.Name}
		a, err := modelfile.ArrayOf(t, im.Data)
		if err != nil {
			im.fail(at, err)
			v.Bad = true
		}
		v.Arr = a
		im.define(s, at, t.Name, v)
	}
	for _, sp := range g.Sparse {
		a, err := im.Sparse(sp)
		if err != nil {
			im.fail("sparse initializer", err)
			continue
		}
		im.define(s, "sparse initializer", sp.Values.Name, &rule.Datum{Name: sp.Values.Name, Arr: a})
	}
}

// define gives a name its value; every name has one.
func (im *importer) define(s *scope, at, name string, v *rule.Datum) {
	if name == "" {
		im.fail(at, diag.New(spec.CodeModel, "a value has no name"))
		return
	}
	if s.values[name] != nil {
		im.fail(at, diag.New(spec.CodeModel, "the name "+diag.Quote(modelfile.Short(name))+" is given to two values"))
		return
	}
	s.values[name] = v
}

// placeholders makes the inputs of the graph.
func (im *importer) placeholders(s *scope) {
	im.strangers()
	for _, in := range im.Model.Graph.Inputs {
		at := "input " + diag.Quote(in.Name)
		if s.values[in.Name] != nil {
			if im.initial[in.Name] {
				continue // older files list initializers among the inputs
			}
			im.define(s, at, in.Name, nil)
			continue
		}
		v, err := im.input(s, in.Name, in.Type, false)
		if err != nil {
			im.fail(at, err)
			v = &rule.Datum{Bad: true}
		}
		v.Name = in.Name
		im.define(s, at, in.Name, v)
	}
}

// strangers reports values that are given for no input.
func (im *importer) strangers() {
	names := map[string]bool{}
	for _, in := range im.Model.Graph.Inputs {
		for _, name := range im.Parts(in.Name, in.Type, im.lengths) {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(im.values)) {
		if !names[name] {
			im.fail("", diag.New(spec.CodeModel, "a value is given for "+diag.Quote(name)+", which is no input").
				WithHint("inputs are "+modelfile.InputNames(im.Model.Graph)))
		}
	}
}

// input makes the placeholders of an input, or of a member of one.
func (im *importer) input(s *scope, name string, typ *pb.Type, member bool) (*rule.Datum, *diag.Error) {
	if held, of := modelfile.Holds(typ); held != nil {
		return im.inputParts(s, name, held, of)
	}
	t, sizes, err := im.inputType(name, typ, member)
	if err != nil {
		return nil, err
	}
	if a, ok := im.values[name]; ok {
		if !shape.TypeOf(a).Compatible(t) {
			return nil, diag.New(spec.CodeModel, "the value given is "+shape.TypeOf(a).String()+", expected "+t.String())
		}
		return &rule.Datum{Arr: a}, nil
	}
	n := s.cur.Placeholder(im.labels.Fresh(goname.Legal(name, "input")), t, nil)
	im.InputNames[n] = name
	for i, d := range sizes {
		if d != "" {
			im.Module.Graph.DefineSymbol(d, n, i)
		}
	}
	return &rule.Datum{Node: n}, nil
}

// inputType returns an input's type, and the symbol that each size defines, if any. The
// names of sizes in a sequence say nothing: each member has sizes of its own.
func (im *importer) inputType(name string, typ *pb.Type, member bool) (t shape.Type, defines []string, err *diag.Error) {
	if typ == nil || typ.Tensor == nil {
		return t, nil, diag.New(spec.CodeType, "the input is "+modelfile.KindOf(typ)+", expected a tensor")
	}
	tt := typ.Tensor
	d, err := modelfile.DTypeOf(tt.Elem)
	if err != nil {
		return t, nil, err
	}
	if own, ok := im.given.types[name]; ok {
		dims, defines, err := im.givenSizes(name, own)
		return shape.TensorType(d, shape.Of(dims...)), defines, err
	}
	sizes := tt.Shape
	if sizes == nil {
		rank, known := im.ranks[name]
		if !known || rank < 0 || rank > modelfile.MostRank {
			return shape.Unranked(d), nil, nil
		}
		sizes = &pb.Shape{}
		for range rank {
			sizes.Dims = append(sizes.Dims, &pb.Dim{})
		}
	}
	if err := modelfile.CheckRank("the input", len(sizes.Dims)); err != nil {
		return t, nil, err
	}
	dims := make([]shape.Dim, len(sizes.Dims))
	defines = make([]string, len(dims))
	for i, sd := range sizes.Dims {
		switch {
		case sd.Known && sd.Size >= 0:
			dims[i] = shape.Const(int(sd.Size))
			continue
		case letterOf(sd) == "", member: // or -1, which some exporters write
			dims[i] = shape.Sym(im.freshSymbol(name, i))
		default:
			dims[i] = im.symbol(sd.Param)
		}
		if name, ok := dims[i].IsSymbol(); ok {
			defines[i] = name
		}
	}
	return shape.TensorType(d, shape.Of(dims...)), defines, nil
}

// outputs returns the model's results.
func (im *importer) outputs(s *scope) {
	var args []*graph.Node
	st := &graph.Structure{Kind: graph.Results}
	if len(im.Model.Graph.Outputs) == 0 {
		im.fail("", diag.New(spec.CodeModel, "the model has no outputs"))
	}
	for _, out := range im.Model.Graph.Outputs {
		v := s.find(out.Name)
		if v == nil {
			im.fail("output "+diag.Quote(out.Name), diag.New(spec.CodeModel, "no node computes the output"))
			continue
		}
		st.Fields = append(st.Fields, im.result(s, v, &args))
	}
	if im.errs.Err() != nil {
		return
	}
	if len(st.Fields) == 1 {
		if st = st.Fields[0]; st.Kind == graph.LeafValue {
			st = nil
		}
	}
	s.cur.SetStaticPos(diag.Pos{})
	s.cur.Output(st, args...)
}

// nodes imports the nodes of a graph in their order, which is that of execution.
func (im *importer) nodes(s *scope, list []*pb.Node) {
	for _, n := range list {
		if im.full() {
			return
		}
		im.node(s, n)
	}
}

// where names a node in messages.
func (s *scope) where(n *pb.Node) string {
	name := n.Name
	if name == "" && len(n.Outputs) > 0 {
		return "node of " + diag.Quote(modelfile.Short(s.prefix+n.Outputs[0]))
	}
	return "node " + diag.Quote(modelfile.Short(s.prefix+name))
}

// node imports one node, or notes why it cannot.
func (im *importer) node(s *scope, n *pb.Node) {
	at := s.where(n)
	c := &control{im: im, scope: s, Call: &rule.Call{Draft: im.Draft, Cursor: s.cur, Opset: s.opsets[""], Depth: s.bodies,
		Main: s.outer == nil && s.depth == 0, Node: n, Used: map[string]bool{}}}
	ok := im.attributes(at, n)
	for _, name := range n.Inputs {
		var v *rule.Datum
		if name != "" {
			if v = s.find(name); v == nil {
				im.fail(at, diag.New(spec.CodeModel, n.Op+": no value has the name "+diag.Quote(modelfile.Short(name))).
					WithHint("nodes come in the order of execution, without cycles"))
				ok = false
			} else if v.Bad {
				ok = false
			}
		}
		c.In = append(c.In, v)
	}
	var outs []*rule.Datum
	if m, err := im.meaningOf(s, n); err != nil {
		im.fail(at, err)
	} else if ok {
		s.cur.SetStaticPos(diag.Pos{File: im.Name + ": " + at})
		s.cur.SetScope(im.Module.Graph.Scope(graph.Scope{Path: modelfile.ScopeOf(n.Name)}))
		if outs, err = c.apply(m); err != nil && err != noted {
			if err.Op == "" {
				err.Op = n.Op
			}
			im.fail(at, err)
		}
		s.cur.SetStaticPos(diag.Pos{})
	}
	for i, name := range n.Outputs {
		if name == "" {
			continue
		}
		v := &rule.Datum{Name: name, Bad: true}
		if i < len(outs) && outs[i] != nil {
			v = outs[i]
			if v.Name == "" {
				v.Name = name
			}
		} else if outs != nil {
			im.fail(at, diag.New(spec.CodeOperator, n.Op+": output "+strconv.Itoa(i)+" is not supported"))
		}
		im.define(s, at, name, v)
	}
}

// attributes checks that every attribute is given once: readers differ in which one holds.
func (im *importer) attributes(at string, n *pb.Node) bool {
	for i, a := range n.Attrs {
		if i >= mostAttrs || slices.ContainsFunc(n.Attrs[:i], func(b *pb.Attr) bool { return b.Name == a.Name }) {
			im.fail(at, diag.New(spec.CodeModel, n.Op+": attribute "+diag.Quote(modelfile.Short(a.Name))+" is given twice, or there are more than "+strconv.Itoa(mostAttrs)))
			return false
		}
	}
	return true
}

const mostAttrs = 256 // of a node
