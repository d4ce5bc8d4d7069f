//go:build !amd64 && !arm64

package kernel

func detectCPU() cpuFeatures { return cpuFeatures{} }
