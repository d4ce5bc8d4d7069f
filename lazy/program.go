package lazy

import (
	"context"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes/grad"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
	"github.com/gofx-dev/gofx/tracer/record"
)

// Program is a step of which the session knows the graph without running it: its runs record
// nothing. A session makes it (Session.Program), and ends it with Close.
type Program struct {
	s      *Session
	module *graph.Module // as it was captured
	inputs int
	state  []*held
	plan   *plan // nil before it is compiled, and when it is closed
	closed bool
}

// held is a tensor from outside of a step that the step reads or writes.
type held struct {
	path    string
	tensor  *tensor.Tensor
	written bool
	changes bool   // it is an input of the plan
	version uint64 // that the plan was compiled for
	exposed uint64 // when others were given the memory last, before that
}

func (h *held) array() *array.Array { return h.tensor.Value().(*array.Array) }

// stale reports whether a plan that has the tensor as a weight is no longer right.
func (h *held) stale() bool {
	st := h.array().Storage()
	return !h.changes && (st.Version() != h.version || st.Exposed() != h.exposed)
}

// plan is a compiled program, and how it is run.
type plan struct {
	run     lowering.Executable
	given   []*held // inputs after those of the step
	results int     // of the step, before those that are written
	writes  []*held // results after these
}

// inProgram is why nothing is computed, and no value read, while Program calls a step.
const inProgram = "a step that Program captures"

// Program captures a step, a function of tensors or a pointer to a module, for inputs of the
// types that x have, and compiles it. Running the program records nothing and computes at once.
//
// What the step reads of tensors from outside, such as parameters, a run reads as they are
// then; what it writes to them in place, a run writes to their memory. Numbers, slices and
// branches of Go code are those of now. The step is called on tensors without data, twice, to
// see that it always gives the same graph: one that reads data is an error that names the
// line. Values that the session has recorded are given as inputs.
func (s *Session) Program(step any, x ...*tensor.Tensor) (p *Program, err error) {
	defer diag.Catch(&err)
	leave := s.enter("Program")
	s.settleAll(Run)
	forbidden := s.forbid
	s.forbid = inProgram
	defer func() { s.forbid = forbidden }()
	leave() // mistakes of the step may use the session
	p = &Program{s: s, inputs: len(x)}
	var read *diag.Error
	t := tracer.Tracer{Gradients: appendGradients, IsLeaf: func(any, string, bool) bool { return false }, OnState: func(path string, of *tensor.Tensor) {
		p.state = append(p.state, &held{path: path, tensor: of})
	}, OnRead: func(what string) {
		if read == nil {
			read = (&diag.Error{Code: Forbidden, Op: what, Msg: "data that may change between runs is asked for inside " + inProgram,
				Hint: "keep the decision in tensors (Where), or record the step without Program"}).At(diag.Here())
		}
	}}
	for i, in := range x {
		if in == nil {
			return nil, (&diag.Error{Code: tensor.NilTensor, Op: "Program", Msg: "input " + strconv.Itoa(i) + " is nil"}).At(diag.Here())
		}
		t.Args = append(t.Args, tracer.Meta(in.Type()))
	}
	var all []taken
	goroutine := record.Goroutine()
	leave = tensor.Watch(func(st *array.Storage, how tensor.Touch) {
		if how == tensor.Taken && record.Goroutine() == goroutine {
			all = append(all, taken{st, diag.Here()})
		}
	})
	p.unwatched(func() {
		defer leave()
		p.module, err = t.TraceSteady(s.opts.Context, step, tracer.Steadiness{})
	})
	if err != nil {
		return nil, err
	}
	if read == nil {
		read = p.given(all)
	}
	if read != nil {
		return nil, read
	}
	if err := p.know(); err != nil {
		return nil, err
	}
	if err := p.compile(); err != nil {
		return nil, err
	}
	s.programs = append(s.programs, p)
	return p, nil
}

// taken is memory that code was given.
type taken struct {
	memory *array.Storage
	at     diag.Pos
}

// given is an error where the step took a slice of a tensor from outside: what it writes there, or
// reads, no run repeats.
func (p *Program) given(all []taken) *diag.Error {
	for _, g := range all {
		for _, h := range p.state {
			if st := h.array().Storage(); st == g.memory || st.Overlaps(g.memory) {
				return (&diag.Error{Code: Forbidden, Op: "Data", Msg: "the memory of " + strconv.Quote(h.path) + " is asked for inside " + inProgram,
					Hint: "write with AssignInPlace and compute with tensors, which runs repeat, or record the step without Program"}).At(g.at)
			}
		}
	}
	return nil
}

// unwatched runs f, in which eager tensors are none of the session's. What f writes to them is
// a mistake of f's, after which values that were read of them are not known.
func (p *Program) unwatched(f func()) {
	s := p.s
	all := slices.Clone(s.rec.Eager.Held())
	versions := make([]uint64, len(all))
	for i, m := range all {
		st := m.Array().Storage()
		versions[i] = st.Version()
		st.Release(m)
	}
	defer func() {
		for i, m := range all {
			st := m.Array().Storage()
			st.Hold(m)
			if st.Version() != versions[i] {
				p.lose(st)
			}
		}
	}()
	f()
}

// lose tells that memory was written before values that were read of it had a copy.
func (p *Program) lose(st *array.Storage) {
	s := p.s
	for _, k := range s.slots {
		if k.value != nil && k.array.Storage() == st {
			k.value.own().err = (&diag.Error{Code: Stale, Op: "Program", Msg: "the value was written by a step that Program called, and not by a run of it",
				Hint: "have the step write values that it computes from its inputs"}).At(diag.Here())
			k.value.data, k.value.rare.slot, k.value.gone = nil, nil, true
			k.value, k.runs, k.wrote = nil, 0, true
		}
	}
	s.rec.Eager.Written(st)
}

// Module returns the graph of the step, which must not be changed.
func (p *Program) Module() *graph.Module { return p.module }

// appendGradients makes the gradients that a step asks for.
func appendGradients(ctx context.Context, c *graph.Cursor, loss *graph.Node, by []*graph.Node, o tensor.GradOptions) ([]*graph.Node, error) {
	return grad.Append(ctx, c, loss, by, grad.Options{AllowUnused: o.AllowUnused, AllowEvaluation: o.AllowEvaluation})
}

// compileInto compiles with results in the memory of inputs where the target has that; into
// reports whether it has.
func compileInto(t lowering.Target, m *graph.Module, o lowering.Options) (run lowering.Executable, into bool, err error) {
	run, err = t.Compile(m, o)
	if err == nil || len(o.Into) == 0 {
		return run, err == nil, err
	}
	o.Into = nil
	run, err = t.Compile(m, o)
	return run, false, err
}

// know finds what the step does to the tensors from outside.
func (p *Program) know() error {
	g := p.module.Graph
	p.state = slices.DeleteFunc(p.state, func(h *held) bool { return p.module.Param(h.path) == nil })
	byPath := map[string]*held{}
	for _, h := range p.state {
		byPath[h.path] = h
	}
	for n := range p.module.All() {
		if n.Op() != op.Assign {
			continue
		}
		at, err := n.Assigned()
		if err != nil {
			return err
		}
		h := byPath[at.Target()]
		if h == nil || n.Graph() != g {
			return n.Error(Unseen, "the step writes to a tensor in a way that no run can repeat").WithHint("write to tensors that were made before the step, outside of branches and loops")
		}
		h.written = true
	}
	return nil
}

// compile has the target compile the step. Tensors that the step writes, and those that have
// changed, or were given to Go code, since they were weights, are inputs; so are tensors of no
// model that Go code has.
func (p *Program) compile() error {
	m, q := graph.Clone(p.module), &plan{results: p.module.Graph.Output().NumArgs()}
	now := make([][2]uint64, len(p.state))
	for i, h := range p.state {
		a := h.array()
		param := *p.module.Param(h.path)
		param.Value = a
		m.SetParam(param)
		now[i] = [2]uint64{a.Storage().Version(), a.Storage().Exposed()}
		if h.written || h.changes || now[i][1] > 0 && !h.tensor.IsParam() || p.plan != nil && h.stale() {
			q.given = append(q.given, h)
		}
	}
	if err := q.open(m.Graph, p.inputs); err != nil {
		return err
	}
	m.DropUnused()
	o := lowering.Options{Exact: !p.s.opts.Rounding, Threads: p.s.opts.Threads}
	for i, h := range q.writes {
		if p.alone(h) {
			o.Into = append(o.Into, lowering.Into{Result: q.results + i, Input: p.inputs + slices.Index(q.given, h)})
		}
	}
	p.s.stats.Compiles++
	var err error
	if q.run, _, err = compileInto(p.s.opts.Target, m, o); err != nil {
		return located(err, "Program")
	}
	for i, h := range p.state {
		h.version, h.exposed = now[i][0], now[i][1]
	}
	for _, h := range q.given {
		h.changes = true
	}
	if p.plan != nil {
		p.plan.run.Close()
	}
	p.plan = q
	return nil
}

// open turns reads of tensors that change into inputs, and writes to them into results.
func (q *plan) open(g *graph.Graph, inputs int) error {
	out := g.Output()
	results := slices.Clone(out.Args())
	last := map[string]*graph.Node{}
	paths := map[*graph.Node]string{}
	for n := range g.Calls(op.Assign) {
		at, err := n.Assigned()
		if err != nil {
			return err
		}
		paths[n], last[at.Target()] = at.Target(), n.Arg(1)
	}
	for n := range paths {
		n.ReplaceUses(n.Arg(1), nil)
	}
	for n := range paths {
		if err := g.Erase(n); err != nil {
			return err
		}
	}
	for _, h := range q.given {
		if v := last[h.path]; v != nil {
			q.writes = append(q.writes, h)
			results = append(results, v)
		}
	}
	if err := g.Erase(out); err != nil {
		return err
	}
	g.At().Output(nil, results...)
	return q.inputsFor(g, inputs)
}

// inputsFor makes inputs of the tensors that change, and has all that reads them read these.
func (q *plan) inputsFor(g *graph.Graph, inputs int) error {
	first := g.Output()
	for n := range g.Nodes() {
		if n.Opcode() != graph.Placeholder {
			first = n
			break
		}
	}
	node := map[string]*graph.Node{}
	for i, h := range q.given {
		node[h.path] = g.Before(first).Placeholder("state"+strconv.Itoa(inputs+i), shape.TypeOf(h.array()), nil)
	}
	var reads []*graph.Node
	for n := range g.All() {
		if n.Opcode() == graph.GetAttr && node[n.Target()] != nil {
			reads = append(reads, n)
		}
	}
	for _, n := range reads {
		v := node[n.Target()]
		if n.Graph() != g {
			v = n.Graph().Capture(v)
		}
		n.ReplaceUses(v, nil)
		if err := n.Graph().Erase(n); err != nil {
			return err
		}
	}
	return nil
}

// alone reports whether no other tensor of the step lies in the memory of one, so that a
// result can be made there.
func (p *Program) alone(h *held) bool {
	a := h.array()
	if !a.IsContiguous() {
		return false
	}
	for _, o := range p.state {
		if st := o.array().Storage(); o != h && (st == a.Storage() || st.Overlaps(a.Storage())) {
			return false
		}
	}
	return true
}

// Run computes the step for inputs of the types that it was captured for, records nothing, and
// writes the tensors that the step writes. The results are tensors of the session, in the
// order in which the step returns them.
func (p *Program) Run(x ...*tensor.Tensor) (out []*tensor.Tensor, err error) {
	defer diag.Catch(&err)
	s := p.s
	defer s.enter("Run")()
	if p.closed {
		return nil, (&diag.Error{Code: Closed, Op: "Run", Msg: "the program is closed", Hint: "make the program again"}).At(diag.Here())
	}
	refuse(s.forbid, Run)
	if len(x) != p.inputs {
		code := interp.MissingInput
		if len(x) > p.inputs {
			code = interp.ExtraInput
		}
		return nil, (&diag.Error{Code: code, Op: "Run", Msg: "the program is given " + itoa(len(x)) + " inputs, expected " + itoa(p.inputs)}).At(diag.Here())
	}
	in := p.arrays(x)
	if err := p.fresh(); err != nil {
		return nil, err
	}
	for _, h := range p.plan.given {
		in = append(in, array.Contiguous(h.array()))
	}
	results, err := p.plan.run.Run(s.opts.Context, in)
	if err != nil {
		if ctx := s.opts.Context; ctx.Err() != nil {
			return nil, diag.Stop(ctx.Err()).At(diag.Here())
		}
		return nil, located(err, "Run")
	}
	s.stats.Programs++
	p.write(results[p.plan.results:])
	for _, a := range results[:p.plan.results] {
		out = append(out, s.rec.Proxy(s.past.entered(leaf(a), captured, true)))
	}
	return out, nil
}

// arrays returns the data of inputs, after all memory that the step uses was settled. An input
// in memory that the run writes is a copy.
func (p *Program) arrays(x []*tensor.Tensor) []*array.Array {
	s := p.s
	places := make([]*place, len(x))
	for i, t := range x {
		if t == nil {
			panic((&diag.Error{Code: tensor.NilTensor, Op: "Run", Msg: "input " + itoa(i) + " is nil"}).At(diag.Here()))
		}
		if t.Engine() == tensor.Engine(s) {
			places[i] = s.rec.Value(t, "Run")
		}
	}
	s.compute(Run, present(places))
	for _, h := range p.state {
		if st := h.array().Storage(); s.dirty(st) {
			s.settle(st, Run)
		}
	}
	for _, h := range p.state {
		if h.written {
			s.protect(h.array().Storage())
		}
	}
	in := make([]*array.Array, len(x))
	for i, t := range x {
		if places[i] != nil {
			in[i] = places[i].data
		} else {
			in[i] = observed(t)
		}
		for _, h := range p.state {
			if st := h.array().Storage(); h.written && (in[i].Storage() == st || in[i].Storage().Overlaps(st)) {
				in[i] = array.Clone(in[i])
			}
		}
	}
	return in
}

// fresh compiles the program again where weights of the plan have changed: they are inputs
// from then on.
func (p *Program) fresh() error {
	if !slices.ContainsFunc(p.state, (*held).stale) {
		return nil
	}
	return p.compile()
}

// write has the tensors that the step writes hold their new values.
func (p *Program) write(values []*array.Array) {
	s := p.s
	for i, h := range p.plan.writes {
		a := h.array()
		if values[i].Storage() != a.Storage() {
			array.Copy(a, values[i])
		}
	}
	for _, h := range p.plan.writes {
		st := h.array().Storage()
		st.Bump()
		s.rec.Eager.Written(st)
	}
}

// Close lets the plan of the program go. Closing again does nothing, and so does closing the
// program of a closed session.
func (p *Program) Close() {
	if p.closed {
		return
	}
	defer p.s.enter("Close")()
	p.end()
	p.s.programs = slices.DeleteFunc(p.s.programs, func(q *Program) bool { return q == p })
}

func (p *Program) end() {
	p.closed = true
	p.plan.run.Close()
}
