// Package safetensors reads and writes the safetensors format for weights: eight
// bytes with the length of a JSON header, the header, the data of all tensors
// (github.com/huggingface/safetensors, "Format"), in files that are read or mapped, and
// written in an order of the caller's or in that of the reference. Files are treated
// as hostile: every structural fault is an error that names the byte, and
// memory is bounded by the size of the file. Big-endian machines are refused.
//
// It stands above array. Generated code imports it, so it has a JSON reader of its
// own; it does not know models: nn and generated code map names to tensors. Read
// safetensors.go first.
package safetensors
