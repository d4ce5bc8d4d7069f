//go:build !linux && !amd64

package cpu

func systemModel() string { return "" }
