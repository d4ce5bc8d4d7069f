package lifetimes

import (
	"cmp"
	"math"
	"slices"
)

// Clash reports whether two blocks overlap that are in use at one time.
func Clash(blocks []Block) bool {
	t := newTimes(blocks)
	for _, i := range byOffset(blocks) {
		b := &blocks[i]
		if b.Size == 0 {
			continue
		}
		if t.highest(b.Span) > b.Offset {
			return true
		}
		t.raise(b.Span, b.Offset+b.Size)
	}
	return false
}

// Meets reports whether a block of one list overlaps one of the other that is in use at the same time.
func Meets(a, b []Block) bool {
	if len(a)*len(b) <= 1024 { // trees of long times are slower
		return slices.ContainsFunc(a, func(x Block) bool { return slices.ContainsFunc(b, x.meets) })
	}
	all := slices.Concat(a, b)
	order := byOffset(all)
	below, above := newTimes(all), newTimes(all)
	for _, i := range order {
		switch x := &all[i]; {
		case x.Size == 0:
		case i < len(a):
			below.raise(x.Span, x.Offset+x.Size)
		case below.highest(x.Span) > x.Offset:
			return true
		}
	}
	slices.Reverse(order)
	for _, i := range order {
		switch x := &all[i]; {
		case x.Size == 0:
		case i < len(a):
			above.raise(x.Span, math.MaxInt-x.Offset)
		case above.highest(x.Span) > math.MaxInt-(x.Offset+x.Size):
			return true
		}
	}
	return false
}

func (b Block) meets(o Block) bool {
	return b.Size > 0 && o.Size > 0 && b.Overlaps(o.Span) && b.Offset < o.Offset+o.Size && o.Offset < b.Offset+b.Size
}

// byOffset are the numbers of blocks by their offsets; those with equal ones keep their order.
func byOffset(blocks []Block) []int {
	order := make([]int, len(blocks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(blocks[x].Offset, blocks[y].Offset) })
	return order
}
