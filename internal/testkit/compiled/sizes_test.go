package compiled

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/tensor"
)

type sizeOf interface {
	Call(m *Model, x, y *tt) (tensor.Size, *tt)
	told
}

func sizing(name string, plain func(m *Model, x, y *tt) (tensor.Size, *tt), made func(...compile.Option) sizeOf) program {
	call := func(f func(m *Model, x, y *tt) (tensor.Size, *tt)) func(*world) []any {
		return func(w *world) []any {
			n, x := f(w.M, w.X, w.Y)
			return []any{n.Int(), x}
		}
	}
	return program{name, "built-in", call(plain), func(o ...compile.Option) (func(*world) []any, func() compile.Stats) {
		f := made(o...)
		return call(f.Call), f.Stats
	}, counts{}}
}

// asking are the programs that ask for sizes, with the records of calls with the sizes 1 to 64 of X, -1 for those that do not matter.
var asking = []struct {
	program
	records int
}{
	{one("Heads", "built-in", Heads, CompileHeads, counts{}), 4},
	{one("Positions", "built-in", Positions, CompilePositions, counts{}), 4},
	{one("Cropped", "built-in", Cropped, CompileCropped, counts{}), 4},
	{one("OfMiddle", "built-in", OfMiddle, CompileOfMiddle, counts{}), 4},
	{one("Stated", "built-in", Stated, CompileStated, counts{}), 4},
	{one("Compared2", "built-in", Compared2, CompileCompared2, counts{}), 4},
	{one("AsNumber", "built-in", AsNumber, CompileAsNumber, counts{}), 63},
	{one("Fixed", "built-in", Fixed, CompileFixed, counts{}), 4},
	{one("Unused", "built-in", Unused, CompileUnused, counts{}), 4},
	{one("Sized2", "built-in", Sized2, CompileSized2, counts{}), 4},
	{one("SizeField", "built-in", SizeField, CompileSizeField, counts{}), 64},
	{one("SizeInAny", "built-in", SizeInAny, CompileSizeInAny, counts{}), 64},
	{sizing("SizeOfResult", SizeOfResult, func(o ...compile.Option) sizeOf { return CompileSizeOfResult(o...) }), 64},
	{one("Windows", "built-in", Windows, CompileWindows, counts{}), -1},
	{one("Overwrites", "built-in", Overwrites, CompileOverwrites, counts{}), 63},
	{two("ShownWeight", "built-in", ShownWeight, CompileShownWeight, counts{}), -1},
	{one("Doomed", "built-in", Doomed, CompileDoomed, counts{}), -1},
	{one("Helps", "built-in", Helps, CompileHelps, counts{}), 4},
	{one("Shortened", "built-in", Shortened, CompileShortened, counts{}), -1},
	{one("TwoSizes", "built-in", TwoSizes, CompileTwoSizes, counts{}), 4},
}

// A size that code only gives to operators is a symbol, once sizes have differed.
func TestAskedSizes(t *testing.T) {
	for i := range asking {
		p := &asking[i]
		for _, o := range [][]compile.Option{{compile.Capacity(100)}, {compile.Audit(2), compile.Capacity(100)}, {compile.LiftAfter(1), compile.Audit(3), compile.Capacity(100)}} {
			t.Run(fmt.Sprint(p.name, len(o)), func(t *testing.T) {
				j := newJudge(t, &p.program, o...)
				for n := 1; n <= 64; n++ {
					for _, w := range []*world{j.plain, j.comp, j.lazy} {
						w.X = rows(n)
					}
					j.all(fmt.Sprint("size ", n))
				}
				if len(o) == 1 && p.records >= 0 {
					require.Equal(t, p.records, j.stats().Records, "%s", j.stats())
				}
			})
		}
	}
}
