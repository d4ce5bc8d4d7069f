// Command vec writes the amd64 assembly of the elementwise programs, vector
// functions and memory-bound kernels of package kernel, and its Go stubs.
package main

import (
	"github.com/mmcloughlin/avo/build"

	"github.com/gofx-dev/gofx/internal/asmgen/simd"
)

func generate() (map[string][]byte, error) {
	return simd.Files("asmgen/vec", []simd.Unit{
		{Name: "vec_avx512", Emit: func(c *build.Context) { emitMachine(isa{c, true}) }},
		{Name: "vec_avx2", Emit: func(c *build.Context) { emitMachine(isa{c, false}) }},
		{Name: "vec_rows_avx512", Emit: func(c *build.Context) { emitRows(isa{c, true}) }},
		{Name: "vec_rows_avx2", Emit: func(c *build.Context) { emitRows(isa{c, false}) }},
	})
}

func main() { simd.Main("asmgen/vec", generate) }
