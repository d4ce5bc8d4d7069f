package importer

import (
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/onnx/internal/modelfile"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
)

// inputParts makes the placeholders of a sequence or an optional.
func (im *importer) inputParts(s *scope, name string, held *pb.Type, of modelfile.Holding) (*rule.Datum, *diag.Error) {
	n, known := im.lengths[name]
	switch {
	case !known && of.Optional:
		return nil, diag.New(spec.CodeValue, "the input is an optional, and nobody says whether it holds something").
			WithHint("say so when importing (Options.Lengths)")
	case !known:
		return nil, diag.New(spec.CodeValue, "the input is a sequence, and its length is not known").
			WithHint("give it when importing (Options.Lengths)")
	case n < 0 && of.Optional:
		return &rule.Datum{None: true}, nil
	case n < 0 || n > modelfile.MostMembers:
		return nil, diag.New(spec.CodeModel, "the length given is "+strconv.Itoa(n)+", expected 0 to "+strconv.Itoa(modelfile.MostMembers))
	case !of.Sequence:
		return im.input(s, name, held, false)
	}
	v := &rule.Datum{IsSeq: true}
	for _, part := range im.Parts(name, &pb.Type{Sequence: &pb.Elem{Type: held}}, im.lengths) {
		m, err := im.input(s, part, held, true)
		if err != nil {
			return nil, err
		}
		m.Name = part
		v.Seq = append(v.Seq, m)
	}
	return v, nil
}

// result returns the structure of an output, whose tensors it appends to args.
func (im *importer) result(s *scope, v *rule.Datum, args *[]*graph.Node) *graph.Structure {
	switch {
	case v.None:
		return &graph.Structure{Kind: graph.NoValue}
	case v.IsSeq:
		st := &graph.Structure{Kind: graph.SliceOf}
		for _, m := range v.Seq {
			st.Fields = append(st.Fields, im.result(s, m, args))
		}
		return st
	}
	*args = append(*args, im.Node(s.cur, v))
	return graph.Leaf(len(*args) - 1)
}
