//go:build (linux || darwin) && (amd64 || arm64) && !android

package pjrt

import (
	"unsafe"

	"github.com/ebitengine/purego"
)

// open loads the library at path and returns its table of functions, nil where its
// GetPjrtApi gives none. It is never unloaded: plugins keep threads and do not support it.
func open(path string) (*apiTable, error) {
	lib, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, err
	}
	get, err := purego.Dlsym(lib, "GetPjrtApi")
	if err != nil {
		return nil, err
	}
	r, _, _ := purego.SyscallN(get)
	return *(**apiTable)(unsafe.Pointer(&r)), nil
}

// invoke calls a function of the table and returns the error that it gave, 0 for none.
// The thread is the goroutine's for that long, as in a system call that blocks. args and
// what it points to stay where they are: Go moves no heap memory, and args escapes.
func invoke(f uintptr, args unsafe.Pointer) uintptr {
	r, _, _ := purego.SyscallN(f, uintptr(args))
	return r
}
