//go:build !linux && !amd64

package cpu

func detectCaches(*found) {}
