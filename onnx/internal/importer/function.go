package importer

import (
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/onnx/internal/modelfile"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
)

// Bounds of the functions of a model.
const (
	mostFunctions = 64      // calls inside of calls
	mostInlined   = 1 << 16 // nodes of all calls together
)

// inline imports the body of a function in place of a call of it.
func (c *control) inline(f *pb.Function) []*rule.Datum {
	im, s := c.im, c.scope
	if s.depth >= mostFunctions {
		panic(diag.New(spec.CodeModel, "functions call each other more than "+strconv.Itoa(mostFunctions)+" deep"))
	}
	if im.inlined += len(f.Nodes); im.inlined > mostInlined {
		panic(diag.New(spec.CodeModel, "the functions of the model have more than "+strconv.Itoa(mostInlined)+" nodes when written out"))
	}
	if len(c.In) > len(f.Inputs) || len(c.Node.Outputs) > len(f.Outputs) {
		panic(diag.New(spec.CodeModel, "function "+diag.Quote(f.Name)+" has "+strconv.Itoa(len(f.Inputs))+" inputs and "+strconv.Itoa(len(f.Outputs))+" outputs"))
	}
	body := &scope{values: map[string]*rule.Datum{}, cur: s.cur, opsets: im.versions("function "+diag.Quote(modelfile.Short(f.Name)), f.Opsets), attrs: c.actual(f),
		prefix: modelfile.Short(s.prefix + c.Node.Name + "/"), depth: s.depth + 1}
	for i, name := range f.Inputs {
		if c.Has(i) {
			body.values[name] = c.In[i]
		} else {
			body.values[name] = absent
		}
	}
	before := len(im.errs)
	for _, n := range f.Nodes {
		if im.full() {
			panic(stopped{})
		}
		im.node(body, bind(n, body))
	}
	outs := make([]*rule.Datum, len(c.Node.Outputs))
	for i := range outs {
		v := body.values[f.Outputs[i]]
		if v == nil && len(im.errs) == before {
			panic(diag.New(spec.CodeModel, "no node of function "+diag.Quote(f.Name)+" computes "+diag.Quote(f.Outputs[i])))
		}
		outs[i] = v
	}
	return outs
}

// absent is an optional input of a function that the call does not give.
var absent = &rule.Datum{Name: "absent"}

// actual are the attributes that a call gives to a function.
func (c *control) actual(f *pb.Function) map[string]*pb.Attr {
	attrs := map[string]*pb.Attr{}
	for _, a := range f.Attrs {
		attrs[a.Name] = a
		c.Used[a.Name] = true
	}
	for _, name := range f.AttrNames {
		c.Used[name] = true
	}
	for _, a := range c.Node.Attrs {
		attrs[a.Name] = a
	}
	return attrs
}

// bind returns a node of a function with the attributes of the call, and without
// the inputs that are absent.
func bind(n *pb.Node, s *scope) *pb.Node {
	out := *n
	out.Attrs = nil
	for _, a := range n.Attrs {
		if a.Ref == "" {
			out.Attrs = append(out.Attrs, a)
			continue
		}
		if given := s.attrs[a.Ref]; given != nil {
			b := *given
			b.Name = a.Name
			out.Attrs = append(out.Attrs, &b)
		}
	}
	out.Inputs = append([]string(nil), n.Inputs...)
	for i, name := range out.Inputs {
		if s.find(name) == absent {
			out.Inputs[i] = ""
		}
	}
	return &out
}
