package cuda

import "sync"

// usage remembers the last command of each queue that uses something (memory, a
// program), so that it is not given away before these commands are done.
type usage struct {
	mu   sync.Mutex
	last []ticket
}

// ticket is a command of a queue: the n-th.
type ticket struct {
	q *queue
	n uint64
}

// mark notes that the newest command of q uses it.
func (u *usage) mark(q *queue) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for i := range u.last {
		if u.last[i].q == q {
			u.last[i].n = q.issued
			return
		}
	}
	u.last = append(u.last, ticket{q, q.issued})
}

// idle reports whether all commands are known to be done, which queues find out when
// they are waited for.
func (u *usage) idle() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, t := range u.last {
		if t.q.finished.Load() < t.n {
			return false
		}
	}
	u.last = u.last[:0]
	return true
}

// wait waits for the commands; the caller has entered the device.
func (u *usage) wait() status {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, t := range u.last {
		if s := t.q.wait(t.n); s != success {
			return s
		}
	}
	u.last = u.last[:0]
	return success
}
