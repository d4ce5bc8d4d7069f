// Command gemm writes the amd64 assembly of products of matrices and its Go stubs
// with avo. The files it writes are checked in; a test regenerates them and
// compares byte for byte. It is a module of its own, so that users of gofx do not
// inherit its imports.
package main

import "github.com/gofx-dev/gofx/internal/generators/asmgen/simd"

// isa has this command's kernels as methods.
type isa struct{ simd.ISA }

func generate() (map[string][]byte, error) {
	return simd.Files("asmgen/gemm", []simd.Unit{
		{Family: "gemm", Name: "gemm", Emit: emitGemm},
		{Family: "gemm", Name: "gemv", Emit: emitGemv},
		{Family: "gemm", Name: "pack", Emit: emitPack},
		{Family: "gemm", Name: "pairs", Emit: emitPairs},
		{Family: "gemm", Name: "sample", Emit: emitSamples},
		{Family: "gemm", Name: "strip", Emit: emitStrips},
		{Family: "gemm", Name: "thin", Emit: emitThin},
	})
}

func main() { simd.Main("asmgen/gemm", generate) }
