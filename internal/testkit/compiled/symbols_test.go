package compiled

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/tensor"
)

// rows is a tensor of a size.
func rows(n int) *tensor.Tensor {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(i)*0.25 - 1
	}
	return tensor.FromSlice(v)
}

// sized are the programs of sizes, with the records of calls with the sizes 1 to 64 of X, and of X and Y alike.
var sized = []struct {
	program
	alone, both int
}{
	{one("AnyRows", "built-in", AnyRows, CompileAnyRows, counts{}), 4, 4},
	{one("Attends", "built-in", Attends, CompileAttends, counts{}), 4, 4},
	{one("Doubles", "built-in", Doubles, CompileDoubles, counts{}), 4, 4},
	{one("Broadcasts", "built-in", Broadcasts, CompileBroadcasts, counts{}), -1, -1},
	{two("AnyViews", "built-in", AnyViews, CompileAnyViews, counts{}), 63, 63},
	{one("Halves", "built-in", Halves, CompileHalves, counts{}), -1, -1},
	{one("Dims", "built-in", Dims, CompileDims, counts{}), 63, 63},
	{one("Parts", "built-in", Parts, CompileParts, counts{}), 63, 63},
}

// A function that looks at no size has a record of symbols, once sizes have differed; 1 keeps a record.
func TestSymbols(t *testing.T) {
	for i := range sized {
		p := &sized[i]
		for _, both := range []bool{false, true} {
			for _, o := range [][]compile.Option{{compile.Capacity(100)}, {compile.Audit(2), compile.Capacity(100)}} {
				t.Run(fmt.Sprint(p.name, both, len(o)), func(t *testing.T) {
					j := newJudge(t, &p.program, o...)
					for n := 1; n <= 64; n++ {
						for _, w := range []*world{j.plain, j.comp, j.lazy} {
							if w.X = rows(n); both {
								w.Y = rows(n).Neg()
							}
						}
						j.all(fmt.Sprint("size ", n))
					}
					want := p.alone
					if both {
						want = p.both
					}
					if len(o) == 1 && want >= 0 {
						require.Equal(t, want, j.stats().Records, "%s", j.stats())
					}
				})
			}
		}
	}
}

// Sizes of two axes change at random, alike and not, with layouts that are not in order.
func TestSizes_random(t *testing.T) {
	for i := range sized {
		p := &sized[i]
		for seed := range uint64(4) {
			t.Run(fmt.Sprint(p.name, seed), func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 3))
				j := newJudge(t, &p.program, compile.LiftAfter(1+int(seed%2)), compile.Audit(int(seed/2)*3), compile.Capacity(1000))
				for n := range 60 {
					a, b, c, d, how := 1+r.IntN(5), 1+r.IntN(5), 1+r.IntN(5), 1+r.IntN(3), r.IntN(6)
					if how < 3 {
						c = b
					}
					if how == 1 {
						d = a
					}
					for _, w := range []*world{j.plain, j.comp, j.lazy} {
						w.X, w.Y = rows(a*b).Reshape(a, b), rows(d*c).Reshape(d, c)
						if how == 4 {
							w.X = rows(a*b).Reshape(b, a).Transpose(0, 1)
						}
						w.M.Scale = float64(2 + n/20)
					}
					j.all(fmt.Sprint("call ", n))
				}
			})
		}
	}
}

// A tensor that grows with each call has few records.
func TestSizes_growing(t *testing.T) {
	p := one("Grows", "effect", Grows, CompileGrows, counts{})
	j := newJudge(t, &p)
	for _, w := range []*world{j.plain, j.comp, j.lazy} {
		w.M.Past = rows(2)
	}
	for n := range 40 {
		j.all(fmt.Sprint("call ", n))
	}
	require.LessOrEqual(t, j.stats().Records, 5, "%s", j.stats())
}
