package grad

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// countType is the element type of the number of trips.
const countType = array.I64

// reversal is the gradient of a loop: one that goes through the trips from the last to the
// first. It carries the derivatives with respect to carried values, which are the seeds first
// and those with respect to the operands at last, and adds up those with respect to what is the
// same in all trips. Those with respect to slices of sequences are stacked.
type reversal struct {
	*flow
	body      *graph.Graph
	carried   []int // operands
	added     []int
	sequences []int
}

// reversed finds out of what the gradient of a loop consists.
func (d *differentiation) reversed(f *flow) *reversal {
	r := &reversal{flow: f, body: f.bodies[0]}
	out := r.body.Output().Args()
	for i, p := range r.body.Inputs() {
		switch {
		case i < f.carry:
			if (d.depends[p] || d.depends[out[i]]) && p.Type().DType().IsFloat() {
				r.carried = append(r.carried, i)
			}
		case !d.depends[p]:
		case f.sequence(i):
			r.sequences = append(r.sequences, i)
		default:
			r.added = append(r.added, i)
		}
	}
	return r
}

// begin returns what the gradient of a loop carries into its first trip.
func (r *reversal) begin(d *differentiation, seeds []*graph.Node) (list []*graph.Node) {
	for _, i := range r.carried {
		if i < len(seeds) && seeds[i] != nil {
			list = append(list, seeds[i])
			continue
		}
		list = append(list, d.zeros(r.Arg(i)))
	}
	for _, i := range r.added {
		list = append(list, d.zeros(r.Arg(i)))
	}
	return list
}

// trip differentiates one trip in region g, whose inputs own stand for those of the body. state
// is what the loop carries, and stacked are the seeds of this trip's slices of stacked results,
// by result. It returns what the trip carries on, and the derivatives with respect to slices.
func (r *reversal) trip(d *differentiation, g *graph.Graph, own []*graph.Node, state []*graph.Node, stacked map[int]*graph.Node) (b *differentiation, copies map[*graph.Node]*graph.Node, results []*graph.Node) {
	b, copies, outs := d.inside(g, r.body, own)
	b.reverse(copies, outs, func(yield func(v, seed *graph.Node)) {
		for j, i := range r.carried {
			yield(outs[i], state[j])
		}
		for i, v := range outs { // in their order: a body may give one value twice, and sums depend on the order
			if s := stacked[i]; s != nil {
				yield(v, s)
			}
		}
	})
	in := r.body.Inputs()
	for _, i := range r.carried {
		results = append(results, b.of(copies[in[i]]))
	}
	for j, i := range r.added {
		sum := state[len(r.carried)+j]
		if a := b.adjoint[copies[in[i]]]; a != nil && a[0] != nil {
			sum = b.call(std.Add, std.AddAttrs{}, sum, a[0])
		}
		results = append(results, sum)
	}
	for _, i := range r.sequences {
		results = append(results, b.of(copies[in[i]]))
	}
	return b, copies, results
}

// scan makes a scan over reversed sequences: those of the scan, the seeds of what it stacks, and
// what its body keeps of each trip, which it returns stacked now.
func (d *differentiation) scan(f *flow, seeds []*graph.Node) error {
	r := d.reversed(f)
	kept := d.worthKeeping(r)
	rows := d.stack(f, kept)
	flip := func(v *graph.Node) *graph.Node { return d.call(std.Flip, std.FlipAttrs{Dims: op.IntList(0)}, v) }
	state := r.begin(d, seeds)
	var seqs []*graph.Node
	for i := f.carry; i < f.carry+f.seqs; i++ {
		seqs = append(seqs, flip(f.Arg(i)))
	}
	var seeded []int
	for i := f.carry; i < len(seeds); i++ {
		if seeds[i] != nil {
			seeded, seqs = append(seeded, i), append(seqs, flip(seeds[i]))
		}
	}
	for _, v := range rows {
		seqs = append(seqs, flip(v))
	}
	constants := f.Args()[f.carry+f.seqs:]
	args := slices.Concat(state, seqs, constants)
	types := typesOf(args)
	for i := range seqs {
		types[len(state)+i] = slice(types[len(state)+i])
	}
	g := d.g.NewRegion(r.body.Name + "_grad")
	in := inputs(g, args, types)
	n := d.c.Region(op.Scan, op.LoopAttrs{Carry: len(state), Seqs: len(seqs)}, []*graph.Graph{g}, args...)

	parts := in[len(state):]
	stacked := map[int]*graph.Node{}
	for j, i := range seeded {
		stacked[i] = parts[f.seqs+j]
	}
	read := parts[f.seqs+len(seeded) : len(seqs)]
	own := slices.Concat(read[:f.carry], parts[:f.seqs], in[len(state)+len(seqs):])
	b, copies, results := r.trip(d, g, own, in, stacked)
	for j, v := range kept[f.carry:] {
		copies[v].ReplaceUses(read[f.carry+j], func(*graph.Node) bool { return true }) // symbols stay
		for i, x := range results {
			if x == copies[v] {
				results[i] = read[f.carry+j]
			}
		}
	}
	b.c.Output(packed(len(results)), results...)
	d.faults = append(d.faults, b.faults...)
	if err := d.made(n, []*graph.Graph{g}); err != nil {
		return err
	}
	if err := dropSequences(n); err != nil {
		return err
	}
	r.end(d, n, 0, flip)
	return nil
}

// end gives the operands of the loop what its gradient n found; the first results of it belong
// to something else.
func (r *reversal) end(d *differentiation, n *graph.Node, first int, turn func(v *graph.Node) *graph.Node) {
	for j, i := range slices.Concat(r.carried, r.added, r.sequences) {
		v := d.c.ItemNode(n, first+j)
		if r.sequence(i) {
			v = turn(v)
		}
		d.give(r.Arg(i), 0, v)
	}
}

// dropSequences drops the sequences of a scan that its body does not use; one stays, for the
// number of trips.
func dropSequences(n *graph.Node) error {
	a := n.Attrs().(op.LoopAttrs)
	for i := a.Carry + a.Seqs - 1; i >= a.Carry && a.Seqs > 1; i-- {
		if p := n.Regions()[0].Inputs()[i]; p.NumUses() > 0 || len(p.Graph().SymbolsOf(p)) > 0 {
			continue
		}
		if err := n.DropOperand(i); err != nil {
			return err
		}
		a.Seqs--
		if err := n.SetAttrs(a); err != nil {
			return err
		}
	}
	return nil
}

// worthKeeping returns the values of a scan's body of which each trip's are kept: the carried
// ones, and results of calls that cost more to compute again than to read.
func (d *differentiation) worthKeeping(r *reversal) []*graph.Node {
	list := slices.Clone(r.body.Inputs()[:r.carry])
	for n := range r.body.Nodes() {
		o := n.Op()
		if o == op.GetItem {
			o = n.Arg(0).Op()
		}
		t := n.Type()
		if o == nil || o.Class != op.Contraction && o.Class != op.Opaque || t.Kind() == shape.Tuple || !t.Ranked() || o.Structural() {
			continue
		}
		if !slices.ContainsFunc(t.Dims().Slice(), func(x shape.Dim) bool { return !d.knows(x) }) {
			list = append(list, n)
		}
	}
	return list
}

// tupled makes a loop give its result, where it is one, as a tuple, which more can be added to.
func (f *flow) tupled(d *differentiation) {
	if f.Type().Kind() == shape.Tuple {
		return
	}
	setResults(f.bodies[0], f.bodies[0].Output().Args())
	t := f.Type()
	f.SetType(shape.TupleType(t))
	it := d.g.After(f.Node).ItemNode(f.Node, 0)
	f.ReplaceUses(it, nil)
	it.SetArg(0, f.Node)
	if d.depends[f.Node] {
		d.depends[it] = true
	}
}

// setResults makes a region return values.
func setResults(r *graph.Graph, values []*graph.Node) {
	old := r.Output()
	c := r.Before(old)
	if err := r.Erase(old); err != nil {
		panic(err) // nothing uses an output
	}
	c.Output(packed(len(values)), values...)
}

// more makes a loop return more; what it returned before keeps its type.
func (f *flow) more(d *differentiation, attrs op.LoopAttrs, first int, values []*graph.Node) error {
	f.tupled(d)
	was := f.Type()
	setResults(f.bodies[0], slices.Insert(f.bodies[0].Output().Args(), first, values...))
	if err := f.SetAttrs(attrs); err != nil {
		return err
	}
	members := make([]shape.Type, 0, was.Len()+len(values))
	for i := range was.Len() + len(values) {
		switch {
		case i < first:
			members = append(members, was.Member(i))
		case i < first+len(values):
			members = append(members, f.Type().Member(i))
		default:
			members = append(members, was.Member(i-len(values)))
		}
	}
	f.SetType(shape.TupleType(members...))
	return nil
}

// stack makes a scan return values of its body stacked, and returns what has them.
func (d *differentiation) stack(f *flow, values []*graph.Node) (rows []*graph.Node) {
	count := f.bodies[0].Output().NumArgs()
	if err := f.more(d, f.Attrs().(op.LoopAttrs), count, values); err != nil {
		panic(err)
	}
	c := d.g.After(f.Node)
	for j := range values {
		rows = append(rows, c.ItemNode(f.Node, count+j))
	}
	return rows
}
