package record

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// Recorder records calls on tensors. The value of a tensor of its engine is a V, an
// Item, or an alias.Ref once it is viewed or written.
type Recorder[V alias.Operand, B comparable] struct {
	// Eager is what is known of eager tensors that take part.
	Eager Eager[V, B]
	// Made, where it is not nil, is told of every tensor that the recorder makes.
	Made func(x *tensor.Tensor)

	engine  tensor.Engine
	program Program[V, B]
	source  Source[V, B]
	regions Regions[V, B]

	top    B
	region *Region[V, B]
	spans  []*span    // of all regions
	rounds *rounds[V] // nil while no loop is recorded
	deep   int        // regions with many around them, in the outermost call
	what   string     // the call that is being recorded
}

// Item is the value of a tensor that stands for one member of a tuple. The member is
// recorded at its first use.
type Item[V alias.Operand] struct {
	tuple V
	index int
	value V
}

// New returns the recorder of an engine, whose calls go to the block top. regions is nil
// for an engine that records no control flow.
func New[V alias.Operand, B comparable](e tensor.Engine, p Program[V, B], s Source[V, B], regions Regions[V, B], top B) *Recorder[V, B] {
	r := &Recorder[V, B]{engine: e, program: p, source: s, regions: regions, top: top}
	r.Eager = newEager(r)
	return r
}

// Proxy makes a tensor of a value, or of what Value takes.
func (r *Recorder[V, B]) Proxy(value any) *tensor.Tensor {
	if p, ok := value.(*alias.Ref[V]); ok {
		memoryOf[V, B](p.Storage).viewed = true
	}
	x := tensor.NewProxy(r.engine, value)
	if r.Made != nil {
		r.Made(x)
	}
	return x
}

// What names the call that is being recorded, for messages.
func (r *Recorder[V, B]) What() string { return r.what }

// block returns the block that is being recorded.
func (r *Recorder[V, B]) block() B { return r.blockOf(r.region) }

func (r *Recorder[V, B]) blockOf(region *Region[V, B]) B {
	if region == nil {
		return r.top
	}
	return region.block
}

// Blocks yields the block that is being recorded and those around it.
func (r *Recorder[V, B]) Blocks(yield func(B) bool) {
	for in := r.region; in != nil; in = in.outer {
		if !yield(in.block) {
			return
		}
	}
	yield(r.top)
}

// enter makes a region, nil for none, the one that is being recorded.
func (r *Recorder[V, B]) enter(region *Region[V, B]) {
	r.region = region
	r.program.At(r.block())
}

// at records in the block b, the current one or one around it.
func (r *Recorder[V, B]) at(b B, f func()) {
	inner, to := r.region, r.region
	for to != nil && to.block != b {
		to = to.outer
	}
	r.enter(to)
	r.program.Mark()
	f()
	r.enter(inner)
}

// Value returns the value of a tensor in the current block, bringing eager ones in;
// none when it is unusable, which has been reported. what names the call that uses
// it.
func (r *Recorder[V, B]) Value(x *tensor.Tensor, what string) V {
	r.what = what
	var n, none V
	switch v := x.Value().(type) {
	case V:
		n = v
		r.rounds.reads(v)
	case *alias.Ref[V]:
		r.rounds.reads(v.Storage)
		return v.Read(r)
	case *array.Array:
		return r.Eager.eagerRef(x).Read(r)
	case *Item[V]:
		n = r.itemOf(v)
	}
	if n == none {
		return none
	}
	if r.region == nil || r.program.Block(n) == r.region.block {
		return r.In(n)
	}
	if r.inLoop() {
		return r.ref(x).Read(r) // the body may write to it yet
	}
	return r.In(n)
}

// Values returns the values of tensors, nil when one is unusable, which has been
// reported. None may be absent.
func (r *Recorder[V, B]) Values(what string, in []*tensor.Tensor) []V {
	out := make([]V, len(in))
	var none V
	for i, x := range in {
		if x == nil {
			r.mismatch(what, "operand "+itoa(i)+" is nil", "pass a tensor, such as zeros")
			return nil
		}
		if out[i] = r.Value(x, what); out[i] == none {
			return nil
		}
	}
	return out
}

func (r *Recorder[V, B]) itemOf(v *Item[V]) V {
	var none V
	if v.value == none {
		v.value = r.program.NewItem(v.tuple, v.index)
	}
	return v.value
}

func (v *Item[V]) typ() shape.Type {
	var none V
	if v.value != none {
		return v.value.Type()
	}
	if t := v.tuple.Type(); t.Kind() == shape.Tuple && v.index < t.Len() {
		return t.Member(v.index)
	}
	return shape.Type{}
}

// TypeOf returns what is known of a tensor.
func (r *Recorder[V, B]) TypeOf(x *tensor.Tensor) shape.Type {
	var none V
	switch v := x.Value().(type) {
	case *array.Array:
		return shape.TypeOf(v)
	case *alias.Ref[V]:
		if ty, ok := v.Type(); ok {
			return ty
		}
		if it := memoryOf[V, B](v.Storage).item; it != nil && v.IsWhole() {
			return it.typ()
		}
		if n := r.Value(x, "Type"); n != none {
			return n.Type()
		}
	case V:
		if v != none {
			return v.Type()
		}
	case *Item[V]:
		return v.typ()
	}
	return shape.Type{}
}

// Origin returns the value of a tensor in the block where it was computed, none for a
// view, which may have to be recorded again.
func (r *Recorder[V, B]) Origin(x *tensor.Tensor) V {
	var none V
	switch v := x.Value().(type) {
	case V:
		return v
	case *alias.Ref[V]:
		if v.IsWhole() {
			return r.value(v.Storage)
		}
	}
	return none
}

// Unusable reports whether a mistake was made with the tensor, so that nothing is
// known of it.
func (r *Recorder[V, B]) Unusable(x *tensor.Tensor) bool {
	var none V
	switch v := x.Value().(type) {
	case V:
		return v == none || v.Type().Kind() == shape.None
	case *alias.Ref[V]:
		return true
	}
	return false
}

// Poisoned returns tensors of which nothing is known: results of calls on unusable
// operands.
func (r *Recorder[V, B]) Poisoned(n int) []*tensor.Tensor {
	var none V
	out := make([]*tensor.Tensor, n)
	for i := range out {
		out[i] = r.Proxy(none)
	}
	return out
}

// Poison is Poisoned for the results of a call.
func (r *Recorder[V, B]) Poison(c *tensor.Call) []*tensor.Tensor {
	count, _ := c.Op.NumResults(c.Attrs)
	return r.Poisoned(plausible(count))
}

// plausible bounds the number of results of a call that the type rule refused or
// knows nothing about: attributes may ask for any number.
func plausible(count int) int { return min(max(count, 0), 1<<12) }

// Results makes the tensors of a recorded call: places of an operand's storage where
// it is a view, values of their own otherwise.
func (r *Recorder[V, B]) Results(v V, c *tensor.Call, args []V) []*tensor.Tensor {
	if out := r.viewsOf(v, c, args); out != nil {
		return out
	}
	return r.fresh(v, c.Op, c.Attrs)
}

// Opaque makes the tensors of a call of code that is not looked into: they may be memory of
// its operands.
func (r *Recorder[V, B]) Opaque(v V, c *tensor.Call) []*tensor.Tensor {
	out := r.fresh(v, c.Op, c.Attrs)
	for _, x := range out {
		p := r.ref(x)
		for _, a := range c.Args {
			if a != nil && p != nil {
				if q := r.ref(a); q != nil {
					alias.Maybe(p.Storage, q.Storage)
				}
			}
		}
	}
	return out
}

// fresh wraps a call into tensors, one for each result.
func (r *Recorder[V, B]) fresh(v V, o *op.Op, attrs any) []*tensor.Tensor {
	count, tuple := o.NumResults(attrs)
	if !tuple {
		out := tensor.NewProxies(r.engine, v)
		if r.Made != nil {
			r.Made(out[0])
		}
		return out
	}
	if v.Type().Kind() != shape.Tuple {
		count = plausible(count)
	}
	out := make([]*tensor.Tensor, count)
	for i := range out {
		out[i] = r.member(v, i)
	}
	return out
}

// member makes the tensor of one member of a tuple.
func (r *Recorder[V, B]) member(tuple V, i int) *tensor.Tensor {
	return r.Proxy(&Item[V]{tuple: tuple, index: i})
}

// viewsOf makes the results of a view call places of the operand's storage, as far
// as it is one; nil for other calls.
func (r *Recorder[V, B]) viewsOf(v V, call *tensor.Call, args []V) []*tensor.Tensor {
	k := call.Op.ViewOf - 1
	if k < 0 || k >= len(call.Args) || call.Args[k] == nil {
		return nil
	}
	base := r.ref(call.Args[k])
	if base == nil {
		return nil
	}
	count, tuple := call.Op.NumResults(call.Attrs)
	if tuple && v.Type().Kind() != shape.Tuple {
		count = plausible(count)
	}
	out := make([]*tensor.Tensor, count)
	var types []shape.Type
	if call.Op.MayCopy { // else it is a view for all types
		types = typesOf(args)
	}
	switch base.KindOf(call.Op, call.Attrs, types, v.Type()) {
	case alias.Fresh:
		return nil
	case alias.View:
		for i, p := range base.Views(call.Op, call.Attrs, args, v, count) {
			out[i] = r.Proxy(p)
		}
	case alias.Open:
		for i, x := range r.fresh(v, call.Op, call.Attrs) {
			out[i] = x
			if p := r.ref(x); p != nil {
				alias.Maybe(p.Storage, base.Storage)
			}
		}
	}
	return out
}

func typesOf[V alias.Operand](args []V) []shape.Type {
	types := make([]shape.Type, len(args))
	var none V
	for i, a := range args {
		if a != none {
			types[i] = a.Type()
		}
	}
	return types
}

func (r *Recorder[V, B]) mismatch(what, msg, hint string) {
	r.source.Report(&diag.Error{Code: RegionMismatch, Op: what, Msg: msg, Hint: hint})
}
