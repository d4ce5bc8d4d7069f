// Package expr holds the one meaning of an elementwise operator: a hash-consed
// DAG of typed scalar operations. It owns their structure: building, constant
// folding, evaluation one element at a time, inlining, and compiling to the program
// that package kernel runs. The operations and their exact semantics are
// kernel.Code's. A target that writes expressions in a language of its own goes through
// them with Fold, and has a table with its form of each operation (Forms).
//
// It stands between kernel and op, and knows nothing of graphs, operators, shapes or
// arrays. Read expr.go first, then compile.go and forms.go.
package expr
