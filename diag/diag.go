package diag

import (
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Code names one kind of mistake: "FX" and four digits. The first digit is the
// stage: 1 trace, 2 types, 3 pass, 4 code generation, 5 lowering, 6
// quantisation, 7 text form, 8 files and weights, 9 internal.
type Code string

// Error makes a Code usable with errors.Is: errors.Is(err, op.ShapeMismatch).
func (c Code) Error() string { return string(c) }

// Pos is a place in user code. Line 0 means unknown; Col 0 means that only the
// line is known (positions taken from running code have no columns).
type Pos struct {
	File string
	Line int
	Col  int
	Func string // qualified function name, "" when unknown
}

// String returns "file:line:col" without unknown parts, "" when nothing is known.
func (p Pos) String() string {
	if p.File == "" {
		return ""
	}
	s := p.File
	if p.Line > 0 {
		s += ":" + strconv.Itoa(p.Line)
		if p.Col > 0 {
			s += ":" + strconv.Itoa(p.Col)
		}
	}
	return s
}

// Related is a second place that an error needs to be understood.
type Related struct {
	Pos Pos
	Msg string
}

// Error is one diagnostic.
type Error struct {
	Code    Code
	Pos     Pos
	Node    string // name of the graph node, without %
	Op      string // operator name
	Phase   string // "trace", "pass conv-bn", ...
	Msg     string // lower case, no full stop: actual, then expected
	Hint    string // the cure
	Related []Related
	Err     error // cause, for errors.Unwrap
	Note    bool  // information, not a failure
}

// New returns an error with a code and a message.
func New(c Code, msg string) *Error { return &Error{Code: c, Msg: msg} }

// Error returns "pos: op: msg [code]" and, on lines of their own, the hint and
// the related places.
func (e *Error) Error() string {
	var t text
	if p := e.Pos.String(); p != "" {
		t.add(Name(p), ": ")
	} else if e.Node != "" {
		t.add("node %", Name(e.Node), ": ")
	}
	if e.Op != "" {
		t.add(Name(e.Op), ": ")
	}
	t.add(e.Msg)
	if e.Err != nil {
		if e.Msg != "" {
			t.add(": ")
		}
		t.add(e.Err.Error())
	}
	if e.Code != "" {
		t.add(" [", string(e.Code), "]")
	}
	if e.Phase != "" {
		t.add("\n    while running ", e.Phase)
	}
	for _, r := range e.Related {
		t.add("\n    ")
		if p := r.Pos.String(); p != "" {
			t.add(Name(p), ": ")
		}
		t.add(r.Msg)
	}
	if e.Hint != "" {
		t.add("\n    hint: ", e.Hint)
	}
	return Plain(strings.Join(t, "")) // names are from files, and readers at terminals
}

// text is the parts of a message.
type text []string

// add is not inlined, nor any append where it is called: generated programs link
// this, and nobody waits for a message.
//
//go:noinline
func (t *text) add(parts ...string) { *t = append(*t, parts...) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is makes errors.Is compare codes.
func (e *Error) Is(target error) bool {
	c, ok := target.(Code)
	return ok && c == e.Code
}

// At returns e with the position set, unless it has one already.
func (e *Error) At(p Pos) *Error {
	if e.Pos.File == "" {
		e.Pos = p
	}
	return e
}

// WithHint returns e with the cure set.
func (e *Error) WithHint(h string) *Error { e.Hint = h; return e }

// List is several diagnostics; as an error it prints all of them.
type List []*Error

// Add appends e; a List or a joined error is flattened, any other error gets the
// internal code.
func (l *List) Add(err error) {
	if err == nil {
		return
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			l.Add(e)
		}
		return
	}
	many, ok := inner[List](err)
	if !ok {
		one, ok := inner[*Error](err)
		if !ok {
			one = &Error{Code: Internal, Err: err}
		}
		many = List{one}
	}
	*l = append(*l, many...)
}

// inner returns the first error of a type in a chain of wrapped errors. It stands
// for errors.As, whose reflection generated programs would link.
func inner[T error](err error) (found T, ok bool) {
	for err != nil {
		if found, ok = err.(T); ok {
			return found, true
		}
		wrapped, isWrapped := err.(interface{ Unwrap() error })
		if !isWrapped {
			break
		}
		err = wrapped.Unwrap()
	}
	return found, false
}

// Sort orders by file, line, column, then code and message; the order is total,
// so that output is deterministic.
func (l List) Sort() {
	slices.SortStableFunc(l, func(a, b *Error) int {
		if c := strings.Compare(a.Pos.File, b.Pos.File); c != 0 {
			return c
		}
		if a.Pos.Line != b.Pos.Line {
			return a.Pos.Line - b.Pos.Line
		}
		if a.Pos.Col != b.Pos.Col {
			return a.Pos.Col - b.Pos.Col
		}
		if c := strings.Compare(string(a.Code), string(b.Code)); c != 0 {
			return c
		}
		return strings.Compare(a.Msg, b.Msg)
	})
}

// Err returns nil when the list holds no failure, else the list itself.
func (l List) Err() error {
	for _, e := range l {
		if !e.Note {
			return l
		}
	}
	return nil
}

// OneHint returns a list to print: of diagnostics with the same hint the last one alone
// has it.
func (l List) OneHint() List {
	out := slices.Clone(l)
	for i, e := range l {
		if e.Hint != "" && slices.ContainsFunc(l[i+1:], func(later *Error) bool { return later.Hint == e.Hint }) {
			c := *e
			c.Hint = ""
			out[i] = &c
		}
	}
	return out
}

// Error prints one diagnostic after the other, a hint of several once.
func (l List) Error() string {
	parts := make([]string, len(l))
	for i, e := range l.OneHint() {
		parts[i] = e.Error()
	}
	return strings.Join(parts, "\n")
}

// Unwrap returns the diagnostics, so that errors.As finds the first of them.
func (l List) Unwrap() []error {
	out := make([]error, len(l))
	for i, e := range l {
		out[i] = e
	}
	return out
}

// Is reports whether any diagnostic has the code.
func (l List) Is(target error) bool {
	for _, e := range l {
		if e.Is(target) {
			return true
		}
	}
	return false
}

// Stopped is the code of work that ended because its context did.
const Stopped Code = "FX1026"

// Stop returns the error of work that ends because its context has ended with
// err; errors.Is finds err in it: context.Canceled, context.DeadlineExceeded.
func Stop(err error) *Error {
	return &Error{Code: Stopped, Msg: "stopped", Err: err, Hint: "the results are not complete, run again with a context that lasts"}
}

// Internal is the code of bugs in gofx itself.
const Internal Code = "FX9001"

// Bug returns the error of a broken invariant of gofx; the public boundaries
// turn a panic with it into an error.
func Bug(msg string) *Error {
	return &Error{Code: Internal, Msg: "internal error: " + msg, Hint: "this is a bug in gofx, please report it"}
}

// Recovered returns a copy of the *Error that a rule panicked with, or Bug for a fault that Go
// found in the rule: a file, which may be anyone's, never crashes its reader. Other panics go on.
func Recovered(r any) *Error {
	switch x := r.(type) {
	case *Error:
		copied := *x // rules may share errors
		return &copied
	case runtime.Error:
		return Bug(x.Error())
	}
	panic(r)
}

// Catch, deferred, makes the *Error that a function panics with its error, as the
// public boundaries of operators and tensors do; other panics go on.
func Catch(err *error) {
	if r := recover(); r != nil {
		e, ok := r.(*Error)
		if !ok {
			panic(r)
		}
		*err = e
	}
}
