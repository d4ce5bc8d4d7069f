// Package contrib holds the rules of operators of the domain com.microsoft, which ONNX Runtime
// has in addition to ONNX's. Many are variants of standard operators, and use the rules of
// onnx/internal/standard on other operands.
//
// Read rules.go first (Rules), then contrib.go.
package contrib
