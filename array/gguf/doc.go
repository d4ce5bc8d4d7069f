// Package gguf reads GGUF files (versions 2 and 3, little-endian), in which language
// models for llama.cpp are kept: typed metadata, and tensors that are floats, integers or
// blocks of quantised elements. Blocks are made f32 when a tensor is read; weights of
// Q4_0 are also available as they are. Shapes are those of PyTorch, the last axis the innermost,
// where the file lists the innermost first.
//
// Files are treated as hostile: every structural fault is an error that
// names the byte, and memory is bounded by the size of the file, sixteen times it for a
// tensor that is made f32. It stands above array, and does not know models: names and
// permutations of weights (Llama's rotary halves) are the caller's. It does not write.
//
// Read gguf.go first; block.go has the layouts of the blocks.
package gguf
