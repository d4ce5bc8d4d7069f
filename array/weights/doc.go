// Package weights opens files of weights of every format that gofx reads, by their
// contents: safetensors, also in shards with an index, .npy and .npz, GGUF, and what
// torch.save and torch.export write. The formats are packages beside it; here is the one
// place that knows all of them. nn.LoadFile, fxgen -weights and fxgen stats read through
// it; generated code reads safetensors alone and does not import it.
//
// Files are mapped where the system can, until they are closed; what is refused is given
// back at once. It does not write, and does not know models:
// names are those of the file. Weights in ONNX models are read by package onnx
// (OpenWeights), which stands above this one.
//
// Read weights.go first.
package weights
