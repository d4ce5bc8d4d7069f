// Package onnx imports ONNX files as graphs, and writes graphs as ONNX files. It owns what
// a user sees of that: files and their descriptions, options, samples, and models that are
// compiled when they run. It does not compute: engines and passes see a graph like one that
// was traced.
//
// The rooms below it do the work. onnx/internal/importer walks the nodes of a model and has a
// table of rules, one for each operator and each operator set that changed it, written with the
// operators of op/std: onnx/internal/standard, onnx/internal/contrib and onnx/internal/ml hold
// them, and onnx/internal/rule what they work on. onnx/internal/exporter goes the other way,
// with a table of its own from our operators to ONNX's.
//
// A value that an ONNX file computes from constants is a constant here, and one that it
// computes from sizes (Shape, Gather, Concat, Mod, Where) becomes sizes of attributes, over
// the symbols of the inputs: a rule is run with a builder that computes on them. An integer
// operand may be a number, a size, or a value that a run finds (decision 0078). Where a
// rank would depend on the value of an input, the error says which; Options.Values binds
// such inputs.
//
// Sequences and optionals are lists of their members, or nothing; their lengths are known
// at import (Options.Lengths), and loops over them are written out.
//
// A model gives the same graph whatever operator set it was exported with: rules know in
// which sets the meaning of an operator changed, and the graph does not remember the set.
//
// Everything that is not supported is reported at once, with the names of nodes.
// Files may come from anywhere: the work that a file can cause is bounded.
//
// Read import.go first (Import), then file.go; export.go is the way to the exporter.
package onnx
