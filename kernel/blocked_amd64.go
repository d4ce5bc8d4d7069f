package kernel

import "unsafe"

// blockRows is the most positions of a tile, and of one with three blocks.
func blockRows(l cpuLevel) (most, ofThree int) {
	if l == levelAVX512 {
		return 14, 8
	}
	return 6, 0
}

func (t *blockTile) bytes() *byte { return (*byte)(unsafe.Pointer(t)) }

func tileConv(l cpuLevel, rows, blocks int, t *blockTile) {
	if l == levelAVX512 {
		blockConvAVX512(rows, blocks, t.bytes())
	} else {
		blockConvAVX2(rows, blocks, t.bytes())
	}
}

func tileDepthwise(l cpuLevel, rows int, t *blockTile) {
	if l == levelAVX512 {
		blockDepthwiseAVX512(rows, t.bytes())
	} else {
		blockDepthwiseAVX2(rows, t.bytes())
	}
}

func tileMax(l cpuLevel, rows int, t *blockTile) {
	if l == levelAVX512 {
		blockMaxAVX512(rows, t.bytes())
	} else {
		blockMaxAVX2(rows, t.bytes())
	}
}

func tileSum(l cpuLevel, rows int, t *blockTile) {
	if l == levelAVX512 {
		blockSumAVX512(rows, t.bytes())
	} else {
		blockSumAVX2(rows, t.bytes())
	}
}
