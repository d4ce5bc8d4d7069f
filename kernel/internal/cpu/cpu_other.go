//go:build !amd64 && !arm64

package cpu

const HasAssembly = false

// Detect returns the processor's features that the system supports.
func Detect() Features { return Features{} }
