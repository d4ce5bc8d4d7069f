// Command conv writes the amd64 assembly of the convolutions of package conv
// that read their input where it lies, and its Go stubs.
package main

import (
	"github.com/mmcloughlin/avo/build"

	"github.com/gofx-dev/gofx/internal/asmgen/simd"
)

// isa has this command's kernels as methods.
type isa struct{ simd.ISA }

func generate() (map[string][]byte, error) {
	return simd.Files("asmgen/conv", []simd.Unit{
		{Family: "conv", Name: "conv", Emit: emitConv},
		{Family: "gemm", Name: "sample", Emit: func(c *build.Context) {
			emitSample(isa{simd.AVX512(c)})
			emitSample(isa{simd.AVX2(c)})
		}},
	})
}

func main() { simd.Main("asmgen/conv", generate) }

func emitConv(c *build.Context) {
	for _, s := range []isa{{simd.AVX512(c)}, {simd.AVX2(c)}} {
		emitTile(s)
		emitSpan(s)
		emitStore(s)
	}
}
