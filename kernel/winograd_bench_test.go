package kernel

import (
	"fmt"
	"testing"
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
			v.end = epilogue{biasRow: make([]float32, s[1]), ldr: v.g.outPlane}.with(Epilogue{Act: ActReLU})
			w := &Workspace{}
			b.Run(fmt.Sprintf("%d-%d-%d/e=%d", s[0], s[1], s[2], e), func(b *testing.B) {
				weight := make([]float32, nw)
				if e == 0 {
					v.packed = make([]float32, packedRows(cpu.level, s[1], 9*s[0]))
					packWhole(w, cpu.level, v.packed, weight, 9*s[0], false, s[1], 9*s[0])
					benchShare(b, peakRun, 1, nw*v.g.outPlane, func() { v.run(w) })
					return
				}
				v.packed = make([]float32, winogradLen(cpu.level, e, 1, s[1], s[0]))
				packWinograd(w, cpu.level, e, v.packed, weight, 1, s[1], s[0])
				benchShare(b, peakRun, 1, nw*v.g.outPlane, func() { p := v.winograd(); p.run(w, e) })
			})
		}
	}
}
