package onnx

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// rnnRules are the recurrent networks. Those that op/std has are its operators: ONNX has
// the gates in another order, and both biases in one tensor. Others are scans.
var rnnRules = map[string][]rule{
	"LSTM": {{since: 1, run: recurrentRule(4, []int{0, 2, 3, 1}, "Sigmoid", "Tanh", "Tanh")}},
	"GRU":  {{since: 1, run: recurrentRule(3, []int{1, 0, 2}, "Sigmoid", "Tanh")}},
	"RNN":  {{since: 1, run: recurrentRule(1, []int{0}, "Tanh")}},
}

// recurrent is a recurrent network as a node says it.
type recurrent struct {
	c             *call
	gates, hidden int
	order         []int // for each gate of PyTorch's the place of it among ONNX's
	dirs          int
	reverse       bool // of the only direction
	batchFirst    bool
	acts          [][]activation // by direction
	clip          float64        // 0 for none
	forget        bool           // the gate is one minus the input gate
	before        bool           // the product comes before the reset
	lengths       bool           // sequences are shorter than x
}

func recurrentRule(gates int, order []int, activations ...string) func(c *call) []*value {
	return func(c *call) []*value {
		c.write()
		r := recurrentOf(c, gates, activations)
		r.order = order
		if nonlinearity, ok := r.plain(activations); ok {
			return c.values(r.call(nonlinearity))
		}
		return c.values(r.scans())
	}
}

func recurrentOf(c *call, gates int, activations []string) *recurrent {
	if c.rank(0) != 3 || c.rank(1) != 3 || c.rank(2) != 3 {
		panic(diag.New(CodeModel, "X, W and R are "+c.typ(0).String()+", "+c.typ(1).String()+" and "+c.typ(2).String()+", expected three dimensions"))
	}
	r := &recurrent{c: c, gates: gates, dirs: 1, batchFirst: c.int("layout", 0) != 0, clip: c.float("clip", 0),
		hidden: c.int("hidden_size", 0), lengths: shortened(c)}
	direction := c.oneOf("direction", "forward", "reverse", "bidirectional")
	if direction == "bidirectional" {
		r.dirs = 2
	}
	r.reverse = direction == "reverse"
	n, ok := c.typ(2).Dim(2).Int()
	if !ok || n < 1 || n > 1<<40 || c.given("hidden_size") && r.hidden != n {
		panic(diag.New(CodeModel, "hidden_size is "+strconv.Itoa(r.hidden)+", R is "+c.typ(2).String()))
	}
	r.hidden = n
	r.check()
	if r.clip < 0 {
		panic(diag.New(CodeModel, "clip is negative"))
	}
	switch gates {
	case 4:
		r.forget = c.flag("input_forget", false)
	case 3:
		r.before = c.flag("linear_before_reset", false)
	}
	r.acts = activationsOf(c, activations, r.dirs)
	c.ignore("output_sequence")
	return r
}

// check checks conditions that op/std does not: the sizes of the weights, which are
// taken apart.
func (r *recurrent) check() {
	c, rows := r.c, r.gates*r.hidden
	want := map[int]shape.Dims{
		1: shape.Of(shape.Const(r.dirs), shape.Const(rows), c.typ(0).Dim(2)),
		2: shape.ConstDims(r.dirs, rows, r.hidden), 3: shape.ConstDims(r.dirs, 2*rows),
	}
	if r.gates == 4 {
		want[7] = shape.ConstDims(r.dirs, 3*r.hidden)
	}
	for _, i := range []int{1, 2, 3, 7} {
		w := want[i]
		if !c.has(i) || w.Len() == 0 {
			continue
		}
		c.needDims(i, w.Slice()...)
	}
}

// plain reports whether op/std has the network, for rnn with which nonlinearity.
func (r *recurrent) plain(usual []string) (nonlinearity string, ok bool) {
	if r.clip != 0 || r.forget || r.lengths || r.gates == 4 && r.c.has(7) || r.gates == 3 && !r.before {
		return "", false
	}
	relu := r.gates == 1 && r.acts[0][0].name == "Relu"
	for _, d := range r.acts {
		for i, a := range d {
			if relu && a.name != "Relu" || !relu && a.name != usual[i] {
				return "", false
			}
		}
	}
	if relu {
		return "relu", true
	}
	return "", true
}

// shortened reports whether sequence_lens shortens a sequence: lengths that are all
// known to be that of the input do not.
func shortened(c *call) bool {
	if !c.has(4) {
		return false
	}
	n, ok := c.typ(0).Dim(c.int("layout", 0) & 1).Int()
	if c.in[4].arr == nil || !ok {
		return true
	}
	return slices.ContainsFunc(c.ints(4), func(l int) bool { return l != n })
}

// sequence is x with the time first.
func (r *recurrent) sequence() op.Value { return r.turned(r.c.x(0)) }

// state is an initial state, [direction, batch, hidden].
func (r *recurrent) state(i int) op.Value {
	if v := r.c.opt(i); v != nil {
		return r.turned(v)
	}
	return nil
}

// turned exchanges time or direction and batch where the batch is first.
func (r *recurrent) turned(x op.Value) op.Value {
	if !r.batchFirst {
		return x
	}
	return r.c.do(std.Transpose, std.TransposeAttrs{Dim0: 0, Dim1: 1}, x)
}

// call calls lstm, gru or rnn.
func (r *recurrent) call(nonlinearity string) []op.Value {
	c := r.c
	flip := std.FlipAttrs{Dims: op.IntList(0)}
	x := r.sequence()
	if r.reverse {
		x = c.do(std.Flip, flip, x)
	}
	in := []op.Value{x, r.state(5)}
	if r.gates == 4 {
		in = append(in, r.state(6))
	}
	noBias := !c.has(3)
	for d := range r.dirs {
		in = append(in, r.weights(1, d, 0), r.weights(2, d, 0))
		if !noBias {
			in = append(in, r.weights(3, d, 0), r.weights(3, d, r.gates))
		}
	}
	var v op.Value
	n := 2
	switch r.gates {
	case 4:
		n = 3
		v = c.do(std.Lstm, std.LstmAttrs{Bidirectional: r.dirs == 2, NoBias: noBias}, in...)
	case 3:
		v = c.do(std.Gru, std.GruAttrs{Bidirectional: r.dirs == 2, NoBias: noBias}, in...)
	default:
		v = c.do(std.Rnn, std.RnnAttrs{Bidirectional: r.dirs == 2, NoBias: noBias, Nonlinearity: nonlinearity}, in...)
	}
	out := c.items(v, n)
	t, b := x.Type().Dim(0), x.Type().Dim(1)
	y := reshape(c, out[0], t, b, shape.Const(r.dirs), shape.Const(r.hidden))
	if r.reverse {
		y = c.do(std.Flip, flip, y)
	}
	return r.results(y, out[1:])
}

// results are those of ONNX: all states, [time, batch, direction, hidden], and the last ones.
func (r *recurrent) results(y op.Value, last []op.Value) []op.Value {
	out := []op.Value{y}
	if r.batchFirst {
		out[0] = r.turned(y)
	} else {
		out[0] = r.c.do(std.Permute, std.PermuteAttrs{Dims: op.IntList(0, 2, 1, 3)}, y)
	}
	for _, s := range last {
		out = append(out, r.turned(s))
	}
	return out
}

// weights takes the weights of one direction in PyTorch's order, from gate first on.
func (r *recurrent) weights(i, dir, first int) op.Value {
	return r.c.prepared(i, func(x op.Value) op.Value {
		w := r.c.do(std.Select, std.SelectAttrs{Index: dir}, x)
		parts := make([]op.Value, r.gates)
		for k, at := range r.order {
			from := (first + at) * r.hidden
			parts[k] = r.c.do(std.Slice, std.SliceAttrs{Start: shape.Const(from), Stop: shape.Const(from + r.hidden)}, w)
		}
		return r.c.do(std.Cat, std.DimAttrs{}, parts...)
	})
}
