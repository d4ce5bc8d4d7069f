package plan

import (
	"cmp"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/shape"
)

// Place sets Bytes of every buffer, and Offset of every Temp so that those in use
// at the same time do not overlap. Live must have been called.
//
// Sizes are a number times a product of symbols. Buffers with the same product
// share a part of the arena, in which they are placed as if the product were 1,
// so that one assignment serves all values of the symbols.
// Ref: Pisarchyk, Lee, Efficient memory management for deep neural net
// inference, 2020 (greedy by size).
func (p *Plan) Place() {
	parts := map[string]*part{}
	var order []*part
	for i := range p.Buffers {
		b := &p.Buffers[i]
		if b.Late {
			b.Bytes = shape.Const(0)
			continue
		}
		unit, per := footprint(b.Type)
		b.Bytes = alignUp(unit.MulInt(per))
		if b.Kind != Temp || b.Within {
			continue
		}
		key := unit.String()
		q := parts[key]
		if q == nil {
			q = &part{unit: unit}
			parts[key] = q
			order = append(order, q)
		}
		if unit.Is(1) {
			per, _ = b.Bytes.Int()
		}
		q.blocks = append(q.blocks, block{buffer: i, size: per, first: b.First, last: b.Last})
	}
	// The part of fixed size comes first, so that its offsets are numbers.
	slices.SortStableFunc(order, func(a, b *part) int { return cmp.Compare(b.fixed(), a.fixed()) })
	base := shape.Const(0)
	for _, q := range order {
		q.place()
		for _, k := range q.blocks {
			p.Buffers[k.buffer].Offset = base.Add(q.at(k.offset, k.depth))
		}
		base = base.Add(q.end())
	}
	for i := range p.Buffers {
		if b := &p.Buffers[i]; b.Within {
			b.Offset, b.Bytes = p.Buffers[b.Of].Offset.Add(b.At), bytesOf(b.Type)
		}
	}
	p.Arena = base
}

// footprint returns the number of bytes of a tensor as a product of symbols and
// a number.
func footprint(t shape.Type) (unit shape.Dim, per int) {
	unit, per = shape.Const(1), t.DType().Size()
	for _, d := range t.Dims().Slice() {
		if n, ok := d.Int(); ok {
			per *= n
		} else {
			unit = unit.Mul(d)
		}
	}
	return unit, per
}

// alignUp rounds d up to a multiple of array.Align.
func alignUp(d shape.Dim) shape.Dim {
	return d.AddInt(array.Align - 1).FloorDivInt(array.Align).MulInt(array.Align)
}

// part holds the buffers whose size is a number times unit.
type part struct {
	unit   shape.Dim
	blocks []block
	peak   int
	depth  int // the most blocks that lie below one
	loose  bool
}

// block is one buffer, measured in units.
type block struct {
	buffer, size, first, last int
	offset                    int
	depth                     int // how many blocks of its time lie below it, at most
}

func (q *part) fixed() int {
	if q.unit.Is(1) {
		return 1
	}
	return 0
}

// attempts bounds the orders that place tries beside the first two.
const attempts = 40

// place assigns offsets, the best of some orders: by size, by time, and those in
// which a block that lay highest comes first, until nothing can be better.
func (q *part) place() {
	bySize := slices.Clone(q.blocks)
	slices.SortStableFunc(bySize, func(a, b block) int {
		return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.first, b.first))
	})
	byTime := slices.Clone(q.blocks)
	slices.SortStableFunc(byTime, func(a, b block) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(b.size, a.size))
	})
	q.blocks, q.peak = bySize, greedy(bySize)
	if peak := greedy(byTime); peak < q.peak {
		q.blocks, q.peak = byTime, peak
	}
	least := need(q.blocks)
	order := slices.Clone(q.blocks)
	for n := 0; n < attempts && q.peak > least && len(order)*len(order) <= 1<<22/attempts; n++ {
		highest := 0
		for i, b := range order {
			if b.offset+b.size > order[highest].offset+order[highest].size {
				highest = i
			}
		}
		b := order[highest]
		order = slices.Insert(slices.Delete(order, highest, highest+1), 0, b)
		if peak := greedy(order); peak < q.peak {
			q.blocks, q.peak = slices.Clone(order), peak
		}
	}
	for i := range q.blocks {
		b := &q.blocks[i]
		q.loose = q.loose || b.size%array.Align != 0
		q.depth = max(q.depth, b.depth)
	}
}

// need returns the most units that are in use at a time.
func need(blocks []block) (most int) {
	for _, b := range blocks {
		sum := 0
		for _, o := range blocks {
			if o.first <= b.first && b.first <= o.last {
				sum += o.size
			}
		}
		most = max(most, sum)
	}
	return most
}

// greedy puts each block into the smallest gap that it fits in among the blocks
// that are in use at its time, and returns the end of the highest.
func greedy(blocks []block) (peak int) {
	var near []*block // placed blocks of an overlapping time, by offset
	for i := range blocks {
		b := &blocks[i]
		near = near[:0]
		for j := range blocks[:i] {
			if o := &blocks[j]; o.first <= b.last && b.first <= o.last {
				near = append(near, o)
			}
		}
		slices.SortFunc(near, func(x, y *block) int { return cmp.Compare(x.offset, y.offset) })
		end, best, gap := 0, -1, 0
		for _, o := range near {
			if free := o.offset - end; free >= b.size && (best < 0 || free < gap) {
				best, gap = end, free
			}
			end = max(end, o.offset+o.size)
		}
		if best < 0 {
			best = end
		}
		b.offset = best
		peak = max(peak, best+b.size)
	}
	setDepths(blocks)
	return peak
}

// setDepths counts, for each block, the longest chain of blocks below it.
func setDepths(blocks []block) {
	order := make([]*block, len(blocks))
	for i := range blocks {
		order[i] = &blocks[i]
		order[i].depth = 0
	}
	slices.SortStableFunc(order, func(x, y *block) int { return cmp.Compare(x.offset, y.offset) })
	for i, b := range order {
		for _, o := range order[:i] {
			if o.first <= b.last && b.first <= o.last {
				b.depth = max(b.depth, o.depth+1)
			}
		}
	}
}

// at returns the bytes at which a block lies in the part. Where a number times
// the unit need not be a multiple of the alignment, offsets are rounded down
// and each block in the chain below moves it up by one alignment: what rounding
// takes off is less than that.
func (q *part) at(offset, depth int) shape.Dim {
	d := q.unit.MulInt(offset)
	if !q.loose {
		return d
	}
	return d.FloorDivInt(array.Align).MulInt(array.Align).AddInt(depth * array.Align)
}

func (q *part) end() shape.Dim {
	d := q.unit.MulInt(q.peak)
	if !q.loose {
		return d
	}
	return alignUp(d).AddInt(q.depth * array.Align)
}
