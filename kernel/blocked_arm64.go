package kernel

import "unsafe"

func blockRows(cpuLevel) (most, ofThree int) { return 6, 0 }

func (t *blockTile) bytes() *byte { return (*byte)(unsafe.Pointer(t)) }

func tileConv(_ cpuLevel, rows, _ int, t *blockTile) { blockConvNEON(rows, t.bytes()) }

func tileDepthwise(_ cpuLevel, rows int, t *blockTile) { blockDepthwiseNEON(rows, t.bytes()) }

func tileMax(_ cpuLevel, rows int, t *blockTile) { blockMaxNEON(rows, t.bytes()) }

func tileSum(_ cpuLevel, rows int, t *blockTile) { blockSumNEON(rows, t.bytes()) }
