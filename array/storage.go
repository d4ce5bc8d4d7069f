package array

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Align is the byte alignment of every storage that New makes.
const Align = 64

// Storage is the memory of an array; views share it. Its address is its
// identity. It remembers when it was made, last written and last handed out, so
// that code that recorded its contents can tell whether the record is still
// valid.
type Storage struct {
	bytes   []byte
	born    uint64 // four times the moment, plus 1 for memory that was there before, and 2 for that of a Go slice
	wrote   atomic.Uint64
	history atomic.Pointer[history] // nil for most
}

// history is the data that few storages have.
type history struct {
	exposed atomic.Uint64
	regions atomic.Pointer[[]uint64]
	derived atomic.Pointer[[]origin]
	holders atomic.Pointer[[]any]
	state   atomic.Bool
	sliced  atomic.Bool
}

func (s *Storage) more() *history {
	if h := s.history.Load(); h != nil {
		return h
	}
	h := &history{}
	if s.Wrapped() {
		h.exposed.Store(s.Born())
	}
	if s.history.CompareAndSwap(nil, h) {
		return h
	}
	return s.history.Load()
}

// clock orders births, writes and exposures of all storages.
var clock atomic.Uint64

// Now returns the present moment of the clock that Born, Version and Exposed
// are read on; every later event has a greater one.
func Now() uint64 { return clock.Load() }

// NewStorage returns n zero bytes, aligned to Align. It panics with a *diag.Error
// of CodeTooLarge beyond MaxBytes.
func NewStorage(n int) *Storage {
	s := &Storage{}
	s.init(n, true)
	return s
}

// init gives a new storage n bytes, of any content where they are not to be cleared.
func (s *Storage) init(n int, clear bool) {
	if err := TooLarge("the memory", int64(n)); err != nil {
		panic(err)
	}
	var buf []byte
	if clear {
		buf = make([]byte, n+Align)
	} else {
		buf = uncleared(n + Align)
	}
	askForHugePages(buf)
	skip := 0
	if r := int(uintptr(unsafe.Pointer(unsafe.SliceData(buf))) & (Align - 1)); r != 0 {
		skip = Align - r
	}
	s.bytes, s.born = buf[skip:skip+n:skip+n], 4*clock.Add(1)
}

// uncleared returns n bytes of any content, n at least 1. A strings.Builder is what Go has that asks for
// memory without clearing it; the string of the one byte that is written to it is its beginning.
func uncleared(n int) []byte {
	var b strings.Builder
	b.Grow(n)
	b.WriteByte(0)
	return unsafe.Slice(unsafe.StringData(b.String()), n)
}

// WrapBytes returns a storage over b without a copy. b must be Readable as the
// element type that is read from it, and hold nothing but 0 and 1 where that is
// bool; see Truths. Whoever has b can change it: the storage
// counts as exposed.
func WrapBytes(b []byte) *Storage { return &Storage{bytes: b, born: 4*clock.Add(1) + 1} }

// Bytes returns the memory itself, not a copy.
func (s *Storage) Bytes() []byte { return s.bytes }

// Truths makes 1 of every byte of b that is neither 0 nor 1, as memory of bools
// that comes from elsewhere may have them: kernels take the bytes of bools for
// numbers.
func Truths(b []byte) {
	for i, v := range b {
		if v > 1 {
			b[i] = 1
		}
	}
}

// AreTruths reports whether b holds nothing but 0 and 1.
func AreTruths(b []byte) bool {
	for _, v := range b {
		if v > 1 {
			return false
		}
	}
	return true
}

// Wrapped reports whether the storage lies over memory that was there before, of
// which others may be made.
func (s *Storage) Wrapped() bool { return s.born&1 == 1 }

// Overlaps reports whether two storages have bytes in common.
func (s *Storage) Overlaps(o *Storage) bool {
	if s == nil || o == nil || len(s.bytes) == 0 || len(o.bytes) == 0 {
		return false
	}
	a, aEnd := s.extent()
	b, bEnd := o.extent()
	return a < bEnd && b < aEnd
}

// Born returns the moment at which the storage was made.
func (s *Storage) Born() uint64 { return s.born / 4 }

// Version returns the moment of the last write recorded by Bump, 0 for none.
func (s *Storage) Version() uint64 { return s.wrote.Load() }

// Bump records a write, so that guards on frozen values notice it.
func (s *Storage) Bump() { s.wrote.Store(clock.Add(1)) }

// maxRegionWrites bounds the writes that a long-lived storage remembers.
const maxRegionWrites = 1 << 10

// BumpInRegion is Bump while some trace records a region. All such writes are
// remembered: of several traces at a time, each asks for those of its own regions.
func (s *Storage) BumpInRegion() {
	s.Bump()
	if s.Wrapped() {
		wrapped.wrote(s, s.wrote.Load())
	}
	h := s.more()
	for {
		old := h.regions.Load()
		var all []uint64
		if old != nil {
			all = (*old)[max(0, len(*old)+1-maxRegionWrites):]
		}
		all = append(all[:len(all):len(all)], s.wrote.Load())
		if h.regions.CompareAndSwap(old, &all) {
			return
		}
	}
}

// wrapped are the last writes that BumpInRegion recorded of memory from elsewhere: several
// storages may lie over it, and those that were not written have other contents, too.
var wrapped writes

type writes struct {
	mu   sync.Mutex
	list []span
}

// span is a write: its memory, as numbers that keep nothing alive, and its moment.
type span struct {
	from, to uintptr
	at       uint64
}

func (w *writes) wrote(s *Storage, at uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.list) == maxRegionWrites {
		w.list = append(w.list[:0], w.list[1:]...)
	}
	from, to := s.extent()
	w.list = append(w.list, span{from, to, at})
}

// between reports whether memory of s was written after the moment from and before to; after
// too many writes to tell it says yes.
func (w *writes) between(s *Storage, from, to uint64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	a, b := s.extent()
	for _, x := range w.list {
		if x.at > from && x.at < to && x.from < b && a < x.to {
			return true
		}
	}
	return len(w.list) == maxRegionWrites && w.list[0].at > from
}

// of are the writes of memory that s has.
func (w *writes) of(s *Storage) (list []origin) {
	w.mu.Lock()
	defer w.mu.Unlock()
	a, b := s.extent()
	for _, x := range w.list {
		if x.from < b && a < x.to {
			list = append(list, origin{s.Born(), x.at})
		}
	}
	return list
}

// extent is where the memory of a storage begins and ends.
func (s *Storage) extent() (from, to uintptr) {
	from = uintptr(unsafe.Pointer(unsafe.SliceData(s.bytes)))
	return from, from + uintptr(len(s.bytes))
}

// origin is a write in a region to memory that a value was computed from, and the birth of that
// memory.
type origin struct{ born, at uint64 }

// Derive records that what s holds was computed from o, so that writes to o in regions
// concern s, too.
func (s *Storage) Derive(o *Storage) {
	var list []origin
	if o.Wrapped() {
		list = wrapped.of(o)
	}
	if h := o.history.Load(); h != nil {
		if p := h.regions.Load(); p != nil {
			for _, at := range *p {
				list = append(list, origin{o.Born(), at})
			}
		}
		if p := h.derived.Load(); p != nil {
			list = append(list, *p...)
		}
	}
	if len(list) == 0 || s == o {
		return
	}
	h := s.more()
	if p := h.derived.Load(); p != nil {
		list = append(list, *p...)
	}
	slices.SortFunc(list, func(a, b origin) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.born, b.born)) })
	list = slices.Compact(list)
	list = slices.Clip(list[max(0, len(list)-maxRegionWrites):])
	h.derived.Store(&list)
}

// WrittenInRegion reports whether BumpInRegion recorded a write after the moment
// from and before to of memory from before it: of the storage, of another one over the same
// memory, or of one that it was computed from, see Derive. After too many writes to tell it says
// yes.
func (s *Storage) WrittenInRegion(from, to uint64) bool {
	h := s.history.Load()
	if s.Born() <= from {
		if s.Wrapped() && wrapped.between(s, from, to) {
			return true
		}
		if h != nil && h.regions.Load() != nil {
			p := *h.regions.Load()
			if slices.ContainsFunc(p, func(at uint64) bool { return at > from && at < to }) || len(p) == maxRegionWrites && p[0] > from {
				return true
			}
		}
	}
	if h == nil || h.derived.Load() == nil {
		return false
	}
	p := *h.derived.Load()
	return slices.ContainsFunc(p, func(o origin) bool { return o.born <= from && o.at > from && o.at < to }) || len(p) == maxRegionWrites && p[0].at > from
}

// Expose records that the memory was handed out to somebody who may write to it
// without telling.
func (s *Storage) Expose() { s.more().exposed.Store(clock.Add(1)) }

// Tick returns a moment after all that have been.
func Tick() uint64 { return clock.Add(1) }

// Exposed returns the moment at which the memory was last handed out, 0 if it
// never was.
func (s *Storage) Exposed() uint64 {
	switch h := s.history.Load(); {
	case h != nil:
		return h.exposed.Load()
	case s.Wrapped():
		return s.Born()
	}
	return 0
}

// Slice records that code has a Go slice of the memory, through which it reads and writes at any time.
func (s *Storage) Slice() { s.more().sliced.Store(true) }

// Sliced reports whether Slice was called.
func (s *Storage) Sliced() bool {
	h := s.history.Load()
	return h != nil && h.sliced.Load()
}

// OfSlice reports whether the memory is that of a Go slice, which code has: FromSlice made it, or Slice
// was called.
func (s *Storage) OfSlice() bool { return s.born&2 != 0 || s.Sliced() }

// Bake records that values were written to the memory that depend on parameters, which
// nothing computes again when these change.
func (s *Storage) Bake() { s.more().state.Store(true) }

// Baked reports whether Bake was called.
func (s *Storage) Baked() bool {
	h := s.history.Load()
	return h != nil && h.state.Load()
}

// Holders returns the followers of the storage's contents. The slice must not be
// changed.
func (s *Storage) Holders() []any {
	if h := s.history.Load(); h != nil {
		if p := h.holders.Load(); p != nil {
			return *p
		}
	}
	return nil
}

// Hold adds h, which is comparable, to the holders.
func (s *Storage) Hold(h any) {
	s.change(func(all []any) []any { return append(all, h) })
}

// Release takes h from the holders.
func (s *Storage) Release(h any) {
	s.change(func(all []any) []any { return slices.DeleteFunc(all, func(o any) bool { return o == h }) })
}

func (s *Storage) change(f func([]any) []any) {
	h := s.more()
	for {
		old := h.holders.Load()
		var all []any
		if old != nil {
			all = slices.Clone(*old)
		}
		var next *[]any
		if all = f(all); len(all) > 0 {
			next = &all
		}
		if h.holders.CompareAndSwap(old, next) {
			return
		}
	}
}
