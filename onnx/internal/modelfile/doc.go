// Package modelfile holds an ONNX model as its file has it: the messages, the data of tensors
// in the file and in the files of its folder as arrays, names, and the types of inputs and
// outputs. Where the system has it, files are mapped into memory. It does not know operators.
//
// Files may come from anywhere: a location outside of the model's folder is refused, and names
// are cut for messages. The messages themselves are read by internal/onnxpb.
//
// Read file.go first, then tensor.go and structure.go.
package modelfile
