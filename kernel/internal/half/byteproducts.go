package half

import (
	"github.com/gofx-dev/gofx/internal/blocks"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// ByteColumns is the most columns of a ByteDots, and ByteRows the most rows.
const (
	ByteColumns = 64
	ByteRows    = 8
)

// RowsAtOnce returns how many of the rows that are left one ByteDots takes: ByteRows if so many are left and the processor has instructions for them, else up to four.
func RowsAtOnce(left int) int {
	if left >= ByteRows && vnni() {
		return ByteRows
	}
	return min(left, 4)
}

// ByteDots is a product dst[r][c] = Σ x[r][k]·w[c][k] of activations in 8 bits, rows that RoundRow has made, as many as RowsAtOnce says,
// and weights in blocks that have integers, rows of LdW bytes. Several rows take up to ByteColumns columns, as do rows of
// x with an end that fills no group; their results are ByteColumns apart, in room for four, or eight. The 16 lanes
// of a group of 128 elements are summed as integers; the sum is multiplied by the scale of x, by that of the weight, and
// added to the lane's float; in the end lanes are added that are eight apart, four, two, one. Minima are added to lanes for each group, or
// taken from them before each block of 256. So results have the same bits with whatever instructions there are.
type ByteDots struct {
	N, Rows, K int
	X          []uint8
	LdX        int // bytes
	W          []uint8
	LdW        int
	Dst        []float32
}

// Run computes the product.
func (d *ByteDots) Run(f *blocks.Format) {
	pass := max(groupLen/f.Elements, 1) * f.Bytes
	count := d.K / max(groupLen, f.Elements)
	switch {
	case !cpu.HasAVX2():
		d.inGo(f)
	case count*pass < d.LdW:
		d.filled(f, count, pass)
	default:
		d.machine(f.Name, count, nil)
	}
}

// filled computes the product with blocks of no weight after the last ones, which fill a group up.
func (d *ByteDots) filled(f *blocks.Format, count, pass int) {
	var tails [ByteColumns * mostGroup]uint8
	for c := range d.N {
		copy(tails[c*pass:], d.W[c*d.LdW+count*pass:(c+1)*d.LdW])
	}
	d.machine(f.Name, count, &tails[0])
}

// mostGroup is the most bytes of 128 weights with an end that is filled up, those of Q8_0.
const mostGroup = 4 * 34

// inGo is the twin of the machine code.
func (d *ByteDots) inGo(f *blocks.Format) {
	for c := range d.N {
		for r := range d.Rows {
			s := byteSum{order: orderOf(f), format: f, x: d.X[r*d.LdX:], w: d.W[c*d.LdW:][:d.LdW]}
			d.Dst[r*ByteColumns+c] = s.run(d.K)
		}
	}
}

// byteSum is one result: integers, scales and minima of a piece of the weight, and the sums of lanes.
type byteSum struct {
	order        byteOrder
	format       *blocks.Format
	x, w         []uint8
	q            [maxBlock]int8
	scale, least [maxBlock / blocks.Part]float32
	lanes        [groupLanes]float32
}

func (s *byteSum) run(k int) float32 {
	for p := 0; p < k; p += max(groupLen, s.format.Elements) {
		n := s.unpack(min(k-p, max(groupLen, s.format.Elements)))
		if s.order.least == 1 {
			s.minima()
		}
		for g := 0; g < n; g += groupLen {
			s.group(g)
			s.x = s.x[groupBytes:]
		}
	}
	for by := groupLanes / 2; by > 0; by /= 2 {
		for lane := range by {
			s.lanes[lane] += s.lanes[lane+by]
		}
	}
	return s.lanes[0]
}

// unpack takes n elements apart, and returns how many there are with those of no weight.
func (s *byteSum) unpack(n int) int {
	clear(s.q[:])
	clear(s.scale[:])
	clear(s.least[:])
	f := s.format
	for e := 0; e < n; e += f.Elements {
		part, end := e/blocks.Part, (e+f.Elements)/blocks.Part
		f.Integers(s.q[e:e+f.Elements], s.scale[part:end], s.least[part:end], s.w[:f.Bytes])
		s.w = s.w[f.Bytes:]
	}
	return max(groupLen, f.Elements)
}

// minima takes those of a block of 256 from the upper lanes. Scales times 0 go to the lower ones, where they may be NaN.
func (s *byteSum) minima() {
	for lane := range groupLanes / 2 {
		by, other := floatAt(s.x[groupWord+4*lane:]), floatAt(s.x[groupWord+4*(lane+groupLanes/2):])
		s.lanes[lane] -= float32(s.scale[2*lane] * by)
		s.lanes[lane+groupLanes/2] += float32(s.least[2*lane] * other)
	}
}

// group adds 128 products, from element g on.
func (s *byteSum) group(g int) {
	for lane := range groupLanes {
		sum, at := int32(0), g+s.order.element(lane, 0)
		for high := range 2 {
			q := s.q[g+s.order.element(lane, high):]
			for i, v := range s.x[groupHigh*high+4*lane:][:4] {
				sum += int32(int8(v)) * int32(q[i])
			}
		}
		v := float32(float32(sum) * floatAt(s.x[groupScale+4*lane:]))
		s.lanes[lane] += float32(v * s.scale[at/blocks.Part])
		if s.order.least == 4 {
			s.lanes[lane] += float32(s.least[at/blocks.Part] * floatAt(s.x[groupWord+4*lane:]))
		}
	}
}
