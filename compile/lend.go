package compile

import (
	"slices"
	"sync"

	"github.com/gofx-dev/gofx/compile/state"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/tensor"
)

// sessions has the session in which calls without a record run. Its graphs are those of all receivers.
type sessions struct {
	mu           sync.Mutex
	s            *lazy.Session
	busy, closed bool
}

// take returns the session for one call, nil where the function is closed.
func (l *sessions) take(o *options) *lazy.Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	if l.s == nil {
		l.s = lazy.New(lazy.Options{Target: o.target, Rounding: !o.lower.Exact})
	}
	l.busy = true
	return l.s
}

// back ends the use of the session.
func (l *sessions) back() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.busy = false; l.closed {
		_ = l.s.Close() // nothing is recorded in it
	}
}

// close closes the session, at the end of the call that uses it where there is one.
func (l *sessions) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed && !l.busy && l.s != nil {
		_ = l.s.Close()
	}
	l.closed = true
}

// exclusiveLend runs a call of which there is to be no record. The lock is held for writing.
func (c *core) exclusiveLend(k *call, why *state.Refusal) {
	defer using.Unlock()
	image, no := c.schema.Walk(k.in, k.out, nil)
	if no != nil {
		c.plain(k, why)
		return
	}
	c.lend(k, image, why)
}

// lend runs a call in the session: what it computes between two places that look at data is one graph of the
// session's cache.
func (c *core) lend(k *call, image *state.Image, why *state.Refusal) {
	data := slices.Concat(image.Data(), image.Frozen())
	if len(data) == 0 || c.opts.strict || image.Reached(c.apart) != nil {
		c.plain(k, why)
		return
	}
	s := c.sessions.take(&c.opts)
	if s == nil {
		c.plain(k, why)
		return
	}
	defer c.sessions.back()
	c.lent.Add(1)
	flushes, err := s.Lend(data, k.run, func() (list []*tensor.Tensor, all bool) {
		_, list, no := image.Diff()
		return list, no == nil
	})
	c.segments.Add(int64(flushes))
	if err == nil {
		return
	}
	c.failed.Add(1)
	again := image.Untouched()
	image.Restore()
	if !again || image.Reached(c.opaque) != nil { // what has happened outside of memory is not done again
		panic(err)
	}
	k.clear()
	k.run() // which fails at its line
}
