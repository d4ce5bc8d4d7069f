// Command depthwise writes the assembly of convolutions that filter each channel
// by itself.
package main

import (
	"github.com/mmcloughlin/avo/build"

	"github.com/gofx-dev/gofx/internal/asmgen/simd"
	"github.com/gofx-dev/gofx/internal/asmgen/window"
)

func generate() (map[string][]byte, error) {
	return simd.Files("asmgen/depthwise", []simd.Unit{
		{Family: "conv", Name: "depthwise", Emit: func(c *build.Context) {
			order := window.Orders(c)
			for _, s := range []simd.ISA{simd.AVX512(c), simd.AVX2(c)} {
				emitPlane(s)
				for _, kernel := range []int{3, 5} {
					for _, stride := range []int{1, 2} {
						emitFilter(s, kernel, stride, order)
					}
				}
			}
		}},
	})
}

func main() { simd.Main("asmgen/depthwise", generate) }
