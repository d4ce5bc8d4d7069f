//go:build !linux

package cpu

import "runtime"

// detectDot: every Mac with such a processor has dot products of bytes; other
// systems are not asked.
func detectDot() bool { return runtime.GOOS == "darwin" }
