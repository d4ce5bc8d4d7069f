//go:build !amd64 && !arm64

package kernel

// Without assembly the level is always generic, and none of this is called.

func gemmTile32(cpuLevel, int, int, *float32, *float32, int, *float32, int, int, bool, fetch) {
	panic("kernel: no assembly for this processor")
}
