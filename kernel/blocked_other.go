//go:build !amd64 && !arm64

package kernel

// Without assembly the tiles' twins in Go are called instead of these.

func blockRows(cpuLevel) (most, ofThree int) { return 8, 0 }

func tileConv(cpuLevel, int, int, *blockTile) {}

func tileDepthwise(cpuLevel, int, *blockTile) {}

func tileMax(cpuLevel, int, *blockTile) {}

func tileSum(cpuLevel, int, *blockTile) {}
