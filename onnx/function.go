package onnx

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
)

// Bounds of the functions of a model.
const (
	mostFunctions = 64      // calls inside of calls
	mostInlined   = 1 << 16 // nodes of all calls together
)

// inline imports the body of a function in place of a call of it.
func (c *call) inline(f *pb.Function) []*value {
	im, s := c.im, c.scope
	if s.depth >= mostFunctions {
		panic(refuse(CodeModel, "functions call each other more than "+strconv.Itoa(mostFunctions)+" deep"))
	}
	if im.inlined += len(f.Nodes); im.inlined > mostInlined {
		panic(refuse(CodeModel, "the functions of the model have more than "+strconv.Itoa(mostInlined)+" nodes when written out"))
	}
	if len(c.in) > len(f.Inputs) || len(c.n.Outputs) > len(f.Outputs) {
		panic(refuse(CodeModel, "function "+diag.Quote(f.Name)+" has "+strconv.Itoa(len(f.Inputs))+" inputs and "+strconv.Itoa(len(f.Outputs))+" outputs"))
	}
	body := &scope{values: map[string]*value{}, cur: s.cur, opsets: im.versions("function "+diag.Quote(short(f.Name)), f.Opsets), attrs: c.actual(f),
		prefix: short(s.prefix + c.n.Name + "/"), depth: s.depth + 1}
	for i, name := range f.Inputs {
		if c.has(i) {
			body.values[name] = c.in[i]
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
	outs := make([]*value, len(c.n.Outputs))
	for i := range outs {
		v := body.values[f.Outputs[i]]
		if v == nil && len(im.errs) == before {
			panic(refuse(CodeModel, "no node of function "+diag.Quote(f.Name)+" computes "+diag.Quote(f.Outputs[i])))
		}
		outs[i] = v
	}
	return outs
}

// absent is an optional input of a function that the call does not give.
var absent = &value{name: "absent"}

// actual are the attributes that a call gives to a function.
func (c *call) actual(f *pb.Function) map[string]*pb.Attr {
	attrs := map[string]*pb.Attr{}
	for _, a := range f.Attrs {
		attrs[a.Name] = a
		c.used[a.Name] = true
	}
	for _, name := range f.AttrNames {
		c.used[name] = true
	}
	for _, a := range c.n.Attrs {
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

// sparse returns the value of a sparse tensor, dense: bounded by the constant that it
// stands for, which files can make large.
func (im *importer) sparse(sp *pb.Sparse) (*value, *diag.Error) {
	if sp.Values == nil || sp.Indices == nil {
		return nil, diag.New(CodeTensor, "a sparse tensor has no values or no indices")
	}
	values, err := arrayOf(sp.Values, im.data)
	if err != nil {
		return nil, err
	}
	indices, err := arrayOf(sp.Indices, im.data)
	if err != nil {
		return nil, err
	}
	dims, n, err := tensorDims(&pb.Tensor{Name: sp.Values.Name, Dims: sp.Dims})
	if err != nil {
		return nil, err
	}
	count := values.Len()
	linear := indices.Rank() == 1 && indices.Len() == count
	if !linear && (indices.Rank() != 2 || indices.Dim(0) != count || indices.Dim(1) != len(dims)) {
		return nil, diag.New(CodeTensor, "the indices of sparse tensor "+diag.Quote(sp.Values.Name)+" are "+array.Describe(indices.DType(), indices.Shape()))
	}
	if !indices.DType().IsInt() {
		return nil, diag.New(CodeTensor, "the indices of sparse tensor "+diag.Quote(sp.Values.Name)+" are "+array.Describe(indices.DType(), indices.Shape()))
	}
	if n > (spec.FoldBytes+64*count)/values.DType().Size() {
		return nil, diag.New(CodeTensor, "sparse tensor "+diag.Quote(sp.Values.Name)+" is too large to be written out: "+strconv.Itoa(n)+" elements")
	}
	dense := array.New(values.DType(), dims...)
	for i := range count {
		at := 0
		if linear {
			at = int(array.Int64At(indices, i))
		}
		for k := 0; !linear && k < len(dims); k++ {
			j := int(array.Int64At(indices, i*len(dims)+k))
			if j < 0 || j >= dims[k] {
				at = -1
				break
			}
			at = at*dims[k] + j
		}
		if at < 0 || at >= n {
			return nil, diag.New(CodeTensor, "an index of sparse tensor "+diag.Quote(sp.Values.Name)+" lies outside of it")
		}
		if values.DType().IsFloat() {
			array.SetFloat64At(dense, at, array.Float64At(values, i))
		} else {
			array.SetInt64At(dense, at, array.Int64At(values, i))
		}
	}
	return &value{name: sp.Values.Name, arr: dense}, nil
}
