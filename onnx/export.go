package onnx

import (
	"io"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/onnx/internal/exporter"
	"github.com/gofx-dev/gofx/op"
)

// ExportOptions say how a graph is written. The zero value is right for most.
type ExportOptions struct {
	// Opset is the operator set of the file, from 17 on; 0 is the lowest that has
	// the operators that the graph needs. An older one makes of one operator
	// several.
	Opset int
	// Inputs are the names of the inputs, those of the graph where they are empty or not as
	// many: a name of the graph is an identifier, one of a file can be any text.
	Inputs []string
	// Outputs are the names of the outputs; without them they are the keys of the graph's
	// results, or the names of the nodes that compute them.
	Outputs []string
	// External puts the constants into a file of their own, which ExportFile names as the
	// model with .data appended. It does so anyway if one file cannot hold them all (2 GB).
	External bool
}

// Export writes a module as an ONNX model with its constants. Inputs and outputs keep their
// names unless the options give others, parameters their paths; a node is named by the scope and the name of the node that
// it computes. Sizes that are symbols become named dimensions, and sizes of attributes that
// follow from them are computed by the model, so that the file runs with other sizes.
// Every input must have a type. Sub-graphs that are called are written out; the graph itself is not changed.
// Quantised operators become their operators on floats between QuantizeLinear and DequantizeLinear.
// ONNX has no inverse: it is ONNX Runtime's com.microsoft.Inverse.
//
// The same module gives the same bytes. The error is a diag.List of everything that
// ONNX cannot say (CodeExport), among it writes to the state of the model; nothing is written then.
func Export(w io.Writer, m *graph.Module, o ExportOptions) error {
	return exporter.Export(w, m, exporter.Options(o))
}

// ExportFile is Export into a file, with the constants in a second file next to it if they
// are too large or the options ask for it. It replaces existing files only when everything
// has been written.
func ExportFile(path string, m *graph.Module, o ExportOptions) error {
	return exporter.ExportFile(path, m, exporter.Options(o))
}

// ExportedBy says how calls of an operator are written: "rule" for operators of ONNX,
// "expression" for a node for each operation on scalars, "decomposition" and "reference" for the operators
// that it is made of or stands for, "" where Export refuses it.
func ExportedBy(o *op.Op) string { return exporter.ExportedBy(o) }
