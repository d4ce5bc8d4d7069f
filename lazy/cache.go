package lazy

import (
	"container/list"
	"iter"
	"maps"
	"strconv"
	"sync"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// cache has the programs of a session, and compiles them one after the other.
type cache struct {
	s        *Session
	ops      map[*op.Op]int
	slots    map[*slot]int
	programs map[string]*list.Element // of *program
	families map[string]*family       // by skeleton
	order    list.List                // the one used last comes first
	barriers [2]*program              // of the last two barriers, the last one first

	workers sync.WaitGroup
	folder  *folder // nil without Options.Folder
	table   *table  // nil without Options.Generated and Options.Record
}

// program is a cone that comes again.
type program struct {
	key   string
	story story
	text  string // under which folders have it
	runs  int
	extra map[int]bool // calls that were asked for after a run
	last  []lift       // of the last run
	vary  []bool       // those that have had other values
	into  []update     // that its plan makes in place
	of    *family
	open  *open // nil for a program of sizes that are numbers

	skeleton string // of the key
	queue    bool   // it is being compiled, or was
	built    int    // how often it was built
	ready    ready  // what Options.Generated has of it

	mu      sync.Mutex
	current int       // the build that is wanted
	exe     *compiled // nil before it is compiled
	bad     error     // why the target refuses it
}

// compiled is a program of the target.
type compiled struct {
	run    lowering.Executable
	inputs []int    // leaves that are no weights
	lifted []int    // lifted calls whose values are inputs, after these
	into   []update // that are made in inputs
	keep   []int    // calls whose values it returns
	tuples []int    // calls with several results that it returns after those, with all of them
}

func (c *cache) init(s *Session) {
	c.s, c.ops, c.slots, c.programs = s, map[*op.Op]int{}, map[*slot]int{}, map[string]*list.Element{}
	c.families = map[string]*family{}
	c.table = openTable(s.opts)
	if c.folder = openFolder(s.opts); c.folder != nil {
		c.workers.Go(c.folder.load)
	}
}

// operator and identity number what keys name; both last as long as the session.
func (c *cache) operator(o *op.Op) int { return number(c.ops, o) }

func (c *cache) identity(s *slot) int { return number(c.slots, s) }

func number[K comparable](m map[K]int, k K) int {
	n, ok := m[k]
	if !ok {
		n = len(m) + 1
		m[k] = n
	}
	return n
}

// frozen reports whether plans may take a tensor of a model for a weight, which they pack: where it
// was not written between its last runs. With Rounding, whose plans round otherwise for
// weights, it may not depend on how often a program ran: where it was never written.
func (c *cache) frozen(k *slot) bool {
	switch {
	case k == nil:
		return false
	case c.s.opts.Rounding:
		return !k.wrote
	}
	return k.runs >= c.s.opts.Warm
}

// find returns the program of a cone, a new one where there is none.
func (c *cache) find(k *cone) *program {
	e := c.programs[string(k.key)]
	if e == nil || !e.Value.(*program).queue {
		if o := c.opened(k); o != nil {
			e = o
		}
	}
	if e != nil {
		c.order.MoveToFront(e)
		return e.Value.(*program)
	}
	p := &program{key: string(k.key)}
	c.enter(p, k)
	return p
}

// enter adds a program of a cone.
func (c *cache) enter(p *program, k *cone) {
	e := c.order.PushFront(p)
	c.programs[p.key] = e
	c.join(p, e, k)
	p.extra = maps.Clone(p.of.extra)
	c.s.stats.Graphs++
	p.story = c.s.log.begin(c.s.stats.Graphs, k)
	for c.order.Len() > c.s.opts.MaxPrograms {
		c.drop(c.order.Back())
	}
}

func (c *cache) drop(e *list.Element) {
	p := e.Value.(*program)
	c.order.Remove(e)
	delete(c.programs, p.key)
	c.leave(p)
	c.s.log.drop(&p.story)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.exe != nil {
		p.exe.run.Close()
	}
	p.exe, p.bad = nil, errDropped
	c.s.stats.Evicted++
}

var errDropped = diag.New(Closed, "the program was dropped")

// learn tells that a call is asked for after the program has run: from now on its value is
// kept.
func (p *program) learn(i int) {
	if p.extra[i] {
		return
	}
	p.extra[i], p.of.extra[i] = true, true
	p.again()
}

// wanted tells that a value is read that was computed on the way to others. Plans of the calls
// keep such values, where they are not compiled yet: one that is asked for once is not worth it.
func (p *place) wanted() {
	of := p.part()
	if of == nil || !p.known() {
		return
	}
	if !of.queue {
		of.learn(int(p.number))
	}
	p.apart()
}

// again has the program compiled another time.
func (p *program) again() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.exe != nil {
		p.exe.run.Close()
	}
	p.exe, p.queue, p.current = nil, false, 0
	p.ready.sought, p.ready.runs = false, false
}

// run computes a cone: by the target, where its program is compiled.
func (c *cache) run(k *cone) {
	p := c.find(k)
	p.runs++
	p.compare(k, c.s.opts.Scalars == Always)
	c.s.log.ran(&p.story)
	if k.barrier {
		c.repeated(p, k)
	}
	c.take(p, k)
	if !p.queue {
		c.adopt(p, k)
	}
	for _, l := range k.leaves {
		if l.slot() != nil {
			l.slot().runs++
		}
	}
	if c.s.opts.Synchronous {
		c.wait()
	}
	p.mu.Lock()
	exe, bad := p.exe, p.bad
	p.mu.Unlock()
	if !p.queue && c.s.opts.compiles() && (p.runs > c.s.opts.Warm || c.s.opts.Rounding) {
		c.compile(p, k)
		if c.s.opts.Rounding { // it is there; else the next run has it, however soon that is
			exe, bad = p.exe, p.bad
		}
	}
	if bad != nil && p.open != nil { // each size has a graph of its own, then
		c.shut(p)
		c.run(k)
		return
	}
	if bad != nil {
		if c.s.opts.Strict {
			e := located(bad, "Compile")
			for _, i := range k.keep {
				k.calls[i].own().err = e
			}
			panic(e)
		}
		c.s.stats.Refused++
	}
	if exe == nil {
		c.s.stats.Interpreted++
		p.story.interpreted++
		c.s.interpret(k)
		if !p.queue {
			c.within(p, k)
		}
		return
	}
	c.s.stats.Hits++
	p.story.compiled++
	c.execute(p, exe, k)
}

// results are the values that a run returns, by the calls that have them.
func (e *compiled) results(out []*array.Array, k *cone) iter.Seq2[*place, []*array.Array] {
	return func(yield func(*place, []*array.Array) bool) {
		next := 0
		for _, list := range [][]int{e.keep, e.tuples} {
			for _, n := range list {
				q, first := k.calls[n], next
				if next++; q.typ.Kind() == shape.Tuple {
					next = first + q.typ.Len()
				}
				if !yield(q, out[first:next:next]) {
					return
				}
			}
		}
	}
}

// execute runs a compiled program on the values of a cone.
func (c *cache) execute(p *program, exe *compiled, k *cone) {
	in := make([]*array.Array, len(exe.inputs))
	for i, l := range exe.inputs {
		in[i] = array.Contiguous(k.leaves[l].data)
	}
	for _, i := range exe.lifted {
		in = append(in, k.lifts[i].Values...)
	}
	if p.into == nil {
		k.updates = nil // of no barrier that has come three times
	}
	donated := exe.donate(k, in)
	if len(donated) > 0 {
		c.wait() // what is being compiled reads the memory
	}
	out, err := exe.run.Run(c.s.opts.Context, in)
	if err != nil {
		if ctx := c.s.opts.Context; ctx.Err() != nil {
			panic(diag.Stop(ctx.Err()).At(diag.Here()))
		}
		c.refused(p, err)
		c.s.interpret(k) // finds the call, and its mistake in eager code's words
		return
	}
	if p.open != nil && !exe.fits(out, k) {
		c.shut(p)
		c.s.interpret(k)
		return
	}
	c.s.stats.Runs += len(k.calls)
	for q, values := range exe.results(out, k) {
		q.computed(values)
	}
	for _, u := range exe.made(donated, in, out) {
		c.updated(k.leaves[u.leaf], k.calls[u.call])
	}
	of := &rare{part: p, shared: true}
	for _, q := range k.calls {
		if !q.known() {
			q.partOf(of)
		}
	}
}

// within notes that inner values of a cone, which were all kept, are parts of a program.
func (c *cache) within(p *program, k *cone) {
	kept, of := k.keep, &rare{part: p, shared: true}
	for i, q := range k.calls {
		if len(kept) > 0 && kept[0] == i {
			kept = kept[1:]
		} else if q.known() {
			q.partOf(of)
		}
	}
}

// compile has the worker compile a program; with Rounding, it is compiled at once.
func (c *cache) compile(p *program, k *cone) {
	p.queue = true
	p.built++
	generation := p.built
	exe, m, ok := c.graph(p, k)
	if !ok {
		return
	}
	weights := c.packed(k)
	o := lowering.Options{Exact: !c.s.opts.Rounding, Threads: c.s.opts.Threads, Into: exe.pairs(p.into)}
	c.s.stats.Compiles++
	p.mu.Lock()
	p.current = generation
	p.mu.Unlock()
	work := func() {
		run, into, err := compileInto(c.s.opts.Target, m, o)
		if !into {
			exe.into = nil
		}
		if err == nil {
			defer c.keep(p, weights) // once the plan can be used
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		switch {
		case err == nil && (p.bad != nil || p.current != generation): // dropped, or too few values are kept
			run.Close()
		case err != nil:
			p.bad = err
		default:
			exe.run = run
			p.exe = exe
		}
	}
	if c.s.opts.Rounding {
		work()
		return
	}
	c.workers.Go(work)
}

// wait waits for what is being compiled.
func (c *cache) wait() { c.workers.Wait() }

func (c *cache) close() {
	c.wait()
	for e := c.order.Front(); e != nil; e = c.order.Front() {
		c.drop(e)
	}
	if c.folder != nil {
		c.folder.close()
	}
}

// kept are the calls whose values the plan of a program returns.
func (p *program) kept(k *cone) map[int]bool {
	keep := map[int]bool{}
	maps.Copy(keep, p.extra)
	for _, i := range k.keep {
		keep[i] = true
	}
	return keep
}

// weightsOf says which leaves are weights of a graph, by their numbers, and how it names them.
type weightsOf struct {
	has    func(leaf int) bool
	name   func(leaf int) string
	turned bool // inputs are given as they lie in memory: see Laid
}

// build makes the graph of a cone. Tensors of models are weights, everything else is an input.
func (c *cache) build(p *program, k *cone) (*compiled, *graph.Module, []*graph.Node) {
	return p.build(k, weightsOf{
		has: func(i int) bool { // not what the plan updates in its memory
			return c.frozen(k.leaves[i].slot()) && !p.writes(i)
		},
		name: func(i int) string { return k.leaves[i].slot().name },
	})
}

// build makes the graph of a cone, for what the program knows to vary and to be kept.
func (p *program) build(k *cone, w weightsOf) (*compiled, *graph.Module, []*graph.Node) {
	exe := &compiled{}
	g := graph.New("lazy")
	m := graph.NewModule(g)
	at := g.At()
	sizes := p.resizing(k)
	leaves, calls := make([]*graph.Node, len(k.leaves)), make([]*graph.Node, len(k.calls))
	turned := map[int][]int{}
	for i, l := range k.leaves {
		if l.data != nil && !w.has(i) { // where there is none, members stand for it
			var order []int
			if leaves[i], order = sizes.leaf(at, "x"+strconv.Itoa(i), l, w.turned); order != nil {
				turned[i] = order
			}
			exe.inputs = append(exe.inputs, i)
		}
	}
	e, keep := &emitter{sizes: sizes, within: map[*place]*operand{}}, p.kept(k)
	lifts := p.operands(exe, at, k, e.within)
	values := map[*place][]*graph.Node{} // of numbers in functions
	for q, o := range e.within {
		if o.values != nil {
			values[q] = o.values
		}
	}
	for i, l := range k.leaves {
		if order := turned[i]; order != nil {
			leaves[i] = turn(at, leaves[i], order)
		}
		if l.data != nil && w.has(i) {
			m.SetParam(graph.Param{Path: w.name(i), Value: l.data})
			leaves[i] = at.GetAttr(w.name(i))
		}
	}
	for i, q := range k.calls {
		args := make([]*graph.Node, len(q.args()))
		for j, a := range q.args() {
			switch {
			case a == nil:
			case a.known():
				args[j] = leaves[a.number]
			default:
				args[j] = calls[a.number]
			}
		}
		e.kept = keep[i]
		calls[i] = e.call(at, q, args, lifts[i], values)
	}
	var outs []*graph.Node
	for i, q := range k.calls {
		switch {
		case !keep[i]:
		case q.typ.Kind() == shape.Tuple:
			exe.tuples = append(exe.tuples, i)
		default:
			exe.keep = append(exe.keep, i)
			outs = append(outs, calls[i])
		}
	}
	for _, i := range exe.tuples {
		for item := range k.calls[i].typ.Len() {
			outs = append(outs, at.ItemNode(calls[i], item))
		}
	}
	at.Output(nil, outs...)
	return exe, m, calls
}

// emitter makes the nodes of calls.
type emitter struct {
	sizes  *resizing           // nil for sizes that are numbers
	kept   bool                // the graph returns the call that comes next
	within map[*place]*operand // lifted calls in functions
}

// call makes the node of a call; l is its lifted form, nil for none. values are the inputs that stand for numbers in functions, as nodes
// of the graph of at.
func (e *emitter) call(at *graph.Cursor, q *place, args []*graph.Node, l *operand, values map[*place][]*graph.Node) *graph.Node {
	if q.pc != 0 {
		at.SetStaticPos(diag.Resolve(q.pc))
	}
	if q.index > 0 {
		return at.ItemNode(args[0], q.index-1)
	}
	attrs := e.sizes.attrs(q, l)
	switch {
	case q.bodies() != nil:
		return e.region(at, q, args, values)
	case l != nil && q.block() != nil:
		return (&operand{Lifted: l.Lifted, values: values[q]}).write(at, args)
	case l != nil && l.values != nil:
		return l.write(at, args)
	case !e.kept && q.block() == nil && gives(q, attrs):
		return args[0]
	}
	return at.Function(q.op, attrs, args...)
}
