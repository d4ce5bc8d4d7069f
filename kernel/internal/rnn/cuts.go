package rnn

import "github.com/gofx-dev/gofx/kernel/internal/par"

// Cuts implements Cutter.
func (s LSTM) Cuts(out, in [][]int) []par.Cut { return s.config().cuts(2, out, in) }

// Cuts implements Cutter.
func (s GRU) Cuts(out, in [][]int) []par.Cut { return s.config().cuts(1, out, in) }

// Cuts implements Cutter.
func (s RNN) Cuts(out, in [][]int) []par.Cut { return s.config().cuts(1, out, in) }

// cuts is along the batch, of x, the states and all results; the weights are read whole.
func (r recurrent) cuts(states int, out, in [][]int) []par.Cut {
	if len(in[0]) < 3 {
		return nil
	}
	batch := 1
	if r.batchFirst {
		batch = 0
	}
	c := par.Cut{In: par.AllWhole(len(in)), Out: []int{batch}, Size: in[0][batch]}
	c.In[0] = batch
	for i := range states {
		if i+1 < len(in) && in[i+1] != nil {
			c.In[i+1] = 1
		}
	}
	for range out[1:] {
		c.Out = append(c.Out, 1)
	}
	return []par.Cut{c}
}
