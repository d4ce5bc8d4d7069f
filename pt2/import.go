package pt2

import (
	"context"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// Options say how a program is imported. The zero value is right for most.
type Options struct {
	// Inputs are types of inputs in place of the file's: numbers or letters for sizes that the
	// file leaves open. A letter is one size in all types that are given; a size that the file
	// says several inputs to have in common must be the same in all types that are given.
	Inputs map[string]shape.Type
}

// Import returns the program's graph with its weights, which may share the memory of the file. The
// graph has the program's inputs that are tensors or sizes, under their names, made legal, and its
// results. State that the program writes is state of the graph; new values of written inputs are
// returned after the results. The error is a diag.List of everything that is not supported.
func (f *File) Import(o Options) (*graph.Module, error) {
	im := &importer{File: f, mod: graph.NewModule(graph.New(goname.Legal(f.base(), "net"))), late: map[string]bool{}, env: map[string]shape.Dim{}, named: map[*graph.Node]bool{}, varying: map[*graph.Node]bool{}}
	im.top = &scope{im: im, values: map[string]*value{}, cur: im.mod.Graph.At(), g: f.prog.Module.Graph}
	im.placeholders(o)
	if im.errs.Err() == nil {
		im.state()
		im.guards()
		im.nodes(im.top)
	}
	if im.errs.Err() == nil {
		im.results()
	}
	if im.errs.Err() == nil {
		im.errs.Add(graph.Lint(im.mod.Graph).Err())
	}
	if err := im.errs.Err(); err != nil {
		return nil, err
	}
	if _, err := simplify.DCE.Run(passes.NewCtx(context.Background(), im.mod), im.mod.Graph); err != nil {
		return nil, err
	}
	im.mod.DropUnused()
	return im.mod, nil
}

// base is the file's name without folder and ending.
func (f *File) base() string {
	name := f.name[strings.LastIndexAny(f.name, `/\`)+1:]
	return strings.TrimSuffix(name, ".pt2")
}

// importer is one call of Import.
type importer struct {
	*File
	mod          *graph.Module
	top          *scope
	errs         diag.List
	env          map[string]shape.Dim // sizes that symbols of the file stand for
	late         map[string]bool      // symbols of the graph that runs discover
	named        map[*graph.Node]bool // that have the name of the file's node
	varying      map[*graph.Node]bool // that may have a gradient
	origins      []*origin
	buffers      []*origin                     // of those
	compared     int                           // pairs of state
	storages     []*alias.Storage[*graph.Node] // of origins, in their order
	labels       goname.Labels                 // of placeholders
	symbolLabels goname.Labels
}

// scope is a graph of the file while it is imported.
type scope struct {
	im     *importer
	values map[string]*value
	outer  *scope // of a branch or body
	cur    *graph.Cursor
	g      *graphJSON
	depth  int
	prefix string // of the names of nodes in messages
	inputs map[*graph.Node]*graph.Node
	caught []*graph.Node // values in the surrounding graph for inputs after the region's own
	// detached are reads that count as constant for gradients, by the value.
	detached map[*graph.Node]*graph.Node
}

// find returns the value of a name.
func (s *scope) find(name string) *value {
	v := s.values[name]
	if v == nil {
		panic(refuse(CodeProgram, "no value has the name "+quote(name)).WithHint("nodes come in the order of execution, without cycles"))
	}
	switch {
	case v.bad:
		panic(stopped{})
	case v.missing != "":
		panic(refuse(CodeOperator, quote(name)+" is used, and is not computed: "+v.missing))
	}
	return v
}

const mostErrors = 500 // that are listed

func (im *importer) fail(at string, e *diag.Error) {
	if at != "" {
		at = ": " + at
	}
	switch {
	case len(im.errs) == mostErrors:
		im.errs.Add(diag.New(CodeProgram, "more than "+strconv.Itoa(mostErrors)+" errors; the rest is left out").At(diag.Pos{File: im.name}))
	case len(im.errs) < mostErrors:
		im.errs.Add(e.At(diag.Pos{File: im.name + at}))
	}
}

// caughtFail runs f and notes the error that it panics with.
func (im *importer) caughtFail(at string, f func()) {
	defer func() {
		switch x := recover().(type) {
		case nil, stopped:
		case *diag.Error:
			im.fail(at, x)
		default:
			panic(x)
		}
	}()
	f()
}

// define gives a name its value; every name has one.
func (s *scope) define(at, name string, v *value) {
	if name == "" {
		return
	}
	if s.values[name] != nil {
		s.im.fail(at, diag.New(CodeProgram, "the name "+quote(name)+" is given to two values"))
		return
	}
	v.name = name
	s.values[name] = v
}

// state enters the weights and constants that the program reads.
func (im *importer) state() {
	type place struct {
		st     *array.Storage
		offset int
		typ    string
	}
	seen := map[place]*alias.Ref[*graph.Node]{}
	var paths goname.Labels
	for _, in := range im.File.inputs {
		if in.kind != weight && in.kind != constant {
			continue
		}
		at := "input " + quote(in.name)
		a, err := im.get(in)
		if err != nil {
			var l diag.List
			l.Add(err)
			im.fail(at, l[0])
			im.top.define(at, in.name, &value{bad: true})
			continue
		}
		im.caughtFail(at, func() { im.checkMeta(in.name, shape.TypeOf(a)) })
		k := place{a.Storage(), a.Offset(), shape.TypeOf(a).String()}
		ref := seen[k]
		if ref == nil || a.Len() == 0 {
			path := im.mod.FreshPath(paths.Fresh(goname.LegalPath(in.target)))
			im.mod.SetParam(graph.Param{Path: path, Value: a, Buffer: in.buffer || !a.DType().IsFloat()})
			o := &origin{path: path}
			s := &alias.Storage[*graph.Node]{Of: o}
			o.storage = s
			if !a.IsContiguous() {
				s.Loose = true
			}
			im.caughtFail(at, func() { im.share(s, a, in.buffer) })
			if in.buffer {
				im.buffers = append(im.buffers, o)
			}
			im.origins, im.storages = append(im.origins, o), append(im.storages, s)
			ref = alias.Whole(s)
			seen[k] = ref
		}
		im.top.define(at, in.name, &value{ref: ref})
	}
}

// share notes which state lies in the same memory without being the same: a write to a buffer may
// be a write to that state.
func (im *importer) share(s *alias.Storage[*graph.Node], a *array.Array, buffer bool) {
	list := im.buffers
	if buffer {
		list = im.origins
	}
	const most = 1 << 25
	if im.compared += len(list); im.compared > most {
		panic(refuse(CodeProgram, "the program has too many buffers: "+strconv.Itoa(len(im.buffers))))
	}
	for _, o := range list {
		if o.path != "" && im.mod.Param(o.path).Value.Storage().Overlaps(a.Storage()) {
			alias.Maybe(o.storage, s)
		}
	}
}

// checkMeta compares a type with the file's type of a value, as far as both are known.
func (im *importer) checkMeta(name string, t shape.Type) { im.top.check(name, t) }

// check compares the inferred type of a value with the file's: it must be the type that PyTorch
// computed when it exported the program.
func (s *scope) check(name string, t shape.Type) {
	m, ok := s.g.Tensors[name]
	if !ok || t.Kind() != shape.Tensor {
		return
	}
	d := elementType(m.DType)
	differ := func(msg string) *diag.Error {
		return refuse(CodeProgram, "the value is "+t.String()+", the file says "+msg).WithHint("export the program again; where it is as PyTorch wrote it, report it")
	}
	if t.DType() != d && t.DType() != array.Invalid {
		panic(differ("that its elements are " + d.String()))
	}
	if !t.Ranked() {
		return
	}
	if t.Rank() != len(m.Sizes) {
		panic(differ("that it has " + count(len(m.Sizes), "dimension")))
	}
	for i, sz := range m.Sizes {
		want := dimOf(sz, s.im.symbol)
		have := t.Dim(i)
		if want.IsUnknown() {
			s.im.learn(sz, have)
			continue
		}
		if equal, known := s.cur.Graph().CompareDims(have, want); known && !equal && !have.IsUnknown() {
			panic(differ("that its size " + strconv.Itoa(i) + " is " + want.String()))
		}
	}
}

// symbol is the size that a symbol of the file stands for, Unknown where none is known yet.
func (im *importer) symbol(name string) shape.Dim {
	if d, ok := im.env[name]; ok {
		return d
	}
	return shape.Unknown
}

// learn notes the meaning of a symbol of the file whose value runs discover.
func (im *importer) learn(s symbolic, have shape.Dim) {
	if s.Expr == nil || have.IsUnknown() {
		return
	}
	text, ok := strings.CutPrefix(s.Expr.Text, "Symbol('")
	if name, _, found := strings.Cut(text, "'"); ok && found && !strings.ContainsAny(text, "(") {
		if _, known := im.env[name]; !known {
			im.env[name] = have
		}
	}
}

// nodes imports the nodes of a graph in their order, which is that of execution.
func (im *importer) nodes(s *scope) {
	for i := range s.g.Nodes {
		if len(im.errs) > mostErrors {
			return
		}
		im.node(s, &s.g.Nodes[i])
	}
}

// where names a node in messages, with the line of the model that it comes from.
func (s *scope) where(n *nodeJSON) string {
	name := n.Name
	if name == "" && len(n.Outputs) > 0 {
		name = n.Outputs[0].name()
	}
	at := "node " + quote(s.prefix+name)
	if name == "" {
		at = "a node of " + quote(n.Target)
	}
	if pos := sourceOf(n.Meta.Stack); pos.File != "" {
		at += " (" + pos.String() + ")"
	}
	return at
}

// node imports one node, or notes why it cannot.
func (im *importer) node(s *scope, n *nodeJSON) {
	at := s.where(n)
	var outs []*value
	r, write, err := ruleOf(n.Target)
	if err == nil {
		s.cur.SetStaticPos(sourceOf(n.Meta.Stack))
		s.cur.SetScope(im.mod.Graph.Scope(graph.Scope{Path: scopeOf(n.Meta.Modules)}))
		c := &call{im: im, s: s, n: n, b: s.cur}
		outs, err = c.run(r, write)
		s.cur.SetStaticPos(diag.Pos{})
	}
	if err != nil && err != noted {
		if err.Op == "" {
			err.Op = strings.TrimPrefix(n.Target, "torch.ops.aten.")
		}
		im.fail(at, err)
	}
	im.caughtFail(at, func() { im.bind(s, n, at, outs, err != nil) })
}

// bind gives the results of a node their names, and compares them with the file's types.
func (im *importer) bind(s *scope, n *nodeJSON, at string, outs []*value, failed bool) {
	var names []string
	for _, o := range n.Outputs {
		if strings.HasSuffix(o.kind, "s") && o.kind != "as_sym_ints" { // as_tensors: one list
			var list []member
			s.decode(o.raw, &list)
			for _, m := range list {
				names = append(names, m.name())
			}
			continue
		}
		names = append(names, o.name())
	}
	if failed {
		for _, name := range names {
			s.define(at, name, &value{bad: true})
		}
		return
	}
	if len(outs) == 1 && outs[0].isList && len(names) != 1 {
		outs = outs[0].list
	}
	for i, name := range names {
		v := &value{missing: "the operator has " + count(len(outs), "result")}
		if i < len(outs) && outs[i] != nil {
			v = outs[i]
		}
		s.define(at, name, v)
		s.settle(at, name, v)
	}
}

// settle compares a result with the file's type, and names its node.
func (s *scope) settle(at, name string, v *value) {
	switch {
	case v.ref != nil:
		n := s.read(v)
		s.im.caughtFail(at, func() { s.check(name, n.Type()) })
		if m, ok := s.g.Tensors[name]; ok && v.ref.IsWhole() && v.ref.Storage.Of == nil && s.im.order(m) == shape.False {
			v.ref.Storage.Loose = true // as clones of a transposed tensor are
		}
		if n.Opcode().IsCall() && n.Graph() == s.cur.Graph() && v.ref.IsWhole() && !s.im.named[n] {
			s.im.named[n] = true // the operator that passes it on has another name for it
			if legal := goname.Legal(name, ""); legal != "" && n.Op() != op.GetItem {
				n.Rename(legal)
			}
		}
	case v.node != nil, v.size != nil:
		if sym, ok := s.g.Ints[name]; ok && sym.Expr != nil && strings.HasPrefix(sym.Expr.Text, "Symbol('u") {
			s.im.learn(sym, s.sizeOf(v))
		}
	}
}

// member is a member of a list of results: a tensor, or one that may be None.
type member struct {
	named
	Tensor *named `json:"as_tensor"`
}

func (j member) name() string {
	if j.Tensor != nil {
		return j.Tensor.Name
	}
	if j.Name == "" {
		return j.As
	}
	return j.Name
}

// results writes the output of the graph, followed by the final values of the state.
func (im *importer) results() {
	s := im.top
	var args, after []*graph.Node
	var writes []func()
	for _, o := range im.File.outputs {
		at := "output " + quote(o.arg.name())
		im.caughtFail(at, func() {
			v := s.value(o.arg)
			switch {
			case v == nil:
				panic(refuse(CodeProgram, "the output is "+quote(o.arg.kind)+", expected a tensor or a number"))
			case o.kind == writesState:
				n := s.tensorOf(v)
				writes = append(writes, func() { im.mutate(o, n) }) // results are values from before
			case o.kind == writesInput:
				after = append(after, s.tensorOf(v))
			case !v.none:
				args = append(args, s.tensorOf(v))
			}
		})
	}
	for _, w := range writes {
		im.caughtFail("", w)
	}
	im.storeState()
	for i, st := range im.storages { // inputs that operators in place wrote to
		if in := im.origins[i].input; in != nil && st.Version > 0 {
			if st.Value.Opcode().IsCall() {
				st.Value.Rename(goname.Legal(in.name, "input") + "_after")
			}
			after = append(after, st.Value)
		}
	}
	args = append(args, after...)
	if len(args) == 0 {
		im.fail("", diag.New(CodeProgram, "the program has no results"))
		return
	}
	var st *graph.Structure
	if len(args) > 1 {
		st = &graph.Structure{Kind: graph.Results}
		for i := range args {
			st.Fields = append(st.Fields, graph.Leaf(i))
		}
	}
	s.cur.SetScope(0)
	s.cur.Output(st, args...)
}

// tensorOf is a result as a node.
func (s *scope) tensorOf(v *value) *graph.Node {
	if v.isList {
		panic(refuse(CodeProgram, "the output is "+v.what()+", expected a tensor or a number"))
	}
	if v.number.IsFloat() { // a float of Python
		return s.cur.Function(std.Full, std.FullAttrs{Value: v.number, DType: array.F64})
	}
	return s.scalar(v)
}

// mutate makes a value the new one of a parameter or buffer.
func (im *importer) mutate(o output, n *graph.Node) {
	for _, in := range im.File.inputs {
		if in.kind == weight && in.target == o.target {
			v := im.top.find(in.name)
			if have := im.top.read(v); have != n {
				v.ref.Storage.Set(recorder{im.top}, n, diag.Pos{})
			}
			return
		}
	}
	panic(refuse(CodeProgram, "the program writes to "+quote(o.target)+", which is no state of it"))
}

// storeState records the final values of the state, after all nodes that read it.
func (im *importer) storeState() {
	for i, st := range im.storages {
		o := im.origins[i]
		if o.path == "" || st.Version == 0 || st.Value == nil {
			continue
		}
		p := *im.mod.Param(o.path)
		p.Buffer = true
		if p.Value != nil {
			p.Value = array.Clone(p.Value) // the file's memory is not written
		}
		im.mod.SetParam(p)
		node := o.read
		if node == nil {
			node = im.top.cur.GetAttr(o.path)
		}
		node.SetLive(true)
		im.top.cur.SetStaticPos(o.pos)
		im.top.cur.Function(op.Assign, nil, node, st.Value)
		im.top.cur.SetStaticPos(diag.Pos{})
	}
}
