// Package shape describes tensors symbolically: dimensions that are numbers or
// integer expressions over named symbols, shapes of known or unknown rank, and
// types. Concrete data is in package array. No fmt, no reflection: generated
// code may import it.
package shape

import "strconv"

// Dim is one dimension: a known number, an integer expression over symbols, or
// Unknown. The zero value is the number 0. Dims are immutable; compare with Equal.
type Dim struct {
	n int64
	e *expr // nil for numbers
}

// Unknown is the dimension about which nothing is known. It is never equal to
// anything and arithmetic with it is Unknown.
var Unknown = Dim{e: &expr{key: "?"}}

// Const returns the known dimension n.
func Const(n int) Dim { return Dim{n: int64(n)} }

// Int returns the number; ok is false for symbolic and unknown dimensions.
func (d Dim) Int() (n int, ok bool) { return int(d.n), d.e == nil }

// IsUnknown reports whether nothing is known about d.
func (d Dim) IsUnknown() bool { return d.e != nil && d.e.key == "?" }

// Is reports whether d is the known number n.
func (d Dim) Is(n int) bool { return d.e == nil && d.n == int64(n) }

// Equal reports whether d and o are provably equal; Unknown equals nothing.
func (d Dim) Equal(o Dim) bool { return !d.IsUnknown() && d.Same(o) }

// Same is Equal, but Unknown is the same as Unknown.
func (d Dim) Same(o Dim) bool {
	if d.e == nil || o.e == nil {
		return d.e == nil && o.e == nil && d.n == o.n
	}
	return d.e == o.e || d.e.key == o.e.key
}

// String returns the canonical text, which ParseDim reads back: "3", "N",
// "2*N+1", "(H-1)//2", "?".
func (d Dim) String() string {
	if d.e == nil {
		return strconv.FormatInt(d.n, 10)
	}
	return d.e.key
}

// expr is a canonical expression; equal expressions have equal keys.
type expr struct {
	key string
}
