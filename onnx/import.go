package onnx

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/onnx/internal/importer"
	"github.com/gofx-dev/gofx/onnx/internal/modelfile"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/shape"
)

// Options say how a model is imported. The zero value is right for most.
type Options struct {
	// Values binds inputs by value: they are constants of the graph then. Models
	// whose ranks or axes follow from the value of an input need that; where sizes do,
	// it tells compilers more.
	Values map[string]*array.Array
	// Lengths are the numbers of members of inputs that are sequences, which must be
	// given, and say of an optional whether it holds something: Absent, or any other
	// number (the length of a sequence that it holds). The members of the sequence x are
	// inputs of the graph, and are called x[0], x[1] in Values.
	Lengths map[string]int
	// Ranks are the ranks of inputs of which the file does not say it.
	Ranks map[string]int
	// Inputs are types of inputs in place of the file's: sizes that the file leaves open, or names
	// wrongly. The element type, and the number of dimensions where the file says it, must be the
	// file's; a type of no element type has the file's. A letter is one size in all types that are
	// given and in the file's. The value of a letter of the file in the given types also holds in the
	// other inputs that have it, unless it became several things: two inputs that the file says to be
	// [N,3] can be [1,3] and [4,3].
	Inputs map[string]shape.Type
	// Sizes are those that inputs have in a run. If the effect of a node depends on sizes (Squeeze
	// without axes drops those that are 1, an If may ask for some), the graph is the one for these
	// sizes, and has guards that refuse others for which it would be another one. Sizes that decide
	// nothing stay open. Where nothing is given, the graph decides in its run, with results of which
	// the rank is not known.
	Sizes map[string][]int
}

// Absent is the length of an optional that holds nothing.
const Absent = modelfile.Absent

// Import returns the model's graph with its weights, which may share the memory of
// the file. The graph has the model's inputs (those that are not initializers and not
// in Options.Values) and outputs, in their order and under their names, made legal.
// The error is a diag.List of everything that is not supported, or of graph.Lint's
// errors.
func (f *File) Import(o Options) (*graph.Module, error) {
	m, _, err := importer.Import(f.f, importer.Options(o))
	return m, err
}

// ImportFor imports a model to be run on the given values: inputs that sizes follow from
// are bound to theirs, and are no inputs of the graph then. It returns their names. Data are
// never bound, only short lists of numbers and single ones. Lengths, ranks and sizes that the
// options do not give are those of the values. Where two sizes that the file leaves open
// must be equal for the graph, and one of them is 1 in the values, it is 1 in the graph.
func (f *File) ImportFor(values map[string]*array.Array, o Options) (m *graph.Module, bound []string, err error) {
	b, err := importer.ImportFor(f.f, values, importer.Options(o))
	if err != nil {
		return nil, nil, err
	}
	return b.Module, b.Names, nil
}

// SizedBy lists the inputs whose values ranks, axes or sizes follow from that must be known, as far as importing comes
// without them: binding them may bring up more. It is empty for a model that imports, and
// where something else is in the way, of which Import tells.
func (f *File) SizedBy(o Options) []string {
	_, err := f.Import(o)
	names := importer.NeedsValues(err)
	slices.Sort(names)
	return slices.Compact(names)
}

// Operator is an operator that is imported.
type Operator struct {
	Domain, Name string
	// Since are the operator sets from which on it has the meanings that are known: 1
	// stands for any, another first number refuses older models.
	Since []int
}

// Operators lists the operators that are imported, by domain and name.
func Operators() []Operator {
	var list []Operator
	for _, o := range importer.Operators() {
		list = append(list, Operator(o))
	}
	return list
}

// Unbound is the cause of an error that values of inputs would cure: a size follows from
// them. Its field Inputs names the inputs.
type Unbound = rule.Unbound

// Unsized is the cause of an error that sizes of inputs would cure, which are letters or
// unknown: something follows from them that must be a number. Its fields Inputs and Types are
// the inputs with such sizes, and their types.
type Unsized = rule.Unsized
