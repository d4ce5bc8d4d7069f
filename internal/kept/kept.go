// Package kept keeps what was computed from something that is edited, until an edit ends it.
//
// A Store has results by key, and a stamp of what they were computed from: when the stamp has
// changed, they are gone. It does not know what a result is about; package graph has the
// stamps of graphs. Read kept.go.
package kept

import (
	"reflect"
	"sync"
)

// Store has the results for one state of what they are about. The zero value has none. Many
// goroutines may use it at once.
type Store[S comparable] struct {
	mu    sync.Mutex
	stamp S
	kept  map[any]any
}

// Get returns what is kept under key for the stamp that now returns, else what compute
// returns, which is kept unless the stamp is another one by then. Goroutines that ask at the
// same time may each compute. name is for Watch.
func (s *Store[S]) Get(key any, name string, now func() S, compute func() any) any {
	stamp := now()
	old, ok := s.look(key, stamp)
	if ok {
		if check != nil {
			if fresh := compute(); !same(old, fresh) {
				check(name, old, fresh)
			}
		}
		return old
	}
	Count(name)
	v := compute()
	s.keep(key, stamp, now, v)
	return v
}

func (s *Store[S]) look(key any, stamp S) (v any, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stamp != stamp {
		s.stamp = stamp
		clear(s.kept) // what it holds of erased nodes is free, too
	}
	v, ok = s.kept[key]
	return v, ok
}

func (s *Store[S]) keep(key any, stamp S, now func() S, v any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stamp != stamp || now() != stamp {
		return
	}
	if s.kept == nil {
		s.kept = map[any]any{}
	}
	s.kept[key] = v
}

var (
	check func(name string, kept, fresh any)
	count func(name string)
)

// Check makes every Get of what is kept compute it again; stale is told what differs from
// what is kept. It is for tests, before they start what uses a Store; nil ends it.
func Check(stale func(name string, kept, fresh any)) { check = stale }

// Watch has each computation told to f. It is for tests, as Check is; nil ends it.
func Watch(f func(name string)) { count = f }

// Count tells Watch of a computation that no Store keeps.
func Count(name string) {
	if count != nil {
		count(name)
	}
}

// same compares two results: pointers by what they point to, unless they are equal.
func same(a, b any) bool { return reflect.DeepEqual(a, b) }
