// Package onnxpb writes small ONNX models: the part of the format
// (https://onnx.ai/onnx/repo-docs/IR.html, onnx.proto3) that one operator or a
// short chain of them needs, in few words. internal/onnxpb, which has all of the format,
// writes the bytes.
package onnxpb

import pb "github.com/gofx-dev/gofx/internal/onnxpb"

// Type is TensorProto.DataType.
type Type int

// The element types that are used here.
const (
	Float Type = 1
	Uint8 Type = 2
	Int8  Type = 3
	Int32 Type = 6
	Int64 Type = 7
)

// ValueInfo is an input or output of the graph.
type ValueInfo struct {
	Name  string
	Type  Type
	Shape []int
}

// Tensor is an initializer: a constant that the runtime may prepack.
type Tensor struct {
	Name  string
	Type  Type
	Shape []int
	Data  []byte // little-endian, row-major
}

// Attr is an attribute of a node. Value is an int, a []int, a float32 or a string.
type Attr struct {
	Name  string
	Value any
}

// Node is one operator.
type Node struct {
	Op     string
	Domain string // empty is the standard one
	In     []string
	Out    []string
	Attrs  []Attr
}

// Model is a whole file.
type Model struct {
	Opset    int
	Domains  []string // more operator sets, each at version 1
	Nodes    []Node
	Inputs   []ValueInfo
	Outputs  []ValueInfo
	Constant []Tensor
}

// Encode returns the file.
func (m *Model) Encode() []byte {
	g := &pb.Graph{Name: "g"}
	for _, n := range m.Nodes {
		to := &pb.Node{Op: n.Op, Domain: n.Domain, Inputs: n.In, Outputs: n.Out}
		for _, a := range n.Attrs {
			to.Attrs = append(to.Attrs, a.proto())
		}
		g.Nodes = append(g.Nodes, to)
	}
	for _, t := range m.Constant {
		to := &pb.Tensor{Name: t.Name, Type: pb.DataType(t.Type), Raw: t.Data}
		for _, d := range t.Shape {
			to.Dims = append(to.Dims, int64(d))
		}
		g.Initializers = append(g.Initializers, to)
	}
	for _, v := range m.Inputs {
		g.Inputs = append(g.Inputs, v.proto())
	}
	for _, v := range m.Outputs {
		g.Outputs = append(g.Outputs, v.proto())
	}
	f := &pb.Model{IRVersion: irVersion, Graph: g, Opsets: []*pb.Opset{{Version: int64(m.Opset)}}}
	for _, d := range m.Domains {
		f.Opsets = append(f.Opsets, &pb.Opset{Domain: d, Version: 1})
	}
	return pb.Append(nil, f)
}

// irVersion goes with operator set 17 and is accepted by all later runtimes.
const irVersion = 8

func (v ValueInfo) proto() *pb.ValueInfo {
	shape := &pb.Shape{}
	for _, d := range v.Shape {
		shape.Dims = append(shape.Dims, &pb.Dim{Known: true, Size: int64(d)})
	}
	return &pb.ValueInfo{Name: v.Name, Type: &pb.Type{Tensor: &pb.TensorType{Elem: pb.DataType(v.Type), Shape: shape}}}
}

func (a Attr) proto() *pb.Attr {
	to := &pb.Attr{Name: a.Name}
	switch v := a.Value.(type) {
	case int:
		to.Type, to.I = pb.AttrInt, int64(v)
	case float32:
		to.Type, to.F = pb.AttrFloat, v
	case string:
		to.Type, to.S = pb.AttrString, []byte(v)
	case []int:
		to.Type = pb.AttrInts
		for _, x := range v {
			to.Ints = append(to.Ints, int64(x))
		}
	default:
		panic("onnxpb: attribute " + a.Name + " is not an int, []int, float32 or string")
	}
	return to
}
