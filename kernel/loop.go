package kernel

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// Truth returns the one element of a bool array.
func Truth(a *array.Array) bool { return array.Raw[bool](a)[a.Offset()] }

// WhileLoop is a loop over carried values, for plans and generated packages:
//
//	for l.Begin(results, operands, spare...); ; l.Next() {
//		// compute l.Test from l.In
//		if !l.More() {
//			break
//		}
//		// compute l.Out from l.In
//	}
//	l.End(work)
//
// The results of a round are the operands of the next one, without a copy: rounds
// write to the results and to spare memory in turn. The zero value is ready; a loop
// that has run once allocates nothing.
type WhileLoop struct {
	In, Out, Test  []*array.Array
	results, other []*array.Array
	trips, most    int
}

// AtMost bounds the rounds that follow Begin, 0 does not: More panics with a *diag.Error
// (CodeTrips) where one more would follow.
func (l *WhileLoop) AtMost(trips int) *WhileLoop {
	l.most = trips
	return l
}

// Begin begins the loop with its operands: the carried values come first, one for
// each result. spare is memory for as many, and for the tested value.
func (l *WhileLoop) Begin(results, operands []*array.Array, spare ...*array.Array) {
	n := len(results)
	l.trips = 0
	l.In = append(l.In[:0], operands...)
	l.Out = append(l.Out[:0], results...)
	l.Test = append(l.Test[:0], spare[n:]...)
	l.results = append(l.results[:0], results...)
	l.other = append(l.other[:0], spare[:n]...)
}

// More reports whether another round follows.
func (l *WhileLoop) More() bool {
	more := Truth(l.Test[0])
	if more && l.most > 0 && l.trips == l.most {
		panic(diag.New(CodeTrips, "the loop goes on after "+strconv.Itoa(l.most)+" trips, the most that it says it makes").
			WithHint("raise the bound, or end the loop earlier"))
	}
	return more
}

// Next carries the results of a round to the next one.
func (l *WhileLoop) Next() {
	turn(l.In, l.Out, l.results, l.other)
	l.trips++
}

// End stores the carried values in the results, and forgets all arrays.
func (l *WhileLoop) End(work *Workspace) {
	settle(work, l.In, l.results)
	l.Forget()
}

// Forget forgets all arrays.
func (l *WhileLoop) Forget() { forget(l.In, l.Out, l.Test, l.results, l.other) }

// turn makes out the carried values of in, and gives out the memory that is free
// then, of results or of other.
func turn(in, out, results, other []*array.Array) {
	for i, a := range results {
		in[i] = out[i]
		if out[i] == a {
			out[i] = other[i]
		} else {
			out[i] = a
		}
	}
}

// settle stores carried values that lie elsewhere in the results.
func settle(work *Workspace, in, results []*array.Array) {
	for i, a := range results {
		if in[i] != a {
			Copy{}.Run(work, results[i:i+1], in[i:i+1])
		}
	}
}

func forget(lists ...[]*array.Array) {
	for _, l := range lists {
		clear(l)
	}
}

// ScanLoop is a loop over the slices of sequences along their first axis, with carried
// values, for plans and generated packages:
//
//	for l.Begin(carry, seqs, results, operands, spare...); l.More(); l.Next() {
//		// compute l.Out from l.In
//	}
//	l.End(work)
//
// Carried values change places as those of [WhileLoop] do; the other results are written
// slice by slice. The zero value is ready; a loop that has run once allocates nothing.
type ScanLoop struct {
	In, Out        []*array.Array
	results, other []*array.Array // of the carried values
	whole          []*array.Array // sequences, and results that are stacked
	slices         []array.Array  // of whole
	at, rounds     int
}

// Begin begins the loop with its operands: as many carried values as carry says, as
// many sequences as seqs says, constants. Of the results, the carried values are the
// first; spare is memory for them. Sequences of different lengths panic with a
// *diag.Error.
func (l *ScanLoop) Begin(carry, seqs int, results, operands []*array.Array, spare ...*array.Array) {
	l.In = append(l.In[:0], operands...)
	l.Out = append(l.Out[:0], results...)
	l.results = append(l.results[:0], results[:carry]...)
	l.other = append(l.other[:0], spare[:carry]...)
	l.whole = append(append(l.whole[:0], operands[carry:carry+seqs]...), results[carry:]...)
	if len(l.slices) != len(l.whole) {
		l.slices = make([]array.Array, len(l.whole))
	}
	for i, a := range l.whole {
		l.slices[i].Reset(a.DType(), a.Shape()[1:])
		if i < seqs {
			l.In[carry+i] = &l.slices[i]
		} else {
			l.Out[carry+i-seqs] = &l.slices[i]
		}
	}
	l.at, l.rounds = 0, l.whole[0].Dim(0)
	for i, a := range l.whole[:seqs] {
		if n := a.Dim(0); n != l.rounds {
			panic(diag.New(CodeLengths, "sequence "+strconv.Itoa(i)+" has "+strconv.Itoa(n)+" slices, expected as many as the first, "+strconv.Itoa(l.rounds)))
		}
	}
}

// More reports whether another round follows, and takes its slices.
func (l *ScanLoop) More() bool {
	if l.at == l.rounds {
		return false
	}
	for i, a := range l.whole {
		l.slices[i].SetLayout(a, a.Shape()[1:], a.Strides()[1:], a.Offset()+l.at*a.Strides()[0])
	}
	return true
}

// Next carries the results of a round to the next one.
func (l *ScanLoop) Next() {
	turn(l.In, l.Out, l.results, l.other)
	l.at++
}

// End stores the carried values in the results, and forgets all arrays.
func (l *ScanLoop) End(work *Workspace) {
	settle(work, l.In, l.results)
	l.Forget()
}

// Forget forgets all arrays.
func (l *ScanLoop) Forget() {
	forget(l.In, l.Out, l.results, l.other, l.whole)
	for i := range l.slices {
		l.slices[i].SetStorage(nil, 0)
	}
}
