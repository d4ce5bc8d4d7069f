package onnx

import (
	"math"
	"strconv"
	"strings"

	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/onnx/internal/modelfile"
	"github.com/gofx-dev/gofx/shape"
)

// Description is the file's information on its model.
type Description struct {
	Name     string // of the graph
	Producer string // the program that wrote the file, with its version
	Opset    int    // of the standard operators, 0 where the file does not say
	Doc      string // of the model and its graph, and the model's properties
	// Inputs are those that Inputs names, Outputs those that Outputs names.
	Inputs, Outputs []Described
}

// Described is the file's information on an input or output.
type Described struct {
	Name, Doc string
	Type      shape.Type
}

// mostProperties is how many of a model's properties are part of its description.
const mostProperties = 8

// Describe returns the file's information on the model.
func (f *File) Describe() Description {
	m := f.f.Model
	d := Description{Name: m.Graph.Name, Producer: strings.TrimSpace(m.ProducerName + " " + m.ProducerVersion)}
	for _, o := range m.Opsets {
		if modelfile.Domain(o.Domain) == "" {
			d.Opset = int(o.Version)
		}
	}
	texts := []string{m.Doc}
	if m.Graph.Doc != m.Doc {
		texts = append(texts, m.Graph.Doc)
	}
	for i, e := range m.Metadata {
		if i < mostProperties && e.Key != "" {
			texts = append(texts, e.Key+": "+e.Value)
		}
	}
	d.Doc = strings.TrimSpace(strings.Join(texts, "\n"))
	for _, v := range f.f.Inputs() {
		d.Inputs = append(d.Inputs, described(v))
	}
	for _, v := range m.Graph.Outputs {
		d.Outputs = append(d.Outputs, described(v))
	}
	return d
}

func described(v *pb.ValueInfo) Described { return Described{v.Name, v.Doc, declared(v.Type)} }

// declared is a type as far as it is numbers.
func declared(t *pb.Type) shape.Type {
	if t == nil || t.Tensor == nil || t.Tensor.Shape == nil || len(t.Tensor.Shape.Dims) > modelfile.MostDims {
		return shape.Type{}
	}
	d, err := modelfile.DTypeOf(t.Tensor.Elem)
	if err != nil {
		return shape.Type{}
	}
	dims := make([]shape.Dim, len(t.Tensor.Shape.Dims))
	for i, dim := range t.Tensor.Shape.Dims {
		if dims[i] = shape.Unknown; dim.Known && dim.Size >= 0 && dim.Size <= math.MaxInt32 {
			dims[i] = shape.Const(int(dim.Size))
		}
	}
	return shape.TensorType(d, shape.Of(dims...))
}

// Origin is a line about the model's origin that follows the name of its file.
func (d *Description) Origin() string {
	var parts []string
	if d.Producer != "" {
		parts = append(parts, "by "+d.Producer)
	}
	if d.Opset > 0 {
		parts = append(parts, "operator set "+strconv.Itoa(d.Opset))
	}
	return strings.Join(parts, ", ")
}
