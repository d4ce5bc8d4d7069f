package main

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gofx-dev/gofx/bench/onnxpb"
	"github.com/gofx-dev/gofx/bench/peers"
)

// microsoft is the operator set of ONNX Runtime's own operators.
const microsoft = "com.microsoft"

var onnxTypes = map[string]onnxpb.Type{"f32": onnxpb.Float, "u8": onnxpb.Uint8, "s8": onnxpb.Int8, "i32": onnxpb.Int32, "i64": onnxpb.Int64}

// inputName names operand i.
func inputName(i int) string { return fmt.Sprintf("x%d", i) }

// model starts a model with the case's operands and one float result "y".
func (c *Case) model(shape ...int) *onnxpb.Model {
	m := &onnxpb.Model{Opset: 17, Domains: []string{microsoft},
		Outputs: []onnxpb.ValueInfo{{Name: "y", Type: onnxpb.Float, Shape: shape}}}
	for i, in := range c.Inputs {
		if in.Const {
			m.Constant = append(m.Constant, onnxpb.Tensor{Name: inputName(i), Type: onnxTypes[in.DType], Shape: in.Shape, Data: encode(in.Tensor)})
		} else {
			m.Inputs = append(m.Inputs, onnxpb.ValueInfo{Name: inputName(i), Type: onnxTypes[in.DType], Shape: in.Shape})
		}
	}
	return m
}

// node appends an operator and returns the name of its first result, which is
// "y" when out is.
func node(m *onnxpb.Model, op, out string, in []string, attrs ...onnxpb.Attr) string {
	if out == "" {
		out = fmt.Sprintf("t%d", len(m.Nodes))
	}
	m.Nodes = append(m.Nodes, onnxpb.Node{Op: op, In: in, Out: []string{out}, Attrs: attrs})
	return out
}

// attr is an attribute.
func attr(name string, value any) onnxpb.Attr { return onnxpb.Attr{Name: name, Value: value} }

// floats adds a constant of the given values.
func floats(m *onnxpb.Model, name string, shape []int, v ...float32) string {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	m.Constant = append(m.Constant, onnxpb.Tensor{Name: name, Type: onnxpb.Float, Shape: shape, Data: b})
	return name
}

// ints adds a constant vector of i64.
func ints(m *onnxpb.Model, name string, v ...int) string {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	m.Constant = append(m.Constant, onnxpb.Tensor{Name: name, Type: onnxpb.Int64, Shape: []int{len(v)}, Data: b})
	return name
}

// encode returns the tensor's values in ONNX's raw form.
func encode(t peers.Tensor) []byte {
	n := t.Len()
	b := make([]byte, 0, n*t.Width())
	for i := range n {
		v := t.At(i)
		switch t.DType {
		case "f32":
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
		case "u8", "s8":
			b = append(b, byte(int(v)))
		case "i32":
			b = binary.LittleEndian.AppendUint32(b, uint32(int32(v)))
		default:
			b = binary.LittleEndian.AppendUint64(b, uint64(int64(v)))
		}
	}
	return b
}
