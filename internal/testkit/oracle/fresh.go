package oracle

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Result is the result of an operator's record for a call: arrays or an error.
type Result struct {
	Out   []*array.Array
	Err   error
	Panic string // of anything but a diagnostic: always a defect
}

// Eval evaluates a call.
func Eval(c Call) (r Result) {
	defer func() {
		if p := recover(); p != nil {
			r = Result{Panic: fmt.Sprint(p)}
		}
	}()
	out, err := c.Op.Eval(&kernel.Workspace{}, c.Attrs, c.In)
	var d *diag.Error
	if err != nil && !errors.As(err, &d) {
		return Result{Panic: "an error without a code: " + err.Error()}
	}
	return Result{Out: out, Err: err}
}

// maxElements bounds operands and results, so that PyTorch is done soon.
const maxElements = 1 << 14

// maxTries bounds the calls that are drawn for each that is kept.
const maxTries = 60

// Fresh draws calls of an operator that nobody wrote: n that the operator
// computes and up to n/3 that it refuses, the same for the same seed. They begin
// as samples of the record, valid or not, whose sizes, element types, attributes,
// presence, values and layouts change.
func Fresh(o *op.Op, seed uint64, n int) []Call {
	h := fnv.New64a()
	h.Write([]byte(o.Name))
	d := &drawing{Rand: rand.New(rand.NewPCG(seed, h.Sum64())), op: o, good: o.Samples()}
	for _, b := range o.BadSamples() {
		d.bad = append(d.bad, op.Sample{Name: b.Name, Attrs: b.Attrs, In: b.In})
	}
	var calls []Call
	seen := map[string]bool{}
	computed, refused := 0, 0
	for tries := 0; computed < n && tries < maxTries*n; tries++ {
		c := Call{Op: o, Key: o.Name + "/" + strconv.Itoa(len(calls)), Sample: d.draw()}
		print := Fingerprint(o, c.Sample)
		if seen[print] && tries < maxTries*n/2 || tooLarge(c) {
			continue
		}
		seen[print] = true
		r := Eval(c)
		switch {
		case r.Panic != "":
		case r.Err == nil:
			computed++
		case refused < n/3:
			refused++
		default:
			continue
		}
		calls = append(calls, c)
	}
	return calls
}

// tooLarge reports whether the results would take long to compute.
func tooLarge(c Call) bool {
	t, err := c.Op.TypeFor(c.Attrs, c.In)
	if err != nil {
		return false
	}
	members := []shape.Type{t}
	if t.Kind() == shape.Tuple {
		members = make([]shape.Type, min(t.Len(), maxElements))
		for i := range members {
			members[i] = t.Member(i)
		}
	}
	total := 0
	for _, m := range members {
		_, dims, ok := m.Concrete()
		if !ok {
			return false
		}
		count, ok := array.NumElems(dims)
		if total += count; !ok || count > maxElements || total > maxElements {
			return true
		}
	}
	return false
}

// drawing draws the calls of one operator.
type drawing struct {
	*rand.Rand
	op        *op.Op
	good, bad []op.Sample
}

// chance is true with probability p.
func (d *drawing) chance(p float64) bool { return d.Float64() < p }

// pick returns one of the values.
func pick[T any](d *drawing, from ...T) T { return from[d.IntN(len(from))] }

// draw makes one call, which may be invalid.
func (d *drawing) draw() op.Sample {
	from := d.good
	if len(d.bad) > 0 && d.chance(0.08) {
		from = d.bad
	}
	seed := pick(d, from...)
	s := op.Sample{Name: "from " + seed.Name, Attrs: seed.Attrs, In: slices.Clone(seed.In)}
	if d.chance(0.75) {
		d.resize(&s)
	}
	if d.chance(0.15) {
		d.rerank(&s)
	}
	if d.chance(0.1) {
		d.stretch(&s)
	}
	if d.chance(0.15) {
		d.present(&s)
	}
	types := d.types(&s)
	if d.chance(0.7) {
		s.Attrs = d.attrs(s)
	}
	for i, a := range s.In {
		if a == nil {
			continue
		}
		s.In[i] = d.layout(d.fill(a, types[i]))
	}
	return s
}
