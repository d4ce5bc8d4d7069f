// Package blocks has the layouts in which GGUF files keep weights in few bits: how many elements
// a block has, how many bytes, and which floats these stand for. array/gguf reads files with
// it, kernels multiply by blocks as they are. Read blocks.go first.
//
// Ref: ggml, GGUF specification; block types as its reference decodes them.
package blocks
