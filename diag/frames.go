package diag

import (
	"runtime"
	"strings"
	"sync"
)

const modulePath = "github.com/gofx-dev/gofx/"

// standard returns the folder of the standard library, "" in programs that were
// built without paths. It is found once, but not by a sync.OnceValue, which every
// generated program would link and call.
func standard() string {
	library.Do(func() {
		var pc [1]uintptr
		runtime.Callers(0, pc[:]) // itself
		f, _ := runtime.CallersFrames(pc[:]).Next()
		library.folder = f.File[:max(strings.LastIndex(f.File, "runtime/"), 0)]
	})
	return library.folder
}

var library struct {
	sync.Once
	folder string
}

// UserCode reports whether a function belongs to a user rather than to gofx's
// library rooms or the standard library. models/, examples/, internal/ (models of
// the tests) and test files are user code.
func UserCode(function, file string) bool {
	if function == "" || standard() != "" && strings.HasPrefix(file, standard()) {
		return false
	}
	for _, p := range goCode {
		if strings.HasPrefix(function, p) {
			return false
		}
	}
	rest, ours := strings.CutPrefix(function, modulePath)
	return !ours || strings.HasPrefix(rest, "models") || strings.HasPrefix(rest, "examples/") ||
		strings.HasPrefix(rest, "internal/") || strings.HasSuffix(file, "_test.go")
}

// goCode are packages of the standard library that call back.
var goCode = [...]string{"runtime.", "testing.", "reflect.", "iter.", "slices.", "maps.", "sort.", "sync.", "fmt.", "log.", "log/slog.", "encoding/json.", "text/template."}

// Limits of recorded stacks: at most MaxFrames user frames among MaxScan.
const (
	MaxScan   = 24
	MaxFrames = 8
)

// frameKind is what Callers thinks of a program counter.
type frameKind uint8

const (
	libraryFrame frameKind = iota
	userFrame
	traceFrame // where a trace starts to run a model; what lies below is not the model's
)

// kinds remembers the kind of program counters; resolving one costs a
// microsecond, looking it up a few nanoseconds.
var kinds sync.Map // uintptr → frameKind

// firstScan is how many frames are unwound first: usually enough to reach the
// start of the trace, and unwinding is what recording a node costs most for.
const firstScan = 12

// Callers fills buf with the program counters of user frames above the caller,
// innermost first, skipping skip more frames, and returns how many there are.
func Callers(skip int, buf []uintptr) int {
	var pcs [MaxScan]uintptr
	n := runtime.Callers(skip+2, pcs[:firstScan])
	k, done := keepUser(buf, 0, pcs[:n])
	if !done && n == firstScan {
		n = runtime.Callers(skip+2+firstScan, pcs[firstScan:])
		k, _ = keepUser(buf, k, pcs[firstScan:firstScan+n])
	}
	return k
}

// keepUser appends the user frames among pcs to buf[:k]; done tells that no more
// are wanted.
func keepUser(buf []uintptr, k int, pcs []uintptr) (int, bool) {
	for _, pc := range pcs {
		if k == len(buf) {
			return k, true
		}
		switch kindOf(pc) {
		case userFrame:
			buf[k] = pc
			k++
		case traceFrame:
			return k, true
		}
	}
	return k, false
}

func kindOf(pc uintptr) frameKind {
	if v, ok := kinds.Load(pc); ok {
		return v.(frameKind)
	}
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	kind := libraryFrame
	switch {
	case f.Function == modulePath+"tracer.(*trace).run":
		kind = traceFrame
	case UserCode(f.Function, f.File):
		kind = userFrame
	}
	kinds.Store(pc, kind)
	return kind
}

// Resolve returns the place of a program counter recorded by Callers.
func Resolve(pc uintptr) Pos {
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	name := f.Function
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	return Pos{File: f.File, Line: f.Line, Func: name}
}

// Here returns the innermost user frame above the caller.
func Here() Pos {
	var pc [1]uintptr
	if Callers(1, pc[:]) == 0 {
		return Pos{}
	}
	return Resolve(pc[0])
}

// PanicPos returns the frame that panicked; a deferred function calls it.
func PanicPos() Pos {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	panicking := false
	for {
		f, more := frames.Next()
		if panicking && !strings.HasPrefix(f.Function, "runtime.") {
			return Pos{File: f.File, Line: f.Line, Func: f.Function}
		}
		panicking = panicking || f.Function == "runtime.gopanic"
		if !more {
			return Pos{}
		}
	}
}
