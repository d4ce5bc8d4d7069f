package tensor

import (
	"sync"
	"sync/atomic"

	"github.com/gofx-dev/gofx/array"
)

// watchers are the engines that follow the writes of eager code, to memory that no call of theirs
// has used as well.
var watchers watching

type watching struct {
	sync.Mutex
	count atomic.Int64
	last  int
	all   map[int]func(s *array.Storage, how Touch)
}

// Touch is what eager code does to memory.
type Touch int

// The touches.
const (
	Written Touch = iota // an in-place call has written to it
	Taken                // code is given the memory (Data, Array)
	Writing              // an in-place call is about to write to it
	Read                 // while a region is recorded: a value was computed from it that no recipe tells, or code was given one
)

// Watch calls f before and after each write of eager code to a storage, when code takes its memory, and while regions are
// recorded when it is read, on the goroutine that does so, until the returned function is called. For engines only.
func Watch(f func(s *array.Storage, how Touch)) (leave func()) {
	w := &watchers
	w.Lock()
	defer w.Unlock()
	if w.all == nil {
		w.all = map[int]func(s *array.Storage, how Touch){}
	}
	w.last++
	at := w.last
	w.all[at] = f
	w.count.Store(int64(len(w.all)))
	return func() {
		w.Lock()
		defer w.Unlock()
		delete(w.all, at)
		w.count.Store(int64(len(w.all)))
	}
}

func (w *watching) tell(s *array.Storage, how Touch) {
	if w.count.Load() == 0 {
		return
	}
	w.Lock()
	var all []func(s *array.Storage, how Touch)
	for _, f := range w.all {
		all = append(all, f)
	}
	w.Unlock()
	for _, f := range all {
		f(s, how)
	}
}
