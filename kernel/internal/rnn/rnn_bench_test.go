package rnn

import (
	"fmt"
	"testing"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/quant"
)

// BenchmarkLSTM is ten layers of width 256 over 64 steps, with weights of f32 and of 8 bits.
func BenchmarkLSTM(b *testing.B) {
	for _, quantised := range []bool{false, true} {
		for _, batch := range []int{1, 2, 4, 8, 16} {
			for _, threads := range []int{1, 2} {
				c := rnnCase{kind: "lstm", steps: 64, batch: batch, features: 256, hidden: 256, layers: 10, bias: true}
				b.Run(fmt.Sprintf("%s/b%d/threads_%d", map[bool]string{false: "f32", true: "i8"}[quantised], batch, threads), func(b *testing.B) {
					s, out, in := c.arrays(quantised)
					w := &par.Workspace{Threads: threads}
					for b.Loop() {
						s.Run(w, out, in)
					}
					b.ReportMetric(float64(2*64*batch*10*8*256*256)/float64(b.Elapsed().Nanoseconds())*float64(b.N), "GFLOP/s")
				})
			}
		}
	}
}

// arrays returns a network with its results and operands, with weights of 8 bits if quantised: packed ones.
func (c rnnCase) arrays(quantised bool) (s par.Step, out, in []*array.Array) {
	outShapes, inShapes := c.operands()
	s = c.step()
	states := len(outShapes)
	for i, shape := range inShapes {
		var a *array.Array
		if shape != nil {
			a = array.New(array.F32, shape...)
			for j, d := 0, array.Raw[float32](a); j < len(d); j++ {
				d[j] = float32((j*7919+i*31)%2001-1000) / 16000
			}
		}
		if !quantised || len(shape) != 2 || i < states {
			in = append(in, a)
			continue
		}
		q := array.New(array.I8, shape...)
		for j, d := 0, array.Raw[int8](q); j < len(d); j++ {
			d[j] = int8((j*7919+i*31)%201 - 100)
		}
		pack := quant.QPackLinear{}
		_, size := pack.Packed(q)
		packed := array.New(array.I8, size...)
		pack.Run(&par.Workspace{}, []*array.Array{packed}, []*array.Array{q})
		in = append(in, packed, array.FromSlice([]float32{1.0 / 1600}, 1))
	}
	switch t := s.(type) {
	case LSTM:
		if quantised {
			s = QLSTM{t.Layers, t.Bidirectional, t.BatchFirst, t.HasBias, true}
		}
	case GRU:
		if quantised {
			s = QGRU{t.Layers, t.Bidirectional, t.BatchFirst, t.HasBias, true}
		}
	}
	for _, shape := range outShapes {
		out = append(out, array.New(array.F32, shape...))
	}
	return s, out, in
}

// BenchmarkLSTMBack goes back through one layer of width 256 over 64 steps.
func BenchmarkLSTMBack(b *testing.B) {
	for _, batch := range []int{1, 2, 4, 8, 16} {
		c := layerCase{steps: 64, batch: batch, hidden: 256}
		b.Run(fmt.Sprintf("b%d", batch), func(b *testing.B) {
			f := func(shape ...int) *array.Array {
				a := array.New(array.F32, shape...)
				for j, d := 0, array.Raw[float32](a); j < len(d); j++ {
					d[j] = float32(j*7919%2001-1000) / 16000
				}
				return a
			}
			in := []*array.Array{f(c.seq(1024)...), f(c.seq(256)...), nil, f(1024, 256), f(c.seq(256)...), nil, nil}
			out := []*array.Array{f(c.seq(1024)...), nil, nil}
			w := &par.Workspace{}
			for b.Loop() {
				LSTMLayerGrad{}.Run(w, out, in)
			}
			b.ReportMetric(float64(2*64*batch*4*256*256)/float64(b.Elapsed().Nanoseconds())*float64(b.N), "GFLOP/s")
		})
	}
}

// BenchmarkStateDots reads weights that one cache or another holds.
func BenchmarkStateDots(b *testing.B) {
	const k = 256
	for _, groups := range []int{4, 32, 64, 96, 128, 256} {
		b.Run(fmt.Sprintf("%dKiB", groups*DotsGroup*k*4/1024), func(b *testing.B) {
			h, w, c := make([]float32, k), make([]float32, groups*DotsGroup*k), make([]float32, groups*DotsGroup)
			back := false
			for b.Loop() {
				StateDots32(cpu.Host.Level, groups, h, w, k, c, back)
				back = !back
			}
			b.ReportMetric(float64(4*len(w))/float64(b.Elapsed().Nanoseconds())*float64(b.N), "GB/s")
		})
	}
}
