package rolls

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gofx-dev/gofx/compile"
)

// BenchmarkRounds compares the record of one number of rounds with that of all.
func BenchmarkRounds(b *testing.B) {
	for _, size := range []int{16, 128} {
		for _, rounds := range []int{3, 32} {
			for _, name := range []string{"one", "all", "eager"} {
				b.Run(fmt.Sprintf("%s/rounds=%d/width=%d", name, rounds, size), func(b *testing.B) {
					r := rand.New(rand.NewPCG(1, 2))
					m := &Model{W: param(r, size, size), U: param(r, size, size), B: param(r, size)}
					f := CompileRollSizes(compile.Strict())
					defer f.Close()
					y := filled(r, rows, size)
					x, other := filled(r, rounds, rows, size), filled(r, rounds+1, rows, size)
					for range 3 {
						if f.Call(m, x, y); name == "all" {
							f.Call(m, other, y)
						}
					}
					b.ResetTimer()
					for range b.N {
						if name == "eager" {
							RollSizes(m, x, y)
						} else {
							f.Call(m, x, y)
						}
					}
				})
			}
		}
	}
}
