//go:build !amd64 && !arm64

package blocked

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// Without assembly the tiles' twins in Go are called instead of these.

func blockRows(cpu.Level) (most, ofThree int) { return 8, 0 }

func tileConv(cpu.Level, int, int, *blockTile) {}

func tileDepthwise(cpu.Level, int, *blockTile) {}

func tileMax(cpu.Level, int, *blockTile) {}

func tileSum(cpu.Level, int, *blockTile) {}
