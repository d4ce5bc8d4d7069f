package onnx

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/onnx/internal/modelfile"
)

// File is a model as its file has it.
type File struct{ f *modelfile.File }

// Read reads a model file and the files of its folder that hold its data. Where the
// system has it the files are mapped into memory, so that weights are read when they are
// used: they must not be changed in place as long as the graph lives, only replaced. Close
// gives the memory back; nothing of a refused file stays mapped.
func Read(path string) (*File, error) { return opened(modelfile.Read(path)) }

// Parse reads a model from memory, which it shares. Data in other files are refused.
func Parse(data []byte, name string) (*File, error) { return opened(modelfile.Parse(data, name, "")) }

func opened(f *modelfile.File, err error) (*File, error) {
	if err != nil {
		return nil, err
	}
	return &File{f}, nil
}

// Close releases the memory of the file and of the data files next to it: a process cannot
// have more than some 65,000 files mapped. Afterwards nothing may use the File, its graphs
// or their executables, whose weights are in that memory. Generated code has weights of its
// own and stays valid. A file that is never closed is mapped as long as the program runs.
func (f *File) Close() error { return f.f.Close() }

// Outputs are the names of the model's outputs.
func (f *File) Outputs() []string {
	names := make([]string, len(f.f.Model.Graph.Outputs))
	for i, v := range f.f.Model.Graph.Outputs {
		names[i] = v.Name
	}
	return names
}

// Inputs are the names of the model's inputs that are not initializers.
func (f *File) Inputs() []string {
	var names []string
	for _, v := range f.f.Inputs() {
		names = append(names, v.Name)
	}
	return names
}

// Targets are the names that the graph's inputs have, in the order of Inputs, where none is
// bound by value: names that are no identifiers are made legal.
func (f *File) Targets() []string {
	var l goname.Labels
	names := f.Inputs()
	for i, name := range names {
		names[i] = l.Fresh(goname.Legal(name, "input"))
	}
	return names
}

// ReadTensor reads a file that holds one TensorProto, as the folders of ONNX's tests do.
func ReadTensor(path string) (*array.Array, error) { return modelfile.ReadTensor(path) }
