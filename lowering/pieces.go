package lowering

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/turn"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// Here is where calls run that neither target of a Split may have.
const Here = "here"

// Fallback is a call that the first target of a Split does not run.
type Fallback struct {
	Node   string
	Source Source // the user's call that it comes from
	Pos    diag.Pos
	Reason string
	On     string // what runs it: the name of the other target, or Here
}

// Transfer is a value that is handed to the first target of a Split, or comes back from
// it, in each run.
type Transfer struct {
	Value string // the node that makes it
	Type  shape.Type
	Part  string // the part that takes or gives it
	In    bool   // to the part
}

// Moved counts values that were handed over.
type Moved struct{ Values, Bytes int64 }

// PartStats counts the runs of a part.
type PartStats struct {
	Name, Target string
	Calls        int // of operators in it
	Runs         int64
}

// Stats says what a Split has made of a graph, and counts what ran where.
type Stats struct {
	Parts    []PartStats // in the order in which they run
	Fallback []Fallback  // in the order of the graph
	Runs     int64       // of the whole graph
	In, Out  Moved       // to the first target, and back, in all runs
}

// piece is a compiled part.
type piece struct {
	name, target string
	call         *graph.Node
	exe          Executable
	resident     Resident // where values stay on the device before or after the part
	calls        int
	results      int
	tuple        bool // has a tuple of results
	moves        bool // runs on the first target
	acts         bool // on the world: not before those in front of it have done so
	runs         atomic.Int64

	uses []int  // by parts, of each result
	host []bool // by result: something on the host uses it
}

// Pieces is the executable of a Split: the graph of the calls of its parts. Runs of a
// graph that writes state, of which it has its own copy, follow one another.
type Pieces struct {
	first        string
	module, user *graph.Module
	effects      *graph.Effects
	exact        bool
	pieces       []*piece
	byCall       map[*graph.Node]*piece
	fallback     []Fallback
	state        *interp.State

	serial                                       turn.Lock
	active                                       Runs
	runs, valuesIn, bytesIn, valuesOut, bytesOut atomic.Int64
}

// Run implements Executable, with the errors of package interp for inputs that do not fit.
func (e *Pieces) Run(ctx context.Context, in []*array.Array) ([]*array.Array, error) {
	if err := e.active.Begin(); err != nil {
		return nil, err
	}
	defer e.active.End()
	if e.effects.Writes() {
		if err := e.serial.Lock(ctx); err != nil {
			return nil, err
		}
		defer e.serial.Unlock()
	}
	if ctx == nil {
		ctx = context.Background()
	}
	f := &flow{e: e, caller: ctx, sizes: sizesOf(e.module.Graph, in), from: map[*array.Array]result{}}
	f.ctx, f.stop = context.WithCancel(ctx)
	defer f.end()
	p := interp.Interpreter{State: e.state, GetAttr: e.live}
	p.CallFunction = func(n *graph.Node, in []interp.Result, next func([]interp.Result) (interp.Result, error)) (interp.Result, error) {
		if part := e.byCall[n]; part != nil {
			return f.begin(part, in)
		}
		if n.Op() != op.GetItem {
			if err := f.force(in...); err != nil {
				return interp.Result{}, err
			}
		}
		if n.Effect() == op.Effectful {
			if err := f.settle(); err != nil {
				return interp.Result{}, err
			}
		}
		return next(in)
	}
	out, err := p.RunArrays(f.ctx, in)
	for i := 0; err == nil && i < len(out); i++ {
		if out[i] != nil {
			err = f.fill(out[i])
		}
	}
	if err == nil {
		err = f.settle() // parts whose results nobody reads act on the world
	}
	if err != nil {
		return nil, f.failed(err)
	}
	e.runs.Add(1)
	return e.own(out), nil
}

// live reads what may have been replaced since the module was compiled.
func (e *Pieces) live(n *graph.Node, in []interp.Result, next func([]interp.Result) (interp.Result, error)) (interp.Result, error) {
	if n.Live() && !e.effects.WrittenState(n.Target()) {
		if p := e.user.Param(n.Target()); p != nil && p.Value != nil {
			return interp.Result{T: tensor.New(p.Value)}, nil
		}
	}
	return next(in)
}

func count(values, bytes *atomic.Int64, list ...*array.Array) {
	values.Add(int64(len(list)))
	for _, a := range list {
		bytes.Add(int64(a.Len()) * int64(a.DType().Size()))
	}
}

// own copies results that are not the caller's alone: inputs, state, views of them, and
// what is two results.
func (e *Pieces) own(out []*array.Array) []*array.Array {
	type result struct {
		call *graph.Node
		item int
	}
	given := map[result]bool{}
	for i, a := range e.module.Graph.Output().Args() {
		if a == nil {
			continue
		}
		r := result{call: a.Memory()}
		if get, ok := a.Attrs().(op.GetItemAttrs); ok {
			r.item = get.Index
		}
		if e.byCall[r.call] == nil || given[r] {
			out[i] = array.Clone(out[i])
		}
		given[r] = true
	}
	return out
}

// State returns the executable's own copy of a tensor that the graph writes, nil for other
// paths. It must not be read while a run is in progress.
func (e *Pieces) State(path string) *array.Array {
	if t := e.state.Tensor(path); t != nil && e.effects.WrittenState(path) {
		return t.Array()
	}
	return nil
}

// Close implements Executable: it closes those of all parts, when the runs that have begun are
// done.
func (e *Pieces) Close() error {
	if !e.active.Close() {
		return nil
	}
	var errs diag.List
	for _, p := range e.pieces {
		if err := p.exe.Close(); err != nil {
			errs.Add(err)
		}
	}
	return errs.Err()
}

// Module returns the graph of calls, which must not be changed.
func (e *Pieces) Module() *graph.Module { return e.module }

// Stats counts what has run so far. Runs that are in progress may be counted in part.
func (e *Pieces) Stats() Stats {
	s := Stats{Fallback: e.fallback, Runs: e.runs.Load(),
		In: Moved{e.valuesIn.Load(), e.bytesIn.Load()}, Out: Moved{e.valuesOut.Load(), e.bytesOut.Load()}}
	for p := range e.inOrder() {
		s.Parts = append(s.Parts, PartStats{p.name, p.target, p.calls, p.runs.Load()})
	}
	return s
}

func (e *Pieces) inOrder() func(yield func(*piece) bool) {
	return func(yield func(*piece) bool) {
		for n := range e.module.Graph.Nodes() {
			if p := e.byCall[n]; p != nil && !yield(p) {
				return
			}
		}
	}
}

// Transfers lists what each run hands to the first target and takes back. Where its values
// can stay on a device (Resident), those that its parts give one another do; else arrays are
// the host's between parts, and a value that two of them need goes to each.
func (e *Pieces) Transfers() []Transfer {
	var list []Transfer
	for p := range e.inOrder() {
		if !p.moves {
			continue
		}
		for a := range p.call.Inputs() {
			if q, _ := e.maker(a); q == nil || !stays(q, p) {
				list = append(list, Transfer{a.Name(), a.Type(), p.name, true})
			}
		}
		for i, n := range e.resultsOf(p) {
			if n != nil && (p.resident == nil || p.host[i] || p.elsewhere(e, i)) {
				list = append(list, Transfer{n.Name(), n.Type(), p.name, false})
			}
		}
	}
	return list
}

// String lists parts, fallbacks and transfers, for people.
func (e *Pieces) String() string {
	var b strings.Builder
	for _, p := range e.Stats().Parts {
		fmt.Fprintf(&b, "part %s on %s: %d calls\n", p.Name, p.Target, p.Calls)
	}
	for _, f := range e.fallback {
		fmt.Fprintf(&b, "%%%s on %s: %s\n", f.Node, f.On, f.Reason)
	}
	for _, t := range e.Transfers() {
		way := "from"
		if t.In {
			way = "to"
		}
		fmt.Fprintf(&b, "%%%s %s %s: %s\n", t.Value, way, t.Part, t.Type)
	}
	return b.String()
}
