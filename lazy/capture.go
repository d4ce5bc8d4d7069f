package lazy

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer/alias"
	"github.com/gofx-dev/gofx/tracer/record"
)

// Captured is what a session has found out about a run of code: see Session.Capture.
type Captured struct {
	// Module computes the values. Its inputs are the data tensors of Reads, its weights the frozen
	// tensors, and constants.
	// Calls and Leaves say the same without numbers that inputs stand for.
	Module *graph.Module
	Calls  []CapturedCall
	Leaves []CapturedLeaf
	Types  []shape.Type // of the calls in Module, nil where no graph has the symbols of Opening
	Reads  []int        // numbers of data tensors in the order of the inputs, ^n for leaf n of Opening
	// Results are what the module has computed in this run, Kept their calls.
	Results []*array.Array
	Kept    []int
	// Writes are the data tensors that the code wrote.
	Writes []CapturedWrite
	// Found says what the tensors are that were found after the run.
	Found []CapturedTensor
	// Looked says what has told the code a size that was followed, "" for nothing; LookedAt is the line.
	Looked   string
	LookedAt diag.Pos
	// Sides are relations of sizes that were followed, on which the code may have branched: runs where one is not true may be others. Unsure
	// tells that these, or the sizes in attributes, are not known, because an int may be several sizes in this run.
	Sides  []shape.Relation
	Unsure bool
	// Why says why later runs cannot do with the graph, "" where they can; At is the line.
	Why string
	At  diag.Pos
}

// CapturedWrite is a data tensor and its new value.
type CapturedWrite struct {
	Tensor int
	Value  CapturedValue
}

// CapturedValue is a result of the graph, or else a data tensor as it was before the run, or else an array.
type CapturedValue struct {
	Result int // of the graph, -1 for none
	Tensor int // of the data tensors, -1 for none
	Array  *array.Array
}

// CapturedTensor is a tensor that the code made. It is a value, or shows the memory of a data tensor
// or of another tensor that was found.
type CapturedTensor struct {
	Param, Frozen bool // what MarkParam and Freeze have made of it
	Value         CapturedValue
	Memory        int // of which data tensor, -1 for none
	Like          int // the tensor found before it whose base it shares, -1 for none
	show          []alias.Step[*place]
}

// Show returns the part of its base's array that the tensor shows.
func (c *CapturedTensor) Show(base *array.Array) *array.Array {
	var w kernel.Workspace
	for _, st := range c.show {
		in := make([]*array.Array, len(st.Args))
		in[st.Base] = base
		out, err := st.Op.Eval(&w, st.Attrs, in)
		if err != nil {
			panic(located(err, st.Op.Name))
		}
		base = out[st.Item]
	}
	return base
}

// Shows reports whether the tensor shows a part of its base.
func (c *CapturedTensor) Shows() bool { return len(c.show) > 0 }

// SameShow reports whether two tensors show the same part of their bases.
func (c *CapturedTensor) SameShow(o *CapturedTensor) bool {
	return slices.EqualFunc(c.show, o.show, func(a, b alias.Step[*place]) bool {
		return a.Op == b.Op && a.Base == b.Base && a.Item == b.Item && len(a.Args) == len(b.Args) && a.Op.Codec().Equal(a.Attrs, b.Attrs)
	})
}

// capture is what a session notes while Capture runs code.
type capture struct {
	start  uint64 // the moment at which it began
	data   []*tensor.Tensor
	arrays []*array.Array
	leaves []*alias.Ref[*place]
	number map[*place]int // of leaves
	frozen map[any]bool
	marks  map[*place]mark // of calls; nil where nobody asks
	ending bool
	made   []*tensor.Tensor // by the session since then
	why    string
	at     diag.Pos

	rec   *record.Recorder[*place, *block]
	again func() bool // whether code that has panicked is run another time; nil for never

	flushes int // of Lend
}

// refuse notes why no graph stands for the run: the first reason counts. It does nothing outside of
// Capture.
func (k *capture) refuse(why string) {
	if k != nil && !k.ending && k.why == "" {
		k.why, k.at = why, diag.Here()
	}
}

// refuseAt is refuse with the line, where it is known.
func (k *capture) refuseAt(why string, at diag.Pos) {
	first := k != nil && k.why == ""
	if k.refuse(why); first && at.Line != 0 {
		k.at = at
	}
}

// met is told of the memory of an eager tensor that takes part.
func (k *capture) met(m *memory) {
	if k != nil && !k.frozen[m.Root().ID()] && m.Array().Storage().Born() <= k.start {
		k.refuse("a tensor takes part that was made before the call, and that the table does not lead to")
	}
}

// Code is code whose calls Capture makes a graph of.
type Code struct {
	Data    []*tensor.Tensor // eager tensors that belong to the session meanwhile, each once
	Frozen  []*tensor.Tensor // those that a graph may take for constants, and that stay eager
	Symbols [][]int          // by data tensor and axis: the number of a symbol from 1 whose ways through the code are followed, 0 for a size that is a number; nil where all are
	Ints    Ints             // what becomes of such sizes as ints; nil where nobody knows
	Run     func()           // the code itself

	// Found, called after the code, returns tensors that the code made; all tells that it leaves no other that outlives the run.
	Found func() (list []*tensor.Tensor, all bool)
	// Open, which may be nil, is called when Calls and Leaves are known, and says which numbers of them are inputs.
	Open func(*Captured) Opening
	// Again, which may be nil, tells after a panic that the code will be run another time.
	Again func() bool
}

// Capture runs code and makes a graph of what it computes. Where tensors that nobody has found may outlive the run, no
// graph stands for it, and all that the code made is computed. When Capture returns, all are eager tensors with their
// values, and the data tensors hold what was written to them.
//
// An error is one of the computation: data tensors are as they were then. A panic of the code
// passes on. What it has written to data tensors before is kept, unless it will be run again.
func (s *Session) Capture(code Code) (c *Captured, err error) {
	k := &capture{start: array.Now(), data: code.Data, number: map[*place]int{}, frozen: map[any]bool{}, again: code.Again}
	for _, x := range code.Frozen {
		k.frozen[x.ID()] = true
	}
	if s.follow = newFollow(code.Symbols, code.Data, code.Ints); s.follow != nil {
		defer func() { s.follow.over = true }()
		if code.Ints != nil {
			defer tensor.Asking(asker{s})()
		}
	}
	if s.opts.Mark != nil {
		k.marks = map[*place]mark{}
	}
	return s.borrow(k, code.Run, code.Found, code.Open)
}

// borrow runs the code of a capture, which has the data tensors meanwhile.
func (s *Session) borrow(k *capture, code func(), found func() (list []*tensor.Tensor, all bool), open func(*Captured) Opening) (c *Captured, err error) {
	s.join(k)
	returned := false
	defer func() {
		switch {
		case returned:
		case k.again != nil && k.again():
			s.giveBack(k)
			s.discard()
		default:
			s.abandon(k, k.outlive(found()))
		}
		s.capture, s.rec.Made = nil, nil
		s.begin()
	}()
	code()
	returned = true
	list := k.outlive(found())
	c, err = s.finish(k, list, open)
	s.giveBack(k)
	if err != nil {
		s.discard()
		return nil, err
	}
	for _, w := range c.Writes {
		k.data[w.Tensor].AssignInPlace(tensor.Owned(w.Value.Array))
	}
	return c, nil
}

// join makes the data tensors of a capture tensors of the session.
func (s *Session) join(k *capture) {
	defer s.enter("Capture")()
	for i, x := range k.data {
		a := x.Value().(*array.Array)
		p := leaf(a)
		k.number[p] = i
		k.arrays = append(k.arrays, a)
		k.leaves = append(k.leaves, s.rec.Join(x, p, a))
	}
	k.rec = s.rec
	s.capture, s.rec.Made = k, func(x *tensor.Tensor) { k.made = append(k.made, x) }
}

// outlive returns the tensors that the code has made and that outlive it, as far as that is known.
func (k *capture) outlive(list []*tensor.Tensor, all bool) []*tensor.Tensor {
	if all {
		return list
	}
	k.refuse("a tensor that the code made may stay where no walk leads")
	known := map[any]bool{}
	for _, x := range list {
		known[x.ID()] = true
	}
	for _, x := range k.made {
		if !known[x.ID()] && x.Engine() != nil && k.rec.Inside(x) == nil {
			list = append(list, x)
		}
	}
	return list
}

// release makes a tensor of the session an eager one over an array.
func (s *Session) release(x *tensor.Tensor, a *array.Array) {
	if _, computed := x.Value().(*array.Array); !computed {
		x.SetComputed(s, a)
	}
	x.SetEager()
}

// giveBack makes the data tensors what they were.
func (s *Session) giveBack(k *capture) {
	for i, x := range k.data {
		s.release(x, k.arrays[i])
	}
}

// written returns the new value of a data tensor, nil where it was not written, or Go code has the
// memory: it is written at the end as that of any eager tensor then.
func (k *capture) written(i int) *place {
	st := k.leaves[i].Storage
	if m := st.Of.(*memory); m.Root() != nil && !m.Dirty() { // a loop has read it
		return nil
	}
	v := st.Value
	if n, ok := k.number[v]; v == nil || ok && n == i {
		return nil
	}
	return v
}

// abandon ends a capture whose code has panicked: what was computed and written before is kept
// where it can be.
func (s *Session) abandon(k *capture, list []*tensor.Tensor) {
	k.ending = true
	for _, x := range list { // before the memory that they read is written
		_ = attempt(func() {
			v := s.rec.Value(x, "Capture")
			if s.compute(Barrier, []*place{v}); v.data != nil {
				s.release(x, array.Clone(v.data))
			}
		})
	}
	values := make([]*array.Array, len(k.data))
	for i := range k.data {
		_ = attempt(func() {
			if v := k.written(i); v != nil {
				if s.compute(Barrier, []*place{v}); v.data != nil {
					values[i] = array.Clone(v.data)
				}
			}
		})
	}
	for i, x := range k.data {
		if s.release(x, k.arrays[i]); values[i] != nil {
			x.AssignInPlace(tensor.Owned(values[i]))
		}
	}
}

// discard forgets what was recorded for the memory of eager tensors.
func (s *Session) discard() {
	for _, m := range s.rec.Eager.Held() {
		if m.Dirty() {
			s.rec.Eager.Settle(m)
		}
	}
}

func attempt(f func()) (err error) {
	defer diag.Catch(&err)
	f()
	return nil
}

// finish computes what the code has recorded, and makes the graph of it.
func (s *Session) finish(k *capture, list []*tensor.Tensor, open func(*Captured) Opening) (c *Captured, err error) {
	defer diag.Catch(&err)
	defer s.enter("Capture")()
	e := &ending{s: s, k: k, c: &Captured{}, open: open, shared: map[*alias.Storage[*place]]int{}, first: map[*alias.Storage[*place]]int{}, inEager: map[int]*array.Array{}}
	e.find(list)
	k.ending = true
	e.compute()
	e.settle(list)
	e.c.Why, e.c.At = k.why, k.at
	return e.c, nil
}

// memory returns the memory of a data tensor that a tensor shows, nil for other tensors.
func (k *capture) memory(x *tensor.Tensor) *array.Array {
	r, ok := x.Value().(*alias.Ref[*place])
	if k == nil || !ok {
		return nil
	}
	for i, l := range k.leaves {
		if l.Storage == r.Storage {
			return k.arrays[i]
		}
	}
	return nil
}

// younger reports whether the memory of an eager tensor was made by the code of the capture.
func (k *capture) younger(m *memory) bool {
	return k != nil && m.Array().Storage().Born() > k.start
}

// isData reports whether a storage is that of a data tensor.
func (k *capture) isData(s *alias.Storage[*place]) bool {
	return k != nil && slices.ContainsFunc(k.leaves, func(l *alias.Ref[*place]) bool { return l.Storage == s })
}

// has reports whether a place is what a data tensor was before the code.
func (k *capture) has(p *place) bool {
	if k == nil {
		return false
	}
	_, data := k.number[p]
	return data
}

// ownMemory writes a value to the memory of a data tensor, before Go code is given it. Calls that
// were recorded keep what they have read of it.
func (s *Session) ownMemory(base *place, a *array.Array) *array.Array {
	for p := range s.capture.number {
		if p.data == a {
			p.data = array.Clone(a)
		}
	}
	if base.data != a {
		array.Copy(a, base.data)
	}
	a.Storage().Bump()
	return a
}
