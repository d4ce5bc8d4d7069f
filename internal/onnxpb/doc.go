// Package onnxpb reads and writes the messages of ONNX files: the protocol buffers
// wire format (https://protobuf.dev/programming-guides/encoding) of onnx.proto
// (https://onnx.ai/onnx/repo-docs/IR.html), and nothing else of either. Each message
// is a struct whose method fields lists its fields once, for both directions.
//
// Reading shares the memory of the file: raw tensor data are slices of it, so that a
// mapped file of any size opens in the time that its structure takes. Other
// allocations are bounded (MaxStructure), nesting too (MaxDepth); files that are cut
// off, or wrong otherwise, give an error with the byte at fault. Fields that the
// package does not know are skipped, as the format demands.
//
// Read wire.go first, then message.go.
package onnxpb
