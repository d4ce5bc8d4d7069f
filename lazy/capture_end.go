package lazy

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// ending is the end of a capture: what is computed for which tensor.
type ending struct {
	s       *Session
	k       *capture
	c       *Captured
	open    func(*Captured) Opening
	list    []*tensor.Tensor // that were found
	want    []*place         // of writes, then of tensors that were found; nil for those in memory of data
	shared  map[*alias.Storage[*place]]int
	first   map[*alias.Storage[*place]]int // the first tensor found with a storage
	inEager map[int]*array.Array           // memory that eager code of the run has made, and that a tensor found shows
}

// find lists the values that the graph computes.
func (e *ending) find(list []*tensor.Tensor) {
	e.list = list
	leaves := map[*alias.Storage[*place]]int{}
	for i, r := range e.k.leaves {
		leaves[r.Storage] = i
		if v := e.k.written(i); v != nil {
			e.c.Writes = append(e.c.Writes, CapturedWrite{Tensor: i})
			e.want = append(e.want, v)
		}
	}
	for _, x := range list {
		if r, ok := x.Value().(*alias.Ref[*place]); ok {
			e.shared[r.Storage]++
		}
	}
	owners := map[*array.Storage]bool{}
	for n, x := range list {
		t := CapturedTensor{Param: x.IsParam(), Frozen: x.IsFrozen(), Memory: -1, Like: -1}
		var v *place
		switch r := x.Value().(type) {
		case *alias.Ref[*place]:
			v = e.place(n, x, r, leaves, &t)
		case *array.Array:
			if owners[r.Storage()] {
				e.k.refuse("two tensors that the function made show one memory")
			}
			owners[r.Storage()] = true
			v = e.eager(x, r)
		default:
			v = e.s.rec.Value(x, "Capture")
		}
		e.c.Found = append(e.c.Found, t)
		e.want = append(e.want, v)
	}
}

// place finds the value of a tensor that is a place of a storage.
func (e *ending) place(n int, x *tensor.Tensor, r *alias.Ref[*place], leaves map[*alias.Storage[*place]]int, t *CapturedTensor) *place {
	r.Storage.Others(func(o *alias.Storage[*place]) {
		m := o.Of.(*memory)
		if _, data := leaves[o]; data || m.Root() != nil && !e.k.younger(m) {
			e.k.refuse("the layout of a tensor that the function made is not known")
		}
		if e.shared[o] > 0 || m.Root() != nil && slices.ContainsFunc(e.list, func(x *tensor.Tensor) bool {
			a, eager := x.Value().(*array.Array)
			return eager && a.Storage() == m.Array().Storage()
		}) {
			panic((&diag.Error{Code: Stale, Op: "Capture", Msg: "two results or stores may be one memory, as what Cond and While return may be what they are given",
				Hint: "keep a Clone of one of them"}).At(diag.Here()))
		}
	})
	leaf, ok := leaves[r.Storage]
	if m := e.s.rec.PlaceOf(x); !ok && m != nil {
		e.k.refuse("a tensor of a result or store shows memory that was made without the session")
		e.inEager[n] = m.Array()
	}
	if !ok && e.inEager[n] == nil && e.shared[r.Storage] == 1 {
		return e.s.rec.Value(x, "Capture")
	}
	for st := range r.Steps {
		if len(present(st.Args)) > 0 {
			e.k.refuse("a view that depends on data shows memory that others have")
		}
		t.show = append(t.show, st)
	}
	if ok {
		t.Memory = leaf
		return nil
	}
	if at, again := e.first[r.Storage]; again {
		t.Like = at
	} else {
		e.first[r.Storage] = n
	}
	return e.s.rec.Value(e.s.rec.Proxy(alias.Whole(r.Storage)), "Capture")
}

// eager finds the value of a tensor that was computed without the session.
func (e *ending) eager(x *tensor.Tensor, a *array.Array) *place {
	if st := a.Storage(); st.Wrapped() || st.Born() <= e.k.start {
		e.k.refuse("a tensor of a result or store shows memory that others have")
	}
	if e.s.dirty(a.Storage()) {
		return e.s.rec.Value(x, "Capture")
	}
	return leaf(array.Clone(a))
}

// compute computes the values, and builds the graph where there is to be one.
func (e *ending) compute() {
	places := present(e.want)
	if e.k.why == notKept {
		e.flush(places)
		return
	}
	cone := e.s.coneOf(places)
	for _, v := range places {
		if v.err() != nil {
			panic(v.mistake())
		}
	}
	var kept map[int]int // calls to results
	var results []int    // their calls
	if e.k.why == "" {
		kept, results = e.graph(cone)
	}
	values := make([]CapturedValue, len(e.want))
	for i, v := range e.want {
		if v != nil {
			values[i] = e.value(v, kept)
		}
	}
	e.s.interpret(cone)
	e.c.Kept = results
	for _, n := range results {
		e.c.Results = append(e.c.Results, cone.calls[n].data)
	}
	for i := range e.c.Writes {
		e.c.Writes[i].Value = values[i]
		e.c.Writes[i].Value.Array = array.Clone(e.want[i].data)
	}
	for i := range e.c.Found {
		e.c.Found[i].Value = values[len(e.c.Writes)+i]
	}
}

// graph makes the graph of a cone. It returns the results by the numbers of their calls, and these calls.
func (e *ending) graph(cone *cone) (kept map[int]int, results []int) {
	e.s.follow.rest(e.s, cone)
	e.s.follow.branches()
	if f := e.s.follow; f != nil {
		e.c.Looked, e.c.LookedAt, e.c.Sides, e.c.Unsure = f.looked, f.line, f.sides, f.unsure
	}
	e.describe(cone)
	var o Opening
	if e.open != nil {
		o = e.open(e.c)
	}
	for _, t := range e.c.Found {
		if t.Memory >= 0 || len(t.show) > 0 { // what is shown of other memory is not checked by a graph
			o.Sizes = nil
		}
	}
	for _, l := range o.Calls {
		cone.lifts = append(cone.lifts, lift{Lifted: l.Lifted, call: l.Call, in: cone.calls[l.Call].inner(l.Within)})
	}
	opened := map[int]int{}
	for i, l := range o.Leaves {
		opened[l] = i
	}
	p := &program{vary: slices.Repeat([]bool{true}, len(cone.lifts)), open: o.sizes(cone, e.s.follow, e.k.number)}
	weights := weightsOf{
		has: func(i int) bool {
			_, data := e.k.number[cone.leaves[i]]
			_, open := opened[i]
			return !data && !open
		},
		name:   func(i int) string { return "w" + strconv.Itoa(i) },
		turned: true,
	}
	var exe *compiled
	var m *graph.Module
	err := attempt(func() {
		var calls []*graph.Node
		exe, m, calls = p.build(cone, weights)
		if p.open != nil {
			e.s.follow.assume(m.Graph)
		}
		for _, n := range calls {
			e.c.Types = append(e.c.Types, n.Type())
		}
	})
	if err != nil && p.open == nil {
		panic(err)
	} else if err != nil { // no graph has these symbols
		p.open = nil
		exe, m, _ = p.build(cone, weights)
	}
	if p.open == nil {
		e.c.Types = nil
	}
	e.c.Module, kept = m, map[int]int{}
	for _, l := range exe.inputs {
		if n, open := opened[l]; open {
			e.c.Reads = append(e.c.Reads, ^n)
			continue
		}
		e.c.Reads = append(e.c.Reads, e.k.number[cone.leaves[l]])
	}
	for i, n := range exe.keep {
		kept[n] = i
	}
	return kept, exe.keep
}

// value says how runs of the graph have a value.
func (e *ending) value(v *place, kept map[int]int) CapturedValue {
	c := CapturedValue{Result: -1, Tensor: -1}
	if !v.known() {
		c.Result = kept[int(v.number)]
	} else if n, ok := e.k.number[v]; ok {
		c.Tensor = n
	} else {
		c.Array = v.data
	}
	return c
}

// settle gives the tensors that were found memory of their own, or that which they show.
func (e *ending) settle(list []*tensor.Tensor) {
	bases := make([]*array.Array, len(list))
	for n, x := range list {
		t := &e.c.Found[n]
		v := e.want[len(e.c.Writes)+n]
		if _, eager := x.Value().(*array.Array); eager {
			continue // in its own memory, which settleAll writes
		}
		switch {
		case t.Memory >= 0:
			bases[n] = e.k.arrays[t.Memory]
		case e.inEager[n] != nil: // which settleAll writes
			bases[n] = e.inEager[n]
		case t.Like >= 0:
			bases[n] = bases[t.Like]
		default:
			bases[n] = array.Clone(v.data)
		}
		e.s.release(x, t.Show(bases[n]))
	}
	e.s.settleAll(Barrier)
	for _, x := range list {
		if x.Engine() != nil { // code was given its memory
			x.SetEager()
		}
	}
}
