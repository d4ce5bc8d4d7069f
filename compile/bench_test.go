package compile_test

import (
	"fmt"
	"testing"

	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/compile/state"
	"github.com/gofx-dev/gofx/tensor"
)

type chainIn struct{ X, W *tensor.Tensor }

// BenchmarkLazyCall runs a chain of calls with a look at data at its end as it is and in a session: the walk, the
// session's bookkeeping and the release cost what small chains do not win back.
func BenchmarkLazyCall(b *testing.B) {
	for _, n := range []int{2, 256, 1 << 16} {
		for _, calls := range []int{1, 8, 32} {
			run := func(in *chainIn, out *oneOut) {
				y := in.X
				for range calls {
					y = y.Mul(in.W).Tanh().AddScalar(0.5)
				}
				out.R = y.MulScalar(y.Sum().Item())
			}
			in := chainIn{tensor.Ones(n), tensor.Ones(n).MulScalar(0.5)}
			for name, opaque := range map[string][]state.Place{"plain": {{Line: "f.go:1", What: "a lock", Why: "it waits"}}, "lazy": nil} {
				b.Run(fmt.Sprintf("%d/%d/%s", n, calls, name), func(b *testing.B) {
					f := compile.New(state.Table{Func: "chain", Opaque: opaque, Observes: []state.Place{{Line: "f.go:2", What: "a call of Item", Why: "it reads the data of a tensor"}}}, run)
					defer f.Close()
					for range 3 {
						f.Call(in)
					}
					for b.Loop() {
						f.Call(in)
					}
				})
			}
		}
	}
}
