//go:build !amd64

package kernel

// hasWindows reports whether the level has assembly for sliding windows.
func hasWindows(cpuLevel) bool { return false }
