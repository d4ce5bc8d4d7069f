package simd

import (
	"fmt"
	"slices"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Heights returns the numbers of rows, the most first, that tiles of up to most
// rows have code for. Rows are cut into equal shares of at most 14, which are 12 to
// 14 for all but a few small numbers: 9 and 11 are two tiles one after the other.
// Those still have as many independent sums as additions can be under way, and cost
// one more pass over a row of the right operand, where code of their own would be a
// fifth of all of it.
func Heights(most int) []int {
	var out []int
	for r := most; r >= 1; r-- {
		if r != 9 && r != 11 {
			out = append(out, r)
		}
	}
	return out
}

// Split begins at label again and leaves in rows, which is at most most, a number
// that has code. For other numbers it leaves the rows after row first, or after
// the middle if first is 0, to Rest, which belongs to it. first is at least half
// of all rows.
func (s ISA) Split(rows reg.GPVirtual, most, first int, again string) {
	heights := Heights(most)
	if len(heights) == most {
		return
	}
	s.Label(again)
	for r := most - 1; r > 1; r-- {
		if slices.Contains(heights, r) {
			continue
		}
		next := fmt.Sprintf("%sbelow%d", again, r)
		s.CMPQ(rows, U8(r))
		s.JNE(LabelRef(next))
		above := first
		if above == 0 {
			above = r - r/2
		}
		s.MOVQ(U32(above), rows)
		s.Label(next)
	}
}

// Enter jumps to the label of the number in rows, which is one of heights.
func (s ISA) Enter(rows reg.GPVirtual, heights []int, label func(rows int) string) {
	last := len(heights) - 1
	for _, r := range heights[:last] {
		s.CMPQ(rows, U8(r))
		s.JEQ(LabelRef(label(r)))
	}
	s.JMP(LabelRef(label(heights[last])))
}

// Rest goes on with the rows that Split left: the smaller part of the parameter
// rows. restore sets the registers as they were at label again, moved by the rows
// above, whose register it may change.
func (s ISA) Rest(rows reg.GPVirtual, most int, again string, restore func(above reg.GPVirtual)) {
	if len(Heights(most)) == most {
		return
	}
	rest := s.GP64()
	s.Load(s.Param("rows"), rest)
	s.SUBQ(rows, rest)
	s.JEQ(LabelRef(again + "none"))
	s.CMPQ(rest, rows)
	s.JGT(LabelRef(again + "none"))
	restore(rows)
	s.MOVQ(rest, rows)
	s.JMP(LabelRef(again))
	s.Label(again + "none")
}

// Ladder writes the steps for rows most-1 down to 0, with a label in front of each:
// whoever has fewer rows enters further down.
func (s ISA) Ladder(most int, label func(rows int) string, step func(row int)) {
	for r := most - 1; r >= 0; r-- {
		s.Label(label(r + 1))
		step(r)
	}
}

// Rung is the label in a ladder where so many rows enter.
func Rung(ladder string, rows int) string { return fmt.Sprintf("%s_%d", ladder, rows) }
