package onnx

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

var linearAttentionRules = map[string][]rule{"LinearAttention": {{since: 26, run: linearAttention}}}

// linearAttention is a scan over the tokens, which carries a state of keys by values for
// each head: state = exp(decay) state + key (beta (value - key state)), with the parts
// that the update rule has. The output is scale query state. It computes in f32.
func linearAttention(c *call) []*value {
	update := c.oneOf("update_rule", "gated_delta", "linear", "gated", "delta")
	qHeads, heads := c.int("q_num_heads", 0), c.int("kv_num_heads", 0)
	c.ignore("chunk_size") // of the computation, not of the result
	for i := range 3 {
		if c.rank(i) != 3 {
			panic(diag.New(CodeModel, "input "+strconv.Itoa(i)+" is "+c.typ(i).String()+", expected three dimensions"))
		}
	}
	width, known := c.typ(0).Dim(2).Int()
	values, ok := c.typ(2).Dim(2).Int()
	if !known || !ok || qHeads < 1 || heads < 1 || qHeads%heads != 0 || width%qHeads != 0 || values%heads != 0 {
		panic(diag.New(CodeModel, "query "+c.typ(0).String()+" and value "+c.typ(2).String()+" do not divide into "+strconv.Itoa(qHeads)+" and "+strconv.Itoa(heads)+" heads"))
	}
	la := &linearAttn{c: c, batch: c.typ(0).Dim(0), qHeads: qHeads, heads: heads, dk: width / qHeads, dv: values / heads, scale: c.float("scale", 0)}
	if la.scale == 0 {
		la.scale = 1 / math.Sqrt(float64(la.dk))
	}
	c.write()
	seqs := []op.Value{la.tokens(0, qHeads), la.tokens(1, heads), la.tokens(2, heads)}
	if la.gated = update == "gated" || update == "gated_delta"; la.gated {
		seqs = append(seqs, la.tokens(4, heads))
	}
	if la.delta = update == "delta" || update == "gated_delta"; la.delta {
		seqs = append(seqs, la.beta())
	}
	state := la.state()
	args := []*graph.Node{state.(*graph.Node)}
	b := c.region("token")
	in := []op.Value{b.input("state", state.Type())}
	for i, x := range seqs {
		t := x.Type()
		args = append(args, x.(*graph.Node))
		in = append(in, b.input([]string{"q", "k", "v", "gate", "beta"}[i], t.WithDims(t.Dims().Sub(1, t.Rank()))))
	}
	next, read := la.token(b.builder(), in)
	c.dr.finish(b.cur, &value{node: next.(*graph.Node)}, &value{node: read.(*graph.Node)})
	n := c.cur.Region(op.Scan, op.LoopAttrs{Carry: 1, Seqs: len(seqs)}, []*graph.Graph{b.cur.Graph()}, args...)
	outs := c.results(n, 2)
	y := c.do(std.Permute, std.PermuteAttrs{Dims: op.IntList(1, 0, 2, 3)}, outs[1].node)
	y = c.do(std.Flatten, std.FlattenAttrs{StartDim: 2, EndDim: 3}, y)
	d := c.typ(0).DType()
	last := d
	if c.has(3) {
		last = c.typ(3).DType()
	}
	return c.values([]op.Value{c.do(std.Cast, std.CastAttrs{DType: d}, y), c.do(std.Cast, std.CastAttrs{DType: last}, outs[0].node)})
}

type linearAttn struct {
	c                     *call
	batch                 shape.Dim
	qHeads, heads, dk, dv int
	scale                 float64
	gated, delta          bool
}

// tokens returns operand i as [token, batch, head, rest] in f32.
func (la *linearAttn) tokens(i, heads int) op.Value {
	c := la.c
	t := c.typ(i)
	if c.rank(i) != 3 {
		panic(diag.New(CodeModel, "input "+strconv.Itoa(i)+" is "+t.String()+", expected three dimensions"))
	}
	width, ok := t.Dim(2).Int()
	if !ok || width%heads != 0 {
		panic(diag.New(CodeModel, "input "+strconv.Itoa(i)+" is "+t.String()+", which does not divide into "+strconv.Itoa(heads)+" heads"))
	}
	return la.turned(i, shape.Const(heads), shape.Const(width/heads))
}

func (la *linearAttn) turned(i int, a, b shape.Dim) op.Value {
	c := la.c
	t := c.typ(i)
	x := c.do(std.Reshape, std.ReshapeAttrs{Shape: shape.Of(t.Dim(0), t.Dim(1), a, b)}, c.x(i))
	x = c.do(std.Permute, std.PermuteAttrs{Dims: op.IntList(1, 0, 2, 3)}, x)
	return c.do(std.Cast, std.CastAttrs{DType: array.F32}, x)
}

// beta is [token, batch, head or 1, 1].
func (la *linearAttn) beta() op.Value {
	c := la.c
	if c.rank(5) != 3 {
		panic(diag.New(CodeModel, "input 5 is "+c.typ(5).String()+", expected three dimensions"))
	}
	return la.turned(5, c.typ(5).Dim(2), shape.Const(1))
}

// state is the incoming state, or zeros.
func (la *linearAttn) state() op.Value {
	c := la.c
	if c.has(3) {
		return c.do(std.Cast, std.CastAttrs{DType: array.F32}, c.x(3))
	}
	return c.do(std.Full, std.FullAttrs{Size: shape.Of(la.batch, shape.Const(la.heads), shape.Const(la.dk), shape.Const(la.dv)), Value: op.Float(0), DType: array.F32})
}

// token computes the next state, and the output for it.
func (la *linearAttn) token(b op.Builder, in []op.Value) (next, read op.Value) {
	state, q, k, v := in[0], in[1], in[2], in[3]
	column := func(x op.Value) op.Value { return b.Call(std.Unsqueeze, std.DimAttrs{Dim: 3}, x) }
	row := func(x op.Value) op.Value { return b.Call(std.Unsqueeze, std.DimAttrs{Dim: 2}, x) }
	flat := func(x op.Value) op.Value { return b.Call(std.Squeeze, std.SqueezeAttrs{Dim: op.IntList(2)}, x) }
	if la.gated {
		state = b.Call(std.Mul, nil, state, column(b.Call(std.Exp, nil, in[4])))
	}
	if la.delta {
		known := flat(b.Call(std.Matmul, nil, row(k), state))
		v = b.Call(std.Mul, nil, in[len(in)-1], b.Call(std.Sub, nil, v, known))
	}
	next = b.Call(std.Add, nil, state, b.Call(std.Mul, nil, column(k), row(v)))
	heads := next
	if group := la.qHeads / la.heads; group > 1 {
		heads = b.Call(std.RepeatInterleave, std.RepeatInterleaveAttrs{Repeats: group, Dim: 1}, heads)
	}
	read = flat(b.Call(std.Matmul, nil, row(q), heads))
	return next, b.Call(std.Mul, std.BinaryAttrs{Other: op.Float(la.scale)}, read)
}
