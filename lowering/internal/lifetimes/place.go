package lifetimes

import (
	"cmp"
	"slices"
)

// Block is a buffer that needs a place. Place sets Offset and Depth.
type Block struct {
	Span
	Size   int
	Offset int
	Depth  int // the most blocks that lie below it, one above the other, at its time
}

// attempts bounds the orders that Place tries after the first two.
const attempts = 40

// Place gives blocks offsets, multiples of align, at which none overlaps another one of its
// time, and returns the end of the highest. It takes the best of some orders: by size, by
// time, and those in which a block that lay highest comes first, until nothing can be better.
//
// Ref: Pisarchyk, Lee, Efficient memory management for deep neural net
// inference, 2020 (greedy by size).
func Place(blocks []Block, align int) (end int) {
	p := placer{blocks: blocks, align: align, offsets: make([]int, len(blocks))}
	least := p.least()
	p.try(p.sorted(func(a, b *Block) int { return cmp.Or(cmp.Compare(b.Size, a.Size), cmp.Compare(a.First, b.First)) }))
	if p.end > least {
		p.try(p.sorted(func(a, b *Block) int { return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(b.Size, a.Size)) }))
	}
	order := slices.Clone(p.best)
	n := len(blocks)
	for i := 0; i < attempts && p.end > least && n*n <= 1<<22/attempts; i++ {
		if i == 0 {
			p.greedy(order) // whose offsets say which block is highest
		}
		highest := 0
		for k, b := range order {
			if p.top(b) > p.top(order[highest]) {
				highest = k
			}
		}
		b := order[highest]
		order = slices.Insert(slices.Delete(order, highest, highest+1), 0, b)
		p.try(order)
	}
	p.settle()
	return p.end
}

// placer tries orders of blocks, which are numbers here.
type placer struct {
	blocks  []Block
	align   int
	offsets []int // of the last order, by block
	best    []int // the order that ends lowest
	end     int   // of it
}

func (p *placer) sorted(less func(a, b *Block) int) []int {
	order := make([]int, len(p.blocks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return less(&p.blocks[a], &p.blocks[b]) })
	return order
}

// try places the blocks in an order, and keeps it where it is the best.
func (p *placer) try(order []int) {
	if end := p.greedy(order); p.best == nil || end < p.end {
		p.best, p.end = slices.Clone(order), end
	}
}

// up rounds to the next multiple of the alignment.
func (p *placer) up(n int) int { return (n + p.align - 1) / p.align * p.align }

func (p *placer) top(b int) int { return p.offsets[b] + p.blocks[b].Size }

// greedy puts each block into the smallest gap that it fits in among the blocks that are in
// use at its time, and returns the end of the highest.
func (p *placer) greedy(order []int) (end int) {
	var all placed
	for _, b := range order {
		block := &p.blocks[b]
		p.offsets[b] = all.gap(block.Span, block.Size)
		all.add(standing{block.Span, p.offsets[b], p.up(p.top(b))})
		end = max(end, p.top(b))
	}
	return end
}

// least is what the blocks need that are in use at one time: all but the padding of one, which
// may lie highest.
func (p *placer) least() (most int) {
	t := newTimes(p.blocks)
	sums := make([]int, t.n+1)
	for _, b := range p.blocks {
		sums[t.at(b.First)] += p.up(b.Size)
		sums[t.at(b.Last)+1] -= p.up(b.Size)
		t.raise(b.Span, p.up(b.Size)-b.Size)
	}
	for i := range t.n {
		if i > 0 {
			sums[i] += sums[i-1]
		}
		most = max(most, sums[i]-t.highest(Span{t.first + i, t.first + i}))
	}
	return most
}

// settle writes the best order into the blocks, and counts for each the longest chain of
// blocks below it.
func (p *placer) settle() {
	p.greedy(p.best)
	order := slices.Clone(p.best)
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(p.offsets[x], p.offsets[y]) })
	chains := newTimes(p.blocks) // the blocks of the longest chain at a time
	for _, b := range order {
		block := &p.blocks[b]
		block.Offset, block.Depth = p.offsets[b], chains.highest(block.Span)
		chains.raise(block.Span, block.Depth+1)
	}
}
