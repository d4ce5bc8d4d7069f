package compile

import (
	"io"
	"reflect"
	"sync"
	"unsafe"

	"github.com/gofx-dev/gofx/compile/state"
)

// Func is a compiled function. I is a struct of its receiver and arguments, O one of its results. Generated code
// makes it, with a method Call that has the function's own signature.
type Func[I, O any] struct {
	core   *core
	frames sync.Pool // of *frame[I, O]
}

// frame is a call.
type frame[I, O any] struct {
	call
	in  I
	out O
}

// New returns the compiled form of the function that run calls. The table lists what it reads and writes: where it
// lacks something, records are wrong. It panics with FX1070 where the table speaks of types or fields that the program
// does not have.
func New[I, O any](t state.Table, run func(in *I, out *O), list ...Option) *Func[I, O] {
	f := &Func[I, O]{core: newCore(t, reflect.TypeFor[I](), reflect.TypeFor[O](), optionsOf(list))}
	f.core.tells = tellsOf[I](&t)
	f.frames.New = func() any {
		c := &frame[I, O]{}
		c.call.in, c.call.out = unsafe.Pointer(&c.in), unsafe.Pointer(&c.out)
		c.run = func() { run(&c.in, &c.out) }
		c.clear = func() { clear1(&c.out) }
		return c
	}
	return f
}

func clear1[T any](p *T) {
	var zero T
	*p = zero
}

// Call calls the function, or does what it would do.
func (f *Func[I, O]) Call(in I) O {
	c := f.frames.Get().(*frame[I, O])
	c.in = in
	f.core.do(&c.call)
	out := c.out
	clear1(&c.in)
	clear1(&c.out)
	c.machine.Reset()
	c.numbers = numbers{}
	f.frames.Put(c)
	return out
}

// Stats returns the counts since the function was compiled.
func (f *Func[I, O]) Stats() Stats { return f.core.counted() }

// Explain writes for people what the records are, and why calls run the function as it is.
func (f *Func[I, O]) Explain(w io.Writer) error { return f.core.explain(w) }

// Close lets the records go. Later calls run the function as it is.
func (f *Func[I, O]) Close() { f.core.close() }
