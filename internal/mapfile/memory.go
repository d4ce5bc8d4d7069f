package mapfile

import (
	"sync"
	"sync/atomic"
)

// Memory is the contents of a file.
type Memory struct {
	b      []byte
	mapped bool

	once   sync.Once
	err    error
	closed atomic.Bool
}

// Bytes returns the contents. They must not be used after Close.
func (m *Memory) Bytes() []byte { return m.b }

// Close gives memory that is mapped back to the system, and leaves other memory to the
// collector. Who touches the contents afterwards ends the program. Further calls do
// nothing. A nil Memory has nothing to give back.
func (m *Memory) Close() error {
	if m == nil {
		return nil
	}
	m.once.Do(func() {
		m.closed.Store(true)
		if b := m.b; m.mapped {
			m.b = nil
			m.err = unmap(b)
		}
	})
	return m.err
}

// Closed reports whether Close was called; of a nil Memory it was not.
func (m *Memory) Closed() bool { return m != nil && m.closed.Load() }

// Refuse closes the memory of a file that is refused, and returns why it is.
func (m *Memory) Refuse(err error) error {
	_ = m.Close() // the file is at fault, not the system's report of its memory
	return err
}

// CloseAll closes several.
func CloseAll(list []*Memory) (err error) {
	for _, m := range list {
		if e := m.Close(); err == nil {
			err = e
		}
	}
	return err
}
