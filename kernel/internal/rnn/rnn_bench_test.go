package rnn

import (
	"fmt"
	"testing"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// BenchmarkLSTM is ten layers of width 256 over 64 steps.
func BenchmarkLSTM(b *testing.B) {
	for _, batch := range []int{1, 2, 4, 8, 16} {
		c := rnnCase{kind: "lstm", steps: 64, batch: batch, features: 256, hidden: 256, layers: 10, bias: true}
		b.Run(fmt.Sprintf("b%d", batch), func(b *testing.B) {
			outShapes, inShapes := c.operands()
			in := make([]*array.Array, len(inShapes))
			for i, s := range inShapes {
				if s != nil {
					in[i] = array.New(array.F32, s...)
					for j, d := 0, array.Raw[float32](in[i]); j < len(d); j++ {
						d[j] = float32(j*7919%2001-1000) / 16000
					}
				}
			}
			out := []*array.Array{array.New(array.F32, outShapes[0]...), nil, nil}
			w := &par.Workspace{}
			for b.Loop() {
				c.step().Run(w, out, in)
			}
			b.ReportMetric(float64(2*64*batch*10*8*256*256)/float64(b.Elapsed().Nanoseconds())*float64(b.N), "GFLOP/s")
		})
	}
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
