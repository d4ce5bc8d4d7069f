package grad

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/near"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
)

// differentiation is the work on one graph.
type differentiation struct {
	request
	ctx    *passes.Ctx
	g      *graph.Graph
	m      *graph.Module
	faults diag.List

	wrt     []target
	seeded  []int // results that are differentiated
	depends map[*graph.Node]bool
	noted   map[*graph.Node]bool          // calls that nobody trains, which are mistakes
	adjoint map[*graph.Node][]*graph.Node // of each result of a node, nil: zero
	pieces  map[*graph.Node][]piece       // of the derivative with respect to a value
	waiting []*graph.Node                 // that have had pieces
	c       *graph.Cursor
	writes  []*graph.Node // assigns, in order
}

// target is a tensor by which is differentiated.
type target struct {
	name  string
	typ   shape.Type
	nodes []*graph.Node // the input, or the reads of the parameter
	input bool
}

func (d *differentiation) fault(err *diag.Error) { d.faults.Add(err) }

// outputs finds what is differentiated.
func (d *differentiation) outputs() {
	out := d.g.Output()
	if d.seeds {
		for i, n := range out.Args() {
			if i >= d.from && n != nil && n.Type().DType().IsFloat() {
				d.seeded = append(d.seeded, i)
			}
		}
		if len(d.seeded) == 0 {
			d.fault(out.Error(NotScalar, "no result of the graph holds floats").WithHint("return what is to be differentiated"))
		}
		return
	}
	if d.Loss < 0 || d.Loss >= out.NumArgs() || out.Arg(d.Loss) == nil {
		d.fault(out.Error(NotScalar, "result "+strconv.Itoa(d.Loss)+" is the loss, the graph has "+strconv.Itoa(out.NumArgs())+" results"))
		return
	}
	loss := out.Arg(d.Loss)
	t := loss.Type()
	if !t.DType().IsFloat() || !t.Ranked() || slices.ContainsFunc(t.Dims().Slice(), func(n shape.Dim) bool { return !n.Is(1) }) {
		d.fault(loss.Error(NotScalar, "the loss is "+t.String()+", expected a single float").WithHint("end the model with sum or mean, or take a VJP with seeds"))
		return
	}
	d.seeded = []int{d.Loss}
}

// targets finds the tensors by which is differentiated.
func (d *differentiation) targets() {
	reads := map[string][]*graph.Node{}
	for n := range d.g.All() {
		if n.Opcode() == graph.GetAttr {
			reads[n.Target()] = append(reads[n.Target()], n)
		}
	}
	defer d.hoist()
	seen := map[string]bool{}
	add := func(t target, asked bool) {
		if seen[t.name] {
			return
		}
		if !t.typ.DType().IsFloat() {
			if asked {
				d.fault(d.about(t, NotFloat, "the gradient of "+t.name+" is asked for, which is "+t.typ.String()+", expected floats").WithHint("leave it out, or give it a float type"))
			}
			return
		}
		seen[t.name] = true
		d.wrt = append(d.wrt, t)
	}
	param := func(p *graph.Param) target { return target{name: p.Path, typ: p.TypeOf(), nodes: reads[p.Path]} }
	if d.by != nil {
		d.results(param, add)
		return
	}
	if d.Wrt == nil {
		for _, p := range d.m.Params() {
			if !p.Buffer {
				add(param(p), false)
			}
		}
		if len(d.wrt) == 0 {
			d.fault(d.g.Output().Error(NoSuchTensor, "the graph has no parameters to differentiate by").WithHint("name inputs in Wrt"))
		}
		return
	}
	for _, name := range d.Wrt {
		if !d.named(name, param, add) {
			d.fault(d.unknown(name))
		}
	}
}

// results adds the results of the graph by which is differentiated.
func (d *differentiation) results(param func(*graph.Param) target, add func(t target, asked bool)) {
	for _, i := range d.by {
		n := d.g.Output().Arg(i)
		t := target{name: n.Name(), typ: n.Type(), nodes: []*graph.Node{n}}
		if p := d.m.Param(n.Target()); n.Opcode() == graph.GetAttr && p != nil {
			t = param(p)
		}
		add(t, true)
	}
}

// hoist makes operands of control flow of the parameters that its bodies read, so that their
// gradients come back to one place.
func (d *differentiation) hoist() {
	for k, t := range d.wrt {
		var own []*graph.Node
		var first *graph.Node
		for _, n := range t.nodes {
			if n.Graph() == d.g {
				own = append(own, n)
				continue
			}
			if first == nil {
				first = d.first(t.name)
				own = append(own, first)
			}
			first.SetLive(first.Live() || n.Live())
			v := n.Graph().Capture(first)
			n.ReplaceUses(v, nil)
			if err := n.Graph().Erase(n); err != nil {
				panic(err)
			}
		}
		d.wrt[k].nodes = own
	}
}

// first makes a read of a parameter before everything else.
func (d *differentiation) first(path string) *graph.Node {
	at := d.g.First()
	for at.Opcode() == graph.Placeholder {
		at = at.Next()
	}
	return d.g.Before(at).GetAttr(path)
}

// named adds what a name or pattern stands for. It tells whether there is anything.
func (d *differentiation) named(name string, param func(*graph.Param) target, add func(t target, asked bool)) bool {
	for _, n := range d.g.Inputs() {
		if n.Name() == name || n.Target() == name {
			add(target{name: name, typ: n.Type(), nodes: []*graph.Node{n}, input: true}, true)
			return true
		}
	}
	if p := d.m.Param(name); p != nil {
		add(param(p), true)
		return true
	}
	found := false
	for _, p := range d.m.Params() {
		if ok, err := path.Match(name, p.Path); ok && err == nil && !p.Buffer {
			add(param(p), false)
			found = true
		}
	}
	return found
}

// mostNamed bounds how many names a hint lists.
const mostNamed = 12

// unknown is the mistake of a name or pattern that nothing has.
func (d *differentiation) unknown(name string) *diag.Error {
	msg := "no input and no parameter is called " + strconv.Quote(name)
	if strings.ContainsAny(name, `*?[\`) {
		msg = "no parameter that is trained fits the pattern " + strconv.Quote(name)
		if _, err := path.Match(name, ""); err != nil {
			return diag.New(NoSuchTensor, strconv.Quote(name)+" is no pattern").WithHint("* stands for any text, ? for a letter, [ab] for one of several")
		}
	}
	list := d.names()
	text := strings.Join(list[:min(len(list), mostNamed)], ", ")
	if more := len(list) - mostNamed; more > 0 {
		text += " and " + strconv.Itoa(more) + " more"
	}
	return diag.New(NoSuchTensor, msg).WithHint(near.Hint(name, list, "inputs and parameters are "+text))
}

func (d *differentiation) names() (list []string) {
	for _, n := range d.g.Inputs() {
		list = append(list, n.Target())
	}
	for _, p := range d.m.Params() {
		list = append(list, p.Path)
	}
	return list
}

// about is a mistake about a target, at its first node.
func (d *differentiation) about(t target, code diag.Code, msg string) *diag.Error {
	if len(t.nodes) > 0 {
		return t.nodes[0].Error(code, msg)
	}
	return diag.New(code, msg)
}

// deferWrites finds the writes of state, which go after everything that reads it: what
// the gradient keeps is read late. Users of a write get the value that it writes.
func (d *differentiation) deferWrites() {
	written := map[string]*graph.Node{}
	for n := range d.g.Nodes() {
		switch {
		case n.Op() == op.Assign:
			d.writes = append(d.writes, n)
			if to, err := n.Assigned(); err == nil && to != nil {
				written[to.Target()] = n
			}
			n.ReplaceUses(n.Arg(1), nil)
		case n.Opcode() == graph.GetAttr && written[n.Target()] != nil:
			d.fault(readLate(n))
		}
		for m := range n.Inner() {
			if m.Opcode() == graph.GetAttr && written[m.Target()] != nil {
				d.fault(readLate(m))
			}
		}
	}
	d.writesInside()
}

func readLate(n *graph.Node) *diag.Error {
	return n.Error(ReadAfterWrite, n.Target()+" is read after it is written").WithHint("use the written value")
}

// writesInside refuses writes in bodies, which stay where they are, of state that anything
// else reads: what the gradient keeps is read late.
func (d *differentiation) writesInside() {
	for n := range d.g.Nodes() {
		if len(n.Regions()) == 0 {
			continue
		}
		for place := range n.Writes() {
			for m := range d.g.Nodes() {
				if m == n || !slices.ContainsFunc(slices.Collect(m.Reads()), place.Overlaps) {
					continue
				}
				d.fault(n.Error(ReadAfterWrite, place.String()+" is written by control flow, and "+m.String()+" reads it").
					WithHint("return the value from the body, and write it after the loop or branch"))
				break
			}
		}
	}
}

// gradients returns the gradient by each target.
func (d *differentiation) gradients() []*graph.Node {
	grads, failed := make([]*graph.Node, len(d.wrt)), d.faults.Err() != nil
	for i, t := range d.wrt {
		for _, n := range t.nodes {
			g := d.adjoint[n]
			switch {
			case g == nil || g[0] == nil:
			case grads[i] == nil:
				grads[i] = g[0]
			default:
				grads[i] = d.call(std.Add, std.AddAttrs{}, grads[i], g[0])
			}
		}
		switch {
		case grads[i] != nil:
		case d.AllowUnused:
			grads[i] = d.zeros(d.read(t))
		case failed && len(d.between(t.nodes)) > 0: // by a mistake that is noted
		default:
			d.fault(d.unreached(t))
		}
	}
	return grads
}

// read returns a node that has the value of a target.
func (d *differentiation) read(t target) *graph.Node {
	if len(t.nodes) > 0 {
		return t.nodes[0]
	}
	return d.c.GetAttr(t.name)
}

// finish makes the output, and puts writes of state before it.
func (d *differentiation) finish(grads []*graph.Node) {
	out := d.g.Output()
	args, whole := []*graph.Node{}, &graph.Structure{Kind: graph.Results}
	if d.values {
		args, whole = out.Args(), resultFields(out)
	}
	named := &graph.Structure{Kind: graph.MapOf}
	for i, t := range d.wrt {
		named.Keys = append(named.Keys, t.name)
		named.Fields = append(named.Fields, graph.Leaf(len(args)+i))
	}
	args = append(args, grads...)
	for _, w := range d.writes {
		d.g.MoveBefore(w, out)
	}
	if err := d.g.Erase(out); err != nil {
		panic(err)
	}
	if whole.Fields = append(whole.Fields, named); !d.values {
		whole = named
	}
	d.g.At().Output(whole, args...)
}

// resultFields are the results of a graph as the first of several.
func resultFields(out *graph.Node) *graph.Structure {
	whole := &graph.Structure{Kind: graph.Results}
	if s := out.Structure(); s != nil {
		whole.Fields = append(whole.Fields, s)
		return whole
	}
	for i := range out.NumArgs() {
		whole.Fields = append(whole.Fields, graph.Leaf(i))
	}
	return whole
}

// isFloat tells whether a value may have a gradient: it holds floats, or a member does.
// known is false where its type is not known.
func isFloat(t shape.Type) (yes, known bool) {
	if t.Kind() == shape.Tuple {
		for i := range t.Len() {
			y, k := isFloat(t.Member(i))
			yes, known = yes || y, known || !k
		}
		return yes, !known
	}
	return t.DType().IsFloat(), t.DType() != array.Invalid
}
