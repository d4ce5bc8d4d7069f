package lowering

import (
	"errors"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes/partition"
	"github.com/gofx-dev/gofx/shape"
)

// Split is a target of two: First runs what it supports, in as few parts as possible
// (partition.Propose), and Rest runs the rest. Calls that write state, and views of what
// they write, run on neither but here, as in the interpreter. Rest may be a Split, too.
type Split struct {
	First, Rest Target
	// Min is the least number of calls that is worth a part of First; smaller parts go to
	// Rest.
	Min int
}

// Name implements Target.
func (s Split) Name() string { return s.First.Name() + "+" + s.Rest.Name() }

// Supports implements Target: one of the two does.
func (s Split) Supports(n *graph.Node) (bool, string) {
	return partition.Any(naming(s.First), naming(s.Rest))(n)
}

// naming is the predicate of a target, whose reasons name it.
func naming(t Target) partition.Supports {
	return func(n *graph.Node) (bool, string) {
		ok, why := t.Supports(n)
		return ok, t.Name() + ": " + why
	}
}

// Divide implements Divided.
func (s Split) Divide(whole *graph.Module) (func(part *graph.Module) Target, error) {
	first, err := divide(s.First, whole)
	if err != nil {
		return nil, err
	}
	rest, err := divide(s.Rest, whole)
	return func(part *graph.Module) Target { return Split{First: first(part), Rest: rest(part), Min: s.Min} }, err
}

// Compile implements Target; the result is a *Pieces. Options.Donate is not used, Into is refused.
func (s Split) Compile(m *graph.Module, o Options) (Executable, error) {
	e, err := s.Pieces(m, o)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Pieces compiles the module for both targets. A part that a target supports but does not
// compile is an error, as is a call that neither supports; the list has all of them, with
// positions.
func (s Split) Pieces(m *graph.Module, o Options) (*Pieces, error) {
	if s.First == nil || s.Rest == nil {
		return nil, diag.New(BadOption, "a target of the split is missing, expected First and Rest").WithHint("a target alone needs no split")
	}
	if err := o.RefuseInto("split"); err != nil {
		return nil, err
	}
	ready, err := Prepare(m, o)
	if err != nil {
		return nil, err
	}
	of := [2]func(*graph.Module) Target{}
	for i, t := range []Target{s.First, s.Rest} {
		if of[i], err = divide(t, m); err != nil {
			return nil, err
		}
	}
	e := &Pieces{first: s.First.Name(), module: ready, user: m, effects: graph.EffectsOf(ready.Graph), byCall: map[*graph.Node]*piece{}, exact: o.Exact}
	if err := e.takeState(); err != nil {
		return nil, err
	}
	e.liftLive()
	opts := o.ForPart()
	first, left, err := e.parts(s.First, s.Min)
	if err != nil {
		return nil, err
	}
	for _, l := range left {
		e.fallback = append(e.fallback, Fallback{Node: l.Node.Name(), Source: SourceOf(l.Node), Pos: l.Node.Pos(), Reason: l.Reason, On: s.Rest.Name()})
	}
	rest, left, err := e.parts(s.Rest, 0)
	if err != nil {
		return nil, err
	}
	errs := e.keep(left, s)
	for i, c := range slices.Concat(first, rest) {
		t := of[1]
		if i < len(first) {
			t = of[0]
		}
		p, err := e.compile(c, t, opts)
		if err != nil {
			errs.Add(err)
			continue
		}
		p.moves = i < len(first)
		e.pieces, e.byCall[p.call] = append(e.pieces, p), p
	}
	if err := errs.Err(); err != nil {
		_ = e.Close() // the first error says more
		return nil, err
	}
	e.reside()
	e.state = interp.NewState(e.module)
	return e, nil
}

// divide returns what a target is for parts of a graph.
func divide(t Target, whole *graph.Module) (of func(part *graph.Module) Target, err error) {
	if d, ok := t.(Divided); ok {
		return d.Divide(whole)
	}
	return func(*graph.Module) Target { return t }, nil
}

// takeState gives the pieces their own copy of what is written.
func (e *Pieces) takeState() error {
	var errs diag.List
	for _, p := range e.module.Params() {
		if e.effects.WrittenState(p.Path) && p.Value != nil {
			own := *p
			own.Value = array.Clone(p.Value)
			e.module.SetParam(own)
		}
	}
	seen := map[string]bool{}
	for n := range e.module.All() {
		if n.Opcode() != graph.GetAttr || seen[n.Target()] {
			continue
		}
		seen[n.Target()] = true
		if p := e.module.Param(n.Target()); p == nil || p.Value == nil {
			errs.Add(n.Error(interp.NoParam, "the module has no data for tensor "+n.Target()).WithHint("load the weights first"))
		}
	}
	return errs.Err()
}

// liftLive has bodies of control flow take tensors that may be replaced as operands: executables
// of parts know the tensors that there were when they were compiled.
func (e *Pieces) liftLive() {
	g := e.module.Graph
	for _, n := range slices.Collect(g.Nodes()) {
		for _, m := range slices.Collect(n.Inner()) {
			if !e.replaceable(m) || len(m.Graph().SymbolsOf(m)) > 0 {
				continue
			}
			read := g.Before(n).From(m).GetAttr(m.Target())
			read.SetLive(true)
			read.SetType(m.Type())
			m.ReplaceUses(m.Graph().Capture(read), nil)
			_ = m.Graph().Erase(m) // nothing uses it
		}
	}
}

// replaceable reports whether a node reads what the caller may replace between runs.
func (e *Pieces) replaceable(n *graph.Node) bool {
	return n.Opcode() == graph.GetAttr && n.Live() && !e.effects.WrittenState(n.Target())
}

// parts makes sub-graphs of what a target supports, and returns the calls of them by name,
// and what is left.
func (e *Pieces) parts(t Target, least int) (calls []string, left []partition.Left, err error) {
	supports := partition.All(e.movable, naming(t))
	p, err := partition.Propose(e.module.Graph, supports, partition.Options{Name: t.Name(), Min: least})
	if err != nil {
		return nil, nil, err
	}
	for i := range p.Parts {
		e.bringState(&p.Parts[i])
	}
	made, err := partition.Fuse(e.module, p.Parts...)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range made {
		calls = append(calls, c.Name())
	}
	return calls, p.Left, nil
}

// movable refuses what needs the state itself, which lives here: an executable has copies
// of it.
func (e *Pieces) movable(n *graph.Node) (bool, string) {
	o := n.Op()
	switch {
	case n.Callee() != nil:
		return false, "it is a part of " + e.first
	case o != nil && len(o.Mutates) > 0:
		return false, "it writes state"
	case o != nil && o.ViewOf > 0 && e.reads(n.Memory()):
		return false, "it is a view of state that is written"
	case e.effects.Written(graph.Place{Node: n}):
		return false, "it makes memory that is written"
	case o != nil && o.ViewOf > 0 && e.exact:
		// What a target returns lies in order; kernels may sum in another one for a view.
		return false, "it is a view, whose layout the exact bits of what reads it depend on"
	}
	for m := range n.Inner() {
		if e.replaceable(m) {
			return false, m.String() + " inside of it may be replaced"
		}
		if e.reads(m) || m.Op() != nil && len(m.Op().Mutates) > 0 {
			return false, m.String() + " inside of it needs state that is written"
		}
	}
	return true, ""
}

func (e *Pieces) reads(n *graph.Node) bool {
	return n.Opcode() == graph.GetAttr && e.effects.WrittenState(n.Target())
}

// bringState gives a part its own reads of weights, so that its target has them when it
// compiles. What is written, may be replaced (live), or has a size that others name is an
// operand instead.
func (e *Pieces) bringState(p *partition.Part) {
	g := e.module.Graph
	p.OwnReads(g, func(read *graph.Node) bool {
		return !read.Live() && !e.effects.WrittenState(read.Target()) && len(g.SymbolsOf(read)) == 0
	})
}

// keep takes what neither target has a part for: what needs the state itself stays here,
// anything else is an error.
func (e *Pieces) keep(left []partition.Left, s Split) (errs diag.List) {
	known := map[string]*Fallback{}
	for i := range e.fallback {
		known[e.fallback[i].Node] = &e.fallback[i]
	}
	for _, l := range left {
		f := known[l.Node.Name()]
		if f == nil {
			continue // a part of the first target
		}
		if ok, _ := partition.Deep(e.movable)(l.Node); ok {
			errs = append(errs, Refuse(l.Node, s.Name(), f.Reason+"; "+l.Reason))
			continue
		}
		f.On = Here
	}
	return errs
}

// compile compiles the sub-graph of a call.
func (e *Pieces) compile(name string, of func(*graph.Module) Target, o Options) (*piece, error) {
	call := e.module.Graph.Find(name)
	sub := call.Callee()
	alone := graph.NewModule(sub.Clone())
	for n := range alone.Graph.All() {
		if n.Opcode() == graph.GetAttr {
			alone.SetParam(*e.module.Param(n.Target()))
		}
	}
	t := of(alone)
	x, err := compilePart(t, alone, o)
	if err == nil && x == nil {
		err = diag.Bug("the target compiles to nil, without an error").WithHint("look into its Compile")
	}
	if err != nil {
		return nil, inPart(name, t.Name(), err)
	}
	p := &piece{name: name, target: t.Name(), call: call, exe: x, results: sub.Output().NumArgs(), tuple: sub.Output().Structure() != nil,
		acts: call.Effect() == op.Effectful}
	for n := range sub.Nodes() {
		if n.Opcode().IsCall() && n.Op() != op.GetItem {
			p.calls++
		}
	}
	return p, nil
}

// compilePart compiles a part. Sizes of its inputs that are not known, because another part
// finds them, are symbols of it.
func compilePart(t Target, part *graph.Module, o Options) (Executable, error) {
	var types []shape.Type
	found := false
	for _, n := range part.Graph.Inputs() {
		typ := n.Type()
		for axis := 0; axis < typ.Rank(); axis++ {
			if typ.Dim(axis).IsUnknown() {
				typ, found = typ.WithDims(typ.Dims().With(axis, part.Graph.NewSymbol(n, axis))), true
			}
		}
		types = append(types, typ)
	}
	if found {
		own, err := PrepareRegion(part, part.Graph, types)
		if err != nil {
			return nil, err
		}
		part = own
	}
	return t.Compile(part, o)
}

// inPart says in which part something is wrong.
func inPart(name, target string, err error) error {
	var list diag.List
	var one *diag.Error
	if !errors.As(err, &one) {
		return err
	}
	list.Add(err)
	for i, e := range list {
		c := *e
		c.Msg = "part " + strconv.Quote(name) + " on " + target + ": " + c.Msg
		list[i] = &c
	}
	return list
}
