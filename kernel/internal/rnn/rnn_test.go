package rnn

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// rnnCase is a recurrent network with its sizes.
type rnnCase struct {
	kind                            string // lstm, gru, tanh, relu
	steps, batch, features, hidden  int
	layers                          int
	bidir, batchFirst, bias, states bool
	flat                            bool // x without a batch dimension
}

func (c rnnCase) dirs() int {
	if c.bidir {
		return 2
	}
	return 1
}

func (c rnnCase) step() par.Step {
	switch c.kind {
	case "lstm":
		return LSTM{Layers: c.layers, Bidirectional: c.bidir, BatchFirst: c.batchFirst, HasBias: c.bias}
	case "gru":
		return GRU{Layers: c.layers, Bidirectional: c.bidir, BatchFirst: c.batchFirst, HasBias: c.bias}
	}
	return RNN{Layers: c.layers, Bidirectional: c.bidir, BatchFirst: c.batchFirst, HasBias: c.bias, Nonlinearity: c.kind}
}

func (c rnnCase) operands() (out, in kerneltest.Shapes) {
	gates := map[string]int{"lstm": 4, "gru": 3}[c.kind]
	gates = max(gates, 1) * c.hidden
	lead := []int{c.steps, c.batch}
	switch {
	case c.flat:
		lead = lead[:1]
	case c.batchFirst:
		lead = []int{c.batch, c.steps}
	}
	state := []int{c.layers * c.dirs(), c.batch, c.hidden}
	if c.flat {
		state = []int{c.layers * c.dirs(), c.hidden}
	}
	in = append(in, append(append([]int{}, lead...), c.features))
	out = append(out, append(append([]int{}, lead...), c.dirs()*c.hidden))
	states := 1
	if c.kind == "lstm" {
		states = 2
	}
	for range states {
		out = append(out, state)
		if c.states {
			in = append(in, state)
		} else {
			in = append(in, nil)
		}
	}
	features := c.features
	for range c.layers {
		for range c.dirs() {
			in = append(in, []int{gates, features}, []int{gates, c.hidden})
			if c.bias {
				in = append(in, []int{gates}, []int{gates})
			}
		}
		features = c.dirs() * c.hidden
	}
	return out, in
}

// meaning runs the recurrences as the PyTorch documentation writes them.
func (c rnnCase) meaning(in, out []kerneltest.RefArray) {
	sig := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	xAt := func(v []float64, width, t, b, i int) float64 {
		if c.batchFirst && !c.flat {
			return v[(b*c.steps+t)*width+i]
		}
		return v[(t*c.batch+b)*width+i]
	}
	weights := in[len(out):]
	x, width := in[0].V, c.features
	H := c.hidden
	for layer := range c.layers {
		y := make([]float64, c.steps*c.batch*c.dirs()*H)
		for dir := range c.dirs() {
			next := func() []float64 {
				v := weights[0].V
				weights = weights[1:]
				return v
			}
			wx, wh := next(), next()
			var bx, bh []float64
			if c.bias {
				bx, bh = next(), next()
			}
			for b := range c.batch {
				h, cell := make([]float64, H), make([]float64, H)
				at := ((layer*c.dirs()+dir)*c.batch + b) * H
				if c.states {
					copy(h, in[1].V[at:])
					if c.kind == "lstm" {
						copy(cell, in[2].V[at:])
					}
				}
				for i := range c.steps {
					t := i
					if dir == 1 {
						t = c.steps - 1 - i
					}
					fx := func(g, k int) (s float64) {
						for p := range width {
							s += wx[(g*H+k)*width+p] * xAt(x, width, t, b, p)
						}
						if bx != nil {
							s += bx[g*H+k]
						}
						return s
					}
					fh := func(g, k int) (s float64) {
						for p := range H {
							s += wh[(g*H+k)*H+p] * h[p]
						}
						if bh != nil {
							s += bh[g*H+k]
						}
						return s
					}
					now := make([]float64, H)
					for k := range H {
						switch c.kind {
						case "lstm":
							cell[k] = sig(fx(1, k)+fh(1, k))*cell[k] + sig(fx(0, k)+fh(0, k))*math.Tanh(fx(2, k)+fh(2, k))
							now[k] = sig(fx(3, k)+fh(3, k)) * math.Tanh(cell[k])
						case "gru":
							n := math.Tanh(fx(2, k) + sig(fx(0, k)+fh(0, k))*fh(2, k))
							z := sig(fx(1, k) + fh(1, k))
							now[k] = (1-z)*n + z*h[k]
						case "tanh":
							now[k] = math.Tanh(fx(0, k) + fh(0, k))
						case "relu":
							now[k] = max(0, fx(0, k)+fh(0, k))
						}
					}
					h = now
					row := t*c.batch + b
					if c.batchFirst && !c.flat {
						row = b*c.steps + t
					}
					copy(y[row*c.dirs()*H+dir*H:], h)
				}
				copy(out[1].V[at:at+H], h)
				if c.kind == "lstm" {
					copy(out[2].V[at:at+H], cell)
				}
			}
		}
		x, width = y, c.dirs()*H
	}
	copy(out[0].V, x)
}

func TestRecurrent(t *testing.T) {
	for _, kind := range []string{"lstm", "gru", "tanh", "relu"} {
		for _, c := range []rnnCase{
			{steps: 4, batch: 3, features: 5, hidden: 6, layers: 1, bias: true, states: true},
			{steps: 4, batch: 3, features: 5, hidden: 6, layers: 1},
			{steps: 3, batch: 2, features: 7, hidden: 4, layers: 2, bidir: true, bias: true, states: true},
			{steps: 3, batch: 5, features: 2, hidden: 3, layers: 4, batchFirst: true, bias: true},
			{steps: 5, batch: 2, features: 3, hidden: 2, layers: 3, bidir: true, batchFirst: true, states: true},
			{steps: 3, batch: 1, features: 4, hidden: 5, layers: 2, flat: true, bias: true, states: true},
			{steps: 3, batch: 1, features: 4, hidden: 5, layers: 1, flat: true, batchFirst: true, bias: true},
			{steps: 0, batch: 2, features: 4, hidden: 3, layers: 2, bias: true, states: true},
			{steps: 2, batch: 0, features: 4, hidden: 3, layers: 1, bias: true, states: true},
		} {
			c.kind = kind
			out, in := c.operands()
			kerneltest.StepCase{
				Name: fmt.Sprintf("%+v", c), Step: c.step(), Out: out, In: in, Index: -1, Meaning: c.meaning,
				Prepare: func(in []kerneltest.RefArray) {
					for _, d := range in {
						for i := range d.V {
							d.V[i] *= 0.5 // keep relu from growing
						}
					}
				},
			}.Check(t, array.F32, array.F64)
		}
	}
}

// The 16-bit types round once, at the end.
func TestRecurrentHalf(t *testing.T) {
	c := rnnCase{kind: "lstm", steps: 4, batch: 3, features: 5, hidden: 6, layers: 2, bidir: true, bias: true, states: true}
	out, in := c.operands()
	kerneltest.StepCase{Name: "lstm", Step: c.step(), Out: out, In: in, Index: -1, Meaning: c.meaning}.Check(t, array.F16, array.BF16)
}

// One unit, one step, by hand: all gates see 0, so i = f = o = 1/2 and g = 0.
func TestLSTMByHand(t *testing.T) {
	in := []*array.Array{array.New(array.F64, 1, 1, 1), nil, array.FromSlice([]float64{2}, 1, 1, 1),
		array.FromSlice([]float64{1, 1, 1, 1}, 4, 1), array.FromSlice([]float64{1, 1, 1, 1}, 4, 1)}
	out := []*array.Array{array.New(array.F64, 1, 1, 1), nil, array.New(array.F64, 1, 1, 1)}
	kerneltest.RunStep(t, LSTM{Layers: 1}, out, in)
	require.InDelta(t, 0.5*math.Tanh(1), array.Data[float64](out[0])[0], 1e-15)
	require.InDelta(t, 1, array.Data[float64](out[2])[0], 1e-15)
}

func TestRecurrentDoesNotAllocate(t *testing.T) {
	c := rnnCase{kind: "gru", steps: 6, batch: 8, features: 10, hidden: 12, layers: 3, bidir: true, bias: true, states: true}
	outShapes, inShapes := c.operands()
	var out, in []*array.Array
	for _, s := range outShapes {
		out = append(out, array.New(array.F32, s...))
	}
	for _, s := range inShapes {
		in = append(in, array.New(array.F32, s...))
	}
	kerneltest.RequireNoAllocs(t, c.step(), out, in)
}
