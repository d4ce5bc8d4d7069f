//go:build !linux || !(amd64 || arm64)

package par

// processorHere is not known here.
func processorHere() int { return -1 }

func moveFrom(int) {}
