// Command half writes the amd64 assembly of the rounding to 16 bits and its Go stubs.
package main

import "github.com/gofx-dev/gofx/internal/generators/asmgen/simd"

// isa has this command's kernels as methods.
type isa struct{ simd.ISA }

func generate() (map[string][]byte, error) {
	return simd.Files("asmgen/half", []simd.Unit{{Family: "half", Name: "half", Emit: emitHalf}})
}

func main() { simd.Main("asmgen/half", generate) }
