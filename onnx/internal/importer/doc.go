// Package importer makes a graph of an ONNX model. It walks the nodes of a file in their order,
// finds the meaning of each by domain, name and operator set, and gives every name its datum.
// The rules themselves lie in standard, contrib and ml. Operators with bodies, and calls of
// the model's functions, are here, because they import nodes into a scope of their own.
//
// Loops over sequences, and branches that are known to be taken, are written out.
// What is refused is listed, and the rest of the model is looked at, up to a bound.
//
// Read importer.go first (Import), then meaning.go, apply.go and control.go; bound.go imports a
// model for the values of inputs.
package importer
