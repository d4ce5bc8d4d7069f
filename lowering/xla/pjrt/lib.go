package pjrt

import (
	"errors"
	"unsafe"

	"github.com/gofx-dev/gofx/internal/dynlib"
)

// open loads the library at path and returns its table of functions, nil where its
// GetPjrtApi gives none. It is never unloaded: plugins keep threads and do not support it.
func open(path string) (*apiTable, error) {
	lib, err := dynlib.Open(path)
	if err != nil {
		return nil, err
	}
	get := lib.Lookup("GetPjrtApi")
	if get == 0 {
		return nil, errors.New("it has no function GetPjrtApi")
	}
	r := dynlib.Call(get)
	return *(**apiTable)(unsafe.Pointer(&r)), nil
}

// invoke calls a function of the table and returns the error that it gave, 0 for none.
// The thread is the goroutine's for that long, as in a system call that blocks. args and
// what it points to stay where they are: Go moves no heap memory, and args escapes.
func invoke(f uintptr, args unsafe.Pointer) uintptr { return dynlib.Call(f, uintptr(args)) }
