package compile

import (
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

// exclusiveLend runs a call that is not to be recorded. The caller has locked using for writing; exclusiveLend unlocks it.
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
	if len(image.Tensors()) == 0 || c.opts.strict || image.Reached(c.apart) != nil || !image.Apart() {
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
	flushes, err, again := c.inSession(k, image, s)
	c.segments.Add(int64(flushes))
	if err == nil && !again {
		return
	}
	c.failed.Add(1)
	image.Restore()
	if !again {
		panic(err)
	}
	k.clear()
	k.run()
}

// inSession runs a call in a session. again tells that it has failed, has left no trace but in the memory that was walked, and is to be
// run as it is, to fail as it does.
func (c *core) inSession(k *call, image *state.Image, s *lazy.Session) (flushes int, err error, again bool) {
	defer func() {
		if again {
			_ = recover() // a panic that comes again
		}
	}()
	flushes, err = s.Lend(image.Tensors(), k.run, func() (list []*tensor.Tensor, all bool) {
		_, list, no := image.Diff()
		return list, no == nil
	}, func() bool {
		again = c.repeats(image)
		return again
	})
	return flushes, err, err != nil && c.repeats(image)
}

// repeats reports whether a call that has failed may be run another time: it has written no tensor, and has done nothing outside
// of the memory that was walked.
func (c *core) repeats(image *state.Image) bool {
	return len(c.tells) == 0 && image.Untouched() && image.Reached(c.opaque) == nil
}
