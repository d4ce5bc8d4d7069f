package kernel

const hasAssembly = true

// detectCPU: every arm64 processor that Go runs on has NEON.
func detectCPU() cpuFeatures { return cpuFeatures{level: levelNEON, dot: detectDot()} }
