package standard

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// rnnRules are the recurrent networks. Those that op/std has are its operators: ONNX has
// the gates in another order, and both biases in one tensor. Others are scans.
var rnnRules = map[string][]rule.Rule{
	"LSTM": {{Since: 1, Run: recurrentRule(4, []int{0, 2, 3, 1}, "Sigmoid", "Tanh", "Tanh")}},
	"GRU":  {{Since: 1, Run: recurrentRule(3, []int{1, 0, 2}, "Sigmoid", "Tanh")}},
	"RNN":  {{Since: 1, Run: recurrentRule(1, []int{0}, "Tanh")}},
}

// Recurrent is a recurrent network as a node says it.
type Recurrent struct {
	Call          *rule.Call
	Gates, Hidden int
	Order         []int // for each gate of PyTorch's the place of it among ONNX's
	Dirs          int
	Reverse       bool // of the only direction
	BatchFirst    bool
	acts          [][]activation // by direction
	clip          float64        // 0 for none
	forget        bool           // the gate is one minus the input gate
	before        bool           // the product comes before the reset
	lengths       bool           // sequences are shorter than x
}

func recurrentRule(gates int, order []int, activations ...string) func(c *rule.Call) []*rule.Datum {
	return func(c *rule.Call) []*rule.Datum {
		c.Write()
		r := RecurrentOf(c, gates, activations)
		r.Order = order
		if nonlinearity, ok := r.Plain(activations); ok {
			return c.Values(r.call(nonlinearity))
		}
		return c.Values(r.scans())
	}
}

// RecurrentOf reads a node of a recurrent network with gates in each step; activations are those
// of a direction that names none.
func RecurrentOf(c *rule.Call, gates int, activations []string) *Recurrent {
	if c.Rank(0) != 3 || c.Rank(1) != 3 || c.Rank(2) != 3 {
		panic(diag.New(spec.CodeModel, "X, W and R are "+c.Type(0).String()+", "+c.Type(1).String()+" and "+c.Type(2).String()+", expected three dimensions"))
	}
	r := &Recurrent{Call: c, Gates: gates, Dirs: 1, BatchFirst: c.Int("layout", 0) != 0, clip: c.Float("clip", 0),
		Hidden: c.Int("hidden_size", 0), lengths: shortened(c)}
	direction := c.OneOf("direction", "forward", "reverse", "bidirectional")
	if direction == "bidirectional" {
		r.Dirs = 2
	}
	r.Reverse = direction == "reverse"
	n, ok := c.Type(2).Dim(2).Int()
	if !ok || n < 1 || n > 1<<40 || c.Given("hidden_size") && r.Hidden != n {
		panic(diag.New(spec.CodeModel, "hidden_size is "+strconv.Itoa(r.Hidden)+", R is "+c.Type(2).String()))
	}
	r.Hidden = n
	r.check()
	if r.clip < 0 {
		panic(diag.New(spec.CodeModel, "clip is negative"))
	}
	switch gates {
	case 4:
		r.forget = c.Flag("input_forget", false)
	case 3:
		r.before = c.Flag("linear_before_reset", false)
	}
	r.acts = activationsOf(c, activations, r.Dirs)
	c.Ignore("output_sequence")
	return r
}

// check checks conditions that op/std does not: the sizes of the weights, which are
// taken apart.
func (r *Recurrent) check() {
	c, rows := r.Call, r.Gates*r.Hidden
	want := map[int]shape.Dims{
		1: shape.Of(shape.Const(r.Dirs), shape.Const(rows), c.Type(0).Dim(2)),
		2: shape.ConstDims(r.Dirs, rows, r.Hidden), 3: shape.ConstDims(r.Dirs, 2*rows),
	}
	if r.Gates == 4 {
		want[7] = shape.ConstDims(r.Dirs, 3*r.Hidden)
	}
	for _, i := range []int{1, 2, 3, 7} {
		w := want[i]
		if !c.Has(i) || w.Len() == 0 {
			continue
		}
		c.NeedDims(i, w.Slice()...)
	}
}

// Plain reports whether op/std has the network, for rnn with which nonlinearity.
func (r *Recurrent) Plain(usual []string) (nonlinearity string, ok bool) {
	if r.clip != 0 || r.forget || r.lengths || r.Gates == 4 && r.Call.Has(7) || r.Gates == 3 && !r.before {
		return "", false
	}
	relu := r.Gates == 1 && r.acts[0][0].name == "Relu"
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
func shortened(c *rule.Call) bool {
	if !c.Has(4) {
		return false
	}
	n, ok := c.Type(0).Dim(c.Int("layout", 0) & 1).Int()
	if c.In[4].Arr == nil || !ok {
		return true
	}
	return slices.ContainsFunc(c.Ints(4), func(l int) bool { return l != n })
}

// sequence is x with the time first.
func (r *Recurrent) sequence() op.Value { return r.turned(r.Call.X(0)) }

// State is an initial state, [direction, batch, hidden].
func (r *Recurrent) State(i int) op.Value {
	if v := r.Call.Opt(i); v != nil {
		return r.turned(v)
	}
	return nil
}

// turned exchanges time or direction and batch where the batch is first.
func (r *Recurrent) turned(x op.Value) op.Value {
	if !r.BatchFirst {
		return x
	}
	return r.Call.Do(std.Transpose, std.TransposeAttrs{Dim0: 0, Dim1: 1}, x)
}

// call calls lstm, gru or rnn.
func (r *Recurrent) call(nonlinearity string) []op.Value {
	c := r.Call
	flip := std.FlipAttrs{Dims: op.IntList(0)}
	x := r.sequence()
	if r.Reverse {
		x = c.Do(std.Flip, flip, x)
	}
	in := []op.Value{x, r.State(5)}
	if r.Gates == 4 {
		in = append(in, r.State(6))
	}
	noBias := !c.Has(3)
	for d := range r.Dirs {
		in = append(in, r.Weights(1, d, 0), r.Weights(2, d, 0))
		if !noBias {
			in = append(in, r.Weights(3, d, 0), r.Weights(3, d, r.Gates))
		}
	}
	var v op.Value
	n := 2
	switch r.Gates {
	case 4:
		n = 3
		v = c.Do(std.Lstm, std.LstmAttrs{Bidirectional: r.Dirs == 2, NoBias: noBias}, in...)
	case 3:
		v = c.Do(std.Gru, std.GruAttrs{Bidirectional: r.Dirs == 2, NoBias: noBias}, in...)
	default:
		v = c.Do(std.Rnn, std.RnnAttrs{Bidirectional: r.Dirs == 2, NoBias: noBias, Nonlinearity: nonlinearity}, in...)
	}
	out := c.Items(v, n)
	t, b := x.Type().Dim(0), x.Type().Dim(1)
	y := Reshape(c, out[0], t, b, shape.Const(r.Dirs), shape.Const(r.Hidden))
	if r.Reverse {
		y = c.Do(std.Flip, flip, y)
	}
	return r.Results(y, out[1:])
}

// Results are those of ONNX: all states, [time, batch, direction, hidden], and the last ones.
func (r *Recurrent) Results(y op.Value, last []op.Value) []op.Value {
	out := []op.Value{y}
	if r.BatchFirst {
		out[0] = r.turned(y)
	} else {
		out[0] = r.Call.Do(std.Permute, std.PermuteAttrs{Dims: op.IntList(0, 2, 1, 3)}, y)
	}
	for _, s := range last {
		out = append(out, r.turned(s))
	}
	return out
}

// Weights takes the weights of one direction in PyTorch's order, from gate first on.
func (r *Recurrent) Weights(i, dir, first int) op.Value {
	return r.Call.Prepared(i, func(x op.Value) op.Value {
		w := r.Call.Do(std.Select, std.SelectAttrs{Index: dir}, x)
		parts := make([]op.Value, r.Gates)
		for k, at := range r.Order {
			from := (first + at) * r.Hidden
			parts[k] = r.Call.Do(std.Slice, std.SliceAttrs{Start: shape.Const(from), Stop: shape.Const(from + r.Hidden)}, w)
		}
		return r.Call.Do(std.Cat, std.DimAttrs{}, parts...)
	})
}
