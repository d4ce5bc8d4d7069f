//go:build !((linux || darwin || freebsd || netbsd || windows) && (amd64 || arm64))

package dynlib

import (
	"errors"
	"runtime"
)

func open(string) (uintptr, error) {
	return 0, errors.New("shared libraries cannot be loaded on " + runtime.GOOS + "/" + runtime.GOARCH)
}

func lookup(uintptr, string) uintptr { return 0 }

// Call returns 0: no library can have been loaded here.
func Call(uintptr, ...uintptr) uintptr { return 0 }
