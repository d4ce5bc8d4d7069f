// Package turn is a lock whose waits end with a context, for runs that wait for other runs.
package turn

import (
	"context"
	"slices"
	"sync"

	"github.com/gofx-dev/gofx/diag"
)

// Lock is held by one writer or by many readers. Those who wait have it in the order in which they came, so
// that neither kind starves the other. The zero value is free. A free lock is taken without memory.
type Lock struct {
	mu      sync.Mutex
	readers int
	writer  bool
	waiting []*waiter
}

type waiter struct {
	writes bool
	turn   chan struct{} // closed when it holds the lock
}

// Lock waits until nobody else holds the lock, or returns the error of a context that ends first. A nil
// context never ends.
func (l *Lock) Lock(ctx context.Context) error { return l.take(ctx, true) }

// RLock is Lock that other readers may hold at the same time.
func (l *Lock) RLock(ctx context.Context) error { return l.take(ctx, false) }

// Unlock ends the lock that Lock began.
func (l *Lock) Unlock() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.writer {
		panic(diag.Bug("a lock is given back that nobody holds"))
	}
	l.writer = false
	l.admit()
}

// RUnlock ends the lock that RLock began.
func (l *Lock) RUnlock() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.readers == 0 {
		panic(diag.Bug("a lock is given back that nobody reads"))
	}
	l.readers--
	l.admit()
}

// Waiting returns how many wait, for tests.
func (l *Lock) Waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.waiting)
}

func (l *Lock) take(ctx context.Context, writes bool) error {
	l.mu.Lock()
	if len(l.waiting) == 0 && l.enter(writes) {
		l.mu.Unlock()
		return nil
	}
	w := &waiter{writes, make(chan struct{})}
	l.waiting = append(l.waiting, w)
	l.mu.Unlock()
	var end <-chan struct{}
	if ctx != nil {
		end = ctx.Done()
	}
	select {
	case <-w.turn:
		return nil
	case <-end:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.waiting, w)
	if i < 0 {
		return nil // its turn came at the same time
	}
	l.waiting = slices.Delete(l.waiting, i, i+1)
	l.admit() // readers may have waited for this writer alone
	return diag.Stop(ctx.Err())
}

// enter takes the lock if it can be had, with mu.
func (l *Lock) enter(writes bool) bool {
	if l.writer || writes && l.readers > 0 {
		return false
	}
	if l.writer = writes; !writes {
		l.readers++
	}
	return true
}

// admit gives the lock to those who wait, as far as they can have it, with mu.
func (l *Lock) admit() {
	n := 0
	for n < len(l.waiting) && l.enter(l.waiting[n].writes) {
		close(l.waiting[n].turn)
		n++
	}
	l.waiting = slices.Delete(l.waiting, 0, n)
}
