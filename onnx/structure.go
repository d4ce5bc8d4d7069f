package onnx

import (
	"maps"
	"os"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
)

// Inputs and outputs that are sequences and optionals. The graph has their tensors:
// those of the sequence x are called x[0], x[1] and so on, and an optional that holds a
// tensor is that tensor.

// holding is the content of a structured type, in place of a tensor.
type holding struct{ optional, sequence bool }

// holds returns the type of the tensors in a sequence, an optional, or an optional
// sequence; nil for other types.
func holds(t *pb.Type) (*pb.Type, holding) {
	var h holding
	if t != nil && t.Optional != nil {
		h.optional, t = true, t.Optional.Type
	}
	if t != nil && t.Sequence != nil {
		h.sequence, t = true, t.Sequence.Type
	}
	if t == nil || t.Tensor == nil || h == (holding{}) {
		return nil, h
	}
	return t, h
}

// mostMembers is how many members a sequence may have.
const mostMembers = 1 << 16

func memberName(name string, k int) string { return name + "[" + strconv.Itoa(k) + "]" }

// parts names the tensors of an input.
func (f *modelFile) parts(name string, t *pb.Type, lengths map[string]int) []string {
	held, of := holds(t)
	n, known := lengths[name]
	switch {
	case held == nil:
		return []string{name}
	case !known || n < 0:
		return nil
	case !of.sequence:
		return []string{name}
	}
	names := make([]string, min(n, mostMembers))
	for k := range names {
		names[k] = memberName(name, k)
	}
	return names
}

// lengthsOf adds to the given lengths those that follow from the values.
func (f *modelFile) lengthsOf(values map[string]*array.Array, given map[string]int) map[string]int {
	lengths := maps.Clone(given)
	if lengths == nil {
		lengths = map[string]int{}
	}
	for _, in := range f.inputs() {
		held, of := holds(in.Type)
		if _, ok := lengths[in.Name]; ok || held == nil {
			continue
		}
		n := 0
		for of.sequence && values[memberName(in.Name, n)] != nil {
			n++
		}
		if of.optional && n == 0 && values[in.Name] == nil {
			n = absentLength
		}
		lengths[in.Name] = n
	}
	return lengths
}

// readParts reads a file that holds a value of the type: a TensorProto, SequenceProto or
// OptionalProto. length is that of Options.Lengths.
func readParts(path string, t *pb.Type) (list []*array.Array, length int, err error) {
	held, of := holds(t)
	if held == nil {
		a, err := readTensor(path)
		return []*array.Array{a}, 0, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, 0, unreadable(path, err)
	}
	o := &pb.Optional{}
	if of.optional {
		err = pb.Read(data, o)
	} else {
		o.Sequence = &pb.Sequence{}
		err = pb.Read(data, o.Sequence)
	}
	if err != nil {
		return nil, 0, asDiag(err).At(diag.Pos{File: path})
	}
	var tensors []*pb.Tensor
	switch {
	case of.sequence && o.Sequence != nil:
		tensors = o.Sequence.Tensors
	case !of.sequence && o.Tensor != nil:
		tensors = []*pb.Tensor{o.Tensor}
	default:
		return nil, absentLength, nil
	}
	for _, t := range tensors {
		a, bad := arrayOf(t, nil)
		if bad != nil {
			return nil, 0, bad.At(diag.Pos{File: path})
		}
		list = append(list, a)
	}
	return list, len(list), nil
}

// kindOf names a type that is not a tensor, for messages.
func kindOf(t *pb.Type) string {
	switch {
	case t == nil:
		return "of no type"
	case t.Sequence != nil:
		return "a sequence"
	case t.Map != nil:
		return "a map"
	case t.Sparse != nil:
		return "a sparse tensor"
	case t.Optional != nil:
		return "an optional"
	}
	return "of no type"
}
