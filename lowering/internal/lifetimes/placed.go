package lifetimes

import (
	"cmp"
	"math"
	"slices"
)

// placed has the blocks that have a place, by offset, in pieces. A search for a gap looks at a piece as a whole where all
// or none of its blocks are in use at the time, so that it reads few blocks of many.
type placed struct {
	pieces []piece
}

// pieceLen is where a piece is halved.
const pieceLen = 128

type piece struct {
	blocks []standing
	summary
}

// standing is a block with a place: free is where the memory after it begins.
type standing struct {
	Span
	offset, free int
}

// summary is what a search asks of a piece.
type summary struct {
	any, all Span // times at which any of its blocks can be in use, and at which all are
	gap      int  // the largest one between its blocks, if all are in use
	free     int  // where the memory after all of them begins
}

// gap returns the start of the smallest gap of at least size among the blocks that are in use within a span: the lowest of
// several, or the memory after all of them.
func (p *placed) gap(span Span, size int) int {
	free, best, gap := 0, -1, math.MaxInt // free is where the memory after those below begins
	for i := range p.pieces {
		c := &p.pieces[i]
		switch {
		case !c.any.Overlaps(span):
			continue
		case c.all.First <= span.Last && c.all.Last >= span.First && min(c.gap, gap-1) < size:
			if room := c.blocks[0].offset - free; room >= size && room < gap {
				best, gap = free, room
			}
			free = max(free, c.free)
			continue
		}
		for k := range c.blocks {
			if b := &c.blocks[k]; b.Overlaps(span) {
				if room := b.offset - free; room >= size && room < gap {
					best, gap = free, room
				}
				free = max(free, b.free)
			}
		}
	}
	if best < 0 {
		return free
	}
	return best
}

func (p *placed) add(b standing) {
	at, _ := slices.BinarySearchFunc(p.pieces, b.offset, func(c piece, offset int) int { return cmp.Compare(c.blocks[0].offset, offset) })
	at = max(at-1, 0)
	if len(p.pieces) == 0 {
		p.pieces = append(p.pieces, piece{})
	}
	c := &p.pieces[at]
	i, _ := slices.BinarySearchFunc(c.blocks, b.offset, func(o standing, offset int) int { return cmp.Compare(o.offset, offset) })
	c.blocks = slices.Insert(c.blocks, i, b)
	if len(c.blocks) == pieceLen {
		half := piece{blocks: slices.Clone(c.blocks[pieceLen/2:])}
		half.sum()
		c.blocks = c.blocks[:pieceLen/2]
		c.sum()
		p.pieces = slices.Insert(p.pieces, at+1, half)
		return
	}
	c.sum()
}

// sum sums a piece up.
func (c *piece) sum() {
	first := c.blocks[0]
	c.summary = summary{any: first.Span, all: Span{first.First, first.Last}, free: first.free}
	for _, b := range c.blocks[1:] {
		c.any = Span{min(c.any.First, b.First), max(c.any.Last, b.Last)}
		c.all = Span{max(c.all.First, b.First), min(c.all.Last, b.Last)}
		c.gap = max(c.gap, b.offset-c.free)
		c.free = max(c.free, b.free)
	}
}
