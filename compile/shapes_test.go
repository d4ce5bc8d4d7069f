package compile_test

import (
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/compile/state"
	"github.com/gofx-dev/gofx/tensor"
)

// However many shapes calls have, the heap stays as it is: 2,000 of them, by night 100,000.
func TestManyShapes(t *testing.T) {
	steps := 20
	if os.Getenv("GOFX_NIGHTLY") == "1" {
		steps = 1000
	}
	for name, run := range map[string]func(in *xIn, out *oneOut){
		"operators alone": func(in *xIn, out *oneOut) { out.R = in.X.Exp().AddScalar(1) },
		"sizes as numbers": func(in *xIn, out *oneOut) {
			out.R = in.X.Exp().MulScalar(float64(in.X.Dim(0) + in.X.Dim(1)*in.X.Dim(2)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := compile.New(state.Table{Func: name}, run)
			defer f.Close()
			heap := func() uint64 {
				runtime.GC()
				runtime.GC() // what cleanups have let go
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				return m.HeapAlloc
			}
			var early uint64
			for i := range steps {
				for k := range 100 { // 10 × 100 × 100 shapes, in an order that goes through all sizes soon
					n := i*100 + k
					x := tensor.Ones(1+n%10, 1+n/10%100, 1+(n/1000+n/10)%100)
					got := f.Call(xIn{x}).R
					if k == 0 {
						var want oneOut
						run(&xIn{x}, &want)
						require.True(t, got.Equal(want.R), x.Type().String())
					}
				}
				if i == steps/5 {
					early = heap()
				}
			}
			late := heap()
			t.Log(f.Stats(), early>>10, "KB then", late>>10, "KB")
			require.LessOrEqual(t, late, early+4<<20, "the session's own caches take less")
			require.LessOrEqual(t, f.Stats().Records-f.Stats().Evicted, 64)
		})
	}
}
