package onnx_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/gofx-dev/gofx/array"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
)

// recipe draws a model of one node.
type recipe struct {
	*rand.Rand
	node   pb.Node
	model  *pb.Model
	inputs map[string]*array.Array
	opset  int64
	tol    float64
	large  bool // sizes that fill vectors and blocks
	drop   bool // ONNX Runtime departs from the specification
}

var dataTypes = map[array.DType]pb.DataType{array.F32: pb.Float, array.F64: pb.Double, array.F16: pb.Float16, array.Bool: pb.Bool, array.I8: pb.Int8,
	array.U8: pb.Uint8, array.I16: pb.Int16, array.U16: pb.Uint16, array.I32: pb.Int32, array.U32: pb.Uint32, array.I64: pb.Int64, array.U64: pb.Uint64}

func newRecipe(r *rand.Rand) *recipe {
	return &recipe{Rand: r, model: &pb.Model{IRVersion: 8, Graph: &pb.Graph{Name: "g"}}, inputs: map[string]*array.Array{}, opset: 17, tol: 1e-4}
}

// pick is one of a list, chance true once in n.
func pick[T any](r *recipe, list ...T) T { return list[r.IntN(len(list))] }
func (r *recipe) chance(n int) bool      { return r.IntN(n) == 0 }

// upTo is a number from lo to hi, dims are that many of them.
func (r *recipe) upTo(lo, hi int) int { return lo + r.IntN(hi-lo+1) }
func (r *recipe) dims(n, lo, hi int) (d []int) {
	if r.large && n <= 3 && hi >= 3 {
		hi *= 5
	}
	for range n {
		d = append(d, r.upTo(lo, hi))
	}
	return d
}

// attributes of the node
func (r *recipe) i(name string, v int) {
	r.node.Attrs = append(r.node.Attrs, &pb.Attr{Name: name, Type: pb.AttrInt, I: int64(v)})
}
func (r *recipe) f(name string, v float32) {
	r.node.Attrs = append(r.node.Attrs, &pb.Attr{Name: name, Type: pb.AttrFloat, F: v})
}
func (r *recipe) s(name, v string) {
	r.node.Attrs = append(r.node.Attrs, &pb.Attr{Name: name, Type: pb.AttrString, S: []byte(v)})
}
func (r *recipe) is(name string, v ...int) {
	a := &pb.Attr{Name: name, Type: pb.AttrInts}
	for _, x := range v {
		a.Ints = append(a.Ints, int64(x))
	}
	r.node.Attrs = append(r.node.Attrs, a)
}

// in adds an operand: an input of the model.
func (r *recipe) in(a *array.Array) {
	name := fmt.Sprintf("x%d", len(r.node.Inputs))
	r.node.Inputs = append(r.node.Inputs, name)
	r.inputs[name] = a
	sh := &pb.Shape{}
	for _, n := range a.Shape() {
		sh.Dims = append(sh.Dims, &pb.Dim{Known: true, Size: int64(n)})
	}
	r.model.Graph.Inputs = append(r.model.Graph.Inputs, &pb.ValueInfo{Name: name, Type: &pb.Type{Tensor: &pb.TensorType{Elem: dataTypes[a.DType()], Shape: sh}}})
}

// fixed adds an operand that is a constant of the model.
func (r *recipe) fixed(a *array.Array) {
	name := fmt.Sprintf("c%d", len(r.node.Inputs))
	r.node.Inputs = append(r.node.Inputs, name)
	t := &pb.Tensor{Name: name, Type: dataTypes[a.DType()], Raw: array.Bytes(a)}
	if t.Raw == nil {
		t.Raw = []byte{}
	}
	for _, n := range a.Shape() {
		t.Dims = append(t.Dims, int64(n))
	}
	r.model.Graph.Initializers = append(r.model.Graph.Initializers, t)
}

// either adds an operand as an input or a constant.
func (r *recipe) either(a *array.Array) { pick(r, r.in, r.fixed)(a) }
func (r *recipe) absent()               { r.node.Inputs = append(r.node.Inputs, "") }

// floats, ints and truths are tensors.
func (r *recipe) floats(dims ...int) *array.Array {
	a := array.New(array.F32, dims...)
	for i := range array.Data[float32](a) {
		array.Data[float32](a)[i] = float32(math.Round(r.NormFloat64()*256) / 128)
	}
	return a
}
func (r *recipe) positive(dims ...int) *array.Array {
	a := r.floats(dims...)
	for i, v := range array.Data[float32](a) {
		array.Data[float32](a)[i] = float32(math.Abs(float64(v))) + 0.125
	}
	return a
}
func (r *recipe) ints(lo, hi int, dims ...int) *array.Array {
	a := array.New(array.I64, dims...)
	for i := range array.Data[int64](a) {
		array.Data[int64](a)[i] = int64(r.upTo(lo, hi))
	}
	return a
}
func (r *recipe) of(d array.DType, lo, hi int, dims ...int) *array.Array {
	return array.Cast(r.ints(lo, hi, dims...), d)
}
func (r *recipe) truths(dims ...int) *array.Array { return r.of(array.Bool, 0, 1, dims...) }
func list(v ...int) *array.Array {
	a := array.New(array.I64, len(v))
	for i, x := range v {
		array.Data[int64](a)[i] = int64(x)
	}
	return a
}
func number(v float32) *array.Array { return array.Scalar(v) }

// finish names the node's operator and its results.
func (r *recipe) finish(op string, results int) {
	r.node.Op, r.node.Name = op, "n"
	g := r.model.Graph
	for i := range results {
		name := fmt.Sprintf("y%d", i)
		r.node.Outputs = append(r.node.Outputs, name)
		g.Outputs = append(g.Outputs, &pb.ValueInfo{Name: name})
	}
	g.Nodes = []*pb.Node{&r.node}
	r.model.Opsets = []*pb.Opset{{Version: r.opset}}
	if r.chance(3) {
		r.symbolic()
	}
}

// symbolic gives sizes of inputs names, equal ones the same.
func (r *recipe) symbolic() {
	named := map[int64]bool{}
	for _, v := range r.model.Graph.Inputs {
		for _, d := range v.Type.Tensor.Shape.Dims {
			if _, ok := named[d.Size]; !ok {
				named[d.Size] = d.Size > 1 && r.chance(2)
			}
			if named[d.Size] {
				*d = pb.Dim{Param: fmt.Sprintf("N%d", d.Size)}
			}
		}
	}
}
