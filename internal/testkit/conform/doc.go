// Package conform holds every operator to one meaning: each sample of each
// operator is run in every engine and compared with the operator's own
// evaluation on arrays, to the last bit. No engine leaves one out. docs/ops.md is written from the runs.
//
// It stands above all engines and is linked by tests alone. It does not compare
// with PyTorch (internal/testkit/oracle), nor models with their eager runs under faults
// (internal/testkit/faults, internal/testkit/capturefuzz). Read conform.go first, then matrix.go;
// sample_test.go and generated_test.go run the engines.
package conform
