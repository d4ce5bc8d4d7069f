// Command rnn writes the amd64 assembly of recurrent networks and its Go stubs.
package main

import "github.com/gofx-dev/gofx/internal/generators/asmgen/simd"

// isa has this command's kernels as methods.
type isa struct{ simd.ISA }

func generate() (map[string][]byte, error) {
	return simd.Files("asmgen/rnn", []simd.Unit{{Family: "rnn", Name: "rnn", Emit: emitRNN}})
}

func main() { simd.Main("asmgen/rnn", generate) }
