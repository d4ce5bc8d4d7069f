//go:build !linux

package array

func machineBytes() int64 { return fallbackBytes }
