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
	weights := in[len(out):]
	next := func() []float64 {
		v := weights[0].V
		weights = weights[1:]
		return v
	}
	x, width := in[0].V, c.features
	for layer := range c.layers {
		y := make([]float64, c.steps*c.batch*c.dirs()*c.hidden)
		for dir := range c.dirs() {
			l := rnnLayer{rnnCase: c, dir: dir, x: x, width: width, y: y, fromX: next(), fromH: next()}
			if c.bias {
				l.biasX, l.biasH = next(), next()
			}
			for b := range c.batch {
				at := ((layer*c.dirs()+dir)*c.batch + b) * c.hidden
				h, cell := make([]float64, c.hidden), make([]float64, c.hidden)
				if c.states {
					copy(h, in[1].V[at:])
					if c.kind == "lstm" {
						copy(cell, in[2].V[at:])
					}
				}
				h = l.sequence(b, h, cell)
				copy(out[1].V[at:], h)
				if c.kind == "lstm" {
					copy(out[2].V[at:], cell)
				}
			}
		}
		x, width = y, c.dirs()*c.hidden
	}
	copy(out[0].V, x)
}

// rnnLayer is one layer in one direction, which goes from x to its part of y.
type rnnLayer struct {
	rnnCase
	dir                        int
	x, y                       []float64
	width                      int // of x
	fromX, fromH, biasX, biasH []float64
}

// sequence runs row b of the batch through all steps and returns the last state; cell
// changes.
func (l rnnLayer) sequence(b int, h, cell []float64) []float64 {
	for i := range l.steps {
		t := i
		if l.dir == 1 {
			t = l.steps - 1 - i
		}
		row := t*l.batch + b
		if l.batchFirst && !l.flat {
			row = b*l.steps + t
		}
		h = l.next(l.x[row*l.width:][:l.width], h, cell)
		copy(l.y[(row*l.dirs()+l.dir)*l.hidden:], h)
	}
	return h
}

// next returns the state after h; cell, an lstm's, changes.
func (l rnnLayer) next(x, h, cell []float64) []float64 {
	out := make([]float64, l.hidden)
	for k := range out {
		fx := func(gate int) float64 { return rowSum(l.fromX, l.biasX, gate*l.hidden+k, x) }
		fh := func(gate int) float64 { return rowSum(l.fromH, l.biasH, gate*l.hidden+k, h) }
		open := func(gate int) float64 { return 1 / (1 + math.Exp(-fx(gate)-fh(gate))) }
		switch l.kind {
		case "lstm":
			cell[k] = open(1)*cell[k] + open(0)*math.Tanh(fx(2)+fh(2))
			out[k] = open(3) * math.Tanh(cell[k])
		case "gru":
			candidate, keep := math.Tanh(fx(2)+open(0)*fh(2)), open(1)
			out[k] = (1-keep)*candidate + keep*h[k]
		case "tanh":
			out[k] = math.Tanh(fx(0) + fh(0))
		case "relu":
			out[k] = max(0, fx(0)+fh(0))
		}
	}
	return out
}

// rowSum is the product of a row of a matrix with v, and the row's bias.
func rowSum(w, bias []float64, row int, v []float64) (sum float64) {
	for i, x := range v {
		sum += w[row*len(v)+i] * x
	}
	if bias != nil {
		sum += bias[row]
	}
	return sum
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
