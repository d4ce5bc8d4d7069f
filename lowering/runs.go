package lowering

import (
	"sync"

	"github.com/gofx-dev/gofx/diag"
)

// Runs are the runs of an executable whose Close waits for those that have begun. The zero value is open.
type Runs struct {
	mu     sync.Mutex
	closed bool
	active sync.WaitGroup
}

// Begin begins a run, which End ends, or is the error of code Closed: from the call of Close on, also while that
// waits for others.
func (r *Runs) Begin() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return isClosed()
	}
	r.active.Add(1)
	return nil
}

// End ends a run that Begin has begun.
func (r *Runs) End() { r.active.Done() }

// Close has no run begin any more, and returns when all have ended; false if it was called before, when it
// returns at once.
func (r *Runs) Close() bool {
	r.mu.Lock()
	first := !r.closed
	r.closed = true
	r.mu.Unlock()
	if first {
		r.active.Wait()
	}
	return first
}

func isClosed() error {
	return diag.New(Closed, "the executable is closed, expected an open one").WithHint("compile the module again")
}
