package standard

import (
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/onnx/internal/modelfile"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// activation is the function of a gate.
type activation struct {
	name        string
	alpha, beta float64
}

// activationDefaults has for each function the defaults of alpha and beta; none means
// that it takes none, required that the node must give it.
var activationDefaults = map[string][2]float64{
	"Relu": {none, none}, "Tanh": {none, none}, "Sigmoid": {none, none}, "Softsign": {none, none}, "Softplus": {none, none},
	"LeakyRelu": {0.01, none}, "ThresholdedRelu": {1, none}, "Elu": {1, none}, "HardSigmoid": {0.2, 0.5},
	"Affine": {required, required}, "ScaledTanh": {required, required},
}

// Marks of activationDefaults; no f32 has these values.
const none, required = -1e300, -2e300

// activationsOf reads the functions of the gates, by direction; usual are those of a
// network that names none.
func activationsOf(c *rule.Call, usual []string, dirs int) [][]activation {
	var names []string
	if a := c.Attr("activations", pb.AttrStrings); a != nil {
		for _, s := range a.Strings {
			names = append(names, string(s))
		}
	}
	alphas, betas := c.Floats("activation_alpha"), c.Floats("activation_beta")
	if names == nil {
		for range dirs {
			names = append(names, usual...)
		}
	}
	if len(names) != dirs*len(usual) {
		panic(diag.New(spec.CodeModel, "activations has the wrong number of entries, expected one for each gate's function and direction"))
	}
	out := make([][]activation, dirs)
	for i, s := range names {
		d := i / len(usual)
		out[d] = append(out[d], ActivationOf(s, &alphas, &betas))
	}
	return out
}

// ActivationOf takes the numbers that a function needs.
func ActivationOf(text string, alphas, betas *[]float64) activation {
	for name, defaults := range activationDefaults {
		if !strings.EqualFold(name, text) {
			continue
		}
		a := activation{name, defaults[0], defaults[1]}
		for i, list := range []*[]float64{alphas, betas} {
			if defaults[i] == none {
				continue
			}
			v := []*float64{&a.alpha, &a.beta}[i]
			if len(*list) > 0 {
				*v, *list = (*list)[0], (*list)[1:]
			}
			if *v == required {
				panic(diag.New(spec.CodeModel, "activation "+name+" needs activation_alpha and activation_beta"))
			}
		}
		return a
	}
	panic(diag.New(spec.CodeAttribute, "activation "+diag.Quote(modelfile.Short(text))+" is not supported"))
}

// Apply computes the function.
func (a activation) Apply(w CellWriter, x op.Value) op.Value {
	scaled := func(x op.Value, f float64) op.Value { return w.do(std.Mul, std.BinaryAttrs{Other: op.Float(f)}, x) }
	plus := func(x op.Value, f float64) op.Value { return w.do(std.Add, std.AddAttrs{Other: op.Float(f)}, x) }
	switch a.name {
	case "Relu":
		return w.do(std.Relu, nil, x)
	case "Tanh":
		return w.do(std.Tanh, nil, x)
	case "Sigmoid":
		return w.do(std.Sigmoid, nil, x)
	case "Softsign":
		return w.do(std.Softsign, nil, x)
	case "Softplus":
		return w.do(std.Softplus, std.SoftplusAttrs{Beta: 1, Threshold: 20}, x)
	case "LeakyRelu":
		return w.do(std.LeakyRelu, std.LeakyReluAttrs{NegativeSlope: a.alpha}, x)
	case "ThresholdedRelu":
		return w.do(std.Threshold, std.ThresholdAttrs{Threshold: a.alpha}, x)
	case "Elu":
		return w.do(std.Elu, std.AlphaAttrs{Alpha: a.alpha}, x)
	case "HardSigmoid":
		return w.do(std.Clamp, std.ClampAttrs{Min: op.Float(0), Max: op.Float(1)}, plus(scaled(x, a.alpha), a.beta))
	case "Affine":
		return plus(scaled(x, a.alpha), a.beta)
	}
	return scaled(w.do(std.Tanh, nil, scaled(x, a.beta)), a.alpha) // ScaledTanh
}

// scans writes the network as a scan over the steps for each direction.
func (r *Recurrent) scans() []op.Value {
	c := r.Call
	x := r.sequence()
	var ys []op.Value
	last := make([][]op.Value, r.states())
	for d := range r.Dirs {
		y, h := r.direction(x, d)
		ys = append(ys, y)
		for i, s := range h {
			last[i] = append(last[i], s)
		}
	}
	y := c.Do(std.Stack, std.DimAttrs{Dim: 2}, ys...)
	var states []op.Value
	for _, s := range last {
		states = append(states, c.Do(std.Stack, std.DimAttrs{}, s...))
	}
	return r.Results(y, states)
}

// states is how many values a step hands to the next.
func (r *Recurrent) states() int {
	if r.Gates == 4 {
		return 2
	}
	return 1
}

// direction runs one direction over x [time, batch, features] and returns the state
// after each step and the last ones.
func (r *Recurrent) direction(x op.Value, d int) (y op.Value, last []op.Value) {
	c := r.Call
	back := r.Reverse || d == 1
	if back {
		x = r.reversed(x)
	}
	own := c.Region("step")
	w := CellWriter{Builder: own.Builder(), capture: func(v op.Value) op.Value {
		if v == nil {
			return nil
		}
		return c.Draft.Node(own.Cursor, &rule.Datum{Node: v.(*graph.Node)})
	}}
	seqs := []op.Value{r.projected(x, d)}
	if r.lengths {
		seqs = append(seqs, r.alive(x.Type()))
	}
	var args []*graph.Node
	var states, in []op.Value
	for i := range r.states() {
		v := r.initial(i, d, x.Type())
		args = append(args, v.(*graph.Node))
		states = append(states, own.Input([]string{"h", "c"}[i], v.Type()))
	}
	for i, v := range seqs {
		t := v.Type()
		args = append(args, v.(*graph.Node))
		in = append(in, own.Input([]string{"x", "alive"}[i], t.WithDims(t.Dims().Sub(1, t.Rank()))))
	}
	next := r.step(w, d, in[0], states)
	out := next[0]
	if r.lengths {
		for i := range next {
			next[i] = w.do(std.Where, nil, in[1], next[i], states[i])
		}
		out = w.do(std.Where, nil, in[1], out, w.do(std.ZerosLike, nil, out))
	}
	var outs []*rule.Datum
	for _, v := range append(next, out) {
		outs = append(outs, &rule.Datum{Node: v.(*graph.Node)})
	}
	c.Draft.Finish(own.Cursor, outs...)
	for _, v := range own.Captured {
		args = append(args, c.Draft.Node(c.Cursor, v))
	}
	n := c.Cursor.Region(op.Scan, op.LoopAttrs{Carry: len(states), Seqs: len(seqs)}, []*graph.Graph{own.Cursor.Graph()}, args...)
	results := c.Results(n, len(outs))
	for _, v := range results[:len(states)] {
		last = append(last, r.ended(v.Node, x.Type()))
	}
	y = results[len(states)].Node
	if back {
		y = r.reversed(y)
	}
	return y, last
}

// reversed turns the time of x round, of each sequence within its length.
func (r *Recurrent) reversed(x op.Value) op.Value {
	if r.lengths {
		return reversedWithin(r.Call, x, r.Call.X(4), 0, 1)
	}
	return r.Call.Do(std.Flip, std.FlipAttrs{Dims: op.IntList(0)}, x)
}

// ended is the last state, of empty sequences zero, as ONNX Runtime has it.
func (r *Recurrent) ended(h op.Value, x shape.Type) op.Value {
	if !r.lengths {
		return h
	}
	c := r.Call
	some := Reshape(c, c.Do(std.Gt, std.BinaryAttrs{Other: op.Int(0)}, c.X(4)), x.Dim(1), shape.Const(1))
	return c.Do(std.Where, nil, some, h, c.Do(std.ZerosLike, nil, h))
}

// alive says of each step whether it is within a sequence: [time, batch, 1].
func (r *Recurrent) alive(x shape.Type) op.Value {
	c := r.Call
	t := Reshape(c, c.Do(std.Arange, std.ArangeAttrs{End: x.Dim(0)}), x.Dim(0), shape.Const(1), shape.Const(1))
	n := c.Do(std.Cast, std.CastAttrs{DType: array.I64}, c.X(4))
	return c.Do(std.Lt, nil, t, Reshape(c, n, x.Dim(1), shape.Const(1)))
}

// projected is the contribution of x to the gates, with the part of the biases that can
// be added at once.
func (r *Recurrent) projected(x op.Value, d int) op.Value {
	c := r.Call
	var bias op.Value
	if c.Has(3) {
		bias = r.part(3, d, 0, r.Gates)
		rest := r.part(3, d, r.Gates, r.Gates)
		if r.before { // the reset gate multiplies the last one
			n := (r.Gates - 1) * r.Hidden
			rest = c.Do(std.Slice, std.SliceAttrs{Stop: shape.Const(n)}, rest)
			rest = c.Do(std.Pad, std.PadAttrs{Pad: shape.ConstDims(0, r.Hidden)}, rest)
		}
		bias = c.Do(std.Add, nil, bias, rest)
	}
	return c.Do(std.Linear, nil, x, r.part(1, d, 0, r.Gates), bias)
}

// part are count gates of operand i, from first on, of one direction.
func (r *Recurrent) part(i, d, first, count int) op.Value {
	return r.Call.Prepared(i, func(x op.Value) op.Value {
		v := r.Call.Do(std.Select, std.SelectAttrs{Index: d}, x)
		return r.Call.Do(std.Slice, std.SliceAttrs{Start: shape.Const(first * r.Hidden), Stop: shape.Const((first + count) * r.Hidden)}, v)
	})
}

// initial is the first state i of a direction: zeros where there is none.
func (r *Recurrent) initial(i, d int, x shape.Type) op.Value {
	c := r.Call
	if s := r.State(5 + i); s != nil {
		return c.Do(std.Select, std.SelectAttrs{Index: d}, s)
	}
	return c.Do(std.Zeros, std.SizeAttrs{Size: shape.Of(x.Dim(1), shape.Const(r.Hidden)), DType: x.DType()})
}

// step computes the states after a step from the projections of x and the states before
// it.
func (r *Recurrent) step(w CellWriter, d int, x op.Value, states []op.Value) []op.Value {
	f := func(i int, v op.Value) op.Value { return r.acts[d][i].Apply(w, r.clipped(w, v)) }
	product := func(h op.Value, first, count int) op.Value {
		return w.do(std.Linear, nil, h, w.capture(r.part(2, d, first, count)), nil)
	}
	h := states[0]
	switch r.Gates {
	case 1:
		return []op.Value{f(0, w.add(x, product(h, 0, 1)))}
	case 3:
		xs := w.split(x, 2*r.Hidden, r.Hidden)
		zr := w.split(f(0, w.add(xs[0], product(h, 0, 2))), r.Hidden, r.Hidden)
		z, reset := zr[0], zr[1]
		var rest op.Value
		if r.before {
			rest = product(h, 2, 1)
			if r.Call.Has(3) {
				rest = w.add(rest, w.capture(r.part(3, d, 5, 1)))
			}
			rest = w.mul(reset, rest)
		} else {
			rest = product(w.mul(reset, h), 2, 1)
		}
		n := f(1, w.add(xs[1], rest))
		return []op.Value{w.add(w.mul(w.rest(z), n), w.mul(z, h))}
	}
	return r.lstmStep(w, d, f, w.add(x, product(h, 0, 4)), states[1])
}

// lstmStep has the gates in the order input, output, forget, cell.
func (r *Recurrent) lstmStep(w CellWriter, d int, f func(i int, v op.Value) op.Value, x, cell op.Value) []op.Value {
	g := w.split(x, r.Hidden, r.Hidden, r.Hidden, r.Hidden)
	peep := func(i int, x, cell op.Value) op.Value {
		if !r.Call.Has(7) {
			return x
		}
		p := r.Call.Prepared(7, func(v op.Value) op.Value {
			v = r.Call.Do(std.Select, std.SelectAttrs{Index: d}, v)
			return r.Call.Do(std.Slice, std.SliceAttrs{Start: shape.Const(i * r.Hidden), Stop: shape.Const((i + 1) * r.Hidden)}, v)
		})
		return w.add(x, w.mul(w.capture(p), cell))
	}
	i := f(0, peep(0, g[0], cell))
	forget := w.rest(i)
	if !r.forget {
		forget = f(0, peep(2, g[2], cell))
	}
	next := w.add(w.mul(forget, cell), w.mul(i, f(1, g[3])))
	o := f(0, peep(1, g[1], next))
	// ONNX Runtime does not clip the cell: the bound is one of the gates.
	return []op.Value{w.mul(o, r.acts[d][2].Apply(w, next)), next}
}

// clipped limits the operand of a function.
func (r *Recurrent) clipped(w CellWriter, v op.Value) op.Value {
	if r.clip == 0 {
		return v
	}
	return w.do(std.Clamp, std.ClampAttrs{Min: op.Float(-r.clip), Max: op.Float(r.clip)}, v)
}

// CellWriter writes the body of a scan.
type CellWriter struct {
	Builder op.Builder
	// capture is a value of the graph around the body as one of it.
	capture func(v op.Value) op.Value
}

func (w CellWriter) do(o *op.Op, attrs any, in ...op.Value) op.Value {
	return w.Builder.Call(o, attrs, in...)
}

func (w CellWriter) add(x, y op.Value) op.Value { return w.do(std.Add, nil, x, y) }

func (w CellWriter) mul(x, y op.Value) op.Value { return w.do(std.Mul, nil, x, y) }

// rest is 1 - x.
func (w CellWriter) rest(x op.Value) op.Value {
	return w.do(std.Sub, std.SubAttrs{Other: op.Int(1), Reverse: true}, x)
}

// split cuts the last dimension.
func (w CellWriter) split(x op.Value, sizes ...int) []op.Value {
	v := w.do(std.Split, std.SplitAttrs{Sizes: shape.ConstDims(sizes...), Dim: -1}, x)
	out := make([]op.Value, len(sizes))
	for i := range out {
		out[i] = w.Builder.Item(v, i)
	}
	return out
}
