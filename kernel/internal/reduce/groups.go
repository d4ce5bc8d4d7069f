package reduce

import (
	"github.com/gofx-dev/gofx/kernel/internal/operand"
)

// Block returns the rows and columns of the two innermost groups, of which one is
// kept, the columns where kept says so, and the groups to go through with next.
func (g *Groups) Block() (n, rows int, kept bool, outer Groups) {
	last := g.N - 1
	n, rows, kept, outer = g.Size[last], 1, g.Step[last] != 0, *g
	if last > 0 {
		rows = g.Size[last-1]
		outer.N--
	}
	return n, rows, kept, outer
}

// Groups is the shape of a reduction after neighbouring dimensions of the same
// kind are merged: sizes and the steps in the result, 0 for reduced ones.
type Groups struct {
	N      int
	Size   [operand.MaxRank]int
	Step   [operand.MaxRank]int
	OutLen int // elements of the result
	Count  int // elements reduced to one
}

// Init groups shape; no dims means that all are reduced.
func (g *Groups) Init(step string, shape, dims []int) {
	var reduced [operand.MaxRank]bool
	if len(shape) > operand.MaxRank {
		operand.BadOperand(step, "the operand has too many dimensions")
	}
	operand.Axes(step, &reduced, dims, len(shape))
	g.OutLen, g.Count = 1, 1
	for i, size := range shape {
		red := reduced[i] || len(dims) == 0
		if red {
			g.Count *= size
		} else {
			g.OutLen *= size
		}
		if size == 1 {
			continue
		}
		if k := g.N - 1; k >= 0 && (g.Step[k] == 0) == red {
			g.Size[k] *= size
			continue
		}
		g.Size[g.N], g.Step[g.N] = size, 1
		if red {
			g.Step[g.N] = 0
		}
		g.N++
	}
	if g.N == 0 {
		g.Size[0], g.N = 1, 1
	}
	at := 1
	for k := g.N - 1; k >= 0; k-- {
		if g.Step[k] != 0 {
			g.Step[k] = at
			at *= g.Size[k]
		}
	}
}

// next advances the multi-index of the groups before the innermost one and
// returns the new position in the result.
func (g *Groups) next(at *[operand.MaxRank]int, o int) int {
	for k := g.N - 2; k >= 0; k-- {
		at[k]++
		o += g.Step[k]
		if at[k] < g.Size[k] {
			break
		}
		o -= g.Step[k] * g.Size[k]
		at[k] = 0
	}
	return o
}
