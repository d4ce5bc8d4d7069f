package blocked

import (
	"unsafe"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// blockRows is the most positions of a tile, and of one with three blocks.
func blockRows(l cpu.Level) (most, ofThree int) {
	if l == cpu.AVX512 {
		return 14, 8
	}
	return 6, 0
}

func (t *blockTile) bytes() *byte { return (*byte)(unsafe.Pointer(t)) }

func tileConv(l cpu.Level, rows, blocks int, t *blockTile) {
	if l == cpu.AVX512 {
		blockConvAVX512(rows, blocks, t.bytes())
	} else {
		blockConvAVX2(rows, blocks, t.bytes())
	}
}

func tileDepthwise(l cpu.Level, rows int, t *blockTile) {
	if l == cpu.AVX512 {
		blockDepthwiseAVX512(rows, t.bytes())
	} else {
		blockDepthwiseAVX2(rows, t.bytes())
	}
}

func tileMax(l cpu.Level, rows int, t *blockTile) {
	if l == cpu.AVX512 {
		blockMaxAVX512(rows, t.bytes())
	} else {
		blockMaxAVX2(rows, t.bytes())
	}
}

func tileSum(l cpu.Level, rows int, t *blockTile) {
	if l == cpu.AVX512 {
		blockSumAVX512(rows, t.bytes())
	} else {
		blockSumAVX2(rows, t.bytes())
	}
}
