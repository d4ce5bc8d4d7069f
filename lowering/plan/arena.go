package plan

import (
	"cmp"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lowering/internal/lifetimes"
	"github.com/gofx-dev/gofx/shape"
)

// Place sets Bytes of every buffer, and Offset of every Temp so that those in use
// at the same time do not overlap. Live must have been called.
//
// Sizes are a number times a product of symbols. Buffers with the same product
// share a part of the arena, in which they are placed as if the product were 1,
// so that one assignment serves all values of the symbols.
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
		q.buffers = append(q.buffers, i)
		q.blocks = append(q.blocks, lifetimes.Block{Span: b.span(), Size: per})
	}
	// The part of fixed size comes first, so that its offsets are numbers.
	slices.SortStableFunc(order, func(a, b *part) int { return cmp.Compare(b.fixed(), a.fixed()) })
	base := shape.Const(0)
	for _, q := range order {
		q.place()
		for k, b := range q.blocks {
			p.Buffers[q.buffers[k]].Offset = base.Add(q.at(b.Offset, b.Depth))
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

// part holds the buffers whose size is a number times unit: blocks, measured in units, and
// which buffer each is.
type part struct {
	unit    shape.Dim
	blocks  []lifetimes.Block
	buffers []int
	peak    int
	depth   int // the most blocks that lie below one
	loose   bool
}

func (q *part) fixed() int {
	if q.unit.Is(1) {
		return 1
	}
	return 0
}

// place assigns offsets.
func (q *part) place() {
	q.peak = lifetimes.Place(q.blocks, 1)
	for i := range q.blocks {
		b := &q.blocks[i]
		q.loose = q.loose || b.Size%array.Align != 0
		q.depth = max(q.depth, b.Depth)
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
