//go:build windows && (amd64 || arm64) && !nodynlib

package dynlib

import (
	"os"
	"path/filepath"
	"syscall"
)

const loads = true

// open loads names without a path from the system's folder alone: the loader's own
// search begins in folders that others may write to.
func open(name string) (uintptr, error) {
	if filepath.Base(name) == name {
		name = filepath.Join(os.Getenv("SystemRoot"), "System32", name)
	}
	handle, err := syscall.LoadLibrary(name)
	return uintptr(handle), err
}

func lookup(handle uintptr, function string) uintptr {
	address, err := syscall.GetProcAddress(syscall.Handle(handle), function)
	if err != nil {
		return 0
	}
	return address
}

// Call calls the C function at an address, which must not be 0, with integers and
// pointers, at most 32, and returns its result; of a result of 32 bits the upper half
// is undefined. Memory of Go that arguments point to stays where it is during the
// call when the conversion to uintptr stands in the call itself.
//
//go:uintptrescapes
func Call(function uintptr, args ...uintptr) uintptr {
	result, _, _ := syscall.SyscallN(function, args...)
	return result
}
