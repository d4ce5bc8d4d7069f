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

// byteScores are the products of rows of queries with the keys of a tile.
type byteScores struct {
	rows, blocks int
	q, k         []uint8
	scale        []float32
	c            []float32 // rows of attentionKeys, which are set
}

func (s *byteScores) run(l cpu.Level) {
	if s.blocks == 0 {
		clear(s.c[:s.rows*attentionKeys])
		return
	}
	_, _, _, _ = s.q[s.rows*s.blocks*byteQuery-1], s.k[s.blocks*attentionKeys*byteElements-1], s.scale[s.blocks*attentionKeys-1], s.c[s.rows*attentionKeys-1]
	if hasByteTiles(l) {
		s.assembly(l)
		return
	}
	for r := range s.rows {
		s.row(r, s.c[r*attentionKeys:][:attentionKeys])
	}
}

// row sets c to the products of query r.
func (s *byteScores) row(r int, c []float32) {
	k, scale := s.k, s.scale
	clear(c)
	for b := range s.blocks {
		query := s.q[(r*s.blocks+b)*byteQuery:][:byteQuery]
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

// byteValues are the sums of values by the probabilities of their keys.
type byteValues struct {
	rows, blocks, keys int
	p                  []float32 // rows of attentionKeys
	v                  []uint8   // rows that are ld bytes apart
	ld                 int
	mix                []float32 // rows of 32 floats for each block, to which sums are added
}

func (s *byteValues) run(l cpu.Level) {
	if s.blocks == 0 {
		return
	}
	_, _, _ = s.p[s.rows*attentionKeys-1], s.v[(s.keys-1)*s.ld+s.blocks*byteStored-1], s.mix[s.rows*s.blocks*byteElements-1]
	if hasByteTiles(l) {
		s.assembly(l)
		return
	}
	p, mix, rows, blocks := s.p, s.mix, s.rows, s.blocks
	for i := range s.keys {
		for b := range blocks {
			block := s.v[i*s.ld+b*byteStored:][:byteStored]
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
