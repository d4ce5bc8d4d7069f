package simplify

import (
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
)

// DefaultGrowth is the number of bytes by which one folded value may make the
// parameters larger.
const DefaultGrowth = 1 << 20

// ConstFold computes what depends on frozen parameters alone, and sizes that are
// known, and stores the results as parameters. Bodies of control flow read themselves
// those that they were given. A value that would make the
// parameters more than DefaultGrowth bytes larger is left as it is and reported.
var ConstFold = ConstFoldLimit(DefaultGrowth)

// ConstFoldLimit is ConstFold with another limit in bytes for each value.
// Parameters that nothing else reads count against the growth; integers of at
// most 64 elements, the arithmetic of sizes, are always folded.
func ConstFoldLimit(growth int) passes.Pass {
	return passes.Pass{
		Name: "const-fold",
		Doc:  "Computes what depends on frozen parameters alone.",
		Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) {
			before := c.Matches()
			f := &constFolder{c: c, growth: growth, effects: graph.EffectsOf(g), reads: map[string]int{}}
			f.countReads()
			if err := f.graph(g); err != nil {
				return false, err
			}
			if c.Matches() > before {
				c.Module.DropUnused()
			}
			return c.Matches() > before, nil
		},
	}
}

type constFolder struct {
	c       *passes.Ctx
	growth  int
	effects *graph.Effects
	reads   map[string]int // how many nodes read each parameter
	w       kernel.Workspace
	spent   int                            // bytes of all that was computed
	value   map[*graph.Node][]*array.Array // computed values; nil entries are yet to be computed
}

func (f *constFolder) countReads() {
	for n := range f.c.Module.All() {
		if n.Opcode() == graph.GetAttr {
			f.reads[n.Target()]++
		}
		if b := n.Bound(); b != nil {
			for _, p := range b.Params {
				f.reads[p]++
			}
		}
	}
}

// graph folds one graph: constant nodes are found from the inputs on; those with
// a user that is not constant are computed and replaced.
func (f *constFolder) graph(g *graph.Graph) error {
	f.value = map[*graph.Node][]*array.Array{}
	var calls []*graph.Node
	for n := range g.Nodes() {
		if f.constant(n) {
			f.value[n] = nil
			if n.Opcode().IsCall() {
				calls = append(calls, n)
			}
		}
	}
	// From the results backwards, so that what a refused value is made of is
	// looked at after it.
	var folds []*graph.Node
	for i := len(calls) - 1; i >= 0; i-- {
		n := calls[i]
		if n.Type().Kind() == shape.Tuple || !f.visible(n) {
			continue
		}
		if why := f.refuse(n); why != "" {
			if why != trivial {
				f.c.Refuse(n, why)
			}
			delete(f.value, n)
			continue
		}
		folds = append(folds, n)
	}
	for i := len(folds) - 1; i >= 0; i-- {
		if err := f.c.Err(); err != nil {
			return err
		}
		if err := f.fold(g, folds[i]); err != nil {
			return err
		}
	}
	for n := range g.Nodes() {
		if err := f.readInside(n); err != nil {
			return err
		}
		for _, r := range n.Regions() {
			if err := f.graph(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// readInside lets the bodies of control flow read the frozen parameters that they are
// given, so that what they compute from these is folded too.
func (f *constFolder) readInside(n *graph.Node) error {
	w := flowOf(n)
	if w == nil {
		return nil
	}
	for i := n.NumArgs() - 1; i >= w.captured; i-- {
		a := n.Arg(i)
		if a.Opcode() != graph.GetAttr || !f.constant(a) || !w.droppable(func(k int) bool { return k == i }) {
			continue
		}
		for _, p := range w.inputs(i) {
			if p.NumUses() == 0 {
				continue
			}
			read := p.Graph().Before(p.Graph().FirstAfterInputs()).From(a).GetAttr(a.Target())
			read.SetType(p.Type())
			p.ReplaceUses(read, nil)
			f.reads[a.Target()]++
		}
		if err := n.DropOperand(i); err != nil {
			return err
		}
		f.c.Rewrote(n, nil, "bodies read "+a.Target()+" themselves")
	}
	return nil
}

// constant reports whether the value of node is the same in every run and can be
// computed now.
func (f *constFolder) constant(node *graph.Node) bool {
	switch node.Opcode() {
	case graph.Placeholder, graph.Output:
		return false
	case graph.GetAttr:
		return !node.Live() && f.readable(node.Target())
	}
	o := node.Op()
	if o == op.Dim {
		_, known := node.Arg(0).Type().Dim(node.Attrs().(op.AxisAttrs).Axis).Int()
		return known
	}
	if f.effects.Overwritten(node) || node.Effect() != op.Pure || o.NoFold || o.AdHoc || len(node.Regions()) > 0 || o.Structural() && o != op.GetItem || symbolic(o, node.Attrs()) {
		return false
	}
	if o.ByValue && !f.bounded(node) {
		return false
	}
	for a := range node.Inputs() {
		if _, ok := f.value[a]; !ok {
			return false
		}
	}
	if b := node.Bound(); b != nil {
		for _, p := range b.Params {
			if p != "" && !f.readable(p) {
				return false
			}
		}
	}
	return true
}

// bounded reports whether results of an operator that finds their sizes are known to be
// small: else a number may stand for any amount of memory.
func (f *constFolder) bounded(node *graph.Node) bool {
	most := node.Op().AtMost(node.Attrs(), node.OperandTypes())
	for i, dims := range most {
		t := node.Type()
		if t.Kind() == shape.Tuple {
			t = t.Member(i)
		}
		n, ok := t.WithDims(dims).Bytes().Int()
		if !ok || n > f.growth {
			return false
		}
	}
	return len(most) > 0
}

func (f *constFolder) readable(path string) bool {
	p := f.c.Module.Param(path)
	return p != nil && p.Value != nil && !f.effects.WrittenState(path)
}

func symbolic(o *op.Op, attrs any) bool {
	found := false
	if o.Codec().HasDims() {
		o.Codec().Symbols(attrs, func(d shape.Dim) { found = found || len(d.Symbols()) > 0 })
	}
	return found
}

// visible reports whether something that is not constant uses n.
func (f *constFolder) visible(n *graph.Node) bool {
	for u := range n.Users() {
		if _, ok := f.value[u]; !ok {
			return true
		}
	}
	return false
}

const trivial = "trivial"

// refuse says why the value of node is not stored, trivial for a lone factory call.
func (f *constFolder) refuse(node *graph.Node) string {
	dtype, dims, ok := node.Type().Concrete()
	if !ok {
		return "its size is not known: " + node.Type().String()
	}
	count, ok := array.NumElems(dims)
	if !ok {
		return "it is too large"
	}
	if dtype.IsInt() && count <= 64 && node.Op() == op.Dim {
		return ""
	}
	if node.NumArgs() == 0 && node.Opcode() != graph.CallModule {
		return trivial
	}
	if dtype.IsInt() && count <= 64 {
		return ""
	}
	freed := f.freed(node)
	if freed == 0 && shown(node) {
		return "it shows a parameter that others read, which would be stored twice"
	}
	if grows := count*dtype.Size() - freed; grows > f.growth {
		return fmt.Sprintf("its value %s would make the parameters %d bytes larger, the limit is %d", node.Type(), grows, f.growth)
	}
	return ""
}

// shown reports whether a call does nothing but show the elements of a parameter.
func shown(n *graph.Node) bool {
	for n.NumArgs() == 1 && n.Viewed() != nil {
		n = n.Viewed()
	}
	return n.Opcode() == graph.GetAttr
}

// freed returns the bytes of parameters that only the computation of node reads.
func (f *constFolder) freed(node *graph.Node) int {
	total := 0
	seen := map[*graph.Node]bool{}
	var visit func(n *graph.Node)
	visit = func(m *graph.Node) {
		if m == nil || seen[m] {
			return
		}
		seen[m] = true
		if m.Opcode() == graph.GetAttr && m.NumUses() == 1 && f.reads[m.Target()] == 1 {
			a := f.c.Module.Param(m.Target()).Value
			total += a.Len() * a.DType().Size()
		}
		if m != node && m.NumUses() > 1 || m.Op() == op.Dim {
			return
		}
		for a := range m.Inputs() {
			visit(a)
		}
	}
	visit(node)
	return total
}

// fold computes n, stores its value and reads it instead.
func (f *constFolder) fold(g *graph.Graph, n *graph.Node) error {
	v, err := f.compute(n)
	if err != nil {
		f.c.Refuse(n, "it cannot be computed: "+err.Error())
		return nil
	}
	m := f.c.Module
	path := m.FreshPath("_folded_" + n.Name())
	m.SetParam(graph.Param{Path: path, Value: array.Clone(v[0]), Buffer: true})
	read := g.Before(n).GetAttr(path)
	args := n.Args()
	if err := f.c.Replace(n, read, "computed ahead: "+n.Type().String()); err != nil {
		return err
	}
	f.sweep(args)
	return nil
}

// sweep removes constant nodes that nothing uses any more.
func (f *constFolder) sweep(nodes []*graph.Node) {
	for _, n := range nodes {
		if n == nil || n.Erased() || n.NumUses() > 0 {
			continue
		}
		if _, ok := f.value[n]; !ok {
			continue
		}
		args := n.Args()
		if n.Graph().Erase(n) == nil { // one that defines a symbol stays
			f.sweep(args)
		}
	}
}

// maxWork is the number of bytes that a value on the way to a folded one may
// take, unless an operand is as large and all of them together take no more than
// maxSpent, or four times the parameters: doubling for long enough fills any memory.
const (
	maxWork  = 1 << 28
	maxSpent = 1 << 30
)

// excessive says why a value on the way is not computed, "" where it is.
func (f *constFolder) excessive(node *graph.Node) string {
	bytes := func(t shape.Type) int {
		d, dims, ok := t.Concrete()
		if k, fits := array.NumElems(dims); ok && fits {
			return k * d.Size()
		}
		return 0
	}
	size := bytes(node.Type())
	large := size > maxWork
	for a := range node.Inputs() {
		large = large && 2*bytes(a.Type()) < size
	}
	if large {
		return fmt.Sprintf("%s on the way takes %d bytes, the limit is %d", node, size, maxWork)
	}
	if o := node.Op(); o != nil && o.ViewOf > 0 { // it takes no memory
		return ""
	}
	if most := max(maxSpent, 4*f.parameters()); size > most-f.spent {
		return fmt.Sprintf("%s on the way takes %d bytes, more than %d with what was computed before", node, size, most)
	}
	f.spent += size
	return ""
}

// parameters returns the bytes of all parameters.
func (f *constFolder) parameters() int {
	total := 0
	for _, p := range f.c.Module.Params() {
		if p.Value != nil {
			total += p.Value.Len() * p.Value.DType().Size()
		}
	}
	return total
}

// compute returns the value of a constant node.
func (f *constFolder) compute(node *graph.Node) ([]*array.Array, error) {
	if v := f.value[node]; v != nil {
		return v, nil
	}
	var v []*array.Array
	switch {
	case node.Opcode() == graph.GetAttr:
		v = []*array.Array{f.c.Module.Param(node.Target()).Value}
	case node.Op() == op.Dim:
		size, _ := node.Arg(0).Type().Dim(node.Attrs().(op.AxisAttrs).Axis).Int()
		v = []*array.Array{array.Scalar(int64(size))}
	default:
		if why := f.excessive(node); why != "" {
			return nil, diag.New(op.TooLarge, why)
		}
		in := make([]*array.Array, node.NumArgs())
		var parts []*array.Array
		for i, a := range node.Args() {
			if a == nil {
				continue
			}
			x, err := f.compute(a)
			if err != nil {
				return nil, err
			}
			in[i], parts = x[0], x
		}
		if node.Op() == op.GetItem {
			v = parts[node.Attrs().(op.GetItemAttrs).Index:][:1]
			break
		}
		if b := node.Bound(); b != nil {
			for _, p := range b.Params {
				var a *array.Array
				if p != "" {
					a = f.c.Module.Param(p).Value
				}
				in = append(in, a)
			}
		}
		var err error
		if v, err = node.Op().Eval(&f.w, node.Attrs(), in); err != nil {
			return nil, err
		}
	}
	f.value[node] = v
	return v, nil
}
