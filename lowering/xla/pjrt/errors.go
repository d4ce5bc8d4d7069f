package pjrt

import (
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"github.com/gofx-dev/gofx/diag"
)

// Status is the kind of a failure that a plugin reports, by the numbers of absl's status
// codes. It is an error, so that errors.Is(err, pjrt.ResourceExhausted) tells that memory
// was short.
type Status int

// The kinds.
const (
	Cancelled Status = iota + 1
	Unknown
	InvalidArgument
	DeadlineExceeded
	NotFound
	AlreadyExists
	PermissionDenied
	ResourceExhausted
	FailedPrecondition
	Aborted
	OutOfRange
	Unimplemented
	Internal
	Unavailable
	DataLoss
	Unauthenticated
)

var statusNames = []string{"cancelled", "unknown", "invalid argument", "deadline exceeded", "not found", "already exists", "permission denied",
	"resource exhausted", "failed precondition", "aborted", "out of range", "unimplemented", "internal", "unavailable", "data loss", "unauthenticated"}

// Error returns the kind in words.
func (s Status) Error() string {
	if s < 1 || int(s) > len(statusNames) {
		return "status " + strconv.Itoa(int(s))
	}
	return statusNames[s-1]
}

// Failure is what a plugin reports: the cause of errors with the code PluginFailed.
type Failure struct {
	Func   string // the function of the interface
	Status Status
	Text   string // the plugin's, as it is
}

// Error returns the kind and the plugin's text.
func (f *Failure) Error() string {
	if f.Text == "" {
		return f.Status.Error()
	}
	return f.Status.Error() + ": " + f.Text
}

// Unwrap returns the kind.
func (f *Failure) Unwrap() error { return f.Status }

// maxText bounds the text of a failure: compilers give the whole program back.
const maxText = 1 << 16

// failure reads and frees the error that function f gave, 0 for none.
func (p *Plugin) failure(f fn, handle uintptr) error {
	if handle == 0 {
		return nil
	}
	out := &Failure{Func: fnNames[f], Status: Unknown}
	text := &listArgs{head: head{size: unsafe.Sizeof(listArgs{})}, object: handle}
	invoke(p.function(fnErrorMessage), unsafe.Pointer(text))
	out.Text = strings.ToValidUTF8(clip(text.data, text.n), "\uFFFD")
	code := &intArgs{head: head{size: unsafe.Sizeof(intArgs{})}, object: handle}
	if e := invoke(p.function(fnErrorGetCode), unsafe.Pointer(code)); e == 0 {
		out.Status = Status(code.n)
	} else {
		p.release(e)
	}
	p.release(handle)
	return &diag.Error{Code: PluginFailed, Msg: p.name() + ": " + out.Func + " failed", Err: out}
}

func clip(data unsafe.Pointer, n uintptr) string {
	if n > maxText {
		return text(data, maxText) + " ..."
	}
	return text(data, n)
}

// release frees an error.
func (p *Plugin) release(handle uintptr) {
	invoke(p.function(fnErrorDestroy), unsafe.Pointer(&objectArgs{head: head{size: unsafe.Sizeof(objectArgs{})}, object: handle}))
}

// text copies n bytes that C owns.
func text(data unsafe.Pointer, n uintptr) string {
	if data == nil || n == 0 {
		return ""
	}
	return strings.Clone(unsafe.String((*byte)(data), int(n)))
}

// list is n values that C owns.
func list[T any](data unsafe.Pointer, n uintptr) []T {
	if data == nil || n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(data), int(n))
}

func closed(what string) error {
	return diag.New(Closed, what+" is used after Close").WithHint("close it after its last use; what a client made ends with the client")
}

func bad(msg, hint string) error { return diag.New(BadArgument, msg).WithHint(hint) }

func noPlugin(msg, hint string, cause error) *diag.Error {
	if hint == "" {
		hint = "install a PJRT plugin for " + runtime.GOOS + "/" + runtime.GOARCH + " and set GOFX_PJRT_PLUGIN to its path, or run on another target"
	}
	return &diag.Error{Code: NoPlugin, Msg: msg, Hint: hint, Err: cause}
}
