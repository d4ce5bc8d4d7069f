package lazy

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer/alias"
	"github.com/gofx-dev/gofx/tracer/record"
)

// block is what a function of Cond, While or Scan has recorded. Its values are places that no search for a cone meets: what it
// uses of the blocks around it are operands of the call, in whose places it has parameters.
type block struct {
	outer   *block
	name    string
	params  []*place
	likes   []*place // the values around it that parameters stand for
	sliced  []bool   // of these, the parameter is a slice
	calls   []*place // with members of their results, in order
	rest    []*place // calls that no result needs
	results []*place
	dropped map[*place]dropped
}

// dropped is a parameter that only calls in rest use: what it stands for.
type dropped struct {
	like   *place
	sliced bool
}

// of returns what a parameter stands for, and whether it is a slice of that.
func (b *block) of(p *place) (like *place, sliced bool) {
	if d, gone := b.dropped[p]; gone {
		return d.like, d.sliced
	}
	i := slices.Index(b.params, p)
	return b.likes[i], b.sliced[i]
}

func (b *block) add(p *place) {
	p.own().block = b
	b.calls = append(b.calls, p)
}

func (p *place) block() *block {
	if p == nil || p.rare == nil {
		return nil
	}
	return p.rare.block
}

// parameter reports whether the place is one of a block.
func (p *place) parameter() bool { return p.op == nil && p.index == 0 && p.block() != nil }

func (p *place) bodies() []*block {
	if p.rare == nil {
		return nil
	}
	return p.rare.bodies
}

// flows is what a session knows of functions that are being recorded.
type flows struct {
	s     *Session
	block *block // nil outside of them
	plain int    // functions run as Go code, at this depth
	start uint64 // of the outermost one
}

// abandoned is the panic that ends the recording of a function.
type abandoned struct{}

// outside ends the recording of a function that does what no record has. It does nothing outside of functions.
func (f *flows) outside(why string) {
	if f.block != nil {
		f.s.capture.refuse("a function of Cond, While or Scan is not recorded: " + why)
		panic(abandoned{})
	}
}

// writes is outside for a write of eager code to memory that was there before the function.
func (f *flows) writes(st *array.Storage) {
	if f.block != nil && st.Born() <= f.start {
		f.outside("it writes to a tensor that it has not made")
	}
}

var _ tensor.Brancher = (*Session)(nil)

// Cond implements tensor.Brancher.
func (s *Session) Cond(pred *tensor.Tensor, then, els func([]*tensor.Tensor) []*tensor.Tensor, in []*tensor.Tensor) (out []*tensor.Tensor) {
	s.flows.run("cond", func() { out = s.rec.Cond(pred, then, els, in) },
		func(f tensor.Flow) { out = f.Cond(pred, then, els, in) })
	return out
}

// While implements tensor.Brancher.
func (s *Session) While(trips int, cond func([]*tensor.Tensor) *tensor.Tensor, body func([]*tensor.Tensor) []*tensor.Tensor, in []*tensor.Tensor) (out []*tensor.Tensor) {
	s.flows.run("while", func() { out = s.rec.While(trips, cond, body, in) },
		func(f tensor.Flow) { f.MaxTrips = trips; out = f.While(cond, body, in) })
	return out
}

// Scan implements tensor.Brancher.
func (s *Session) Scan(body func(carry, slices []*tensor.Tensor) (next, out []*tensor.Tensor), carry, seqs []*tensor.Tensor) (last, stacked []*tensor.Tensor) {
	s.flows.run("scan", func() { last, stacked = s.rec.Scan(body, carry, seqs) },
		func(f tensor.Flow) { last, stacked = f.Scan(body, carry, seqs) })
	return last, stacked
}

// run records a call with functions, or has them run as Go code where one of them does what no record has, or panics.
func (f *flows) run(what string, record func(), plain func(tensor.Flow)) {
	switch {
	case !f.s.opts.Regions || f.s.opts.Gradients || f.plain > 0:
	case f.block != nil: // the outermost call ends where this one does
		defer f.s.enter(what)()
		record()
		return
	case f.records(what, record):
		return
	}
	f.plain++
	defer func() { f.plain-- }()
	plain(tensor.Flow{Plain: true})
}

// records reports whether a call was recorded.
func (f *flows) records(what string, code func()) (done bool) {
	defer func() {
		if done {
			return
		}
		switch e := recover().(type) {
		case nil, abandoned:
		case *diag.Error: // Go code tells the mistakes of what it runs
			f.s.capture.refuseAt("a function of "+what+" is not recorded: "+e.Msg, e.Pos)
		default:
			f.s.capture.refuse(fmt.Sprint("a function of ", what, " panics where it is recorded: ", e))
		}
	}()
	defer f.s.enter(what)()
	f.start = array.Now()
	goroutine := record.Goroutine()
	defer tensor.Watch(func(st *array.Storage, how tensor.Touch) {
		if how == tensor.Writing && record.Goroutine() == goroutine && f.block != nil {
			f.writes(st)
		}
	})()
	code()
	return true
}

// regions are the blocks of a session.
type regions struct{ *Session }

// Open implements record.Regions.
func (s regions) Open(name string) *block { return &block{outer: s.flows.block, name: name} }

// Run implements record.Regions: the function uses the session.
func (s regions) Run(f func()) {
	s.busy.Unlock()
	defer s.busy.Lock()
	f()
}

// Clash implements record.Regions.
func (s regions) Clash() {
	panic((&diag.Error{Code: Overlap, Op: s.rec.What(), Msg: "another goroutine uses the session while a function is recorded",
		Hint: "give each goroutine a session of its own"}).At(diag.Here()))
}

// Param implements record.Regions.
func (s regions) Param(b *block, like *place, t shape.Type) *place {
	p := &place{form: &form{typ: t}}
	p.own().block = b
	b.params, b.likes, b.sliced = append(b.params, p), append(b.likes, like), append(b.sliced, t.Rank() != like.typ.Rank())
	return p
}

// Place implements record.Regions.
func (s regions) Place(b *block, p *place, i int) {
	at := slices.Index(b.params, p)
	like, sliced := b.likes[at], b.sliced[at]
	b.params, b.likes, b.sliced = slices.Insert(slices.Delete(b.params, at, at+1), i, p),
		slices.Insert(slices.Delete(b.likes, at, at+1), i, like), slices.Insert(slices.Delete(b.sliced, at, at+1), i, sliced)
}

// Replace implements record.Regions.
func (s regions) Replace(old, with *place) {
	for _, q := range old.block().calls {
		for i, a := range q.args() {
			if a == old {
				q.args()[i] = with
			}
		}
	}
}

// Drop implements record.Regions.
func (s regions) Drop(p *place) {
	b := p.block()
	at := slices.Index(b.params, p)
	if b.dropped == nil {
		b.dropped = map[*place]dropped{}
	}
	b.dropped[p] = dropped{b.likes[at], b.sliced[at]}
	b.params, b.likes, b.sliced = slices.Delete(b.params, at, at+1), slices.Delete(b.likes, at, at+1), slices.Delete(b.sliced, at, at+1)
}

// Close implements record.Regions.
func (s regions) Close(b *block, results, outer []*place, inner map[*place]*place) {
	b.results = results
	for _, v := range outer {
		p := inner[v]
		if p == nil {
			p = s.Param(b, v, v.typ)
		}
		s.Place(b, p, len(b.params)-1)
	}
	b.prune()
}

// prune drops the calls that no result needs, and numbers what is left.
func (b *block) prune() {
	need := map[*place]bool{}
	for _, r := range b.results {
		need[r] = true
	}
	for _, q := range slices.Backward(b.calls) {
		for _, a := range q.args() {
			if need[q] && a != nil {
				need[a] = true
			}
		}
	}
	var kept []*place
	for _, q := range b.calls {
		if need[q] {
			q.number = int32(len(kept))
			kept = append(kept, q)
		} else {
			b.rest = append(b.rest, q)
		}
	}
	b.calls = kept
	for i, p := range b.params {
		p.number = int32(i)
	}
}

// Node implements record.Regions.
func (s regions) Node(o *op.Op, attrs any, blocks []*block, args []*place) *place {
	attrs, err := o.Codec().Given(attrs)
	if err != nil {
		panic(located(err, o.Name))
	}
	in := typesOf(nil, args)
	t, why := flowType(o, attrs, in, blocks, func(p *place) shape.Type { return p.typ })
	if why == "" && !concrete(t) {
		why = "sizes of its results depend on data"
	}
	if why != "" {
		panic((&diag.Error{Code: record.RegionMismatch, Op: o.Name, Msg: why}).At(diag.Here()))
	}
	p := s.add(s.typed(o, attrs, args, t), args)
	p.own().bodies = blocks
	return p
}

// Returns implements record.Regions. Memory that was there before has to be the result itself, since the program may write to either.
func (s regions) Returns(st *alias.Storage[*place]) {
	check := func(o *alias.Storage[*place]) {
		if m := o.Of.(*memory); m.Root() != nil && !s.capture.younger(m) || s.capture.isData(o) {
			s.capture.refuse("a function of Cond, While or Scan is not recorded: a result may be memory that was there before the call; give it a Clone of that")
			panic(abandoned{})
		}
	}
	check(st)
	st.Others(check)
}

// Within implements record.Regions.
func (s regions) Within(b, outer *block) bool {
	for ; b != nil; b = b.outer {
		if b == outer {
			return true
		}
	}
	return outer == nil
}

// Calls implements record.Regions: modules are calls of operators.
func (s regions) Calls(*block, record.Slot) bool { return false }

// Keeps implements record.Regions: all sizes are numbers.
func (s regions) Keeps(*op.Op, *place, int, shape.Dim) {}

// flowType is the type of a call with blocks, of which typ gives the types of results; why says why it has none.
func flowType(o *op.Op, attrs any, in []shape.Type, blocks []*block, typ func(*place) shape.Type) (t shape.Type, why string) {
	last := blocks[len(blocks)-1]
	list := make([]shape.Type, len(last.results))
	for i, r := range last.results {
		list[i] = typ(r)
	}
	if o == op.Cond {
		for i, r := range blocks[0].results {
			if !typ(r).Same(list[i]) {
				return t, "result " + itoa(i) + " is " + typ(r).String() + " in one branch and " + list[i].String() + " in the other"
			}
		}
		return shape.TupleType(list...), ""
	}
	a := attrs.(op.LoopAttrs)
	for i := range a.Carry {
		if !in[i].Same(list[i]) {
			return t, "carried value " + itoa(i) + " is " + in[i].String() + " before and " + list[i].String() + " after the body"
		}
	}
	if o != op.Scan {
		return shape.TupleType(list...), ""
	}
	if a.Seqs == 0 {
		return t, "there is no sequence to run over"
	}
	for i := a.Carry; i < a.Carry+a.Seqs; i++ {
		if in[i].Rank() == 0 || !in[i].Dim(0).Same(in[a.Carry].Dim(0)) {
			return t, "sequences have different numbers of slices"
		}
	}
	for i := a.Carry; i < len(list); i++ {
		list[i] = list[i].WithDims(shape.Of(append([]shape.Dim{in[a.Carry].Dim(0)}, list[i].Dims().Slice()...)...))
	}
	return shape.TupleType(list...), ""
}

// branches reports whether a cone has control flow.
func (k *cone) branches() bool {
	return slices.ContainsFunc(k.calls, func(p *place) bool { return p.bodies() != nil })
}

// within yields the calls in the functions of a call, those of functions within them, too, in the order in which keys have them.
func (p *place) within(yield func(q *place) bool) bool {
	for _, b := range p.bodies() {
		for _, q := range b.calls {
			if !yield(q) || !q.within(yield) {
				return false
			}
		}
	}
	return true
}

// keyOfBodies adds the functions of a call to the key of a cone.
func (c *cache) keyOfBodies(p *place, k []byte, sizes []int) ([]byte, []int) {
	for _, b := range p.bodies() {
		k = binary.AppendUvarint(binary.AppendUvarint(k, uint64(len(b.params))), uint64(len(b.calls)))
		for _, q := range b.calls {
			if q.index > 0 {
				k = binary.AppendVarint(binary.AppendVarint(k, -int64(q.index)), int64(q.few[0].number))
				continue
			}
			text := c.piece(q.form, false)
			k, sizes = binary.AppendVarint(append(k, text.key...), int64(q.count)), append(sizes, text.sizes...)
			for _, a := range q.args() {
				k = keyOfOperand(k, a)
			}
			k, sizes = c.keyOfBodies(q, k, sizes)
		}
		k = binary.AppendUvarint(k, uint64(len(b.results)))
		for _, r := range b.results {
			k = keyOfOperand(k, r)
		}
	}
	return k, sizes
}

// keyOfOperand adds an operand to a key: a leaf or parameter, or a call.
func keyOfOperand(k []byte, a *place) []byte {
	switch {
	case a == nil:
		return append(k, 0)
	case a.known() || a.parameter():
		return binary.AppendVarint(append(k, 1), int64(a.number))
	}
	return binary.AppendVarint(append(k, 2), int64(a.number))
}

// region makes the node of a call with functions. values are the inputs that stand for numbers in these, as nodes of the
// graph of at.
func (e *emitter) region(at *graph.Cursor, q *place, args []*graph.Node, values map[*place][]*graph.Node) *graph.Node {
	var lifted []*place
	q.within(func(p *place) bool {
		if values[p] != nil {
			lifted = append(lifted, p)
		}
		return true
	})
	given := args
	if q.op == op.Cond {
		given = args[1:]
	}
	for _, p := range lifted {
		args = append(args, values[p]...)
	}
	var gs []*graph.Graph
	for _, b := range q.bodies() {
		gs = append(gs, e.body(at, b, given, lifted, values))
	}
	return at.Region(q.op, q.attrs, gs, args...)
}

// body makes the graph of a function.
func (e *emitter) body(at *graph.Cursor, b *block, given []*graph.Node, lifted []*place, values map[*place][]*graph.Node) *graph.Graph {
	g := at.Graph().NewRegion(b.name)
	in := g.At()
	params, calls := make([]*graph.Node, len(b.params)), make([]*graph.Node, len(b.calls))
	for i := range b.params {
		t := given[i].Type()
		if b.sliced[i] {
			t = t.WithDims(shape.Of(t.Dims().Slice()[1:]...))
		}
		params[i] = in.Placeholder("a"+strconv.Itoa(i), t, nil)
	}
	own := map[*place][]*graph.Node{}
	for _, p := range lifted {
		for _, v := range values[p] {
			own[p] = append(own[p], in.Placeholder("n", v.Type(), nil))
		}
	}
	node := func(a *place) *graph.Node {
		switch {
		case a == nil:
			return nil
		case a.parameter():
			return params[a.number]
		}
		return calls[a.number]
	}
	for i, q := range b.calls {
		args := make([]*graph.Node, q.count)
		for k, a := range q.args() {
			args[k] = node(a)
		}
		calls[i] = e.call(in, q, args, e.within[q], own)
	}
	s := &graph.Structure{Kind: graph.Results}
	outs := make([]*graph.Node, len(b.results))
	for i, r := range b.results {
		s.Fields, outs[i] = append(s.Fields, graph.Leaf(i)), node(r)
	}
	in.Output(s, outs...)
	return g
}

// eager runs a call with functions.
func (f *flows) eager(p *place, in []*array.Array) (out []*array.Array, err error) {
	g := graph.New("flow")
	m, at := graph.NewModule(g), g.At()
	args := make([]*graph.Node, len(in))
	for i, a := range in {
		args[i] = at.Placeholder("x"+strconv.Itoa(i), shape.TypeOf(a), nil)
	}
	e := &emitter{}
	n := e.call(at, p, args, nil, nil)
	items := make([]*graph.Node, p.typ.Len())
	for i := range items {
		items[i] = at.ItemNode(n, i)
	}
	at.Output(nil, items...)
	own := make([]*array.Array, len(in)) // of what is handed out, anybody may have the memory
	for i, a := range in {
		own[i] = array.Clone(a)
	}
	out, err = (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(f.s.opts.Context, own)
	taken := map[*array.Storage]bool{}
	for i, a := range out { // code may write to each of them
		if taken[a.Storage()] {
			out[i] = array.Clone(a)
		}
		taken[a.Storage()] = true
	}
	return out, err
}
