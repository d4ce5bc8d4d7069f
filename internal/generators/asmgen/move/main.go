// Command move writes the assembly of the kernels below package kernel that move
// data, reduce columns and scale, and its Go stubs, with avo, for the families
// move and rowcol. The files it writes are checked in; a test regenerates them and compares
// byte for byte.
package main

import (
	"github.com/mmcloughlin/avo/build"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// isa has this command's kernels as methods.
type isa struct {
	simd.ISA
	prologue func() // code that affine writes before its loops, or nil
}

// both emits for both instruction sets.
func both(emit func(isa)) func(*build.Context) {
	return func(c *build.Context) {
		emit(isa{ISA: simd.AVX512(c)})
		emit(isa{ISA: simd.AVX2(c)})
	}
}

func generate() (map[string][]byte, error) {
	return simd.Files("asmgen/move", []simd.Unit{
		{Family: "move", Name: "transpose", Emit: both(emitTransposes)},
		{Family: "move", Name: "copy", Emit: both(emitCopies)},
		{Family: "move", Name: "pairs", Emit: both(emitPairs)},
		{Family: "rowcol", Name: "column", Emit: both(emitColumns)},
		{Family: "rowcol", Name: "affine", Emit: both(emitAffine)},
		{Family: "rowcol", Name: "row", Emit: both(emitRows)},
		{Family: "rowcol", Name: "exp", Emit: both(emitExp)},
		{Family: "rowcol", Name: "softmax", Emit: func(c *build.Context) { emitSoftmax(isa{ISA: simd.AVX512(c)}) }},
		{Family: "rowcol", Name: "norm", Emit: func(c *build.Context) { emitNorm(isa{ISA: simd.AVX512(c)}) }},
	})
}

func main() { simd.Main("asmgen/move", generate) }
