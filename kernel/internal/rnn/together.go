package rnn

import (
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/quant"
)

// parts returns how many goroutines stay together for all steps, each with its own units
// of the state: with what they add to all of their gates, and with their cells. A step then ends once, and a
// goroutine reads the same rows of the weight in each one, which its processor's caches may hold. It is 1
// where units cannot be shared with the bits of the whole step, or are too few.
func (p *pass[T]) parts(w *par.Workspace, r *recurrence[T]) int {
	if p.steps < 2 || p.hidden%unitsShared != 0 || !operand.IsFloat32[T]() || !hasCells(r.level) || !r.sharesUnits() {
		return 1
	}
	n := min(w.Processors(par.MostLanes), p.hidden/unitsShared, r.rows*r.n*r.k/partWork)
	return max(1, n)
}

// together computes all steps in one call.
func (p *pass[T]) together(w *par.Workspace, r *recurrence[T], d direction, y, bh []T, parts int) {
	j := par.TakeJob[unitsJob[T]](w)
	*j = unitsJob[T]{pass: *p, products: *r, direction: d, y: y, bias: bh, parts: parts}
	for i := range parts {
		if r.quantised {
			j.quantised[i] = j.products.bytes.Part(par.Scratch[uint8](w, p.batch*p.hidden))
		}
	}
	w.Rounds(p.steps, parts, j)
	if p.steps%2 != 0 {
		copy(p.h, p.next)
	}
	par.PutJob(w, j)
}

// unitsJob computes the steps of a direction, of which a part has units of the state.
type unitsJob[T operand.Real] struct {
	pass[T]
	direction
	products  recurrence[T]
	y, bias   []T
	parts     int
	quantised [par.MostLanes]quant.DynamicPart
}

// Do computes the units of a part in one step. They are written to the other one of two states,
// because the other parts still read the one before.
func (j *unitsJob[T]) Do(round, part int) {
	p := &j.pass
	before, after := p.h, p.next
	if round%2 != 0 {
		before, after = after, before
	}
	shares := p.hidden / unitsShared
	lo, hi := shares*part/j.parts*unitsShared, shares*(part+1)/j.parts*unitsShared
	row := j.row(round, p.steps)
	sums := rowsOf[T]{p.fromX[row*j.gates:], j.stride * j.gates}
	if p.numStateProducts() > 0 {
		sums = rowsOf[T]{p.fromH, j.gates}
	}
	if j.products.quantised {
		j.quantised[part].Quantise(p.batch, operand.AsFloat32(before))
	}
	n := p.recurrent.gates()
	for g := range n {
		if round%2 != 0 {
			g = n - 1 - g
		}
		from, to := g*p.hidden+lo, g*p.hidden+hi
		if p.numStateProducts() > 0 {
			j.begin(from, to)
		}
		j.add(part, before, sums, from, to, round%2 != 0)
	}
	cells := p.cellsOf(j.direction, j.y, row)
	for b := range p.batch {
		if p.cell == cellGRU { // which goes on from its state
			at := b * p.hidden
			copy(after[at+lo:at+hi], before[at+lo:at+hi])
		}
		cells.units(b, lo, hi, after)
	}
}

// begin sets columns [from, to) of what comes of the state to their bias.
func (j *unitsJob[T]) begin(from, to int) {
	for b := range j.pass.batch {
		dst := j.pass.fromH[b*j.gates+from : b*j.gates+to]
		if j.bias == nil {
			clear(dst)
		} else {
			copy(dst, j.bias[from:to])
		}
	}
}

// rowsOf is rows of a matrix, ld elements apart.
type rowsOf[T operand.Real] struct {
	values []T
	ld     int
}

// add adds columns [from, to) of the products of a state to rows of sums; back goes from the last
// column to the first.
func (j *unitsJob[T]) add(part int, state []T, sums rowsOf[T], from, to int, back bool) {
	r := &j.products
	h, c, ldc := operand.AsFloat32(state), operand.AsFloat32(sums.values), sums.ld
	switch {
	case r.quantised:
		j.quantised[part].Add(c, ldc, from, to)
	case r.packed != nil:
		gemm.AddPanels(r.level, r.rows, r.n, r.k, h, r.packed, c, ldc, from, to)
	default:
		StateDots32(r.level, (to-from)/DotsGroup, h[:r.k], operand.AsFloat32(r.weight)[from*r.k:], r.k, c[from:], back)
	}
}

// sharesUnits reports whether columns of the products can be computed apart, with the same bits.
func (r *recurrence[T]) sharesUnits() bool {
	return r.quantised || r.dots != nil || r.packed != nil && gemm.AddsPanels(r.level, r.rows)
}
