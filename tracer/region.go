package tracer

import (
	"runtime"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// region is a sub-graph being recorded. Values of enclosing graphs that its code
// uses become extra operands of the node.
type region struct {
	outer    *region
	cur      *graph.Cursor // of the enclosing graph
	captured []*graph.Node
	inner    map[*graph.Node]*graph.Node
}

// inRegion returns n if it belongs to the current graph; a value of an enclosing
// graph is captured as a placeholder of the region.
func (t *trace) inRegion(n *graph.Node) *graph.Node {
	g := t.cur.Graph()
	if n.Graph() == g {
		return n
	}
	r := t.region
	if r == nil {
		t.report(&diag.Error{Code: RegionMismatch, Msg: n.String() + " was made inside a region and is used outside of it",
			Hint: "return it from the region's function"})
		return nil
	}
	if p := r.inner[n]; p != nil {
		return p
	}
	// The enclosing graph may itself be a region that has to capture n first.
	inner, cur := t.region, t.cur
	t.region, t.cur = r.outer, r.cur
	src := t.inRegion(n)
	t.region, t.cur = inner, cur
	if src == nil {
		return nil
	}
	p := t.regionInput(src)
	r.captured = append(r.captured, src)
	r.inner[n], r.inner[src] = p, p // two nodes when the value comes through an enclosing region
	return p
}

// regionInput adds a placeholder behind the others of the current region.
func (t *trace) regionInput(src *graph.Node) *graph.Node {
	g := t.cur.Graph()
	p := t.cur.Placeholder(src.Name(), src.Type(), nil)
	for n := range g.Nodes() {
		if n.Opcode() != graph.Placeholder {
			g.MoveBefore(p, n)
			break
		}
	}
	return p
}

// recordRegion runs f on placeholders of the given types and returns the region;
// nil when a mistake was made. slice tells which inputs lose their axis 0.
func (t *trace) recordRegion(name string, in []*graph.Node, slice func(i int) bool, f func([]*tensor.Tensor) []*tensor.Tensor) (*graph.Graph, *region) {
	g := t.cur.Graph().NewRegion(name)
	r := &region{outer: t.region, cur: t.cur, inner: map[*graph.Node]*graph.Node{}}
	t.region, t.cur = r, g.At()
	t.cur.OnError = r.cur.OnError
	t.cur.SetScope(t.scope)
	defer func() { t.region, t.cur = r.outer, r.cur }()
	args := make([]*tensor.Tensor, len(in))
	for i, n := range in {
		ty := n.Type()
		if slice != nil && slice(i) && ty.Ranked() && ty.Rank() > 0 {
			ty = ty.WithDims(shape.Of(ty.Dims().Slice()[1:]...))
		}
		args[i] = tensor.NewProxy(t, t.cur.Placeholder(n.Name(), ty, nil))
	}
	resume := t.release()
	outs := func() []*tensor.Tensor {
		defer resume()
		return f(args)
	}()
	nodes := make([]*graph.Node, len(outs))
	s := &graph.Structure{Kind: graph.Results}
	for i, x := range outs {
		if x == nil || t.nodeOf(x, &nodes[i]) == nil {
			return nil, r
		}
		s.Fields = append(s.Fields, graph.Leaf(i))
	}
	t.cur.Output(s, nodes...)
	return g, r
}

func (t *trace) nodeOf(x *tensor.Tensor, to **graph.Node) *graph.Node {
	*to = t.node(x, "region")
	return *to
}

// operands returns the nodes of tensors, nil when one is unusable.
func (t *trace) operands(what string, in []*tensor.Tensor) []*graph.Node {
	out := make([]*graph.Node, len(in))
	for i, x := range in {
		if x == nil {
			t.report(&diag.Error{Code: RegionMismatch, Op: what, Msg: "operand " + strconv.Itoa(i) + " is nil"})
			return nil
		}
		if out[i] = t.node(x, what); out[i] == nil {
			return nil
		}
	}
	return out
}

// unite gives every region placeholders for all captured values, in one order,
// and returns the captured values.
func (t *trace) unite(gs []*graph.Graph, rs []*region) []*graph.Node {
	var all []*graph.Node
	seen := map[*graph.Node]bool{}
	for _, r := range rs {
		for _, n := range r.captured {
			if !seen[n] {
				seen[n] = true
				all = append(all, n)
			}
		}
	}
	for i, g := range gs {
		mine := map[*graph.Node]*graph.Node{}
		for _, n := range rs[i].captured {
			mine[n] = rs[i].inner[n]
		}
		first := g.First()
		for first != nil && first.Opcode() == graph.Placeholder {
			first = first.Next()
		}
		for _, n := range all {
			p := mine[n]
			if p == nil {
				p = g.Before(first).Placeholder(n.Name(), n.Type(), nil)
			}
			g.MoveBefore(p, first)
		}
	}
	return all
}

// finishRegions adds the node with the regions and returns its results.
func (t *trace) finishRegions(o *op.Op, attrs any, gs []*graph.Graph, rs []*region, args []*graph.Node, count int) []*tensor.Tensor {
	args = append(args, t.unite(gs, rs)...)
	n := t.cur.Region(o, attrs, gs, args...)
	t.recorded(n, &tensor.Call{Op: o, Attrs: attrs})
	out := make([]*tensor.Tensor, count)
	for i := range out {
		out[i] = tensor.NewProxy(t, &item{tuple: n, index: i})
	}
	return out
}

func (t *trace) mismatch(o *op.Op, msg string) {
	t.report(&diag.Error{Code: RegionMismatch, Op: o.Name, Msg: msg})
}

func (t *trace) poisoned(n int) []*tensor.Tensor {
	out := make([]*tensor.Tensor, n)
	for i := range out {
		out[i] = tensor.NewProxy(t, (*graph.Node)(nil))
	}
	return out
}

// Cond implements tensor.Regioner.
func (t *trace) Cond(pred *tensor.Tensor, then, els func([]*tensor.Tensor) []*tensor.Tensor, in []*tensor.Tensor) []*tensor.Tensor {
	if !t.enter() {
		return then(in)
	}
	defer t.leave()
	args := t.operands("cond", append([]*tensor.Tensor{pred}, in...))
	if args == nil {
		return t.poisoned(1)
	}
	g1, r1 := t.recordRegion("then", args[1:], nil, then)
	g2, r2 := t.recordRegion("else", args[1:], nil, els)
	if g1 == nil || g2 == nil {
		return t.poisoned(1)
	}
	a, b := g1.Output(), g2.Output()
	if a.NumArgs() != b.NumArgs() {
		t.mismatch(op.Cond, "the branches return "+strconv.Itoa(a.NumArgs())+" and "+strconv.Itoa(b.NumArgs())+" tensors")
		return t.poisoned(a.NumArgs())
	}
	for i := range a.NumArgs() {
		if !compatible(a.Arg(i).Type(), b.Arg(i).Type()) {
			t.mismatch(op.Cond, "result "+strconv.Itoa(i)+" is "+a.Arg(i).Type().String()+" in one branch and "+b.Arg(i).Type().String()+" in the other")
		}
	}
	return t.finishRegions(op.Cond, nil, []*graph.Graph{g1, g2}, []*region{r1, r2}, args, a.NumArgs())
}

// compatible reports whether two types can be of one value.
func compatible(a, b shape.Type) bool {
	if a.Kind() == shape.None || b.Kind() == shape.None {
		return true
	}
	if a.DType() != b.DType() && a.DType() != 0 && b.DType() != 0 {
		return false
	}
	if !a.Ranked() || !b.Ranked() {
		return true
	}
	if a.Rank() != b.Rank() {
		return false
	}
	for i := range a.Rank() {
		x, xk := a.Dim(i).Int()
		y, yk := b.Dim(i).Int()
		if xk && yk && x != y {
			return false
		}
	}
	return true
}

// While implements tensor.Regioner.
func (t *trace) While(cond func([]*tensor.Tensor) *tensor.Tensor, body func([]*tensor.Tensor) []*tensor.Tensor, in []*tensor.Tensor) []*tensor.Tensor {
	if !t.enter() {
		return t.poisoned(len(in))
	}
	defer t.leave()
	args := t.operands("while", in)
	if args == nil {
		return t.poisoned(len(in))
	}
	g1, r1 := t.recordRegion("cond", args, nil, func(x []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{cond(x)} })
	g2, r2 := t.recordRegion("body", args, nil, body)
	if g1 == nil || g2 == nil {
		return t.poisoned(len(in))
	}
	if !t.carried(op.While, g2, args) {
		return t.poisoned(len(in))
	}
	return t.finishRegions(op.While, op.LoopAttrs{Carry: len(in)}, []*graph.Graph{g1, g2}, []*region{r1, r2}, args, len(in))
}

// carried checks that a body returns at least the carried values, of their types.
func (t *trace) carried(o *op.Op, body *graph.Graph, carry []*graph.Node) bool {
	out := body.Output()
	if out.NumArgs() < len(carry) {
		t.mismatch(o, "the body returns "+strconv.Itoa(out.NumArgs())+" tensors, expected the "+strconv.Itoa(len(carry))+" carried ones")
		return false
	}
	for i, c := range carry {
		if !compatible(out.Arg(i).Type(), c.Type()) {
			t.mismatch(o, "carried value "+strconv.Itoa(i)+" is "+c.Type().String()+" before and "+out.Arg(i).Type().String()+" after the body")
			return false
		}
	}
	return true
}

// Scan implements tensor.Regioner.
func (t *trace) Scan(body func(carry, slices []*tensor.Tensor) (next, out []*tensor.Tensor), carry, seqs []*tensor.Tensor) (last, stacked []*tensor.Tensor) {
	if !t.enter() {
		return body(carry, seqs)
	}
	defer t.leave()
	k := len(carry)
	args := t.operands("scan", append(append([]*tensor.Tensor(nil), carry...), seqs...))
	if args == nil {
		return t.poisoned(k), nil
	}
	g, r := t.recordRegion("body", args, func(i int) bool { return i >= k }, func(x []*tensor.Tensor) []*tensor.Tensor {
		next, out := body(x[:k], x[k:])
		if len(next) != k && t.take() {
			defer t.leave()
			t.mismatch(op.Scan, "the body returns "+strconv.Itoa(len(next))+" carried tensors, expected "+strconv.Itoa(k))
		}
		return append(append([]*tensor.Tensor(nil), next...), out...)
	})
	if g == nil || !t.carried(op.Scan, g, args[:k]) {
		return t.poisoned(k), nil
	}
	all := t.finishRegions(op.Scan, op.LoopAttrs{Carry: k, Seqs: len(seqs)}, []*graph.Graph{g}, []*region{r}, args, g.Output().NumArgs())
	return all[:k], all[k:]
}

// panicPos returns the innermost user frame of a panic that is being recovered.
func panicPos() diag.Pos {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		f, more := frames.Next()
		if diag.UserCode(f.Function, f.File) {
			return diag.Pos{File: f.File, Line: f.Line, Func: f.Function}
		}
		if !more {
			return diag.Pos{}
		}
	}
}
