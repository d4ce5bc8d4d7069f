package pjrt

import "sync"

// ref counts who uses an object of the plugin: its owner until Close, every call that is
// under way, and for a client all that it made. The last one that leaves frees the object,
// so that Close never waits for a device, and nothing is freed while it is in use.
type ref struct {
	mu     sync.Mutex
	n      int
	closed bool
	free   func() error
}

func (r *ref) init(free func() error) { r.n, r.free = 1, free }

// enter begins a use; false after Close.
func (r *ref) enter() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.n++
	return true
}

// hold begins another use, also after Close, within one that goes on.
func (r *ref) hold() {
	r.mu.Lock()
	r.n++
	r.mu.Unlock()
}

// leave ends a use.
func (r *ref) leave() error {
	r.mu.Lock()
	r.n--
	last := r.n == 0
	r.mu.Unlock()
	if last {
		return r.free()
	}
	return nil
}

// shut ends the owner's use, once.
func (r *ref) shut() error {
	r.mu.Lock()
	was := r.closed
	r.closed = true
	r.mu.Unlock()
	if was {
		return nil
	}
	return r.leave()
}

func (r *ref) isClosed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}
