package std

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
)

// cellStep advances one row of a state by the definition of its kind, given the
// gates that x and h contribute.
func cellStep(kind string, x, h []float64, state, memory []float64) {
	sigmoid := func(v float64) float64 { return 1 / (1 + math.Exp(-v)) }
	n := len(state)
	for j := range n {
		switch kind {
		case "lstm":
			i, f := sigmoid(x[j]+h[j]), sigmoid(x[n+j]+h[n+j])
			g, o := math.Tanh(x[2*n+j]+h[2*n+j]), sigmoid(x[3*n+j]+h[3*n+j])
			memory[j] = f*memory[j] + i*g
			state[j] = o * math.Tanh(memory[j])
		case "gru":
			r, z := sigmoid(x[j]+h[j]), sigmoid(x[n+j]+h[n+j])
			fresh := math.Tanh(x[2*n+j] + r*h[2*n+j])
			state[j] = (1-z)*fresh + z*state[j]
		case "relu":
			state[j] = math.Max(0, x[j]+h[j])
		default:
			state[j] = math.Tanh(x[j] + h[j])
		}
	}
}

// affine returns w·x + b for a row.
func affine(w *wide, x []float64, b *wide) []float64 {
	out := make([]float64, w.dims[0])
	for i := range out {
		for k, v := range x {
			out[i] += w.v[i*len(x)+k] * v
		}
		if b != nil {
			out[i] += b.v[i]
		}
	}
	return out
}

// recurrentReference runs the sequence row by row; state is its number of states.
func recurrentReference(kind string, r recurrentAttrs, in []*wide) []*wide {
	x, w := in[0], in[1+r.states:]
	steps, batch, layers, dirs := x.dims[0], 1, max(r.layers, 1), r.directions()
	if len(x.dims) == 3 {
		batch = x.dims[1]
		if r.batchFirst {
			steps, batch = x.dims[1], x.dims[0]
		}
	}
	hidden := w[1].dims[1]
	row := func(t, b int) int {
		if r.batchFirst {
			return b*steps + t
		}
		return t*batch + b
	}
	features := x.dims[len(x.dims)-1]
	seq := make([][]float64, steps*batch)
	for i := range seq {
		seq[i] = x.v[i*features : (i+1)*features]
	}
	stateDims := []int{layers * dirs, batch, hidden}
	if len(x.dims) == 2 {
		stateDims = []int{layers * dirs, hidden}
	}
	final := []*wide{newWide(stateDims...), newWide(stateDims...)}[:r.states]
	for i := range final {
		if in[1+i] != nil {
			copy(final[i].v, in[1+i].v)
		}
	}
	for layer := range layers {
		next := make([][]float64, steps*batch)
		for dir := range dirs {
			at := layer*dirs + dir
			p := w[at*r.perDirection():][:r.perDirection()]
			var bx, bh *wide
			if !r.noBias {
				bx, bh = p[2], p[3]
			}
			for b := range batch {
				lo := (at*batch + b) * hidden
				state := final[0].v[lo : lo+hidden]
				var memory []float64
				if r.states == 2 {
					memory = final[1].v[lo : lo+hidden]
				}
				for i := range steps {
					t := i
					if dir == 1 {
						t = steps - 1 - i
					}
					cellStep(kind, affine(p[0], seq[row(t, b)], bx), affine(p[1], state, bh), state, memory)
					y := next[row(t, b)]
					if y == nil {
						y = make([]float64, hidden*dirs)
						next[row(t, b)] = y
					}
					copy(y[dir*hidden:], state)
				}
			}
		}
		seq = next
	}
	out := newWide(append(append([]int(nil), x.dims[:len(x.dims)-1]...), hidden*dirs)...)
	for i, y := range seq {
		copy(out.v[i*hidden*dirs:], y)
	}
	return append([]*wide{out}, final...)
}

func TestRecurrent(t *testing.T) {
	checkAgainst(t, Lstm, func(attrs any, in []*wide) []*wide {
		return recurrentReference("lstm", attrs.(LstmAttrs).recurrent(4, 2), in)
	})
	checkAgainst(t, Gru, func(attrs any, in []*wide) []*wide {
		return recurrentReference("gru", attrs.(GruAttrs).recurrent(3, 1), in)
	})
	checkAgainst(t, Rnn, func(attrs any, in []*wide) []*wide {
		a := attrs.(RnnAttrs)
		return recurrentReference(a.Nonlinearity, a.recurrent(), in)
	})
}

// cellReference is one step of recurrentReference.
func cellReference(kind string, states int) reference {
	return func(attrs any, in []*wide) []*wide {
		if a, ok := attrs.(RnnCellAttrs); ok {
			kind = a.Nonlinearity
		}
		w, features := in[1+states:], in[0].dims[len(in[0].dims)-1]
		out := []*wide{newWide(in[1].dims...), newWide(in[1].dims...)}[:states]
		for i := range out {
			copy(out[i].v, in[1+i].v)
		}
		hidden := w[1].dims[1]
		for b := range len(in[0].v) / features {
			state := out[0].v[b*hidden : (b+1)*hidden]
			var memory []float64
			if states == 2 {
				memory = out[1].v[b*hidden : (b+1)*hidden]
			}
			cellStep(kind, affine(w[0], in[0].v[b*features:(b+1)*features], w[2]), affine(w[1], state, w[3]), state, memory)
		}
		return out
	}
}

func TestCells(t *testing.T) {
	checkAgainst(t, LstmCell, cellReference("lstm", 2))
	checkAgainst(t, GruCell, cellReference("gru", 1))
	checkAgainst(t, RnnCell, cellReference("", 1))
	checkAgainst(t, LstmGates, func(_ any, in []*wide) []*wide {
		h, c := newWide(in[0].dims...), newWide(in[0].dims...)
		sigmoid := func(v float64) float64 { return 1 / (1 + math.Exp(-v)) }
		for i := range h.v {
			at := func(k int) float64 { return in[k].v[i%len(in[k].v)] }
			c.v[i] = sigmoid(at(1))*at(4) + sigmoid(at(0))*math.Tanh(at(2))
			h.v[i] = sigmoid(at(3)) * math.Tanh(c.v[i])
		}
		return []*wide{h, c}
	})
}

// A cell run by hand over a sequence is the network.
func TestCellIsOneStep(t *testing.T) {
	g := &op.Gen{}
	in := recurrentArgs(g, LstmAttrs{}.recurrent(4, 2), 4, 5, 2, 3)
	in[1], in[2] = array.New(array.F32, 1, 2, 4), array.New(array.F32, 1, 2, 4)
	w := &kernel.Workspace{}
	want, err := Lstm.Eval(w, LstmAttrs{}, in)
	require.NoError(t, err)
	h, c := array.New(array.F32, 2, 4), array.New(array.F32, 2, 4)
	for step := range 5 {
		out, err := LstmCell.Eval(w, op.None{}, append([]*array.Array{array.Select(in[0], 0, step), h, c}, in[3:]...))
		require.NoError(t, err)
		h, c = out[0], out[1]
		requireWide(t, widen(array.Select(want[0], 0, step)), h, "output")
	}
	requireWide(t, widen(array.Select(want[2], 0, 0)), c, "c_n")
}

func TestRecurrentMessages(t *testing.T) {
	g := &op.Gen{}
	a := LstmAttrs{NumLayers: 2, Bidirectional: true}
	in := recurrentArgs(g, a.recurrent(4, 2), 4, 5, 2, 3)
	in[3+4*3+1] = g.Normal(16, 5)
	_, err := Lstm.Type(nil, a, typesOf(in))
	require.ErrorContains(t, err, "weight_hh_l1_reverse has the shape [16,5], expected [16,4]")
}
