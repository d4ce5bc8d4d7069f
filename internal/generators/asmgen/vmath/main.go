// Command vmath writes the amd64 assembly of the elementwise programs, vector
// functions and memory-bound kernels of package vmath, and its Go stubs.
package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/mmcloughlin/avo/build"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

func generate() (map[string][]byte, error) {
	files, err := simd.Files("asmgen/vmath", []simd.Unit{
		{Family: "vmath", Name: "vec_avx512", Emit: func(c *build.Context) { emitMachine(isa{c, true}) }},
		{Family: "vmath", Name: "vec_avx2", Emit: func(c *build.Context) { emitMachine(isa{c, false}) }},
	})
	for name, data := range files {
		if r := beyondAVX2.Find(data); r != nil && strings.Contains(name, "avx2_amd64.s") {
			return nil, fmt.Errorf("%s: %s takes AVX-512", name, r)
		}
	}
	return files, err
}

// beyondAVX2 matches registers that avo assigns when it runs out of those of AVX2.
var beyondAVX2 = regexp.MustCompile(`\b([XY](1[6-9]|2\d|3[01])|[ZK]\d+)\b`)

func main() { simd.Main("asmgen/vmath", generate) }
