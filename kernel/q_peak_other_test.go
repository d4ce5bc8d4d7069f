//go:build !amd64

package kernel

func qPeak() float64 { return 0 }
