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

// layerCase is a layer that keeps its gates.
type layerCase struct {
	steps, batch, features, hidden   int
	reverse, states, biasX, biasH    bool
	ofOutput, ofCells, ofGates, ends bool // gradients that are given, and those of the states that are asked for
}

var layerCases = []layerCase{
	{steps: 4, batch: 3, features: 5, hidden: 6, biasX: true, biasH: true, states: true, ofOutput: true, ends: true},
	{steps: 4, batch: 2, features: 5, hidden: 9, reverse: true, biasH: true, ofOutput: true},
	{steps: 3, batch: 9, features: 2, hidden: 17, biasX: true, states: true, ofOutput: true, ofCells: true, ends: true},
	{steps: 3, batch: 10, features: 2, hidden: 3, reverse: true, states: true, ofCells: true, ofGates: true, ends: true},
	{steps: 1, batch: 1, features: 4, hidden: 20, states: true, ofOutput: true, ofGates: true, ends: true},
	{steps: 2, batch: 2, features: 0, hidden: 3, biasX: true, ofOutput: true, ends: true},
	{steps: 2, batch: 0, features: 4, hidden: 3, states: true, ofOutput: true, ends: true},
	{steps: 0, batch: 2, features: 4, hidden: 3, states: true, ofOutput: true, ofCells: true, ends: true},
}

func (c layerCase) seq(width int) []int { return []int{c.steps, c.batch, width} }

func when(is bool, shape ...int) []int {
	if is {
		return shape
	}
	return nil
}

// TestLSTMLayer holds the layer to the network that it is a part of.
func TestLSTMLayer(t *testing.T) {
	for _, c := range layerCases {
		h, width := c.hidden, 4*c.hidden
		kerneltest.StepCase{
			Name: fmt.Sprintf("%+v", c), Step: LSTMLayer{c.reverse}, Out: kerneltest.Shapes{c.seq(h), c.seq(h), c.seq(width)}, Index: -1,
			In:      kerneltest.Shapes{c.seq(c.features), when(c.states, c.batch, h), when(c.states, c.batch, h), {width, c.features}, {width, h}, when(c.biasX, width), when(c.biasH, width)},
			Meaning: c.forward,
		}.Check(t)
	}
}

// at is step i in the order of the layer.
func (c layerCase) at(i int) int {
	if c.reverse {
		return c.steps - 1 - i
	}
	return i
}

func (c layerCase) forward(in, out []kerneltest.RefArray) {
	for b := range c.batch {
		h, cell := make([]float64, c.hidden), make([]float64, c.hidden)
		if c.states {
			copy(h, in[1].V[b*c.hidden:])
			copy(cell, in[2].V[b*c.hidden:])
		}
		for i := range c.steps {
			row := c.at(i)*c.batch + b
			x := in[0].V[row*c.features:][:c.features]
			gates := out[2].V[row*4*c.hidden:][:4*c.hidden]
			for k := range gates {
				v := rowSum(in[3].V, in[5].V, k, x) + rowSum(in[4].V, in[6].V, k, h)
				if k/c.hidden == 2 {
					gates[k] = math.Tanh(v)
				} else {
					gates[k] = 1 / (1 + math.Exp(-v))
				}
			}
			for k := range h {
				cell[k] = gates[c.hidden+k]*cell[k] + gates[k]*gates[2*c.hidden+k]
				h[k] = gates[3*c.hidden+k] * math.Tanh(cell[k])
			}
			copy(out[0].V[row*c.hidden:], h)
			copy(out[1].V[row*c.hidden:], cell)
		}
	}
}

// TestLSTMLayerGrad holds the way back to the way forwards: a little more of each sum, and
// of each initial state, changes the loss by what its gradient says.
func TestLSTMLayerGrad(t *testing.T) {
	for _, c := range layerCases {
		h, width := c.hidden, 4*c.hidden
		kerneltest.StepCase{
			Name: fmt.Sprintf("%+v", c), Step: LSTMLayerGrad{c.reverse}, Out: kerneltest.Shapes{c.seq(width), {c.batch, h}, {c.batch, h}}, Index: -1,
			In:      kerneltest.Shapes{c.seq(width), c.seq(h), when(c.states, c.batch, h), {width, h}, when(c.ofOutput, c.seq(h)...), when(c.ofCells, c.seq(h)...), when(c.ofGates, c.seq(width)...)},
			Prepare: func(in []kerneltest.RefArray) { c.open(in[0].V) },
			Meaning: func(in, out []kerneltest.RefArray) {
				for b := range c.batch {
					for i := range c.steps {
						for k := range width {
							out[0].V[(c.at(i)*c.batch+b)*width+k] = c.change(in, b, change{step: i, sum: k, state: -1, cell: -1})
						}
					}
					for k := range h {
						out[1].V[b*h+k] = c.change(in, b, change{step: -1, state: k, cell: -1})
						out[2].V[b*h+k] = c.change(in, b, change{step: -1, state: -1, cell: k})
					}
				}
			},
		}.Check(t)
	}
}

// open makes gates of any numbers.
func (c layerCase) open(gates []float64) {
	for i, v := range gates {
		if c.hidden > 0 && i/c.hidden%4 == 2 {
			gates[i] = math.Tanh(v)
		} else {
			gates[i] = 1 / (1 + math.Exp(-v))
		}
	}
}

// change says what becomes a little more.
type change struct{ step, sum, state, cell int }

// change is by how much the loss changes in row b of the batch.
func (c layerCase) change(in []kerneltest.RefArray, b int, by change) (loss float64) {
	n := c.hidden
	h, cell := make([]float64, n), make([]float64, n)
	if by.state >= 0 {
		h[by.state] = 1
	}
	if by.cell >= 0 {
		cell[by.cell] = 1
	}
	for i := range c.steps {
		row := c.at(i)*c.batch + b
		gates, sums := in[0].V[row*4*n:][:4*n], make([]float64, 4*n)
		for k := range sums {
			sums[k] = rowSum(in[3].V, nil, k, h)
			if i == by.step && k == by.sum {
				sums[k]++
			}
			slope := gates[k] * (1 - gates[k])
			if k/n == 2 {
				slope = 1 - gates[k]*gates[k]
			}
			sums[k] *= slope
			loss += sums[k] * in[6].Or(row*4*n+k, 0)
		}
		for k := range n {
			before := in[2].Or(b*n+k, 0)
			if i > 0 {
				before = in[1].V[(c.at(i-1)*c.batch+b)*n+k]
			}
			cell[k] = sums[n+k]*before + gates[n+k]*cell[k] + sums[k]*gates[2*n+k] + gates[k]*sums[2*n+k]
			t := math.Tanh(in[1].V[row*n+k])
			h[k] = sums[3*n+k]*t + gates[3*n+k]*(1-t*t)*cell[k]
			loss += h[k]*in[4].Or(row*n+k, 0) + cell[k]*in[5].Or(row*n+k, 0)
		}
	}
	return loss
}

// Results that nobody asks for are left out, and change no others.
func TestLSTMLayerLeavesOut(t *testing.T) {
	c := layerCase{steps: 3, batch: 2, features: 4, hidden: 5}
	fill := func(shape ...int) *array.Array {
		a := array.New(array.F32, shape...)
		for i, d := 0, array.Raw[float32](a); i < len(d); i++ {
			d[i] = float32(i*7919%201-100) / 100
		}
		return a
	}
	h, width := c.hidden, 4*c.hidden
	in := []*array.Array{fill(c.seq(4)...), nil, nil, fill(width, 4), fill(width, h), nil, nil}
	all := []*array.Array{fill(c.seq(h)...), fill(c.seq(h)...), fill(c.seq(width)...)}
	some := []*array.Array{fill(c.seq(h)...), nil, nil}
	kerneltest.RunStep(t, LSTMLayer{}, all, in)
	kerneltest.RunStep(t, LSTMLayer{}, some, in)
	require.Equal(t, array.Raw[float32](all[0]), array.Raw[float32](some[0]))
	back := []*array.Array{all[2], all[1], nil, in[4], fill(c.seq(h)...), nil, nil}
	every, sums := []*array.Array{fill(c.seq(width)...), fill(c.batch, h), fill(c.batch, h)}, []*array.Array{fill(c.seq(width)...), nil, nil}
	kerneltest.RunStep(t, LSTMLayerGrad{}, every, back)
	kerneltest.RunStep(t, LSTMLayerGrad{}, sums, back)
	require.Equal(t, array.Raw[float32](every[0]), array.Raw[float32](sums[0]))
}

// The bits of a layer and of its gradient do not depend on threads, and its output is that
// of the network of one layer, on every level.
func TestLSTMLayerThreads(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, batch := range []int{1, 3, 8, 40} {
			c := layerCase{steps: 3, batch: batch, features: 33, hidden: 70}
			h, width := c.hidden, 4*c.hidden
			fill := func(shape ...int) *array.Array {
				a := array.New(array.F32, shape...)
				for i, d := 0, array.Raw[float32](a); i < len(d); i++ {
					d[i] = float32(i*7919%201-100) / 400
				}
				return a
			}
			in := []*array.Array{fill(c.seq(33)...), nil, nil, fill(width, 33), fill(width, h), fill(width), fill(width)}
			whole := array.New(array.F32, c.seq(h)...)
			LSTM{Layers: 1, HasBias: true}.Run(&par.Workspace{}, []*array.Array{whole, nil, nil}, in)
			var first, firstBack []*array.Array
			for _, threads := range []int{1, 2, 3} {
				w := &par.Workspace{Threads: threads}
				out := []*array.Array{fill(c.seq(h)...), fill(c.seq(h)...), fill(c.seq(width)...)}
				LSTMLayer{}.Run(w, out, in)
				back := []*array.Array{fill(c.seq(width)...), fill(batch, h), fill(batch, h)}
				LSTMLayerGrad{}.Run(w, back, []*array.Array{out[2], out[1], nil, in[4], fill(c.seq(h)...), nil, nil})
				if first == nil {
					first, firstBack = out, back
				}
				for i := range out {
					require.Equal(t, array.Raw[float32](first[i]), array.Raw[float32](out[i]))
					require.Equal(t, array.Raw[float32](firstBack[i]), array.Raw[float32](back[i]))
				}
				require.Equal(t, array.Raw[float32](whole), array.Raw[float32](out[0]))
			}
		}
	})
}

func TestLSTMLayerDoesNotAllocate(t *testing.T) {
	f := func(shape ...int) *array.Array { return array.New(array.F32, shape...) }
	layer := []*array.Array{f(6, 8, 12), f(6, 8, 12), f(6, 8, 48)}
	kerneltest.RequireNoAllocs(t, LSTMLayer{}, layer, []*array.Array{f(6, 8, 10), nil, nil, f(48, 10), f(48, 12), f(48), f(48)})
	kerneltest.RequireNoAllocs(t, LSTMLayerGrad{}, []*array.Array{f(6, 8, 48), f(8, 12), f(8, 12)},
		[]*array.Array{layer[2], layer[1], nil, f(48, 12), f(6, 8, 12), nil, nil})
}
