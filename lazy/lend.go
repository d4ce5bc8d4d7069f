package lazy

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/tensor"
)

// notKept is why no graph stands for code that Lend runs: none is asked for.
const notKept = "the code is run, and not kept"

// Lend runs code whose tensors data belong to the session meanwhile, each once: its calls are recorded, and computed
// when the code looks at data, and at the end. found, called after the code, returns tensors that the code made; all tells
// that it leaves no other that outlives the run. Where it may, all that the code made is computed. When Lend
// returns, all are eager tensors with their values, the data tensors hold what was written to them, and the session
// keeps none of them. flushes says how often something was computed.
//
// An error is one of the computation: data tensors are as they were at the last time that the code was shown their memory.
// A panic of the code passes on. What it has written to data tensors before is kept, unless again, called
// then, tells that the code will be run another time.
func (s *Session) Lend(data []*tensor.Tensor, code func(), found func() (list []*tensor.Tensor, all bool), again func() bool) (flushes int, err error) {
	k := &capture{start: array.Now(), data: data, number: map[*place]int{}, why: notKept, again: again}
	defer func() {
		s.past.forget()
		s.rec.Eager.Forget(func(*memory) bool { return true })
	}()
	_, err = s.borrow(k, code, found, nil)
	return k.flushes, err
}

// flushed notes that something was computed.
func (k *capture) flushed() {
	if k != nil {
		k.flushes++
	}
}

// flush computes the values of a lent run, and all that the code has recorded and not used: eager code would have
// told of their mistakes.
func (e *ending) flush(places []*place) {
	e.s.compute(Barrier, slices.Concat(e.s.ends(), e.s.written(), places))
	for _, v := range places {
		if v.err() != nil {
			panic(v.mistake())
		}
	}
	for i := range e.c.Writes {
		e.c.Writes[i].Value.Array = array.Clone(e.want[i].data)
	}
}
