package half

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/blocks"
)

// A row of activations in 8 bits lies in groups of 128 elements, 256 bytes each. A group has 16 lanes of eight
// elements: four are bytes 4·lane and on of its first 64 bytes, four those of the next 64; the elements follow each other
// in runs of 16, or of eight, that take turns. Then a word for each lane, and a float for each lane: the scale of its block of
// 32 elements. The word is what the sum of the lane begins with, as weights are stored as positive numbers; or, as a
// float, what minima are multiplied by.
const (
	groupLen   = 128
	groupBytes = 256
	groupHigh  = 64
	groupWord  = 128
	groupScale = 192
	groupLanes = 16
)

// byteOrder is what a format asks of that.
type byteOrder struct {
	run   int   // elements that follow each other
	zero  uint8 // stands for 0 in stored bytes
	least int   // lanes between the sums that minima are multiplied by: 4 of a group, or 1 from lane 8 on of two groups; or 0
}

func orderOf(f *blocks.Format) byteOrder {
	switch f.Name {
	case "Q8_0":
		return byteOrder{run: 16, zero: 128}
	case "Q4_0":
		return byteOrder{run: 16, zero: 8}
	case "Q5_0":
		return byteOrder{run: 16, zero: 16}
	case "Q4_1", "Q5_1":
		return byteOrder{run: 16, least: 4}
	case "Q6_K":
		return byteOrder{run: 8, zero: 32}
	}
	return byteOrder{run: 16, least: 1}
}

// element is the first of the four elements of a lane, in the lower or the upper 64 bytes.
func (o byteOrder) element(lane, high int) int {
	at := 4 * lane
	return 2*o.run*(at/o.run) + at%o.run + high*o.run
}

// ByteRow is how many bytes a row of k elements takes.
func ByteRow(k int) int { return (k + groupLen - 1) / groupLen * groupBytes }

// RoundRow rounds a row of activations to 8 bits for weights of a format: in each block of 32 elements to
// multiples of d, the largest size divided by 127, halves to even. Elements are multiplied by 1/d. Where d is no normal number
// they are 0; where an element is not finite, the block is NaN.
func RoundRow(f *blocks.Format, dst []uint8, x []float32) {
	o := orderOf(f)
	whole := len(x) / groupLen
	if whole > 0 && vnni() {
		switch {
		case o.run == 8:
			roundEightsVNNI(whole, &x[0], &dst[0], int(o.zero))
		case o.least == 4:
			roundSumsVNNI(whole, &x[0], &dst[0])
		case o.least == 1:
			roundSums256VNNI(whole/2, &x[0], &dst[0])
		default:
			roundRowVNNI(whole, &x[0], &dst[0], int(o.zero))
		}
		x, dst = x[whole*groupLen:], dst[whole*groupBytes:]
	}
	for g := 0; g*groupLen < len(x); g++ {
		o.round(dst, x[g*groupLen:min(len(x), (g+1)*groupLen)], g)
	}
}

// round rounds x, group g of a row.
func (o byteOrder) round(row []uint8, x []float32, g int) {
	var q [groupLen]int8
	var d [groupLen / UnpackBlock]float32
	for j := range len(x) / UnpackBlock {
		d[j] = roundBlock(q[j*UnpackBlock:(j+1)*UnpackBlock], x[j*UnpackBlock:])
	}
	dst := row[g*groupBytes:]
	for lane := range groupLanes {
		sum := int32(0)
		for high := range 2 {
			for i, v := range q[o.element(lane, high):][:4] {
				dst[groupHigh*high+4*lane+i] = uint8(v)
				sum += int32(v)
			}
		}
		putFloat(dst[groupScale+4*lane:], d[lane/4])
		if o.least == 0 {
			putWord(dst[groupWord+4*lane:], uint32(-sum*int32(o.zero)))
		}
	}
	if o.least != 0 {
		o.sums(row, &q, &d, g)
	}
}

// sums writes what minima are multiplied by, sums of blocks of 32 elements, and 0 between them.
func (o byteOrder) sums(row []uint8, q *[groupLen]int8, d *[groupLen / UnpackBlock]float32, g int) {
	words := row[g*groupBytes+groupWord:][:4*groupLanes]
	if o.least == 1 {
		words = row[g&^1*groupBytes+groupWord:][:4*groupLanes]
	}
	if o.least == 4 || g%2 == 0 {
		clear(words)
	}
	if o.least == 1 {
		words = words[2*groupLanes+g%2*4*len(d):]
	}
	for j, scale := range d {
		sum := int32(0)
		for _, v := range q[j*UnpackBlock : (j+1)*UnpackBlock] {
			sum += int32(v)
		}
		putFloat(words[4*o.least*j:], float32(float32(sum)*scale))
	}
}

// roundBlock rounds 32 elements, and returns what they are multiples of.
func roundBlock(q []int8, x []float32) float32 {
	most := uint32(0)
	for _, v := range x[:len(q)] {
		most = max(most, math.Float32bits(v)&^(1<<31)) // NaN is the largest
	}
	size := math.Float32frombits(most)
	d := size / 127
	if most >= infinite {
		clear(q)
		return d + (size - size) // NaN
	}
	if d < leastNormal {
		clear(q)
		return d
	}
	by := 1 / d
	for i, v := range x[:len(q)] {
		q[i] = int8(math.RoundToEven(float64(float32(v * by))))
	}
	return d
}

const (
	infinite    = 0x7f800000
	leastNormal = 0x1p-126
)

func putWord(b []uint8, v uint32) {
	b[0], b[1], b[2], b[3] = uint8(v), uint8(v>>8), uint8(v>>16), uint8(v>>24)
}

func putFloat(b []uint8, v float32) { putWord(b, math.Float32bits(v)) }

func floatAt(b []uint8) float32 {
	return math.Float32frombits(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24)
}

// Blocks of activations, as attention over bytes has them, are those of Q8_0: a scale of 16 bits, then 32 elements.
const (
	ByteScale = 2
	ByteBlock = ByteScale + UnpackBlock
)

// ScaleOf is the scale of such a block.
func ScaleOf(block []uint8) float32 {
	return array.Half(uint16(block[0]) | uint16(block[1])<<8).Float32()
}

// Quantize rounds rows of whole blocks of elements to the format Q8_0: d is the largest size of a block divided by 127, rounded to f16, and q an
// element times 1/d, rounded, halves to even, 127 at most in size. Where d is 0 the elements are 0; a block with an element that is not finite, or with d
// too large for f16, stands for NaN.
func Quantize(dst []uint8, x []float32) {
	for ; len(x) > 0; x, dst = x[UnpackBlock:], dst[ByteBlock:] {
		quantizeBlock(dst[:ByteBlock], x[:UnpackBlock])
	}
}

func quantizeBlock(dst []uint8, x []float32) {
	most := uint32(0)
	for _, v := range x {
		most = max(most, math.Float32bits(v)&^(1<<31)) // NaN is the largest
	}
	word := array.HalfFromFloat32(math.Float32frombits(most) / 127)
	d := word.Float32()
	dst[0], dst[1] = uint8(word), uint8(word>>8)
	q := dst[ByteScale:][:len(x)]
	if !(d > 0 && d <= math.MaxFloat32) {
		clear(q)
		return
	}
	by := 1 / d
	for i, v := range x {
		q[i] = uint8(int8(math.RoundToEven(float64(min(max(float32(v*by), -127), 127)))))
	}
}

// RoundQuery rounds a block of a query of attention over bytes, as RoundRow rounds activations: 32 bytes, a word that the sum with
// positive keys begins with, and the scale.
func RoundQuery(dst []uint8, x []float32) {
	var q [UnpackBlock]int8
	d, sum := roundBlock(q[:], x), int32(0)
	for i, v := range q {
		dst[i] = uint8(v)
		sum += int32(v)
	}
	putWord(dst[UnpackBlock:], uint32(-128*sum))
	putFloat(dst[UnpackBlock+4:], d)
}
