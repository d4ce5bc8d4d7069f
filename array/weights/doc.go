// Package weights opens files of weights of every format that gofx reads, by their
// contents: safetensors, also in shards with an index, .npy and .npz, GGUF, and what
// torch.save and torch.export write. Each format has a package next to this one,
// which alone knows all of them. nn.LoadFile, fxgen -weights and fxgen stats read through
// it; generated code reads safetensors alone and does not import it.
//
// Files are mapped into memory where the system can, until they are closed; a refused
// file is unmapped at once. The package does not write and does
// not know models: names are those of the file. Package onnx (OpenWeights), which
// stands above, reads weights in ONNX models.
//
// Read weights.go first.
package weights
