// Package onnxpb writes small ONNX models: the part of the format
// (https://onnx.ai/onnx/repo-docs/IR.html, onnx.proto3) that one operator or a
// short chain of them needs. It is the protocol buffers wire format, written by hand.
package onnxpb

import (
	"encoding/binary"
	"math"
)

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

// Value is an input or output of the graph.
type Value struct {
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
	Inputs   []Value
	Outputs  []Value
	Constant []Tensor
}

// irVersion goes with operator set 17 and is accepted by all later runtimes.
const irVersion = 8

// Encode returns the file.
func (m *Model) Encode() []byte {
	var g message
	for _, n := range m.Nodes {
		g.bytes(1, n.encode())
	}
	g.bytes(2, []byte("g"))
	for _, t := range m.Constant {
		g.bytes(5, t.encode())
	}
	for _, v := range m.Inputs {
		g.bytes(11, v.encode())
	}
	for _, v := range m.Outputs {
		g.bytes(12, v.encode())
	}
	var f message
	f.int(1, irVersion)
	f.bytes(7, g)
	var o message
	o.int(2, m.Opset)
	f.bytes(8, o)
	for _, d := range m.Domains {
		var o message
		o.bytes(1, []byte(d))
		o.int(2, 1)
		f.bytes(8, o)
	}
	return f
}

// message is an encoded message that fields are appended to.
type message []byte

// Wire types.
const (
	wireVarint = 0
	wireBytes  = 2
	wireFixed  = 5
)

func (m *message) tag(field, wire int) { *m = binary.AppendUvarint(*m, uint64(field<<3|wire)) }

func (m *message) int(field, v int) {
	m.tag(field, wireVarint)
	*m = binary.AppendUvarint(*m, uint64(v))
}

func (m *message) float(field int, v float32) {
	m.tag(field, wireFixed)
	*m = binary.LittleEndian.AppendUint32(*m, math.Float32bits(v))
}

func (m *message) bytes(field int, b []byte) {
	m.tag(field, wireBytes)
	*m = binary.AppendUvarint(*m, uint64(len(b)))
	*m = append(*m, b...)
}

func (n Node) encode() []byte {
	var m message
	for _, s := range n.In {
		m.bytes(1, []byte(s))
	}
	for _, s := range n.Out {
		m.bytes(2, []byte(s))
	}
	m.bytes(4, []byte(n.Op))
	for _, a := range n.Attrs {
		m.bytes(5, a.encode())
	}
	if n.Domain != "" {
		m.bytes(7, []byte(n.Domain))
	}
	return m
}

// Values of AttributeProto.AttributeType.
const (
	attrFloat  = 1
	attrInt    = 2
	attrString = 3
	attrInts   = 7
)

func (a Attr) encode() []byte {
	var m message
	m.bytes(1, []byte(a.Name))
	switch v := a.Value.(type) {
	case int:
		m.int(3, v)
		m.int(20, attrInt)
	case float32:
		m.float(2, v)
		m.int(20, attrFloat)
	case string:
		m.bytes(4, []byte(v))
		m.int(20, attrString)
	case []int:
		for _, x := range v {
			m.int(8, x)
		}
		m.int(20, attrInts)
	default:
		panic("onnxpb: attribute " + a.Name + " is not an int, []int, float32 or string")
	}
	return m
}

func (t Tensor) encode() []byte {
	var m message
	for _, d := range t.Shape {
		m.int(1, d)
	}
	m.int(2, int(t.Type))
	m.bytes(8, []byte(t.Name))
	m.bytes(9, t.Data)
	return m
}

func (v Value) encode() []byte {
	var shape message
	for _, d := range v.Shape {
		var dim message
		dim.int(1, d)
		shape.bytes(1, dim)
	}
	var tensor message
	tensor.int(1, int(v.Type))
	tensor.bytes(2, shape)
	var typ message
	typ.bytes(1, tensor)
	var m message
	m.bytes(1, []byte(v.Name))
	m.bytes(2, typ)
	return m
}
