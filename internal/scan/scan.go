// Package scan is the common part of readers of small texts: a place in the text, the
// first mistake, and the bytes that stand between values. Readers of shapes and of
// the headers of files embed a Text and add their grammar; the text form of graphs,
// which has lines, comments and many mistakes, has a scanner of its own. It links
// into generated programs: no fmt, no tables of characters.
package scan

import (
	"strings"

	"github.com/gofx-dev/gofx/diag"
)

// Text is a text that is read from left to right. It stops at the first error: after
// that, Peek always sees the end.
type Text struct {
	S      string
	I      int // place of the next byte
	Err    error
	What   string                         // the kind of text, for messages: "header"
	Blanks string                         // bytes that mean nothing between others
	Fault  func(at int, msg string) error // makes the error for a byte of the text
}

// Fail records a mistake at byte i, unless there was one before. As it is called in
// many places, it is not inlined.
//
//go:noinline
func (t *Text) Fail(i int, msg string) {
	if t.Err == nil {
		t.Err = t.Fault(i, msg)
	}
}

// Expected records that the text at the current byte differs from the expected one.
func (t *Text) Expected(what string) {
	got := "the end of the " + t.What
	if t.I < len(t.S) {
		got = diag.Quote(t.S[t.I : t.I+1])
	}
	t.Fail(t.I, "found "+got+", expected "+what)
}

// Peek skips blanks and returns the next byte, 0 at the end and after a mistake.
func (t *Text) Peek() byte {
	for t.I < len(t.S) && strings.IndexByte(t.Blanks, t.S[t.I]) >= 0 {
		t.I++
	}
	if t.Err != nil || t.I == len(t.S) {
		return 0
	}
	return t.S[t.I]
}

// Accept takes the next byte if it is c.
func (t *Text) Accept(c byte) bool {
	if t.Peek() != c {
		return false
	}
	t.I++
	return true
}

// Need takes the next byte, which must be c.
func (t *Text) Need(c byte) {
	if !t.Accept(c) {
		t.Expected(string([]byte{'\'', c, '\''}))
	}
}
