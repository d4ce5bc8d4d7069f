package train

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"strconv"
	"sync"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// Loader gives the batches of an epoch. The same epoch and index give the same batch, so that
// training goes on where it was stopped.
type Loader interface {
	// Len is the number of batches of an epoch.
	Len() int
	// Batch returns batch i of an epoch, both from 0 on: the inputs of the step, whose first axes
	// are the examples.
	Batch(epoch, i int) ([]*array.Array, error)
}

// Batches is a Loader of arrays in memory.
type Batches struct {
	// Data are the inputs of the step; row i of each belongs to example i.
	Data []*array.Array
	// Names are what messages call the arrays; nil: array 0, array 1.
	Names []string
	// Size is the number of examples of a batch.
	Size int
	// Shuffle puts the examples into another order in each epoch, which Seed decides.
	Shuffle bool
	Seed    uint64
	// DropLast leaves out the last batch of an epoch where it has fewer than Size examples.
	DropLast bool
	// Augment changes a batch, which is a copy of rows of Data, before it is given: it shifts or
	// turns images, or adds noise. r is that of Seed, the epoch and the batch, so that a batch is
	// always the same; nil changes nothing.
	Augment func(r *rand.Rand, batch []*array.Array)
	// Classes is the number of classes where the last array has labels: integers from 0 to below
	// Classes. 0 does not look at them.
	Classes int
	// Ignore is a label that is allowed besides; nil: there is none.
	Ignore *int

	last *shuffled
}

// shuffled is the order of the examples in the epoch that was asked for last.
type shuffled struct {
	sync.Mutex
	of   request
	rows []int
}

// request is what an order follows from.
type request struct {
	epoch, rows int
	shuffle     bool
	seed        uint64
}

// NewBatches checks the data, all of it, and returns a copy of b: arrays with different numbers of
// rows, no rows, values that are NaN or infinite, and labels that are no class are refused with
// FX3104, all at once, with the first row of each.
func NewBatches(b Batches) (*Batches, error) {
	var errs diag.List
	fault := func(msg, hint string) { errs.Add(diag.New(BadData, msg).WithHint(hint)) }
	if len(b.Data) == 0 {
		fault("there are no arrays, expected inputs and labels", "")
	}
	if b.Size < 1 {
		fault("the size of batches is "+strconv.Itoa(b.Size)+", expected 1 or more", "")
	}
	rows := -1
	for i, a := range b.Data {
		switch {
		case a == nil || a.Rank() == 0:
			fault(b.name(i)+" has no rows", "the first axis counts the examples")
			continue
		case rows < 0:
			rows = a.Dim(0)
		case a.Dim(0) != rows:
			fault(b.name(i)+" has "+strconv.Itoa(a.Dim(0))+" rows, "+b.name(0)+" has "+strconv.Itoa(rows), "leave out the rows that have no counterpart")
		}
		if at := notFinite(a); at >= 0 {
			fault(fmt.Sprintf("%s is %v in row %d", b.name(i), array.Float64At(a, at), at/max(a.Len()/max(a.Dim(0), 1), 1)), "leave the row out (train.Rows), or correct it")
		}
	}
	switch {
	case rows == 0:
		fault("the arrays have no rows, expected one and more", "")
	case rows > 0 && b.DropLast && rows < b.Size:
		fault(strconv.Itoa(rows)+" rows are fewer than a batch of "+strconv.Itoa(b.Size)+", which is dropped", "make batches smaller, or keep the last one")
	}
	if b.Classes > 0 && len(b.Data) > 0 {
		if msg := b.wrongLabel(b.Data[len(b.Data)-1]); msg != "" {
			fault(msg, "count classes from 0 on, or set Classes")
		}
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	b.last = &shuffled{}
	return &b, nil
}

// name is what messages call an array.
func (b *Batches) name(i int) string {
	if i < len(b.Names) {
		return b.Names[i]
	}
	return "array " + strconv.Itoa(i)
}

// notFinite returns the index of the first element that is no finite number, -1 for none.
func notFinite(a *array.Array) int {
	if !a.DType().IsFloat() {
		return -1
	}
	for i := range a.Len() {
		if v := array.Float64At(a, i); math.IsNaN(v) || math.IsInf(v, 0) {
			return i
		}
	}
	return -1
}

func (b *Batches) wrongLabel(a *array.Array) string {
	if a == nil || a.Rank() == 0 {
		return ""
	}
	if a.DType().IsFloat() {
		return "the labels are " + a.DType().String() + ", expected integers"
	}
	for i := range a.Len() {
		v := array.Int64At(a, i)
		if (v < 0 || v >= int64(b.Classes)) && (b.Ignore == nil || v != int64(*b.Ignore)) {
			return fmt.Sprintf("the label of row %d is %d, expected a class from 0 to %d", i/max(a.Len()/a.Dim(0), 1), v, b.Classes-1)
		}
	}
	return ""
}

func (b *Batches) rows() int { return b.Data[0].Dim(0) }

// Len implements Loader.
func (b *Batches) Len() int {
	if b.DropLast {
		return b.rows() / b.Size
	}
	return (b.rows() + b.Size - 1) / b.Size
}

// Batch implements Loader.
func (b *Batches) Batch(epoch, i int) ([]*array.Array, error) {
	if i < 0 || i >= b.Len() {
		return nil, diag.New(BadData, "batch "+strconv.Itoa(i)+" is asked for, there are "+strconv.Itoa(b.Len()))
	}
	rows := b.epoch(epoch)[i*b.Size : min((i+1)*b.Size, b.rows())]
	out := make([]*array.Array, len(b.Data))
	for k, a := range b.Data {
		out[k] = pick(a, rows)
	}
	if b.Augment != nil {
		b.Augment(rand.New(rand.NewPCG(b.Seed, uint64(epoch)<<32|uint64(i))), out)
	}
	return out, nil
}

// epoch is order, which is kept for the other batches of the epoch.
func (b *Batches) epoch(epoch int) []int {
	if b.last == nil {
		return b.order(epoch)
	}
	b.last.Lock()
	defer b.last.Unlock()
	if of := (request{epoch, b.rows(), b.Shuffle, b.Seed}); b.last.rows == nil || b.last.of != of {
		b.last.of, b.last.rows = of, b.order(epoch)
	}
	return b.last.rows
}

// order is that of the examples in an epoch: a shuffle of Fisher and Yates, whose numbers are
// those of PCG of seed and epoch, on all machines.
func (b *Batches) order(epoch int) []int {
	rows := make([]int, b.rows())
	for i := range rows {
		rows[i] = i
	}
	if !b.Shuffle {
		return rows
	}
	r := rand.NewPCG(b.Seed, uint64(epoch))
	for i := len(rows) - 1; i > 0; i-- {
		j, _ := bits.Mul64(r.Uint64(), uint64(i+1))
		rows[i], rows[j] = rows[j], rows[i]
	}
	return rows
}

// String describes the order of the batches; a checkpoint is for the same one.
func (b *Batches) String() string {
	return fmt.Sprintf("%d rows in batches of %d, shuffle %t, seed %d, drop last %t, augmented %t", b.rows(), b.Size, b.Shuffle, b.Seed, b.DropLast, b.Augment != nil)
}
