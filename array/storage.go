package array

import (
	"slices"
	"sync/atomic"
	"unsafe"
)

// Align is the byte alignment of every storage that New makes.
const Align = 64

// Storage is the memory behind an array; views share it. Its identity is its
// address. It remembers when it was made, last written and last handed out, so
// that whoever recorded what it held can tell whether that still holds.
type Storage struct {
	bytes   []byte
	born    uint64
	wrapped bool
	wrote   atomic.Uint64
	exposed atomic.Uint64
	region  atomic.Uint64
	read    atomic.Uint64
	holders atomic.Pointer[[]any]
}

// clock orders births, writes and exposures of all storages.
var clock atomic.Uint64

// Now returns the present moment of the clock that Born, Version and Exposed
// are read on; every later event has a greater one.
func Now() uint64 { return clock.Load() }

// NewStorage returns n zero bytes, aligned to Align. It panics with a *diag.Error
// of CodeTooLarge beyond MaxBytes.
func NewStorage(n int) *Storage {
	if err := TooLarge("the memory", int64(n)); err != nil {
		panic(err)
	}
	buf := make([]byte, n+Align)
	skip := 0
	if r := int(uintptr(unsafe.Pointer(unsafe.SliceData(buf))) & (Align - 1)); r != 0 {
		skip = Align - r
	}
	return &Storage{bytes: buf[skip : skip+n : skip+n], born: clock.Add(1)}
}

// WrapBytes returns a storage over b without a copy. b must be aligned for the
// element type that is read from it, and hold nothing but 0 and 1 where that is
// bool; see Truths. Whoever has b can change it: the storage
// counts as exposed.
func WrapBytes(b []byte) *Storage {
	s := &Storage{bytes: b, born: clock.Add(1), wrapped: true}
	s.exposed.Store(s.born)
	return s
}

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
func (s *Storage) Wrapped() bool { return s.wrapped }

// Overlaps reports whether two storages have bytes in common.
func (s *Storage) Overlaps(o *Storage) bool {
	if len(s.bytes) == 0 || len(o.bytes) == 0 {
		return false
	}
	a, b := uintptr(unsafe.Pointer(unsafe.SliceData(s.bytes))), uintptr(unsafe.Pointer(unsafe.SliceData(o.bytes)))
	return a < b+uintptr(len(o.bytes)) && b < a+uintptr(len(s.bytes))
}

// Born returns the moment at which the storage was made.
func (s *Storage) Born() uint64 { return s.born }

// Version returns the moment of the last write recorded by Bump, 0 for none.
func (s *Storage) Version() uint64 { return s.wrote.Load() }

// Bump records a write, so that guards on frozen values notice it.
func (s *Storage) Bump() { s.wrote.Store(clock.Add(1)) }

// BumpInRegion is Bump while some trace records a region.
func (s *Storage) BumpInRegion() {
	s.Bump()
	s.region.Store(s.wrote.Load())
}

// RegionWrite returns the moment of the last write recorded by BumpInRegion, 0
// for none.
func (s *Storage) RegionWrite() uint64 { return s.region.Load() }

// MarkRead records that something was computed from the memory that does not tell
// how.
func (s *Storage) MarkRead() { s.read.Store(clock.Add(1)) }

// LastRead returns the moment of the last MarkRead, 0 for none.
func (s *Storage) LastRead() uint64 { return s.read.Load() }

// Expose records that the memory was handed out to somebody who may write to it
// without telling.
func (s *Storage) Expose() { s.exposed.Store(clock.Add(1)) }

// Exposed returns the moment at which the memory was last handed out, 0 if it
// never was.
func (s *Storage) Exposed() uint64 { return s.exposed.Load() }

// Holders returns those who follow what the storage holds. The slice must not be
// changed.
func (s *Storage) Holders() []any {
	if p := s.holders.Load(); p != nil {
		return *p
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
	for {
		old := s.holders.Load()
		var all []any
		if old != nil {
			all = slices.Clone(*old)
		}
		var next *[]any
		if all = f(all); len(all) > 0 {
			next = &all
		}
		if s.holders.CompareAndSwap(old, next) {
			return
		}
	}
}
