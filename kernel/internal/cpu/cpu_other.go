//go:build !amd64 && !arm64

package cpu

const HasAssembly = false

// Detect returns what the processor has and the system saves.
func Detect() Features { return Features{} }
