//go:build !amd64

package quant

func qPeak() float64 { return 0 }
