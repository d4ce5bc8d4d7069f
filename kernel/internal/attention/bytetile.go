package attention

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/half"
)

// The parts of attention over bytes. Those ending in Go are twins of machine code: scores have the same bits, mixed values are
// rounded once more.

// hasByteTiles reports whether there is machine code at a level.
func hasByteTiles(l cpu.Level) bool { return fast[float32](l) && cpu.X86 }

// pack lays out n keys, whose rows are ld bytes apart, and their scales.
func (t *byteTile) pack(l cpu.Level, k []uint8, ld, n, blocks int) {
	for i := range n {
		row := k[i*ld:]
		for b := range blocks {
			t.halves[b*attentionKeys+i] = binary.LittleEndian.Uint16(row[b*byteStored:])
		}
	}
	half.Widen(t.scale, t.halves, false)
	for b := range blocks {
		dst, src := t.keys[b*attentionKeys*byteElements:], k[b*byteStored+half.ByteScale:]
		if hasByteTiles(l) && ld%4 == 0 {
			// Only moves: words are floats to them.
			turnRows32(l, asWords(dst, byteWords*attentionKeys), attentionKeys, asWords(src, (n-1)*ld/4+byteWords), ld/4, n, byteWords)
			continue
		}
		for i := range n {
			for w := range byteWords {
				copy(dst[4*(w*attentionKeys+i):][:4], src[i*ld+4*w:])
			}
		}
	}
}

// asWords is bytes as n words.
func asWords(b []uint8, n int) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b[:4*n]))), n)
}

// byteScores sets row r of c, attentionKeys long, to the products of a query with the keys of a tile.
func byteScores(l cpu.Level, rows, blocks int, q, k []uint8, scale, c []float32) {
	if blocks == 0 {
		clear(c[:rows*attentionKeys])
		return
	}
	_, _, _, _ = q[rows*blocks*byteQuery-1], k[blocks*attentionKeys*byteElements-1], scale[blocks*attentionKeys-1], c[rows*attentionKeys-1]
	if hasByteTiles(l) {
		byteScores32(l, rows, blocks, q, k, scale, c)
		return
	}
	for r := range rows {
		byteScoresGo(blocks, q[r*blocks*byteQuery:], k, scale, c[r*attentionKeys:][:attentionKeys])
	}
}

func byteScoresGo(blocks int, q, k []uint8, scale, c []float32) {
	clear(c)
	for b := range blocks {
		query := q[b*byteQuery:][:byteQuery]
		by := math.Float32frombits(binary.LittleEndian.Uint32(query[byteElements+4:]))
		for p := range c {
			sum := int32(0)
			for e, v := range query[:byteElements] {
				sum += int32(int8(v)) * int32(int8(k[b*attentionKeys*byteElements+4*(e/4*attentionKeys+p)+e%4]))
			}
			c[p] += float32(float32(float32(sum)*scale[b*attentionKeys+p]) * by)
		}
	}
}

// byteValues adds to row r of mix, 32 floats for each block, the values of keys, whose rows are ld bytes apart, times
// p[r*attentionKeys+key].
func byteValues(l cpu.Level, rows, blocks, keys int, p []float32, v []uint8, ld int, mix []float32) {
	if blocks == 0 {
		return
	}
	_, _, _ = p[rows*attentionKeys-1], v[(keys-1)*ld+blocks*byteStored-1], mix[rows*blocks*byteElements-1]
	if hasByteTiles(l) {
		byteValues32(l, rows, blocks, keys, p, v, ld, mix)
		return
	}
	for i := range keys {
		for b := range blocks {
			block := v[i*ld+b*byteStored:][:byteStored]
			d := half.ScaleOf(block)
			for e, x := range block[half.ByteScale:] {
				value := float32(float32(int8(x)) * d)
				for r := range rows {
					mix[(r*blocks+b)*byteElements+e] += float32(p[r*attentionKeys+i] * value)
				}
			}
		}
	}
}
