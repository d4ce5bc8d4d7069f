package kernel

// block returns the rows and columns of the two innermost groups, of which one is
// kept, the columns where kept says so, and the groups to go through with next.
func (g *groups) block() (n, rows int, kept bool, outer groups) {
	last := g.n - 1
	n, rows, kept, outer = g.size[last], 1, g.step[last] != 0, *g
	if last > 0 {
		rows = g.size[last-1]
		outer.n--
	}
	return n, rows, kept, outer
}

// groups is the shape of a reduction after neighbouring dimensions of the same
// kind are merged: sizes and the steps in the result, 0 for reduced ones.
type groups struct {
	n      int
	size   [maxRank]int
	step   [maxRank]int
	outLen int // elements of the result
	count  int // elements reduced to one
}

// init groups shape; no dims means that all are reduced.
func (g *groups) init(step string, shape, dims []int) {
	var reduced [maxRank]bool
	if len(shape) > maxRank {
		badOperand(step, "the operand has too many dimensions")
	}
	axes(step, &reduced, dims, len(shape))
	g.outLen, g.count = 1, 1
	for i, size := range shape {
		red := reduced[i] || len(dims) == 0
		if red {
			g.count *= size
		} else {
			g.outLen *= size
		}
		if size == 1 {
			continue
		}
		if k := g.n - 1; k >= 0 && (g.step[k] == 0) == red {
			g.size[k] *= size
			continue
		}
		g.size[g.n], g.step[g.n] = size, 1
		if red {
			g.step[g.n] = 0
		}
		g.n++
	}
	if g.n == 0 {
		g.size[0], g.n = 1, 1
	}
	at := 1
	for k := g.n - 1; k >= 0; k-- {
		if g.step[k] != 0 {
			g.step[k] = at
			at *= g.size[k]
		}
	}
}

// next advances the multi-index of the groups before the innermost one and
// returns the new position in the result.
func (g *groups) next(at *[maxRank]int, o int) int {
	for k := g.n - 2; k >= 0; k-- {
		at[k]++
		o += g.step[k]
		if at[k] < g.size[k] {
			break
		}
		o -= g.step[k] * g.size[k]
		at[k] = 0
	}
	return o
}
