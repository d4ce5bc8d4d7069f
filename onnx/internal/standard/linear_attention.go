package standard

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

var linearAttentionRules = map[string][]rule.Rule{"LinearAttention": {{Since: 26, Run: linearAttention}}}

// linearAttention is a scan over the tokens, which carries a state of keys by values for
// each head: state = exp(decay) state + key (beta (value - key state)), with the parts
// that the update rule has. The output is scale query state. It computes in f32.
func linearAttention(c *rule.Call) []*rule.Datum {
	update := c.OneOf("update_rule", "gated_delta", "linear", "gated", "delta")
	qHeads, heads := c.Int("q_num_heads", 0), c.Int("kv_num_heads", 0)
	c.Ignore("chunk_size") // of the computation, not of the result
	for i := range 3 {
		if c.Rank(i) != 3 {
			panic(diag.New(spec.CodeModel, "input "+strconv.Itoa(i)+" is "+c.Type(i).String()+", expected three dimensions"))
		}
	}
	width, known := c.Type(0).Dim(2).Int()
	values, ok := c.Type(2).Dim(2).Int()
	if !known || !ok || qHeads < 1 || heads < 1 || qHeads%heads != 0 || width%qHeads != 0 || values%heads != 0 {
		panic(diag.New(spec.CodeModel, "query "+c.Type(0).String()+" and value "+c.Type(2).String()+" do not divide into "+strconv.Itoa(qHeads)+" and "+strconv.Itoa(heads)+" heads"))
	}
	la := &linearAttn{c: c, batch: c.Type(0).Dim(0), qHeads: qHeads, heads: heads, dk: width / qHeads, dv: values / heads, scale: c.Float("scale", 0)}
	if la.scale == 0 {
		la.scale = 1 / math.Sqrt(float64(la.dk))
	}
	c.Write()
	seqs := []op.Value{la.tokens(0, qHeads), la.tokens(1, heads), la.tokens(2, heads)}
	if la.gated = update == "gated" || update == "gated_delta"; la.gated {
		seqs = append(seqs, la.tokens(4, heads))
	}
	if la.delta = update == "delta" || update == "gated_delta"; la.delta {
		seqs = append(seqs, la.beta())
	}
	state := la.state()
	args := []*graph.Node{state.(*graph.Node)}
	b := c.Region("token")
	in := []op.Value{b.Input("state", state.Type())}
	for i, x := range seqs {
		t := x.Type()
		args = append(args, x.(*graph.Node))
		in = append(in, b.Input([]string{"q", "k", "v", "gate", "beta"}[i], t.WithDims(t.Dims().Sub(1, t.Rank()))))
	}
	next, read := la.token(b.Builder(), in)
	c.Draft.Finish(b.Cursor, &rule.Datum{Node: next.(*graph.Node)}, &rule.Datum{Node: read.(*graph.Node)})
	n := c.Cursor.Region(op.Scan, op.LoopAttrs{Carry: 1, Seqs: len(seqs)}, []*graph.Graph{b.Cursor.Graph()}, args...)
	outs := c.Results(n, 2)
	y := c.Do(std.Permute, std.PermuteAttrs{Dims: op.IntList(1, 0, 2, 3)}, outs[1].Node)
	y = c.Do(std.Flatten, std.FlattenAttrs{StartDim: 2, EndDim: 3}, y)
	d := c.Type(0).DType()
	last := d
	if c.Has(3) {
		last = c.Type(3).DType()
	}
	return c.Values([]op.Value{c.Do(std.Cast, std.CastAttrs{DType: d}, y), c.Do(std.Cast, std.CastAttrs{DType: last}, outs[0].Node)})
}

type linearAttn struct {
	c                     *rule.Call
	batch                 shape.Dim
	qHeads, heads, dk, dv int
	scale                 float64
	gated, delta          bool
}

// tokens returns operand i as [token, batch, head, rest] in f32.
func (la *linearAttn) tokens(i, heads int) op.Value {
	c := la.c
	t := c.Type(i)
	if c.Rank(i) != 3 {
		panic(diag.New(spec.CodeModel, "input "+strconv.Itoa(i)+" is "+t.String()+", expected three dimensions"))
	}
	width, ok := t.Dim(2).Int()
	if !ok || width%heads != 0 {
		panic(diag.New(spec.CodeModel, "input "+strconv.Itoa(i)+" is "+t.String()+", which does not divide into "+strconv.Itoa(heads)+" heads"))
	}
	return la.turned(i, shape.Const(heads), shape.Const(width/heads))
}

func (la *linearAttn) turned(i int, a, b shape.Dim) op.Value {
	c := la.c
	t := c.Type(i)
	x := c.Do(std.Reshape, std.ReshapeAttrs{Shape: shape.Of(t.Dim(0), t.Dim(1), a, b)}, c.X(i))
	x = c.Do(std.Permute, std.PermuteAttrs{Dims: op.IntList(1, 0, 2, 3)}, x)
	return c.Do(std.Cast, std.CastAttrs{DType: array.F32}, x)
}

// beta is [token, batch, head or 1, 1].
func (la *linearAttn) beta() op.Value {
	c := la.c
	if c.Rank(5) != 3 {
		panic(diag.New(spec.CodeModel, "input 5 is "+c.Type(5).String()+", expected three dimensions"))
	}
	return la.turned(5, c.Type(5).Dim(2), shape.Const(1))
}

// state is the incoming state, or zeros.
func (la *linearAttn) state() op.Value {
	c := la.c
	if c.Has(3) {
		return c.Do(std.Cast, std.CastAttrs{DType: array.F32}, c.X(3))
	}
	return c.Do(std.Full, std.FullAttrs{Size: shape.Of(la.batch, shape.Const(la.heads), shape.Const(la.dk), shape.Const(la.dv)), Value: op.Float(0), DType: array.F32})
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
