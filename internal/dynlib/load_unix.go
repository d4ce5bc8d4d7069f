//go:build (linux || darwin) && (amd64 || arm64) && !android && !faketime && !nodynlib

package dynlib

import (
	"runtime"

	"github.com/ebitengine/purego"
)

const loads = true

func open(name string) (uintptr, error) {
	runtime.LockOSThread() // which the loader keeps its error for; a second call asks for it
	defer runtime.UnlockOSThread()
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

func lookup(handle uintptr, function string) uintptr {
	address, err := purego.Dlsym(handle, function)
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
	result, _, _ := purego.SyscallN(function, args...)
	return result
}
