package compile

import (
	"errors"
	"fmt"
	"maps"
	"math"

	"github.com/gofx-dev/gofx/compile/state"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/tensor"
)

// exclusive runs a call under a session, and makes a record of it. fits is the record that fits the call
// already, which is compared with it. The lock is held for writing.
func (c *core) exclusive(b *bucket, k *call, fits *record) {
	defer using.Unlock()
	thawed := b.reads(fits)
	image, why := c.schema.Walk(k.in, k.out, thawed)
	if why != nil {
		c.refuse(b, why)
		c.plain(k, why)
		return
	}
	if why = image.Reached(c.breaks); why != nil { // another call may not come there
		c.refused.Add(1)
		c.remember(why)
		c.lend(k, image, why)
		return
	}
	forecast := fits.forecast(k)
	if fits != nil && (fits.sized() || fits.open.rolled()) && fits.outs > 0 && forecast == nil { // the graph is not for these sizes
		fits = nil
	}
	open, near := b.near(c, k, image, fits)
	if b.alone {
		b.alone, near = fits != nil, nil
	}
	followed := follows(near, image)
	fitting := b.fitting(c, k, image, fits)
	var numbers *opened
	s := lazy.New(lazy.Options{MaxTrace: math.MaxInt, Scalars: lazy.Fixed, Dims: lazy.Fixed, Mark: c.marks(), Regions: c.regions})
	defer s.Close()
	var replay *state.Replay
	got, panicked, err := c.capture(k, image, followed, c.ints(followed), s, func() (list []*tensor.Tensor, all bool) {
		replay, list, why = image.Diff()
		return list, why == nil
	}, func(got *lazy.Captured) lazy.Opening {
		numbers = opening(near, image, open, followed, got)
		return numbers.opening()
	})
	if c.ended(b, k, image, panicked, err) {
		return
	}
	c.captures.Add(1)
	c.looked(b, followed, got)
	if b.thaw(c, image) {
		return
	}
	if why == nil && got.Why != "" {
		why = &state.Refusal{Why: got.Why, Line: got.At.String()}
	}
	if followed != nil && why == nil && got.Looked == "" && (got.Unsure || numbers == nil && !sameSide(near, image, got)) {
		b.alone = true // a record of its own comes first
		return
	}
	if followed != nil && (why != nil || numbers == nil || !numbers.sizes.open()) { // code may do other things where sizes are numbers
		b.compares(followed)
		return
	}
	if why == nil && len(got.Writes) > 0 && !c.inPlace {
		why = &state.Refusal{Why: "a tensor is written in place, of which the table says nothing"}
	}
	var r *record
	if why == nil && numbers == nil && c.roll(b, fitting, image, replay, got, thawed) {
		return
	}
	if why == nil && numbers != nil && !(numbers.typed(got) && sameEnd(numbers.like.got, got) && numbers.like.stores.Same(replay)) {
		b.shut(numbers)
		return
	}
	if why == nil {
		r, why = c.record(image, replay, got, numbers, thawed)
		if numbers != nil && why != nil { // a target may have no symbols
			b.shut(numbers)
			return
		}
	}
	if numbers != nil {
		numbers.like = nil
	}
	c.ends(b, r, fits, why, fits.compared(r, why, forecast, c.opts.lower.Exact))
}

// ends keeps the record of a call, or says why there is none. fits is the record that fitted the call before.
func (c *core) ends(b *bucket, r, fits *record, why *state.Refusal, differs string) {
	if r != nil && fits != nil {
		r.leave()
	}
	switch {
	case differs != "":
		c.distrust(b, differs)
	case fits == nil:
		c.keep(b, r, why)
	}
}

// keep adds the record of a call, or notes why there is none.
func (c *core) keep(b *bucket, r *record, why *state.Refusal) {
	if why == nil {
		r.got.Results = nil
		b.add(c, r)
		return
	}
	c.refuse(b, why)
	if c.opts.strict {
		panic(c.notRecorded(why))
	}
}

// capture runs a call under a session. panicked is what the call has panicked with, where it has left no trace but in the memory that was
// walked: eager code may do what a session refuses.
func (c *core) capture(k *call, image *state.Image, followed *sizes, ints lazy.Ints, s *lazy.Session, found func() ([]*tensor.Tensor, bool), open func(*lazy.Captured) lazy.Opening) (got *lazy.Captured, panicked any, err error) {
	again := false
	defer func() {
		if again {
			panicked = recover()
		}
	}()
	got, err = s.Capture(lazy.Code{Data: image.Data(), Frozen: image.Frozen(), Symbols: followed.symbols(), Ints: ints, Run: k.run, Found: found, Open: open, Again: func() bool {
		again = c.repeats(image)
		return again
	}})
	return got, nil, err
}

// ended runs a call again that a session has not ended. It reports whether there was anything of the kind.
func (c *core) ended(b *bucket, k *call, image *state.Image, panicked any, err error) bool {
	switch {
	case panicked != nil:
		c.unrecorded(b, k, image, panicked)
	case err != nil:
		c.fails(k, image, err)
		if e := (*diag.Error)(nil); errors.As(err, &e) && e.Code == lazy.Stale { // the next call fails, too
			c.refuse(b, &state.Refusal{Why: e.Msg, Line: e.Pos.String()})
		}
	}
	return panicked != nil || err != nil
}

// unrecorded runs a call again that has panicked under a session. Where it does so again, that is its end.
func (c *core) unrecorded(b *bucket, k *call, image *state.Image, panicked any) {
	image.Restore()
	k.clear()
	k.run()
	why := &state.Refusal{Why: fmt.Sprint("it panics where its calls are recorded: ", panicked)}
	c.plains.Add(1)
	c.refuse(b, why)
	if c.opts.strict {
		panic(c.notRecorded(why))
	}
}

// fails runs a call again whose graph could not be computed, so that it fails at its line.
func (c *core) fails(k *call, image *state.Image, err error) {
	again := c.repeats(image)
	image.Restore()
	c.failed.Add(1)
	if !again {
		panic(err)
	}
	k.clear()
	k.run()
}

// reads returns the tensors that a graph reads at each call though it could take them for constants. A call that is compared with
// a record is captured as that was.
func (b *bucket) reads(fits *record) map[string]bool {
	if fits != nil {
		return fits.thawed
	}
	return maps.Clone(b.thawed)
}

// thaw has graphs read the data of tensors that were written: those that the function itself writes, and those that
// others have written LiftAfter times. It reports whether the call was one that wrote them.
func (b *bucket) thaw(c *core, image *state.Image) (wrote bool) {
	for _, path := range image.Changed() {
		b.thawed[path], wrote = true, true
	}
	image.Moments(func(path string, born, version uint64) {
		m := b.moments[path]
		if m == nil {
			m = &moment{born: born, version: version}
			b.moments[path] = m
		}
		if m.born == born && m.version != version {
			m.version = version
			if m.moved++; m.moved >= c.opts.lift {
				b.thawed[path] = true
			}
		}
	})
	return wrote
}

// distrust ends the records of a receiver, for which the table does not hold.
func (c *core) distrust(b *bucket, why string) {
	if c.opts.audit > 0 {
		panic((&diag.Error{Code: Differs, Op: c.name, Msg: why, Hint: "run fxgen compile again; where the table is that of the code, report the function"}).At(diag.Here()))
	}
	no := &state.Refusal{Why: why}
	c.refused.Add(1)
	c.remember(no)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.plain, b.asIs = no, true
	b.empty()
}

// refuse notes that a call has no record. After LiftAfter such calls in a row none is tried.
func (c *core) refuse(b *bucket, why *state.Refusal) {
	c.refused.Add(1)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.refused++; b.refused >= c.opts.lift {
		b.plain = why
	}
	c.remember(why)
}

// add adds a record.
func (b *bucket) add(c *core, r *record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		r.leave()
		return
	}
	c.records.Add(1)
	b.refused = 0
	b.records = append(b.records, nil)
	copy(b.records[1:], b.records)
	b.records[0] = r
	if n := len(b.records); n > c.opts.capacity {
		b.records[n-1].leave()
		b.records = b.records[:n-1]
		c.evicted.Add(1)
		if b.evicted++; b.evicted >= c.opts.capacity {
			b.plain = &state.Refusal{Why: "more records than Capacity were made, and as many have gone"}
			if m := c.often(); m.Path != "" {
				b.plain.Why += "; " + m.Path + " is what differs most"
				b.plain.Line = m.Line
			}
		}
	}
}
