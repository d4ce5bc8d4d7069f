package exporter

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// structural are the operators that belong to graphs.
var structural map[*op.Op]func(w *graphWriter, n *graph.Node, in []op.Value) *exported

func init() { // bodies of control flow need the table that they are in
	structural = map[*op.Op]func(w *graphWriter, n *graph.Node, in []op.Value) *exported{
		op.Dim: dimNode, op.Cond: exportCond, op.While: exportWhile, op.Scan: exportScan,
		op.Assign: func(_ *graphWriter, n *graph.Node, _ []op.Value) *exported {
			at := ""
			if b, err := n.Assigned(); err == nil && b != nil {
				at = " " + diag.Quote(b.Target())
			}
			panic(diag.New(spec.CodeExport, "assign writes to the buffer"+at+" of the model, which an ONNX model cannot").
				WithHint("make the state an input and an output of the model"))
		},
	}
}

// body starts the graph of a node.
func (w *graphWriter) body(r *graph.Graph) *graphWriter {
	return &graphWriter{x: w.x, outer: w, src: r, g: &pb.Graph{Name: w.node.Name() + "_" + r.Name}, values: map[*graph.Node]*exported{}, sizes: map[string]*exported{}, node: w.node}
}

// bind lets the inputs of a region, from the given one on, stand for values around it.
func (w *graphWriter) bind(from int, in []op.Value) {
	for i, p := range w.src.Inputs()[from:] {
		w.values[p] = in[i].(*exported)
	}
}

// input makes an input of a body.
func (w *graphWriter) input(p *graph.Node) {
	v := &exported{name: w.x.names.Fresh(p.Target()), typ: p.Type()}
	w.values[p] = v
	w.g.Inputs = append(w.g.Inputs, &pb.ValueInfo{Name: v.name, Type: w.x.typeOf(v.typ)})
}

// fill writes the nodes and notes their errors.
func (w *graphWriter) fill() {
	w.nodes()
}

// finish names the outputs of a body.
func (w *graphWriter) finish() {
	if w.x.errs.Err() != nil {
		return
	}
	args := w.src.Output().Args()
	names := make([]string, len(args))
	for i, a := range args {
		names[i] = w.x.names.Fresh(a.Name() + "_out")
	}
	w.outputs(args, names)
}

// result are the outputs of a node with bodies.
func (w *graphWriter) result(outs []*exported, t shape.Type) *exported {
	if t.Kind() != shape.Tuple {
		return outs[0]
	}
	return &exported{typ: t, items: outs}
}

// exportCond is If: its branches see the values around them.
func exportCond(w *graphWriter, n *graph.Node, in []op.Value) *exported {
	var attrs []*pb.Attr
	for i, r := range n.Regions() {
		b := w.body(r)
		b.bind(0, in[1:])
		b.fill()
		b.finish()
		attrs = append(attrs, attrGraph([]string{"then_branch", "else_branch"}[i], b.g))
	}
	w.node = n
	return w.result(w.emitAll("If", n.Type().Members(), in[:1], attrs...), n.Type())
}

// exportScan is Scan along the first axis.
func exportScan(w *graphWriter, n *graph.Node, in []op.Value) *exported {
	a := n.Attrs().(op.LoopAttrs)
	r := n.Regions()[0]
	b := w.body(r)
	own := a.Carry + a.Seqs
	for _, p := range r.Inputs()[:own] {
		b.input(p)
	}
	b.bind(own, in[own:])
	b.fill()
	b.finish()
	w.node = n
	return w.result(w.emitAll("Scan", n.Type().Members(), in[:own], attrGraph("body", b.g), attrInt("num_scan_inputs", a.Seqs)), n.Type())
}

// exportWhile is Loop: the test is written in front of it, and at the end of each round.
func exportWhile(w *graphWriter, n *graph.Node, in []op.Value) *exported {
	a := n.Attrs().(op.LoopAttrs)
	if a.MaxTrips > 0 {
		panic(diag.New(spec.CodeExport, "while is refused more than "+strconv.Itoa(a.MaxTrips)+" trips, where ONNX's Loop ends silently").
			WithHint("loop without a bound in what is exported"))
	}
	test, body := n.Regions()[0], n.Regions()[1]
	first := w.inlined(test, in)
	b := w.body(body)
	w.node = n
	round, going := w.x.names.Fresh("round"), w.x.names.Fresh("going")
	b.g.Inputs = []*pb.ValueInfo{{Name: round, Type: w.x.typeOf(shape.TensorType(array.I64, shape.Dims{}))}, {Name: going, Type: w.x.typeOf(shape.TensorType(array.Bool, shape.Dims{}))}}
	for _, p := range body.Inputs()[:a.Carry] {
		b.input(p)
	}
	b.bind(a.Carry, in[a.Carry:])
	b.fill()
	if w.x.errs.Err() != nil {
		return w.result(make([]*exported, max(n.Type().Len(), 1)), n.Type())
	}
	next := make([]op.Value, len(in))
	copy(next, in)
	for i, o := range body.Output().Args() {
		next[i] = b.find(o)
	}
	again := b.inlined(test, next)
	end := &pb.Node{Op: "Identity", Name: going + "_next", Inputs: []string{again.name}, Outputs: []string{w.x.names.Fresh("going_next")}}
	b.g.Nodes = append(b.g.Nodes, end)
	b.g.Outputs = []*pb.ValueInfo{{Name: end.Outputs[0], Type: w.x.typeOf(again.typ)}}
	b.finish()
	w.node = n
	return w.result(w.emitAll("Loop", n.Type().Members(), append([]op.Value{nil, first}, in[:a.Carry]...), attrGraph("body", b.g)), n.Type())
}

// inlined writes a region where it is used, on the given values, and returns its result.
func (w *graphWriter) inlined(r *graph.Graph, in []op.Value) *exported {
	b := &graphWriter{x: w.x, outer: w, src: r, g: w.g, values: map[*graph.Node]*exported{}, sizes: map[string]*exported{}, node: w.node}
	b.bind(0, in)
	b.nodes()
	out := b.find(r.Output().Arg(0))
	if out == nil {
		return &exported{name: "?"}
	}
	return out
}
