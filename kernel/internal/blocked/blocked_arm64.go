package blocked

import (
	"unsafe"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

func blockRows(cpu.Level) (most, ofThree int) { return 6, 0 }

func (t *blockTile) bytes() *byte { return (*byte)(unsafe.Pointer(t)) }

func tileConv(_ cpu.Level, rows, _ int, t *blockTile) { blockConvNEON(rows, t.bytes()) }

func tileDepthwise(_ cpu.Level, rows int, t *blockTile) { blockDepthwiseNEON(rows, t.bytes()) }

func tileMax(_ cpu.Level, rows int, t *blockTile) { blockMaxNEON(rows, t.bytes()) }

func tileSum(_ cpu.Level, rows int, t *blockTile) { blockSumNEON(rows, t.bytes()) }
