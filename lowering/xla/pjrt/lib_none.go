//go:build !((linux || darwin) && (amd64 || arm64)) || android

package pjrt

import (
	"errors"
	"runtime"
	"unsafe"
)

// open says that there are no plugins here.
func open(string) (*apiTable, error) {
	return nil, errors.New("plugins cannot be loaded on " + runtime.GOOS + "/" + runtime.GOARCH)
}

// invoke is never reached: without a plugin there is no function.
func invoke(uintptr, unsafe.Pointer) uintptr { panic("pjrt: call without a plugin") }
