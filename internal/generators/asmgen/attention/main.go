// Command attention writes the amd64 assembly of attention and its Go stubs.
package main

import (
	"github.com/mmcloughlin/avo/build"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// isa has this command's kernels as methods.
type isa struct{ simd.ISA }

func generate() (map[string][]byte, error) {
	return simd.Files("asmgen/attention", []simd.Unit{{Family: "attention", Name: "attention", Emit: emitAttention}})
}

func main() { simd.Main("asmgen/attention", generate) }

// vecs is the registers of one row of scores, one score a query.
const vecs = 2

func emitAttention(c *build.Context) {
	for _, s := range []isa{{simd.AVX512(c)}, {simd.AVX2(c)}} {
		emitScores(s)
		emitValues(s)
		emitSoftmax(s)
		emitScale(s)
		emitMasks(s)
		emitBytes(s)
	}
}

// row is the bytes of a row of scores.
func (s isa) row() int { return vecs * s.Size() }
