// Package onnxtest reads the cases of ONNX's conformance data for tests: models of one
// operator and tensors, in the wire format of protocol buffers. It reads what those
// need, and nothing that a program would be given.
package onnxtest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/gofx-dev/gofx/array"
)

// Node is one operator of a model.
type Node struct {
	Op      string
	In, Out []string
	Ints    map[string][]int64 // attributes that are integers or lists of them
	Strings map[string]string
}

// Case is a model of one operator with one set of inputs and outputs.
type Case struct {
	Node    Node
	In, Out []*array.Array // nil for absent inputs
}

// errTruncated is of a message that ends early.
var errTruncated = errors.New("onnxtest: the message is truncated")

// errType is of tensors whose elements gofx does not have.
var errType = errors.New("the element type")

// Unsupported reports whether an error is about an element type that gofx lacks.
func Unsupported(err error) bool { return errors.Is(err, errType) }

// Read reads the case of a folder.
func Read(dir string) (*Case, error) {
	model, err := os.ReadFile(filepath.Join(dir, "model.onnx"))
	if err != nil {
		return nil, err
	}
	nodes, inputs, err := graphOf(model)
	if err != nil {
		return nil, err
	}
	if len(nodes) != 1 {
		return nil, fmt.Errorf("onnxtest: %s has %d operators, expected one", dir, len(nodes))
	}
	c := &Case{Node: nodes[0]}
	values := map[string]*array.Array{}
	for i, name := range inputs {
		if values[name], err = tensorFile(dir, "input", i); err != nil {
			return nil, err
		}
	}
	for _, name := range c.Node.In {
		c.In = append(c.In, values[name])
	}
	for i := range c.Node.Out {
		a, err := tensorFile(dir, "output", i)
		if err != nil {
			return nil, err
		}
		c.Out = append(c.Out, a)
	}
	return c, nil
}

func tensorFile(dir, kind string, i int) (*array.Array, error) {
	b, err := os.ReadFile(filepath.Join(dir, "test_data_set_0", fmt.Sprintf("%s_%d.pb", kind, i)))
	if err != nil {
		return nil, err
	}
	return tensor(b)
}

// field is one field of a message: a number or bytes.
type field struct {
	num   int
	value uint64
	bytes []byte
}

// fields calls f for each field of a message.
func fields(b []byte, f func(field) error) error {
	for len(b) > 0 {
		key, n := binary.Uvarint(b)
		if n <= 0 {
			return errTruncated
		}
		b = b[n:]
		v := field{num: int(key >> 3)}
		size := 0
		switch key & 7 {
		case 0:
			if v.value, size = binary.Uvarint(b); size <= 0 {
				return errTruncated
			}
		case 1, 5:
			if size = 8; key&7 == 5 {
				size = 4
			}
			if len(b) < size {
				return errTruncated
			}
			v.bytes = b[:size]
		case 2:
			length, n := binary.Uvarint(b)
			if n <= 0 || length > uint64(len(b)-n) {
				return errTruncated
			}
			v.bytes, size = b[n:n+int(length)], n+int(length)
		default:
			return fmt.Errorf("onnxtest: wire type %d", key&7)
		}
		b = b[size:]
		if err := f(v); err != nil {
			return err
		}
	}
	return nil
}

// graphOf returns the operators and the names of the inputs of a ModelProto.
func graphOf(model []byte) (nodes []Node, inputs []string, err error) {
	err = fields(model, func(m field) error {
		if m.num != 7 {
			return nil
		}
		return fields(m.bytes, func(g field) error {
			switch g.num {
			case 1:
				n, err := node(g.bytes)
				nodes = append(nodes, n)
				return err
			case 11:
				return fields(g.bytes, func(v field) error {
					if v.num == 1 {
						inputs = append(inputs, string(v.bytes))
					}
					return nil
				})
			}
			return nil
		})
	})
	return nodes, inputs, err
}

// node reads a NodeProto.
func node(b []byte) (n Node, err error) {
	n.Ints, n.Strings = map[string][]int64{}, map[string]string{}
	err = fields(b, func(f field) error {
		switch f.num {
		case 1:
			n.In = append(n.In, string(f.bytes))
		case 2:
			n.Out = append(n.Out, string(f.bytes))
		case 4:
			n.Op = string(f.bytes)
		case 5:
			return n.attribute(f.bytes)
		}
		return nil
	})
	return n, err
}

// attribute reads an AttributeProto.
func (n *Node) attribute(b []byte) error {
	name, text := "", ""
	var ints []int64
	err := fields(b, func(f field) (err error) {
		switch f.num {
		case 1:
			name = string(f.bytes)
		case 3:
			ints = append(ints, int64(f.value))
		case 4:
			text = string(f.bytes)
		case 8:
			ints, err = appendInts(ints, f)
		}
		return err
	})
	n.Ints[name], n.Strings[name] = ints, text
	return err
}

// appendInts appends an element, or a packed list of them.
func appendInts(list []int64, f field) ([]int64, error) {
	if f.bytes == nil {
		return append(list, int64(f.value)), nil
	}
	for b := f.bytes; len(b) > 0; {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, errTruncated
		}
		list, b = append(list, int64(v)), b[n:]
	}
	return list, nil
}

// types are the element types of TensorProto that gofx has.
var types = map[uint64]array.DType{1: array.F32, 2: array.U8, 3: array.I8, 4: array.U16, 5: array.I16, 6: array.I32, 7: array.I64, 9: array.Bool, 10: array.F16, 11: array.F64}

// tensor reads a TensorProto.
func tensor(b []byte) (*array.Array, error) {
	var dims, ints []int64
	var raw, floats []byte
	kind := uint64(0)
	err := fields(b, func(f field) (err error) {
		switch f.num {
		case 1:
			dims, err = appendInts(dims, f)
		case 2:
			kind = f.value
		case 4:
			floats = append(floats, f.bytes...)
		case 5, 7:
			ints, err = appendInts(ints, f)
		case 9:
			raw = f.bytes
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	d, ok := types[kind]
	if !ok {
		return nil, fmt.Errorf("%w %d of a tensor", errType, kind)
	}
	shape := make([]int, len(dims))
	for i, n := range dims {
		shape[i] = int(n)
	}
	if n, ok := array.NumElems(shape); !ok || n > 1<<24 {
		return nil, fmt.Errorf("onnxtest: a tensor of sizes %v", shape)
	}
	a := array.New(d, shape...)
	switch {
	case raw != nil:
		if copy(array.Bytes(a), raw) != len(array.Bytes(a)) || len(raw) != len(array.Bytes(a)) {
			return nil, errTruncated
		}
	case len(floats) == 4*a.Len():
		for i := range a.Len() {
			array.SetFloat64At(a, i, float64(math.Float32frombits(binary.LittleEndian.Uint32(floats[4*i:]))))
		}
	case len(ints) == a.Len() && !d.IsFloat():
		array.CopyTo(array.Bytes(a), array.Cast(array.FromSlice(ints, shape...), d))
	default:
		return nil, errTruncated
	}
	return a, nil
}
