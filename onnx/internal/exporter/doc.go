// Package exporter writes graphs as ONNX models: a table of rules, from our operators to
// ONNX's, and for operators without a rule their expression, their decomposition or
// their equivalent on floats. It shares no type with the importer except the messages of
// files (internal/onnxpb) and the facts of package spec. It does not choose the parts to
// export: package onnx is the entry.
//
// Read export.go first (Export), then graph.go, call.go and the rules of the other files.
package exporter
