// Package spec holds the common parts of importing and exporting ONNX: operator sets and
// domains, element types, codes of errors, and a builder that computes on constants. The
// files themselves are read and written by internal/onnxpb.
//
// Read spec.go first, then fold.go.
package spec
