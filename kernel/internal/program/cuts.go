package program

import (
	"github.com/gofx-dev/gofx/kernel/internal/opcode"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Cuts implements Cutter: all dimensions but those of which the program asks where in them an
// element is.
func (e Elementwise) Cuts(out, in [][]int) []par.Cut {
	var asked []int
	for _, i := range e.Program.Code {
		switch i.Op {
		case opcode.OpIndex:
			return nil
		case opcode.OpCoord:
			axis := int(int64(i.Imm))
			if axis < 0 {
				axis += len(out[0])
			}
			asked = append(asked, axis)
		}
	}
	return par.Aligned(out, in, asked...)
}
