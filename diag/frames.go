package diag

import (
	"runtime"
	"strings"
	"sync"
)

const modulePath = "github.com/gofx-dev/gofx/"

// UserCode reports whether a function belongs to a user rather than to gofx's
// library rooms, the Go runtime or the testing package. models/, examples/ and
// test files are user code.
func UserCode(function, file string) bool {
	if function == "" {
		return false
	}
	for _, p := range [...]string{"runtime.", "testing.", "reflect.", "iter."} {
		if strings.HasPrefix(function, p) {
			return false
		}
	}
	rest, ours := strings.CutPrefix(function, modulePath)
	return !ours || strings.HasPrefix(rest, "models") || strings.HasPrefix(rest, "examples/") ||
		strings.HasSuffix(file, "_test.go")
}

// Limits of recorded stacks: at most MaxFrames user frames among MaxScan.
const (
	MaxScan   = 24
	MaxFrames = 8
)

// userPCs remembers which program counters are user code; resolving one costs a
// microsecond, looking it up a few nanoseconds.
var userPCs sync.Map // uintptr → bool

// Callers fills buf with the program counters of user frames above the caller,
// innermost first, skipping skip more frames, and returns how many there are.
func Callers(skip int, buf []uintptr) int {
	var pcs [MaxScan]uintptr
	n := runtime.Callers(skip+2, pcs[:])
	k := 0
	for _, pc := range pcs[:n] {
		if k == len(buf) {
			break
		}
		if isUser(pc) {
			buf[k] = pc
			k++
		}
	}
	return k
}

func isUser(pc uintptr) bool {
	if v, ok := userPCs.Load(pc); ok {
		return v.(bool)
	}
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	u := UserCode(f.Function, f.File)
	userPCs.Store(pc, u)
	return u
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
