package program

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/opcode"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// programJob is a run whose elements are shared out to threads.
type programJob struct {
	program Program
	out, in []*array.Array
}

// Do computes blocks [lo, hi) of programBlock elements. A block's registers stay
// in the first cache, so blocks of a range follow each other on one goroutine.
func (j *programJob) Do(lo, hi int) {
	w := par.SpareWorkspaces.Take()
	j.program.run(cpu.Host.Level, w, wholeOut(j.out), j.in, lo*programBlock, min(hi*programBlock, j.out[0].Len()))
	par.SpareWorkspaces.Put(w)
}

// grain is the number of elements, in whole blocks, that keep a thread busy for
// some 10 microseconds in assembly, several times the cost of handing them over
// and of translating the program.
func (p *Program) grain() int {
	cost := 1 // tenths of a nanosecond an element
	for i := range p.Code {
		switch op := p.Code[i].Op; {
		case op < opcode.Count && opcode.Table[op].ULP64 != 0:
			cost += 100
		case op == opcode.OpDiv || op == opcode.OpFloorDiv || op == opcode.OpRem || op == opcode.OpMod:
			cost += 20
		default:
			cost += 3
		}
	}
	return (1200000/cost/programBlock + 1) * programBlock
}
