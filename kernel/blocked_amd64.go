package kernel

import "unsafe"

// blockRows is the most positions of a tile, and of one with three blocks.
func blockRows(l cpuLevel) (most, ofThree int) {
	if l == levelAVX512 {
		return 14, 8
	}
	return 6, 0
}

// conv convolves a tile.
func (c *blockCall) conv(l cpuLevel, rows, blocks int) {
	if l < levelAVX2 {
		c.convGo(rows, blocks)
		return
	}
	size := BlockLanes * (c.taps[0]*c.inner[0] + c.taps[1]*c.inner[1])
	_ = c.w[(blocks-1)*c.wStep+size-1]
	t := c.tile(rows, blocks, c.inner[min(1, c.taps[1])])
	if l == levelAVX512 {
		blockConvAVX512(rows, blocks, (*byte)(unsafe.Pointer(&t)))
	} else {
		blockConvAVX2(rows, blocks, (*byte)(unsafe.Pointer(&t)))
	}
}

// depthwise filters a tile of one block.
func (c *blockCall) depthwise(l cpuLevel, rows int) {
	if l < levelAVX2 {
		c.depthwiseGo(rows)
		return
	}
	_ = c.w[c.taps[0]*BlockLanes-1]
	t := c.tile(rows, 1, BlockLanes)
	if l == levelAVX512 {
		blockDepthwiseAVX512(rows, (*byte)(unsafe.Pointer(&t)))
	} else {
		blockDepthwiseAVX2(rows, (*byte)(unsafe.Pointer(&t)))
	}
}

// pool takes the greatest or the mean of a tile of one block.
func (c *blockCall) pool(l cpuLevel, rows int, most bool) {
	if l < levelAVX2 {
		c.poolGo(rows, most)
		return
	}
	t := c.tile(rows, 1, BlockLanes)
	args := (*byte)(unsafe.Pointer(&t))
	switch {
	case most && l == levelAVX512:
		blockMaxAVX512(rows, args)
	case most:
		blockMaxAVX2(rows, args)
	case l == levelAVX512:
		blockSumAVX512(rows, args)
	default:
		blockSumAVX2(rows, args)
	}
}
