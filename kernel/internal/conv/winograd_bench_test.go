package conv

import (
	"fmt"
	"testing"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/winograd"
)

// BenchmarkWinograd times the phases of convolutions by tiles: all of it, and
// the sums alone.
func BenchmarkWinograd(b *testing.B) {
	for _, s := range [][3]int{{64, 64, 224}, {64, 128, 112}, {128, 128, 112}, {256, 256, 56}, {64, 64, 56}, {128, 128, 28}, {512, 512, 28}, {256, 256, 14}, {512, 512, 14}, {512, 512, 7}, {128, 32, 56}, {128, 32, 7}} {
		for _, e := range []int{0, 2, 4} {
			c := winogradCase{1, 1, s[0], s[1], [2]int{s[2], s[2]}, [2]int{1, 1}, [2]int{1, 1}}
			ns, nw, nd := c.sizes()
			v := c.form()
			v.src, v.dst = make([]float32, ns), make([]float32, nd)
			v.end = gemm.Finish{BiasRow: make([]float32, s[1]), Ldr: v.g.OutPlane}.With(operand.Epilogue{Act: operand.ActReLU})
			w := &par.Workspace{}
			b.Run(fmt.Sprintf("%d-%d-%d/e=%d", s[0], s[1], s[2], e), func(b *testing.B) {
				weight := make([]float32, nw)
				if e == 0 {
					v.packed = make([]float32, gemm.PackedRows(cpu.Host.Level, s[1], 9*s[0]))
					gemm.PackWhole(w, cpu.Host.Level, v.packed, weight, 9*s[0], false, s[1], 9*s[0])
					kerneltest.BenchShare(b, gemm.PeakRun, 1, nw*v.g.OutPlane, func() { v.run(w) })
					return
				}
				v.packed = make([]float32, winograd.Len(cpu.Host.Level, e, 1, s[1], s[0]))
				winograd.Pack(w, cpu.Host.Level, e, v.packed, weight, 1, s[1], s[0])
				kerneltest.BenchShare(b, gemm.PeakRun, 1, nw*v.g.OutPlane, func() { p := v.winograd(); p.Run(w, e) })
			})
		}
	}
}
