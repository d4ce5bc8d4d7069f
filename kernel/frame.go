package kernel

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// Frame is the part of a call's state that is the same for every generated
// package: the arena of intermediate values, the workspace of the kernels, the
// operands of the current step and its name. The package's own state embeds it.
//
// Sizes are laid out first, with Arena and then Place, Header and Need; kernels
// run after Allocate. A Frame is used by one call at a time. Its methods panic
// with a *diag.Error, or with a value that Failure understands; whoever began the
// call turns that into an error. The zero value is ready for Begin.
type Frame struct {
	ctx         interface{ Err() error } // not a context.Context, which refers to all of package time
	scope, step string
	work        Workspace
	arena       *array.Storage
	size, need  int
	dry         bool
	in, out     []*array.Array
	apart       map[*array.Array]*array.Storage // of views that became copies, and sized results
	shapes      [][]int                         // that a step has found
	hook        Hook                            // of the whole call

	outer, inner *Frame   // of a body: the call that it belongs to; the body in progress
	bodies       []*Frame // that have been laid out
}

// Begin starts a call that computes with at most threads goroutines and stops
// when ctx, a context.Context or nil, ends.
func (f *Frame) Begin(ctx interface{ Err() error }, threads int) {
	f.ctx, f.work.Threads = ctx, threads
}

// End finishes a call and forgets its context and operands. The memory is kept
// for the next call.
func (f *Frame) End() {
	f.ctx, f.scope, f.step, f.hook = nil, "", "", nil
	clear(f.in)
	clear(f.out)
}

// Within puts a scope in front of the names of the steps that follow.
func (f *Frame) Within(scope string) { f.scope = scope }

// At begins the step of that name and returns the workspace for its kernel. It
// panics when the context of the call has ended, which Failure understands.
func (f *Frame) At(step string) *Workspace {
	f.step = step
	f.poll()
	return f.workspace()
}

// Settle tells that the steps that follow write what the call was given: they do not stop when the
// context of the call ends.
func (f *Frame) Settle() { f.ctx = nil }

func (f *Frame) poll() {
	if f.ctx != nil {
		if err := f.ctx.Err(); err != nil {
			panic(stopped{err})
		}
	}
}

// Outs lists the results of a step. The list is valid until the next call of Outs.
// Generated code calls it twice for each step: inlined, it would be a third of that
// code, and saves some nanoseconds of a step.
//
//go:noinline
func (f *Frame) Outs(a ...*array.Array) []*array.Array {
	f.out = append(f.out[:0], a...)
	return f.out
}

// Ins lists the operands of a step. The list is valid until the next call of Ins.
// It is no more inlined than Outs is.
//
//go:noinline
func (f *Frame) Ins(a ...*array.Array) []*array.Array {
	f.in = append(f.in[:0], a...)
	return f.in
}

// Viewed takes the result of Viewer.View; it panics when a view was not possible.
func (f *Frame) Viewed(step string, ok bool) {
	if !ok {
		f.step = step
		panic(diag.Bug("the value has a layout that it has for no sizes"))
	}
}

// ViewOrDense lays out the results of a step that are views where there are such.
func (f *Frame) ViewOrDense(k PartialViewer, out, in []*array.Array) {
	if !k.View(out, in) {
		for _, a := range out {
			a.Reset(a.DType(), a.Shape())
		}
	}
}

// ViewOrCopy computes a step that gives views where there are such for these
// sizes, and else copies in memory of their own, which the frame keeps.
func (f *Frame) ViewOrCopy(step string, k PartialViewer, out, in []*array.Array) {
	if k.View(out, in) {
		return
	}
	if f.apart == nil {
		f.apart = map[*array.Array]*array.Storage{}
	}
	for _, a := range out {
		n := a.Reset(a.DType(), a.Shape()) * a.DType().Size()
		if s := f.apart[a]; s == nil || len(s.Bytes()) < n {
			f.apart[a] = array.NewStorage(n)
		}
		a.SetStorage(f.apart[a], 0)
	}
	k.Run(f.At(step), out, in)
}

// Measure makes the frame compute sizes without making memory; see Bytes.
func (f *Frame) Measure() { f.dry = true }

// Ready reports whether sizes have been laid out.
func (f *Frame) Ready() bool { return f.arena != nil }

// Arena begins a layout: it makes room for intermediate values of size bytes
// together and forgets earlier needs.
func (f *Frame) Arena(size int) {
	if size < 0 {
		panic(tooLarge("the intermediate values"))
	}
	f.size, f.need = size, 0
	if err := array.TooLarge("all intermediate values together", int64(size)); err != nil && !f.dry {
		panic(err)
	}
	if !f.dry && (f.arena == nil || len(f.arena.Bytes()) < size) {
		f.arena = array.NewStorage(size)
	}
}

// Place gives an intermediate value its type and its place, at a number of bytes
// from the start of the arena that Arena has made.
func (f *Frame) Place(a *array.Array, at int, d array.DType, shape ...int) {
	n, ok := array.NumElems(shape)
	if !ok || at < 0 || at > f.size || n > (f.size-at)/d.Size() {
		panic(tooLarge("an intermediate value"))
	}
	a.Reset(d, shape)
	a.SetStorage(f.arena, at/d.Size())
}

// Header gives a value its type alone and returns it; a view finds its memory
// later.
func (f *Frame) Header(a *array.Array, d array.DType, shape ...int) *array.Array {
	if _, ok := array.NumElems(shape); !ok {
		panic(tooLarge("a value"))
	}
	a.Reset(d, shape)
	return a
}

// Need notes that a step takes so many bytes of scratch memory.
func (f *Frame) Need(scratch int) { f.need = max(f.need, scratch) }

// Allocate ends a layout: it makes the scratch memory that steps need.
func (f *Frame) Allocate() {
	if !f.dry {
		f.workspace().Reserve(f.need)
	}
}

// Bytes returns the memory that the sizes laid out ask for on one thread, those of
// bodies included.
func (f *Frame) Bytes() int64 {
	n := int64(f.size)
	if f.outer == nil {
		n += int64(f.need)
	}
	for _, b := range f.bodies {
		n += b.Bytes()
	}
	return n
}

// Held returns the bytes of the arenas and of the scratch memory that the frame
// holds: Bytes of the largest layout so far, if every kernel takes as much as it
// stated.
func (f *Frame) Held() int64 {
	n := int64(f.work.Reserved())
	if f.arena != nil {
		n += int64(len(f.arena.Bytes()))
	}
	for _, b := range f.bodies {
		n += b.Held()
	}
	return n
}

// Failure returns the error that r, recovered from a panic during the call,
// stands for. A *diag.Error gets the name of the current step unless it names a
// node; whatever else kernels panic with is a fault of theirs, and says so: of gofx, or of
// a user's operator (CodeStep).
func (f *Frame) Failure(r any) error {
	for f.inner != nil {
		f = f.inner
	}
	return failure(r, f.scope+f.step)
}

// Recover is deferred by functions of generated packages that check arguments: it
// stores in err the error that a panic carries.
func Recover(err *error) {
	if r := recover(); r != nil {
		*err = failure(r, "")
	}
}

// stopped is the panic value of a call whose context has ended.
type stopped struct{ err error }

func failure(r any, step string) error {
	var e *diag.Error
	switch r := r.(type) {
	case stopped:
		e = diag.Stop(r.err)
	case *diag.Error:
		c := *r
		e = &c
	default:
		if e = Foreign(r); e == nil {
			e = fault(r)
		}
	}
	if e.Node == "" {
		e.Node = step
	}
	return e
}

// fault is the error of a kernel of gofx that panicked.
func fault(r any) *diag.Error {
	if text, ok := r.(string); ok {
		return diag.Bug(text)
	}
	e := diag.Bug("a kernel failed")
	e.Err, _ = r.(error)
	return e
}

func tooLarge(what string) *diag.Error {
	return diag.New(CodeSizes, what+" of these sizes cannot be held, expected smaller inputs")
}

// FloorDiv returns a/b rounded towards minus infinity, for sizes. It panics with
// a *diag.Error when b is 0.
func FloorDiv(a, b int) int {
	if b == 0 {
		panic(diag.New(CodeSizes, "a size is divided by a size that is 0, expected inputs that are not empty"))
	}
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// FreeList keeps values for later use by any goroutine. The zero value keeps none.
type FreeList[T any] struct{ kept chan *T }

// NewFreeList returns a list that keeps at most n values.
func NewFreeList[T any](n int) FreeList[T] { return FreeList[T]{make(chan *T, n)} }

// Take returns a value that nobody else uses: a kept one, or a new zero value.
func (l FreeList[T]) Take() *T {
	select {
	case v := <-l.kept:
		return v
	default:
		return new(T)
	}
}

// Give hands a value back, which is dropped when enough are kept.
func (l FreeList[T]) Give(v *T) {
	select {
	case l.kept <- v:
	default:
	}
}
