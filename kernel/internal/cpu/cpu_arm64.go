package cpu

const HasAssembly = true

// Detect: every arm64 processor that Go runs on has NEON.
func Detect() Features { return Features{Level: NEON, Dot: detectDot()} }
