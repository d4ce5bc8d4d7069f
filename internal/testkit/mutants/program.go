package mutants

import (
	"fmt"
	"math/rand/v2"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
)

// program is a graph that grows; pool holds its values, all f32[4,4].
type program struct {
	r    *rand.Rand
	m    *graph.Module
	c    *graph.Cursor
	pool []*graph.Node
}

const size = 4

var square = shape.TensorType(array.F32, shape.ConstDims(size, size))

// Program returns a program of some 200 nodes in which each pass of Pipeline finds
// something to do, the same for a seed on every machine.
func Program(seed uint64) *graph.Module {
	g := graph.New("program")
	p := &program{r: rand.New(rand.NewPCG(seed, 1)), m: graph.NewModule(g), c: g.At()}
	for i := range 3 {
		p.pool = append(p.pool, p.c.Placeholder(fmt.Sprintf("x%d", i), square, nil))
	}
	for g.Len() < 160 {
		for _, i := range p.r.Perm(len(motifs)) { // each, that no pass has nothing to do
			motifs[i](p)
		}
	}
	var out []*graph.Node
	for _, n := range p.pool {
		if n.NumUses() == 0 {
			out = append(out, n)
		}
	}
	s := &graph.Structure{Kind: graph.Results}
	for i := range out {
		s.Fields = append(s.Fields, graph.Leaf(i))
	}
	p.c.Output(s, out...)
	return p.m
}

// any picks a value, of the last ones in most cases.
func (p *program) any() *graph.Node {
	if n := len(p.pool); p.r.IntN(3) > 0 {
		return p.pool[max(0, n-1-p.r.IntN(8))]
	}
	return p.pool[p.r.IntN(len(p.pool))]
}

func (p *program) give(n *graph.Node) { p.pool = append(p.pool, n) }

// call makes a call, of a function or a method.
func (p *program) call(o *op.Op, attrs any, in ...*graph.Node) *graph.Node {
	if p.r.IntN(3) == 0 {
		return p.c.Method(o, attrs, in...)
	}
	return p.c.Function(o, attrs, in...)
}

// weight makes a parameter.
func (p *program) weight(buffer bool) *graph.Node {
	path := fmt.Sprintf("w%d", len(p.m.Params()))
	r := passes.Random{State: p.r.Uint64()}
	a := r.Array(square.DType(), size, size)
	p.m.SetParam(graph.Param{Path: path, Type: shape.TypeOf(a), Value: a, Buffer: buffer})
	return p.c.GetAttr(path)
}

// number is none that makes a wrong product or sum right.
func (p *program) number() op.Scalar { return op.Float(0.3 + 0.1*float64(p.r.IntN(5))) }

// tame keeps values small.
func (p *program) tame(n *graph.Node) { p.give(p.call(std.Tanh, nil, n)) }

var (
	swap    = std.TransposeAttrs{Dim0: 0, Dim1: 1}
	columns = std.ScanAttrs{Dim: 1}
)

var motifs = []func(p *program){
	func(p *program) { p.give(p.call(std.Neg, nil, p.call(std.Neg, nil, p.any()))) },
	func(p *program) {
		p.give(p.call(std.Mul, std.BinaryAttrs{Other: p.number()}, p.call(std.Mul, std.BinaryAttrs{Other: p.number()}, p.any())))
	},
	func(p *program) {
		p.give(p.call(std.Add, std.AddAttrs{Other: p.number()}, p.call(std.Add, std.AddAttrs{Other: p.number()}, p.any())))
	},
	func(p *program) {
		p.give(p.call(std.Relu, nil, p.call(std.Relu, nil, p.call(std.Matmul, nil, p.any(), p.weight(false)))))
	},
	func(p *program) { p.give(p.call(std.Transpose, swap, p.call(std.Transpose, swap, p.any()))) },
	func(p *program) { p.give(p.call(std.Transpose, swap, p.any())) },
	func(p *program) { p.give(p.call(std.Abs, nil, p.call(std.Neg, nil, p.any()))) },
	func(p *program) { // the same twice
		x, y := p.any(), p.any()
		p.tame(p.call(std.Mul, nil, p.call(std.Maximum, nil, x, y), p.call(std.Maximum, nil, x, y)))
	},
	func(p *program) { // twice, except for an attribute
		x := p.any()
		p.tame(p.call(std.Sub, nil, p.call(std.Cumsum, columns, x), p.call(std.Cumsum, std.ScanAttrs{Dim: 0}, x)))
	},
	func(p *program) { p.tame(p.call(std.Sub, nil, p.any(), p.any())) },
	func(p *program) { x := p.any(); p.give(p.call(std.Mul, nil, x, p.call(std.Sigmoid, nil, x))) },
	func(p *program) {
		p.tame(p.call(std.Add, nil, p.any(), p.call(std.Mul, nil, p.weight(false), p.weight(false))))
	},
	func(p *program) { p.call(std.Exp, nil, p.any()) },
	func(p *program) { p.tame(p.call(std.Matmul, nil, p.any(), p.weight(false))) },
	func(p *program) { p.give(p.call(std.Softmax, std.DimAttrs{Dim: 1}, p.any())) },
	func(p *program) {
		x := p.any()
		p.tame(p.call(std.Sub, nil, x, p.call(std.Mean, std.ReduceAttrs{Dim: op.IntList(1), KeepDim: true}, x)))
	},
	func(p *program) { // state that is written and then read
		b := p.weight(true)
		p.c.Function(op.Assign, nil, b, p.any())
		p.tame(p.c.GetAttr(b.Target()))
	},
}
