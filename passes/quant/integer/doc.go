// Package integer rewrites the quantised form of a graph, floats between dequantize and
// quantize, into operators on quantised values, where op/std has them (q_linear,
// q_conv2d, ...), and reports why each other candidate stays in float.
//
// It runs after quant-convert, or on an imported graph that has that form, such as a QDQ
// model, and before composite operators are expanded. It names operators. It decides
// nothing about precision: what is quantised is in the graph already.
//
// Read lower.go first, which visits the nodes and has the tables of rules, then lowerer.go,
// product.go and value.go.
package integer
