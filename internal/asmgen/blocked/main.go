// Command blocked writes the amd64 and arm64 assembly of what package blocked computes in
// blocked layouts: sixteen channels of a position lie together.
package main

import (
	"maps"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/gofx-dev/gofx/internal/asmgen/simd"
)

// isa has this command's kernels as methods.
type isa struct {
	simd.ISA
	minusZero Mem // adding it changes nothing
}

func both(emit func(isa)) func(*build.Context) {
	return func(c *build.Context) {
		for _, s := range []simd.ISA{simd.AVX512(c), simd.AVX2(c)} {
			zero := c.StaticGlobal("minusZero" + s.Suffix())
			c.DataAttributes(attr.RODATA | attr.NOPTR)
			c.AddDatum(0, U32(1<<31))
			emit(isa{s, zero})
		}
	}
}

func generate() (map[string][]byte, error) {
	files, err := simd.Files("asmgen/blocked", []simd.Unit{
		{Family: "blocked", Name: "blocked_conv", Emit: both(emitConv)},
		{Family: "blocked", Name: "blocked_depthwise", Emit: both(emitDepthwise)},
		{Family: "blocked", Name: "blocked_pool", Emit: both(emitPool)},
	})
	maps.Copy(files, arm64Files())
	return files, err
}

func main() { simd.Main("asmgen/blocked", generate) }
