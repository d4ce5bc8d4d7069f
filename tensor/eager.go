package tensor

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// desk is what an eager call works with.
type desk struct {
	work    kernel.Workspace
	in, out []*array.Array // empty between calls
}

// desks are shared by all eager calls; a call takes one for its duration.
var desks = sync.Pool{New: func() any { return &desk{work: kernel.Workspace{Threads: runtime.GOMAXPROCS(0)}} }}

// eager runs a call at once. It does not keep the list of operands.
func eager(c callee, args []*Tensor) []*Tensor {
	d := desks.Get().(*desk)
	in := d.in
	if c.Op.AdHoc { // a function of the user's may keep the list
		in = make([]*array.Array, 0, len(args))
	}
	for _, a := range args {
		if a != nil {
			in = append(in, a.c.array())
		} else {
			in = append(in, nil)
		}
	}
	outs, err := op.AppendEval(d.out, c.Op, &d.work, c.Attrs, in)
	if err != nil {
		d.leave(in, outs)
		return mistaken(c, args, nil, located(err, c.Op))
	}
	for _, i := range c.Op.Mutates {
		if i < len(in) && in[i] != nil {
			wrote(in[i].Storage())
			if slices.ContainsFunc(args, func(a *Tensor) bool { return a != nil && (a.baked() || a.ofState()) }) {
				in[i].Storage().Bake()
			}
		}
	}
	var ts []*Tensor
	if len(outs) == 1 {
		ts = single(nil, outs[0])
	} else {
		ts = make([]*Tensor, len(outs))
		for i, a := range outs {
			ts[i] = of(a)
		}
	}
	d.leave(in, outs)
	remember(c, args, ts)
	linkViews(c, args, ts)
	if following.Load() > 0 {
		for _, t := range ts {
			t.derive(args)
		}
	}
	return ts
}

// leave gives a desk back, without the arrays of the call. Panics leave it to the collector.
func (d *desk) leave(in, outs []*array.Array) {
	clear(in)
	clear(outs)
	d.in, d.out = in[:0], outs[:0]
	desks.Put(d)
}

// linkViews remembers what results show the memory of an operand.
func linkViews(c callee, args []*Tensor, outs []*Tensor) {
	k := c.Op.ViewOf - 1
	if k < 0 || k >= len(args) || args[k] == nil {
		return
	}
	base := args[k]
	kept := c.on(args)
	for i, t := range outs {
		if t.storage() == base.storage() {
			if t.c.made == nil {
				v := &struct {
					made
					origin Origin
				}{origin: Origin{base, kept, i}}
				v.made.origin, t.c.made = &v.origin, &v.made
				continue
			}
			t.c.made.origin = &Origin{base, kept, i}
		}
	}
}

// recipe is how an eager tensor was made from parameters alone, or from nothing:
// tracing records the computation instead of baking its value.
type recipe struct {
	call     Call
	index    int // which result
	group    *recipeGroup
	depth    int
	versions []uint64 // of the operands' storages when it was made
	own      uint64   // version of the result's storage when it was made
	exposed  uint64   // when the result's storage had last been handed out
	state    bool     // a parameter takes part
	made     uint64   // when the call was made
}

// recipeGroup ties the results of one call together, so that they are recorded once.
type recipeGroup struct{ results int }

const maxRecipeDepth = 16

// remember keeps the recipe of results that depend on parameters alone, and marks
// those that depend on parameters otherwise.
func remember(c callee, args []*Tensor, outs []*Tensor) {
	depth, plain, baked := 0, false, false
	for _, a := range args {
		switch {
		case a == nil || a.c.param.Load():
		case a.c.recipe() != nil && a.unwritten():
			depth = max(depth, a.c.recipe().depth)
		default:
			plain, baked = true, baked || a.baked()
		}
	}
	if plain || c.Op.Effect != op.Pure || depth >= maxRecipeDepth {
		for _, a := range args {
			if a != nil {
				baked = baked || a.ofState()
				a.markRead()
				a.tellRead()
			}
		}
		for _, t := range outs {
			t.c.baked = baked
		}
		return
	}
	state := false
	for _, a := range args {
		state = state || a != nil && a.ofState()
	}
	group := &recipeGroup{len(outs)}
	var versions []uint64
	for _, a := range args {
		if a != nil {
			versions = append(versions, storageVersion(a))
		}
	}
	kept := c.on(args)
	for i, t := range outs {
		v := &struct {
			made
			recipe recipe
		}{recipe: recipe{*kept, i, group, depth + 1, versions, storageVersion(t), t.storage().Exposed(), state, array.Now()}}
		v.made.recipe, t.c.made = &v.recipe, &v.made
	}
}

// markRead records that a value without a recipe was computed from the tensor: from
// what it is a view of, and what its own recipe computes with. Other tensors over
// the same memory, as those of a graph that runs meanwhile, are not concerned.
func (x *Tensor) markRead() {
	x.c.read.Store(array.Tick())
	if m := x.c.made; m != nil && m.origin != nil {
		m.origin.Base.markRead()
	}
	if r := x.c.recipe(); r != nil && r.state {
		for _, a := range r.call.Args {
			if a != nil {
				a.markRead()
			}
		}
	}
}

// tellRead tells watchers, while a region is recorded, that the tensor is read, with what its recipe computes with: in a
// loop it may have another value in the next round.
func (x *Tensor) tellRead() {
	if regions.Load() == 0 {
		return
	}
	watchers.tell(x.storage(), Read)
	if r := x.c.recipe(); r != nil && x.unwritten() {
		for _, a := range r.call.Args {
			if a != nil {
				a.tellRead()
			}
		}
	}
}

// LastRead returns the moment at which a value without a recipe was last computed
// from an eager tensor, 0 for never. For tracing engines.
//
//gofx:observes nothing
func (x *Tensor) LastRead() uint64 { return x.c.read.Load() }

// Baked reports whether the value of an eager tensor depends on parameters in a way
// that no recipe tells: taken as a constant it would stay when they change. For
// tracing engines.
//
//gofx:observes nothing
func (x *Tensor) Baked() bool {
	if x.baked() {
		return true
	}
	_, _, _, ok := x.Recipe()
	return !ok && x.c.recipe() != nil && x.c.recipe().state
}

// baked reports whether the tensor, or what was written to its memory, was computed from
// parameters in a way that no recipe tells.
func (x *Tensor) baked() bool {
	if x.c.baked {
		return true
	}
	a, ok := x.c.value().val.(*array.Array)
	return ok && a.Storage().Baked()
}

// ofState reports whether the tensor is a parameter or was made from some.
func (x *Tensor) ofState() bool {
	return x.c.param.Load() || x.c.recipe() != nil && x.c.recipe().state
}

// Recipe returns the call that made an eager tensor from parameters alone, and
// which of its results the tensor is; ok is false when there is none, or when
// the tensor or an operand was written since, also through a view, or when the
// tensor's memory was handed out. Memory of a parameter may be handed out, to be
// read, as long as the call still gives the tensor. group is the same for all
// results of one call. For tracing engines.
//
//gofx:observes nothing
func (x *Tensor) Recipe() (c *Call, index int, group any, ok bool) {
	r := x.c.recipe()
	if r == nil || !x.unwritten() || r.exposes() && !x.repeats() {
		return nil, 0, nil, false
	}
	return &r.call, r.index, r.group, true
}

// unwritten reports whether no call has written a tensor that has a recipe, or an operand of it, and
// memory of neither was handed out, except that of parameters.
func (x *Tensor) unwritten() bool {
	r := x.c.recipe()
	if storageVersion(x) != r.own || x.storage().Exposed() != r.exposed {
		return false
	}
	k := 0
	for _, a := range r.call.Args {
		if a == nil {
			continue
		}
		if storageVersion(a) != r.versions[k] || !a.c.param.Load() && a.storage().Exposed() > r.made {
			return false
		}
		k++
	}
	return true
}

// exposes reports whether memory of an operand was handed out since the call was made: nothing
// notes what is written there.
func (r *recipe) exposes() bool {
	return slices.ContainsFunc(r.call.Args, func(a *Tensor) bool { return a != nil && a.storage().Exposed() > r.made })
}

// repeats reports whether the call that made a tensor gives it again, bit by bit.
func (x *Tensor) repeats() bool {
	r := x.c.recipe()
	in := make([]*array.Array, len(r.call.Args))
	for i, a := range r.call.Args {
		if a != nil {
			in[i] = a.c.array()
		}
	}
	d := desks.Get().(*desk)
	outs, err := op.AppendEval(d.out, r.call.Op, &d.work, r.call.Attrs, in)
	same := err == nil && array.Equal(outs[r.index], x.c.array())
	d.leave(in, outs)
	return same
}

func (x *Tensor) storage() *array.Storage { return x.c.array().Storage() }

func storageVersion(x *Tensor) uint64 { return x.storage().Version() }

// assign gives dst the value of src: what every in-place method ends in.
func assign(dst, src *Tensor, what string) *Tensor {
	dst.check(what)
	src.check(what)
	e := engineOf(what, nil, []*Tensor{dst, src})
	if e == nil {
		e = dst.follower(what)
	}
	if e != nil {
		e.Assign(dst, fitting(dst, src), what)
		return dst
	}
	to, from := dst.c.array(), src.c.array()
	if _, err := (*op.Infer)(nil).Written(shape.TypeOf(to), shape.TypeOf(from)); err != nil {
		panic(misplaced(err, what))
	}
	if array.Repeats(to) {
		panic(misplaced(diag.New(SharedElement, "the tensor "+dst.Type().String()+" shows one element of its memory several times").
			WithHint("write to a Clone of it"), what))
	}
	if from.DType() != to.DType() {
		from = array.Cast(from, to.DType())
	}
	if from.Storage() == to.Storage() {
		from = array.Clone(from)
	}
	watchers.tell(to.Storage(), Writing)
	array.Copy(to, from)
	wrote(to.Storage())
	if following.Load() > 0 {
		dst.derive([]*Tensor{src})
	}
	if dst.c.param.Load() {
		pos := diag.Here()
		dst.c.wrote.Store(&pos)
	}
	if dst.c.recipe() != nil && dst.c.recipe().state || src.baked() || src.ofState() { // views of dst, and what it is a view of, hold it, too
		to.Storage().Bake()
	}
	if m := dst.c.made; m != nil {
		m.recipe = nil
	}
	return dst
}

// fitting returns src with the type of dst where that is not known to be its own,
// so that what is recorded keeps a target's type as the memory would.
func fitting(dst, src *Tensor) *Tensor {
	if t := dst.Type(); known(t) && t.Same(src.Type()) {
		return src
	}
	return dispatch(callee{std.Copy, op.None{}, false}, []*Tensor{dst, src}, nil)[0]
}

func known(t shape.Type) bool {
	if t.DType() == array.Invalid || !t.Ranked() {
		return false
	}
	for _, d := range t.Dims().Slice() {
		if d.IsUnknown() {
			return false
		}
	}
	return true
}

// misplaced is the error of an in-place call at the caller's line.
func misplaced(err error, what string) *diag.Error {
	e := *err.(*diag.Error)
	e.Op = what
	return e.At(diag.Here())
}

// regions counts the regions that are being recorded anywhere. Code of a region
// runs once however often its node will, so that a write in it that nobody
// records must be noticed when the tensor is used.
var regions atomic.Int64

// wrote records a write to a storage.
func wrote(s *array.Storage) {
	if regions.Load() > 0 {
		s.BumpInRegion()
	} else {
		s.Bump()
	}
	watchers.tell(s, Written)
}

// following counts the records in progress that have had a region: what eager calls compute from memory
// that a region wrote has another value in each round, too.
var following atomic.Int64

// Following tells that an engine has begun to record regions, until the returned function is called.
// For engines only.
func Following() (leave func()) {
	following.Add(1)
	return func() { following.Add(-1) }
}

// derive notes what the memory of a tensor was computed from.
func (x *Tensor) derive(args []*Tensor) {
	for _, a := range args {
		if a != nil {
			x.storage().Derive(a.storage())
		}
	}
}

// InRegion tells that an engine records a region until the returned function is
// called. For engines only.
func InRegion() (leave func()) {
	regions.Add(1)
	return func() { regions.Add(-1) }
}

// AssignInPlace overwrites x with y's values; views of x see them.
func (x *Tensor) AssignInPlace(y *Tensor) *Tensor { return assign(x, y, "assign") }
