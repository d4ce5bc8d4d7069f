package program

import (
	"github.com/gofx-dev/gofx/kernel/internal/opcode"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Cuts implements Cutter: all dimensions, unless the program asks where an element is.
func (e Elementwise) Cuts(out, in [][]int) []par.Cut {
	for _, i := range e.Program.Code {
		if i.Op == opcode.OpIndex || i.Op == opcode.OpCoord {
			return nil
		}
	}
	return par.Aligned(out, in)
}
