package record_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer/alias"
	"github.com/gofx-dev/gofx/tracer/record"
)

// place is a value of an arena: a call, or data that came from outside. There are no nodes, and
// nothing is computed before somebody asks.
type place struct {
	op    *op.Op
	attrs any
	args  []*place
	index int // of a tuple's members, from 1; 0 for the call itself
	typ   shape.Type
	data  []*array.Array
}

func (p *place) Type() shape.Type { return p.typ }
func (p *place) Erased() bool     { return false }
func (p *place) String() string   { return "a value of the arena" }

// session is an engine that records into an arena and computes when data is read, as lazy mode
// does. It has one block, 0, and no regions.
type session struct {
	rec   *record.Recorder[*place, int]
	slots map[any]*slot // of the tensors that the session keeps, by tensor.ID
	calls int
	run   []string // the operators that were computed
	said  []string // what was reported
}

func newSession() *session {
	s := &session{slots: map[any]*slot{}}
	s.rec = record.New[*place, int](s, s, s, nil, 0)
	return s
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// slot is a tensor that lasts.
type slot struct {
	name string
	a    *array.Array
}

func (s *slot) Name() string            { return s.name }
func (s *slot) Fixed() bool             { return false }
func (s *slot) Array() *array.Array     { return s.a }
func (s *slot) SetArray(a *array.Array) { s.a = a }

// in makes a tensor of the session.
func (s *session) in(v ...float32) *tensor.Tensor {
	a := array.FromSlice(v)
	return tensor.NewProxy(s, &place{typ: shape.TypeOf(a), data: []*array.Array{a}})
}

// data computes a value, and what it needs, once.
func (s *session) data(p *place) []*array.Array {
	if p.data != nil {
		return p.data
	}
	if p.index > 0 {
		p.data = s.data(p.args[0])[p.index-1 : p.index]
		return p.data
	}
	in := make([]*array.Array, len(p.args))
	for i, a := range p.args {
		if a != nil {
			in[i] = s.data(a)[0]
		}
	}
	out, err := p.op.Eval(&kernel.Workspace{}, p.attrs, in)
	must(err)
	s.run = append(s.run, p.op.Name)
	for _, a := range out {
		p.data = append(p.data, array.Clone(a))
	}
	return p.data
}

// The engine.

func (s *session) Call(c *tensor.Call) []*tensor.Tensor {
	args := make([]*place, len(c.Args))
	for i, a := range c.Args {
		if a == nil {
			continue
		}
		if args[i] = s.rec.Value(a, c.Op.Name); args[i] == nil {
			return s.rec.Poison(c)
		}
	}
	p := s.Make(c.Op, c.Attrs, args)
	s.Recorded(p, c)
	return s.rec.Results(p, c, args)
}

func (s *session) Type(x *tensor.Tensor) shape.Type { return s.rec.TypeOf(x) }

func (s *session) Observe(x *tensor.Tensor, what string) *array.Array {
	p := s.rec.Value(x, what)
	if p == nil {
		return array.New(array.F32)
	}
	a := s.data(p)[0]
	if _, whole := x.Value().(*place); whole { // not a place of a storage, which may have views
		x.SetComputed(s, a)
	}
	return a
}

func (s *session) Assign(dst, src *tensor.Tensor, what string) {
	s.rec.Assign(dst, src, what, diag.Here())
}

func (s *session) Gradient(*tensor.Tensor, []*tensor.Tensor, tensor.GradOptions) []*tensor.Tensor {
	panic("this engine keeps no calls")
}

// The program.

func (s *session) Block(*place) int              { return 0 }
func (s *session) At(int)                        {}
func (s *session) Mark()                         {}
func (s *session) Recorded(*place, *tensor.Call) { s.calls++ }
func (s *session) Builder() op.Builder           { return builder{s} }
func (s *session) Loose(*place) bool             { return false }
func (s *session) Input(*place) bool             { return false }
func (s *session) Tuple(p *place) bool           { return p.typ.Kind() == shape.Tuple }

func (s *session) Make(o *op.Op, attrs any, args []*place) *place {
	attrs, err := o.Codec().Given(attrs)
	must(err)
	types := make([]shape.Type, len(args))
	for i, a := range args {
		if a != nil {
			types[i] = a.typ
		}
	}
	t, err := o.Type(nil, attrs, types)
	must(err)
	return &place{op: o, attrs: attrs, args: args, typ: t}
}

func (s *session) Item(tuple *place, i int) *place { return s.NewItem(tuple, i) }
func (s *session) NewItem(tuple *place, i int) *place {
	return &place{args: []*place{tuple}, index: i + 1, typ: tuple.typ.Member(i)}
}

type builder struct{ s *session }

func (b builder) Item(tuple op.Value, i int) op.Value { return b.s.NewItem(tuple.(*place), i) }
func (b builder) Call(o *op.Op, attrs any, in ...op.Value) op.Value {
	args := make([]*place, len(in))
	for i, x := range in {
		if x != nil {
			args[i] = x.(*place)
		}
	}
	return b.s.Make(o, attrs, args)
}

// The source.

type memory = record.Memory[*place, int]

func (s *session) Report(err error) { s.said = append(s.said, err.Error()) }
func (s *session) Slot(x *tensor.Tensor) record.Slot {
	if k := s.slots[x.ID()]; k != nil {
		return k
	}
	return nil
}
func (s *session) Load(at record.Slot) *place {
	a := at.Array()
	return &place{typ: shape.TypeOf(a), data: []*array.Array{a}}
}
func (s *session) Reload(_ int, p *place, _ record.Slot) *place { return p }
func (s *session) Constant(m *memory) record.Slot               { return &slot{"c", m.Captured()} }
func (s *session) Entered(*memory)                              {}
func (s *session) Observed(*memory, string)                     {}
func (s *session) Wrote(*memory)                                {}
func (s *session) Lost(what string, _ diag.Pos)                 { s.said = append(s.said, what+": lost") }
func (s *session) Changed(what string, _ *memory)               { s.said = append(s.said, what+": changed") }
func (s *session) MayWrite(*alias.Storage[*place], string, diag.Pos) bool {
	return true
}

func show(x *tensor.Tensor) string { return fmt.Sprint(tensor.Data[float32](x)) }

// A recorder makes an engine of an arena: calls are recorded, and run when data is read.
func ExampleNew() {
	s := newSession()
	x := s.in(1, 2, 3, 4).Reshape(2, 2).AddScalar(1)
	x.Select(0, 1).MulScalarInPlace(10)
	fmt.Println(len(s.run), "calls have run")
	fmt.Println(show(x.Reshape(4)))
	fmt.Println(s.run)
	// Output:
	// 0 calls have run
	// [2 3 40 50]
	// [reshape add select mul select_scatter reshape]
}

// A write to a view of a recorded value is seen by the value and by its other views; a copy is
// not concerned; nothing runs before data is read.
func TestArena_writesThroughViews(t *testing.T) {
	s := newSession()
	x := s.in(1, 2, 3, 4, 5, 6).Reshape(2, 3).AddScalar(0)
	view := x.Reshape(3, 2)       // the same memory
	copied := x.T().Reshape(2, 3) // a copy: the elements lie elsewhere
	view.Select(0, 0).MulScalarInPlace(0).AddScalarInPlace(9)
	copied.MulScalarInPlace(0)
	require.Empty(t, s.run, "nothing was computed yet")
	require.Equal(t, "[9 9 3 4 5 6]", show(x.Reshape(6)))
	require.Equal(t, "[9 9 3 4 5 6]", show(view.Reshape(6)))
	require.Equal(t, "[0 0 0 0 0 0]", show(copied.Reshape(6)))
	require.Empty(t, s.said)
}

// What was computed from a value before a write keeps the old one.
func TestArena_oldAndNew(t *testing.T) {
	s := newSession()
	a := s.in(1, 2)
	b := a.AddScalar(2)
	a.AddScalarInPlace(1)
	require.Equal(t, "[3 4][2 3]", show(b)+show(a))
}

// A value that was computed is one that the session has: it is not computed again, calls on it
// are recorded, and a write to it is a new value.
func TestArena_computed(t *testing.T) {
	s := newSession()
	a := s.in(1, 2).AddScalar(0)
	require.Equal(t, "[1 2]", show(a))
	require.Equal(t, []string{"add"}, s.run)
	b := a.AddScalar(2)
	require.Same(t, tensor.Engine(s), b.Engine())
	a.AddScalarInPlace(1)
	require.Equal(t, "[2 3][2 3][3 4]", show(a)+show(a)+show(b))
	require.Equal(t, []string{"add", "add", "add"}, s.run, "each call once")
	require.Equal(t, "[3 4][2 3]", show(b)+show(a))
	require.Empty(t, s.said)
	s.rec.Eager.Release()
}

// Eager tensors enter at their first use, with what they hold then; a write that a recorded
// value takes part in is the record's, and the memory stays.
func TestArena_eagerTensors(t *testing.T) {
	s := newSession()
	w := tensor.FromSlice([]float32{1, 2, 3}).Clone()
	x := s.in(10, 10, 10)
	sum := x.Add(w)
	w.AddInPlace(x)
	require.Equal(t, "[11 12 13]", show(sum))
	require.Equal(t, "[11 12 13]", show(w))
	require.Equal(t, []float32{1, 2, 3}, array.Data[float32](w.Value().(*array.Array)), "the memory itself is as it was")
	require.Same(t, tensor.Engine(s), w.Engine())

	buf := []float32{1, 2}
	u := tensor.FromSlice(buf)
	first := s.in(0, 0).Add(u)
	buf[0] = 7
	require.Equal(t, "[1 2][7 2]", show(first)+show(s.in(0, 0).Add(u)), "a slice is captured again when it has changed")
	s.rec.Eager.Release()
}

// State is read by its slot, and what was written to it is known at the end.
func TestArena_state(t *testing.T) {
	s := newSession()
	w := tensor.Param(array.FromSlice([]float32{1, 2}))
	s.slots[w.ID()] = &slot{"w", w.Value().(*array.Array)}
	on := s.rec.Lift(w)
	on.MulScalarInPlace(3)
	require.Equal(t, "[3 6]", show(w))
	held := s.rec.Eager.Held()
	require.Len(t, held, 1)
	require.True(t, held[0].Owner() && held[0].Dirty() && !held[0].Local())
	require.Equal(t, "w", held[0].Slot().Name())
	require.Equal(t, []float32{3, 6}, array.Data[float32](s.data(s.rec.Eager.StorageOf(held[0]).Value)[0]))
}

// What may be the same memory as something written is reported by the engine, in its words.
func TestArena_lost(t *testing.T) {
	s := newSession()
	buf := []float32{1, 2, 3, 4}
	a, b := tensor.FromSlice(buf), tensor.FromSlice(buf[1:])
	x := s.in(1, 1, 1, 1)
	x.Add(a)
	x.Slice(0, 0, 3).Add(b)
	a.AddInPlace(x)
	x.Slice(0, 0, 3).Sub(b)
	require.Equal(t, []string{"sub: lost"}, s.said)
	s.rec.Eager.Release()
}

// Calls of one goroutine are told from those of another.
func ExampleGoroutine() {
	here, other := record.Goroutine(), make(chan string)
	go func() { other <- record.Goroutine() }()
	fmt.Println(here == record.Goroutine(), here == <-other)
	// Output: true false
}
