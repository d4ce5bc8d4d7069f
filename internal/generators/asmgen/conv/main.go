// Command conv writes the amd64 assembly of the convolutions of package conv that
// read their input where it lies, of single channels and of all, and its Go stubs.
package main

import (
	"github.com/mmcloughlin/avo/build"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
	"github.com/gofx-dev/gofx/internal/generators/asmgen/window"
)

// isa has this command's kernels as methods.
type isa struct{ simd.ISA }

func generate() (map[string][]byte, error) {
	return simd.Files("asmgen/conv", []simd.Unit{
		{Family: "conv", Name: "conv", Emit: emitConv},
		{Family: "conv", Name: "depthwise", Emit: emitDepthwise},
		{Family: "conv", Name: "pairs", Emit: emitPairs},
	})
}

func main() { simd.Main("asmgen/conv", generate) }

func emitConv(c *build.Context) {
	for _, s := range []isa{{simd.AVX512(c)}, {simd.AVX2(c)}} {
		emitTile(s)
		emitSpan(s)
		emitStore(s)
		emitPrepare(s)
	}
}

// emitPairs writes convolutions of words that have two bf16 each.
func emitPairs(c *build.Context) {
	s := isa{simd.Pairs(c)}
	emitTile(s)
	emitSpan(s)
}

// emitDepthwise writes convolutions that filter each channel by itself.
func emitDepthwise(c *build.Context) {
	order := window.Orders(c)
	for _, s := range []simd.ISA{simd.AVX512(c), simd.AVX2(c)} {
		emitPlane(s)
		for _, kernel := range []int{3, 5} {
			for _, stride := range []int{1, 2} {
				emitFilter(s, kernel, stride, order)
			}
		}
	}
}
