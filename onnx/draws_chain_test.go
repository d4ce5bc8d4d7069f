package onnx_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/array"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
)

// then appends a node of one result, whose first operand is the last result, to the
// nodes that finish has made.
func (r *recipe) then(op string, more ...string) {
	g := r.model.Graph
	last := g.Nodes[len(g.Nodes)-1]
	n := &pb.Node{Op: op, Name: fmt.Sprintf("n%d", len(g.Nodes)), Inputs: append([]string{last.Outputs[0]}, more...), Outputs: []string{fmt.Sprintf("z%d", len(g.Nodes))}}
	g.Nodes = append(g.Nodes, n)
	g.Outputs[0] = &pb.ValueInfo{Name: n.Outputs[0]}
}

// constant adds a constant to the model and gives its name.
func (r *recipe) constant(a *array.Array) string {
	node := r.node
	r.fixed(a)
	name := fmt.Sprintf("k%d", len(r.model.Graph.Initializers))
	r.model.Graph.Initializers[len(r.model.Graph.Initializers)-1].Name = name
	r.node = node
	return name
}

// variable adds an input that no operand of the first node is.
func (r *recipe) variable(a *array.Array) string {
	node := r.node
	r.in(a)
	name := fmt.Sprintf("v%d", len(r.model.Graph.Inputs))
	old := r.node.Inputs[len(r.node.Inputs)-1]
	delete(r.inputs, old)
	r.inputs[name] = a
	r.model.Graph.Inputs[len(r.model.Graph.Inputs)-1].Name = name
	r.node = node
	return name
}

// follow appends operators that networks have after convolutions and products; engines fuse all
// of them.
func (r *recipe) follow(channels int, dims []int, axis int) {
	per := make([]int, len(dims)-axis)
	for i := range per {
		per[i] = 1
	}
	per[0] = channels
	for range r.IntN(5) {
		switch r.IntN(8) {
		case 0:
			if axis == 1 {
				r.then("BatchNormalization", r.constant(r.floats(channels)), r.constant(r.floats(channels)), r.constant(r.floats(channels)), r.constant(r.positive(channels)))
			}
		case 1, 2:
			r.then(pick(r, "Relu", "Sigmoid", "Tanh", "HardSigmoid", "HardSwish", "LeakyRelu", "Elu", "Softplus", "Abs", "Erf"))
		case 3:
			r.then("Clip", r.constant(number(-0.5)), r.constant(number(0.75)))
		case 4:
			r.then(pick(r, "Add", "Mul", "Sub"), r.constant(r.floats(per...)))
		case 5:
			r.then(pick(r, "Add", "Mul"), r.variable(r.floats(dims...)))
		case 6:
			g := r.model.Graph
			last := g.Nodes[len(g.Nodes)-1].Outputs[0]
			r.then("Sigmoid")
			r.then("Mul", last) // swish
		default:
			r.then(pick(r, "Max", "Min", "Div"), r.constant(r.positive()))
		}
	}
}

// drawConvChain is a convolution as networks have them, with the operators that follow
// it.
func drawConvChain(r *recipe) {
	n := pick(r, 2, 2, 2, 1, 3)
	groups := pick(r, 1, 1, 1, 2, 4)
	in, out := groups*r.upTo(1, 24), groups*r.upTo(1, 40)
	if r.chance(4) { // each channel by itself
		groups = r.upTo(2, 40)
		in, out = groups, groups*r.upTo(1, 2)
	}
	x := []int{r.upTo(1, 2), in}
	w := []int{out, in / groups}
	y := []int{x[0], out}
	var strides, lo, hi []int
	for range n {
		size, k, s := r.upTo(3, 30), pick(r, 1, 1, 2, 3, 3, 5), r.upTo(1, 3)
		a, b := r.IntN(k), r.IntN(k)
		if size+a+b < k {
			k, a, b = 1, 0, 0
		}
		x, w, y = append(x, size), append(w, k), append(y, (size+a+b-k)/s+1)
		strides, lo, hi = append(strides, s), append(lo, a), append(hi, b)
	}
	r.in(r.floats(x...))
	r.fixed(r.floats(w...))
	if r.chance(2) {
		r.fixed(r.floats(out))
	}
	r.i("group", groups)
	r.is("strides", strides...)
	r.is("pads", append(lo, hi...)...)
	r.finish("Conv", 1)
	r.follow(out, y, 1)
	r.tol = 1e-3
}

// drawProductChain is a product as networks have them.
func drawProductChain(r *recipe) {
	m, k, n := pick(r, 1, r.upTo(1, 40)), r.upTo(1, 90), r.upTo(1, 90)
	dims := []int{m, n}
	r.tol = 1e-3
	switch r.IntN(3) {
	case 0:
		tb := r.IntN(2)
		r.in(r.floats(m, k))
		if tb == 1 {
			r.fixed(r.floats(n, k))
		} else {
			r.fixed(r.floats(k, n))
		}
		r.fixed(r.floats(n))
		r.i("transB", tb)
		r.finish("Gemm", 1)
	case 1:
		b := r.upTo(1, 3)
		dims = []int{b, m, n}
		r.in(r.floats(b, m, k))
		r.fixed(r.floats(k, n))
		r.finish("MatMul", 1)
	default:
		b := r.upTo(1, 4)
		dims = []int{b, m, n}
		r.in(r.floats(b, m, k))
		r.in(r.floats(b, k, n))
		r.finish("MatMul", 1)
	}
	r.follow(n, dims, len(dims)-1)
}
