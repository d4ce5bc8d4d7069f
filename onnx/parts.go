package onnx

import (
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
)

// inputParts makes the placeholders of a sequence or an optional.
func (im *importer) inputParts(s *scope, name string, held *pb.Type, of holding) (*value, *diag.Error) {
	n, known := im.lengths[name]
	switch {
	case !known && of.optional:
		return nil, diag.New(CodeValue, "the input is an optional, and nobody says whether it holds something").
			WithHint("say so when importing (Options.Lengths)")
	case !known:
		return nil, diag.New(CodeValue, "the input is a sequence, and its length is not known").
			WithHint("give it when importing (Options.Lengths)")
	case n < 0 && of.optional:
		return &value{none: true}, nil
	case n < 0 || n > mostMembers:
		return nil, diag.New(CodeModel, "the length given is "+strconv.Itoa(n)+", expected 0 to "+strconv.Itoa(mostMembers))
	case !of.sequence:
		return im.input(s, name, held, false)
	}
	v := &value{isSeq: true}
	for _, part := range im.parts(name, &pb.Type{Sequence: &pb.Elem{Type: held}}, im.lengths) {
		m, err := im.input(s, part, held, true)
		if err != nil {
			return nil, err
		}
		m.name = part
		v.seq = append(v.seq, m)
	}
	return v, nil
}

// result returns the structure of an output, whose tensors it appends to args.
func (im *importer) result(s *scope, v *value, args *[]*graph.Node) *graph.Structure {
	switch {
	case v.none:
		return &graph.Structure{Kind: graph.NoValue}
	case v.isSeq:
		st := &graph.Structure{Kind: graph.SliceOf}
		for _, m := range v.seq {
			st.Fields = append(st.Fields, im.result(s, m, args))
		}
		return st
	}
	*args = append(*args, im.in(s.cur, v))
	return graph.Leaf(len(*args) - 1)
}
