//go:build !((linux || darwin || windows) && (amd64 || arm64)) || android || faketime || nodynlib

package dynlib

const loads = false

func open(string) (uintptr, error) { panic("dynlib: there is no loader") }

func lookup(uintptr, string) uintptr { return 0 }

// Call returns 0: no library can have been loaded here.
func Call(uintptr, ...uintptr) uintptr { return 0 }
