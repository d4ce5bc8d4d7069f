package modelfile

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

// Holding is the content of a structured type, in place of a tensor.
type Holding struct{ Optional, Sequence bool }

// Holds returns the type of the tensors in a sequence, an optional, or an optional
// sequence; nil for other types.
func Holds(t *pb.Type) (*pb.Type, Holding) {
	var h Holding
	if t != nil && t.Optional != nil {
		h.Optional, t = true, t.Optional.Type
	}
	if t != nil && t.Sequence != nil {
		h.Sequence, t = true, t.Sequence.Type
	}
	if t == nil || t.Tensor == nil || h == (Holding{}) {
		return nil, h
	}
	return t, h
}

// MostMembers is how many members a sequence may have.
const MostMembers = 1 << 16

func memberName(name string, k int) string { return name + "[" + strconv.Itoa(k) + "]" }

// Parts names the tensors of an input.
func (f *File) Parts(name string, t *pb.Type, lengths map[string]int) []string {
	held, of := Holds(t)
	n, known := lengths[name]
	switch {
	case held == nil:
		return []string{name}
	case !known || n < 0:
		return nil
	case !of.Sequence:
		return []string{name}
	}
	names := make([]string, min(n, MostMembers))
	for k := range names {
		names[k] = memberName(name, k)
	}
	return names
}

// LengthsOf adds to the given lengths those that follow from the values.
func (f *File) LengthsOf(values map[string]*array.Array, given map[string]int) map[string]int {
	lengths := maps.Clone(given)
	if lengths == nil {
		lengths = map[string]int{}
	}
	for _, in := range f.Inputs() {
		held, of := Holds(in.Type)
		if _, ok := lengths[in.Name]; ok || held == nil {
			continue
		}
		n := 0
		for of.Sequence && values[memberName(in.Name, n)] != nil {
			n++
		}
		if of.Optional && n == 0 && values[in.Name] == nil {
			n = Absent
		}
		lengths[in.Name] = n
	}
	return lengths
}

// ReadParts reads a file that holds a value of the type: a TensorProto, SequenceProto or
// OptionalProto. length is that of Options.Lengths.
func ReadParts(path string, t *pb.Type) (list []*array.Array, length int, err error) {
	held, of := Holds(t)
	if held == nil {
		a, err := ReadTensor(path)
		return []*array.Array{a}, 0, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, 0, unreadable(path, err)
	}
	o := &pb.Optional{}
	if of.Optional {
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
	case of.Sequence && o.Sequence != nil:
		tensors = o.Sequence.Tensors
	case !of.Sequence && o.Tensor != nil:
		tensors = []*pb.Tensor{o.Tensor}
	default:
		return nil, Absent, nil
	}
	for _, t := range tensors {
		a, bad := ArrayOf(t, nil)
		if bad != nil {
			return nil, 0, bad.At(diag.Pos{File: path})
		}
		list = append(list, a)
	}
	return list, len(list), nil
}

// KindOf names a type that is not a tensor, for messages.
func KindOf(t *pb.Type) string {
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
