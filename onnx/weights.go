package onnx

import (
	"sync"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/weights"
	"github.com/gofx-dev/gofx/diag"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/onnx/internal/modelfile"
)

// OpenWeights opens the initializers of a model as weights of a module or graph:
// FILE#NAME are those whose names begin with NAME and a dot, without it. Names are those
// of the file; exporters give tensors that they transposed or merged names of their own.
// Integers, truths and single numbers are constants of the model's operators: they can be
// read by name, but are not listed. Errors are those of Read and of weights.Sub; data in
// other files is read with Get. Tensors share the file's memory, as with Read.
func OpenWeights(path string) (weights.File, error) {
	path, part := weights.Split(path)
	f, err := Read(path)
	if err != nil {
		return nil, err
	}
	w := &initial{f: f, tensors: map[string]*pb.Tensor{}}
	for _, t := range f.f.Model.Graph.Initializers {
		if w.tensors[t.Name] != nil {
			_ = f.Close() // the file is at fault
			return nil, diag.New(CodeModel, "two initializers have the name "+diag.Quote(t.Name)).At(diag.Pos{File: path})
		}
		w.tensors[t.Name] = t
	}
	if part == "" {
		return w, nil
	}
	s, err := weights.Sub(w, part)
	if err != nil {
		_ = f.Close() // the name is at fault
		return nil, err
	}
	return s, nil
}

// Close implements weights.File.
func (w *initial) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	return w.f.Close()
}

// initial are the initializers of a model's graph.
type initial struct {
	f       *File
	tensors map[string]*pb.Tensor
	mu      sync.Mutex // of f, which keeps the files next to it
	closed  bool
}

func (w *initial) Names() (names []string) {
	for _, t := range w.f.f.Model.Graph.Initializers {
		if d, err := modelfile.DTypeOf(t.Type); len(t.Dims) > 0 && (err != nil || d.IsFloat() || d.IsNarrow() || d.Size() == 1 && d != array.Bool) {
			names = append(names, t.Name)
		}
	}
	return names
}

func (w *initial) Type(name string) (array.DType, []int, bool) {
	t := w.tensors[name]
	if t == nil {
		return array.Invalid, nil, false
	}
	d, _ := modelfile.DTypeOf(t.Type)
	dims, _, err := modelfile.TensorDims(t)
	if err != nil {
		return array.Invalid, nil, true
	}
	return d, dims, true
}

func (w *initial) Format(name string) string {
	if t := w.tensors[name]; t != nil {
		return t.Type.String()
	}
	return ""
}

func (w *initial) Get(name string) (*array.Array, error) {
	t := w.tensors[name]
	if t == nil {
		return nil, diag.New(weights.CodeName, "weights: there is no initializer "+diag.Quote(name)).At(diag.Pos{File: w.f.f.Name})
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, diag.New(CodeRead, "the file was closed, expected an open one").At(diag.Pos{File: w.f.f.Name})
	}
	a, err := modelfile.ArrayOf(t, w.f.f.Data)
	if err != nil {
		return nil, err.At(diag.Pos{File: w.f.f.Name})
	}
	return a, nil
}
