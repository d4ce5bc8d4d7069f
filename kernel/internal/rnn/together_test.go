package rnn

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// sharedCases are networks whose steps goroutines share by units, where a level has assembly.
func sharedCases() (list []rnnCase) {
	for _, kind := range []string{"lstm", "gru", "tanh", "relu"} {
		for _, c := range []rnnCase{
			{steps: 5, batch: 1, features: 9, hidden: 256, layers: 2, bias: true, states: true},
			{steps: 4, batch: 1, features: 256, hidden: 288, layers: 1, bidir: true},
			{steps: 4, batch: 3, features: 7, hidden: 160, layers: 2, bidir: true, batchFirst: true, bias: true, states: true},
			{steps: 3, batch: 8, features: 5, hidden: 128, layers: 1, bias: true},
			{steps: 3, batch: 15, features: 5, hidden: 96, layers: 1, batchFirst: true, states: true},
			{steps: 3, batch: 1, features: 4, hidden: 250, layers: 2, bias: true}, // no multiple of a panel
		} {
			c.kind = kind
			list = append(list, c)
		}
	}
	return list
}

// quantises reports whether there is a network of this kind with weights of 8 bits.
func (c rnnCase) quantises() bool { return c.kind == "lstm" || c.kind == "gru" }

// Goroutines that stay together for all steps give the bits of one, however many there are.
func TestUnitsAreShared(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, c := range sharedCases() {
			for _, quantised := range []bool{false, true} {
				if quantised && !c.quantises() {
					continue
				}
				s, out, in := c.arrays(quantised)
				s.Run(&par.Workspace{Threads: 1}, out, in)
				for _, w := range []*par.Workspace{{Threads: 2}, {Threads: 3}, {Threads: 2, Meter: &par.Meter{}},
					{Threads: 2, Meter: &par.Meter{InTurn: true}}, {Threads: 5, Meter: &par.Meter{InTurn: true}}, {Threads: 16, Meter: &par.Meter{InTurn: true}}} {
					got := make([]*array.Array, len(out))
					for i, a := range out {
						got[i] = array.New(array.F32, a.Shape()...)
					}
					s.Run(w, got, in)
					for i := range out {
						require.Equal(t, array.Data[float32](out[i]), array.Data[float32](got[i]), "%+v, quantised %v: result %d, %d threads", c, quantised, i, w.Threads)
					}
				}
			}
		}
	})
}

// A layer whose units are shared hands work over once, not for each step.
func TestStepsAreOneCall(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, c := range []rnnCase{
			{kind: "lstm", steps: 7, batch: 1, features: 8, hidden: 256, layers: 3, bias: true},
			{kind: "gru", steps: 7, batch: 5, features: 8, hidden: 256, layers: 3, bias: true},
		} {
			for _, quantised := range []bool{false, true} {
				s, out, in := c.arrays(quantised)
				w := &par.Workspace{Threads: 2, Meter: &par.Meter{}}
				s.Run(w, out, in)
				calls := 0
				for _, r := range w.Meter.Regions {
					if r.Rounds > 0 {
						require.Equal(t, []int{7, 2}, []int{r.Rounds, r.Indices})
						calls++
					}
				}
				want := 0
				if hasCells(cpu.Host.Level) && par.Machine(2) == 2 {
					want = c.layers
				}
				require.Equal(t, want, calls, "%+v, quantised %v", c, quantised)
			}
		}
	})
}

// Sharing units allocates nothing once warm.
func TestSharedUnitsDoNotAllocate(t *testing.T) {
	for _, c := range sharedCases() {
		for _, quantised := range []bool{false, true} {
			if !quantised || c.quantises() {
				s, out, in := c.arrays(quantised)
				kerneltest.RequireNoAllocs(t, s, out, in)
			}
		}
	}
}
