package exporter

import (
	"errors"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/goname"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// exporter is one try to write a module with the operators of one set.
type exporter struct {
	mod     *graph.Module
	options Options
	target  int // the operator set
	need    int // the lowest that would do, which is known at the end
	names   goname.Labels
	initial []*pb.Tensor
	arrays  map[string]*array.Array // of initial, by name
	scalars map[scalarKey]*exported
	errs    diag.List
	// workspace is the memory in which constants are computed.
	workspace *kernel.Workspace
	// newTrees writes all trees in the form of set 5, since some need it; mixed is set where
	// that turned out.
	newTrees, mixed bool
}

// exported is a value of the file, or several of them. It is an op.Value.
type exported struct {
	name  string
	typ   shape.Type
	items []*exported  // of a tuple
	arr   *array.Array // of a constant
	made  *pb.Node     // which computes it, nil for inputs and constants
}

// Type returns the known type of the value.
func (v *exported) Type() shape.Type { return v.typ }

// readied returns a copy of a module that has calls of operators only, with types.
func readied(m *graph.Module) (*graph.Module, error) {
	p, err := lowering.Prepare(m, lowering.Options{})
	if err != nil {
		return nil, err
	}
	var errs diag.List
	for _, in := range p.Graph.Inputs() {
		if t := in.Type(); !t.Ranked() || t.DType() == array.Invalid {
			errs.Add(in.Error(spec.CodeExport, "the type of input "+diag.Quote(in.Target())+" is "+t.String()+", which ONNX must know").
				WithHint("capture the model with the types of its inputs"))
		}
	}
	return p, errs.Err()
}

// model writes everything.
func (x *exporter) model() (*pb.Model, error) {
	g := x.mod.Graph
	w := &graphWriter{x: x, src: g, g: &pb.Graph{Name: g.Name}, values: map[*graph.Node]*exported{}, sizes: map[string]*exported{}}
	if err := x.narrowTypes(g).Err(); err != nil {
		return nil, err
	}
	outs := x.outputNames(g.Output())
	ins := x.inputNames(g.Inputs())
	for i, name := range ins {
		ins[i] = x.names.Fresh(name)
	}
	for i, name := range outs {
		outs[i] = x.names.Fresh(name)
	}
	for i, n := range g.Inputs() {
		v := &exported{name: ins[i], typ: n.Type()}
		w.values[n] = v
		w.g.Inputs = append(w.g.Inputs, &pb.ValueInfo{Name: v.name, Type: x.typeOf(n.Type())})
	}
	w.nodes()
	if err := x.errs.Err(); err != nil {
		return nil, err
	}
	w.outputs(g.Output().Args(), outs)
	if err := x.errs.Err(); err != nil {
		return nil, err
	}
	w.g.Initializers = x.initial
	w.dropUnused()
	sets := []*pb.Opset{{Version: int64(x.need)}}
	x.mixed = mixedTrees(w.g)
	if v := mlVersion(w.g); v > 0 {
		sets = append(sets, &pb.Opset{Domain: spec.MLDomain, Version: v})
	}
	if contributes(w.g) {
		sets = append(sets, &pb.Opset{Domain: spec.Microsoft, Version: 1})
	}
	return &pb.Model{IRVersion: irVersion(x.need), ProducerName: "gofx", Graph: w.g, Opsets: sets}, nil
}

// irVersion is the version of the format that came with an operator set.
func irVersion(opset int) int64 {
	v := int64(8) // of set 17
	for _, since := range []int{19, 21, 23, 24, 25} {
		if opset >= since {
			v++
		}
	}
	return v
}

// inputNames are the names that the options give, else the graph's.
func (x *exporter) inputNames(ins []*graph.Node) []string {
	names := make([]string, len(ins))
	for i, n := range ins {
		names[i] = n.Target()
		if given := x.options.Inputs; len(given) == len(ins) && given[i] != "" {
			names[i] = given[i]
		}
	}
	return names
}

// outputNames are the names that the options give, else the keys of the results, else "".
func (x *exporter) outputNames(out *graph.Node) []string {
	names := make([]string, out.NumArgs())
	if s := out.Structure(); s != nil {
		s.NameLeaves(names)
	}
	for i := range names {
		switch {
		case len(x.options.Outputs) == len(names) && x.options.Outputs[i] != "":
			names[i] = x.options.Outputs[i]
		case names[i] == "" && out.Arg(i) != nil && out.Arg(i).Opcode() != graph.Placeholder:
			names[i] = out.Arg(i).Name()
		case names[i] == "":
			names[i] = "output"
		}
	}
	return names
}

// typeOf writes a type; sizes that are expressions are written as such.
func (x *exporter) typeOf(t shape.Type) *pb.Type {
	tt := &pb.TensorType{Elem: elemOf(t.DType())}
	if t.Ranked() {
		tt.Shape = &pb.Shape{}
		for _, d := range t.Dims().Slice() {
			dim := &pb.Dim{}
			if n, ok := d.Int(); ok {
				dim.Known, dim.Size = true, int64(n)
			} else if !d.IsUnknown() {
				dim.Param = d.String()
			}
			tt.Shape.Dims = append(tt.Shape.Dims, dim)
		}
	}
	return &pb.Type{Tensor: tt}
}

// elemOf is the inverse of dtypes.
func elemOf(d array.DType) pb.DataType {
	for e, o := range spec.DTypes {
		if o == d {
			return e
		}
	}
	panic(diag.New(spec.CodeExport, "element type "+d.String()+" is not one of ONNX's"))
}

// dropUnused leaves out constants that nothing reads, and nodes: a rule that was given up
// has left none, but sizes may be computed that turn out to be constants.
func (w *graphWriter) dropUnused() {
	used := map[string]bool{}
	for _, o := range w.g.Outputs {
		used[o.Name] = true
	}
	w.g.Nodes = live(w.g.Nodes, used)
	w.g.Initializers = slices.DeleteFunc(w.g.Initializers, func(t *pb.Tensor) bool { return !used[t.Name] })
}

// live are the nodes that used values come from; the values that they use become used.
func live(nodes []*pb.Node, used map[string]bool) []*pb.Node {
	var kept []*pb.Node
	for _, n := range slices.Backward(nodes) {
		if !slices.ContainsFunc(n.Outputs, func(s string) bool { return used[s] }) {
			continue
		}
		kept = append(kept, n)
		for _, in := range n.Inputs {
			used[in] = true
		}
		for _, a := range n.Attrs {
			if a.G != nil {
				for _, o := range a.G.Outputs {
					used[o.Name] = true
				}
				a.G.Nodes = live(a.G.Nodes, used)
			}
		}
	}
	slices.Reverse(kept)
	return kept
}

// graphWriter writes one graph: that of the model, or the body of a node. It is the
// op.Builder that rules and decompositions write with.
type graphWriter struct {
	x      *exporter
	outer  *graphWriter
	src    *graph.Graph
	g      *pb.Graph
	values map[*graph.Node]*exported
	sizes  map[string]*exported
	node   *graph.Node // which is written
}

// find returns the value of a node of this graph or of one around it.
func (w *graphWriter) find(n *graph.Node) *exported {
	for ; w != nil; w = w.outer {
		if v := w.values[n]; v != nil {
			return v
		}
	}
	return nil
}

// nodes writes the nodes of the source in their order.
func (w *graphWriter) nodes() {
	for n := range w.src.Nodes() {
		if n.Opcode() == graph.Placeholder || n.Opcode() == graph.Output {
			continue
		}
		v, err := w.one(n)
		if err != nil {
			w.x.errs.Add(err)
			v = &exported{name: "?", typ: n.Type(), items: make([]*exported, n.Type().Len())}
			for i := range v.items {
				v.items[i] = &exported{name: "?", typ: n.Type().Member(i)}
			}
		}
		w.values[n] = v
	}
}

// one writes a node, and names its result.
func (w *graphWriter) one(n *graph.Node) (v *exported, err *diag.Error) {
	defer func() {
		if r := recover(); r != nil {
			e := diag.Recovered(r)
			at := n.Error(e.Code, e.Msg).WithHint(e.Hint)
			if at.Hint == "" {
				at.Hint = "docs/onnx.md lists the operators that are written"
			}
			v, err = nil, at
		}
	}()
	if n.Opcode() == graph.GetAttr {
		return w.x.parameter(n), nil
	}
	o := n.Op()
	if o == nil {
		panic(diag.New(spec.CodeExport, n.Opcode().String()+" of "+n.Target()+" calls no operator"))
	}
	w.node = n
	args := make([]op.Value, n.NumArgs())
	for i, a := range n.Args() {
		if a != nil {
			args[i] = w.find(a)
		}
	}
	start := len(w.g.Nodes)
	switch {
	case o == op.GetItem:
		v = args[0].(*exported).items[n.Attrs().(op.GetItemAttrs).Index]
		if v.made != nil {
			w.rename(v, n.Name(), slices.Index(w.g.Nodes, v.made))
		}
		return v, nil
	case structural[o] != nil:
		v = structural[o](w, n, args)
	default:
		v = w.apply(o, n.Attrs(), args, n.Type())
	}
	if v.made != nil && slices.Contains(w.g.Nodes[start:], v.made) {
		w.rename(v, n.Name(), start)
	}
	w.nameNodes(start)
	return v, nil
}

// rename names a value that was made by a node after start.
func (w *graphWriter) rename(v *exported, name string, start int) {
	if start < 0 || v.name == name {
		return
	}
	name = w.x.names.Fresh(name)
	for _, n := range w.g.Nodes[start:] {
		renameIn(n, v.name, name)
	}
	v.made.Outputs[slices.Index(v.made.Outputs, v.name)] = name
	v.name = name
}

// renameIn changes an operand of a node, in its bodies too.
func renameIn(n *pb.Node, old, name string) {
	for i, in := range n.Inputs {
		if in == old {
			n.Inputs[i] = name
		}
	}
	for _, a := range n.Attrs {
		if a.G != nil {
			for _, inner := range a.G.Nodes {
				renameIn(inner, old, name)
			}
		}
	}
}

// nameNodes names nodes by the scope that they come from and the values that they make.
func (w *graphWriter) nameNodes(start int) {
	prefix := ""
	if p := w.node.Scope().Path; p != "" {
		prefix = "/" + p + "/"
	}
	for _, n := range w.g.Nodes[start:] {
		if n.Name == "" {
			n.Name = prefix + n.Outputs[0]
		}
	}
}

// outputs names the results; a value that is an input, a constant, a value of a graph
// around or already a result passes through a node of its own.
func (w *graphWriter) outputs(args []*graph.Node, names []string) {
	taken := map[*exported]bool{}
	for i, a := range args {
		if a == nil {
			continue
		}
		v := w.find(a)
		if v.items != nil || v.typ.Kind() != shape.Tensor {
			w.x.errs.Add(a.Error(spec.CodeExport, "result "+diag.Quote(names[i])+" is "+v.typ.String()+", and ONNX has outputs that are tensors").
				WithHint("return its members, by getitem"))
			continue
		}
		if v.made == nil || taken[v] || !slices.Contains(w.g.Nodes, v.made) {
			n := &pb.Node{Op: "Identity", Name: names[i], Inputs: []string{v.name}, Outputs: []string{names[i]}}
			w.g.Nodes = append(w.g.Nodes, n)
		} else {
			old := v.name
			for _, n := range w.g.Nodes {
				renameIn(n, old, names[i])
			}
			v.made.Outputs[slices.Index(v.made.Outputs, old)] = names[i]
			if v.made.Name == old || strings.HasSuffix(v.made.Name, "/"+old) {
				v.made.Name = strings.TrimSuffix(v.made.Name, old) + names[i]
			}
			v.name, taken[v] = names[i], true
		}
		w.g.Outputs = append(w.g.Outputs, &pb.ValueInfo{Name: names[i], Type: w.x.typeOf(v.typ)})
	}
}

// parameter returns the constant of a parameter.
func (x *exporter) parameter(n *graph.Node) *exported {
	path := n.Target()
	p := x.mod.Param(path)
	if p == nil || p.Value == nil {
		panic(diag.New(spec.CodeExport, "parameter "+diag.Quote(path)+" has no value").WithHint("load the weights before the model is written"))
	}
	key := scalarKey{path: path}
	if v := x.scalars[key]; v != nil {
		return v
	}
	v := x.constant(path, p.Value)
	x.scalars[key] = v
	return v
}

// scalarKey finds a constant again: a parameter by its path, others by their values.
type scalarKey struct {
	path string
	typ  array.DType
	bits string
	rank int
}

// constant adds an initializer.
func (x *exporter) constant(name string, a *array.Array) *exported {
	t := &pb.Tensor{Name: x.names.Fresh(name), Type: elemOf(a.DType()), Dims: make([]int64, a.Rank())}
	for i, d := range a.Shape() {
		t.Dims[i] = int64(d)
	}
	x.initial = append(x.initial, t)
	x.arrays[t.Name] = a
	return &exported{name: t.Name, typ: shape.TypeOf(a), arr: a}
}

// small is constant for a few numbers, each of which has one constant.
func (x *exporter) small(a *array.Array) *exported {
	key := scalarKey{typ: a.DType(), bits: string(array.Bytes(array.Contiguous(a))), rank: a.Rank()}
	v := x.scalars[key]
	if v == nil {
		v = x.constant("const", a)
		x.scalars[key] = v
	}
	return v
}

// asError makes a *diag.Error of an operator's refusal.
func asError(err error) *diag.Error {
	var e *diag.Error
	if errors.As(err, &e) {
		return e
	}
	return diag.Bug(err.Error())
}

// contributes reports whether a graph has one of them.
func contributes(g *pb.Graph) bool {
	for _, n := range g.Nodes {
		if n.Domain == spec.Microsoft {
			return true
		}
		for _, a := range n.Attrs {
			if a.G != nil && contributes(a.G) {
				return true
			}
		}
	}
	return false
}
