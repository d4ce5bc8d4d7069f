//go:build !amd64 && !arm64

package kernel

const hasAssembly = false

func detectCPU() cpuFeatures { return cpuFeatures{} }
