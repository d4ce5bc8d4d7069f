// Command seq writes the amd64 assembly of attention, of recurrent networks and
// of the rounding to 16 bits below package kernel, and its Go stubs. The files it writes are checked in; a test
// regenerates them and compares byte for byte.
package main

import (
	"github.com/mmcloughlin/avo/build"

	"github.com/gofx-dev/gofx/internal/asmgen/simd"
)

// isa has this command's kernels as methods.
type isa struct{ simd.ISA }

func generate() (map[string][]byte, error) {
	return simd.Files("asmgen/seq", []simd.Unit{{Family: "attention", Name: "attention", Emit: emitAttention}, {Family: "rnn", Name: "rnn", Emit: emitRNN}, {Family: "half", Name: "half", Emit: emitHalf}})
}

func main() { simd.Main("asmgen/seq", generate) }

// vecs is the registers of one row of scores, one score a query.
const vecs = 2

func emitAttention(c *build.Context) {
	for _, s := range []isa{{simd.AVX512(c)}, {simd.AVX2(c)}} {
		emitScores(s)
		emitValues(s)
		emitSoftmax(s)
		emitScale(s)
		emitMasks(s)
	}
}

// size is the bytes of a register, row those of a row of scores.
func (s isa) size() int { return 4 * s.Lanes() }
func (s isa) row() int  { return vecs * s.size() }
