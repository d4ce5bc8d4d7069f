package ints

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/tensor"
)

func filled(r *rand.Rand, sizes ...int) *tt {
	n := 1
	for _, s := range sizes {
		n *= s
	}
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64()) / 2
	}
	return tensor.New(array.FromSlice(v, sizes...))
}

func newModel() *Model {
	w := filled(rand.New(rand.NewPCG(1, 2)), 3, 3).MulScalar(1)
	w.MarkParam()
	return &Model{W: w, Level: 3, Rate: 0.5, List: []float64{2, 3, 4}, Rates: map[string]float64{"a": 1}}
}

// set has all words tell a number, by itself.
func (m *Model) set(n int) {
	m.Level, m.List[0], m.Rates["a"], m.Conf.Rate, m.Small = n, float64(n), float64(n), float64(n), uint8(n)
}

type function = func(m *Model, x, y *tt) *tt

type compiled interface {
	Call(m *Model, x, y *tt) *tt
	Stats() compile.Stats
	Close()
	Explain(w io.Writer) error
}

// testee is a program, as it is and compiled. words tells that the words of the model are what decides, else the sizes of x do.
type testee struct {
	name  string
	plain function
	made  func(...compile.Option) compiled
	words bool
}

func of[C compiled](name string, plain function, made func(...compile.Option) C, words bool) testee {
	return testee{name, plain, func(o ...compile.Option) compiled { return made(o...) }, words}
}

const most = 64

var testees = []testee{
	of("Above", Above, CompileAbove, false),
	of("Between", Between, CompileBetween, false),
	of("Switched", Switched, CompileSwitched, false),
	of("Parity", Parity, CompileParity, false),
	of("Differs", Differs, CompileDiffers, false),
	of("Bounded", Bounded, CompileBounded, false),
	of("Capped", Capped, CompileCapped, false),
	of("Halved", Halved, CompileHalved, false),
	of("Given", Given, CompileGiven, false),
	of("Merged", Merged, CompileMerged, false),
	of("Helped", Helped, CompileHelped, false),
	of("Returned", Returned, CompileReturned, false),
	of("Positioned", Positioned, CompilePositioned, false),
	of("Fresh", Fresh, CompileFresh, false),
	of("Cropped", Cropped, CompileCropped, false),
	of("Asked", Asked, CompileAsked, false),
	of("Equals", Equals, CompileEquals, false),
	of("Told", Told, CompileTold, false),
	of("Level", Level, CompileLevel, true),
	of("Levels", Levels, CompileLevels, true),
	of("Signed", Signed, CompileSigned, false),
	of("PinFloat", PinFloat, CompilePinFloat, false),
	of("PinLoop", PinLoop, CompilePinLoop, false),
	of("PinField", PinField, CompilePinField, false),
	of("PinSwap", PinSwap, CompilePinSwap, false),
	of("PinIndex", PinIndex, CompilePinIndex, false),
	of("PinShape", PinShape, CompilePinShape, false),
	of("PinTwice", PinTwice, CompilePinTwice, false),
	of("Weighed", Weighed, CompileWeighed, false),
	of("Coincides", Coincides, CompileCoincides, false),
	of("Negative", Negative, CompileNegative, false),
	of("Flagged", Flagged, CompileFlagged, false),
	of("Mapped", Mapped, CompileMapped, true),
	of("ByValue", ByValue, CompileByValue, true),
	of("Inner", Inner, CompileInner, true),
	of("Listed", Listed, CompileListed, true),
	of("Unsigned", Unsigned, CompileUnsigned, true),
	of("Halfway", Halfway, CompileHalfway, true),
	of("Argued", Argued, CompileArgued, true),
	of("Grows", Grows, CompileGrows, false),
	of("Shrinks", Shrinks, CompileShrinks, false),
	of("PinDrawn", PinDrawn, CompilePinDrawn, false),
	of("Spaced", Spaced, CompileSpaced, false),
	of("Padded", Padded, CompilePadded, false),
	of("Deferred", Deferred, CompileDeferred, false),
	of("Logged", Logged, CompileLogged, false),
	of("Ranked", Ranked, CompileRanked, false),
	of("Twice", Twice, CompileTwice, false),
	of("Outgrows", Outgrows, CompileOutgrows, false),
	of("AtMost", AtMost, CompileAtMost, true),
	of("Fits", Fits, CompileFits, false),
}

// judge calls a program as it is and compiled, each on its own model.
type judge struct {
	t        *testing.T
	p        *testee
	f        compiled
	m, other *Model
}

func newJudge(t *testing.T, p *testee, o ...compile.Option) *judge {
	f := p.made(o...)
	t.Cleanup(f.Close)
	return &judge{t, p, f, newModel(), newModel()}
}

// try returns what a call gives, or what it has panicked with.
func try(f function, m *Model, x, y *tt) (out *tt, panicked any) {
	defer func() { panicked = recover() }()
	return f(m, x, y), nil
}

// call calls both, and compares bits.
func (j *judge) call(x, y *tt, what string) {
	j.t.Helper()
	want, failed := try(j.p.plain, j.m, x, y)
	got, also := try(j.f.Call, j.other, x, y)
	require.Equal(j.t, failed != nil, also != nil, "%s: %s: %v, want %v", j.p.name, what, also, failed)
	if failed == nil {
		require.True(j.t, array.Equal(want.Array(), got.Array()), "%s: %s: %v, want %v", j.p.name, what, got, want)
	}
	require.Equal(j.t, [2]any{j.m.Big, j.m.Rows}, [2]any{j.other.Big, j.other.Rows}, what)
}

func (j *judge) sized(n, k int, what string) {
	r := rand.New(rand.NewPCG(uint64(n), uint64(k)))
	if j.p.words {
		for _, m := range []*Model{j.m, j.other} {
			m.set(n)
		}
		n = 4
	}
	j.call(filled(r, n, 3), filled(r, k, 3), what)
}

// One record serves all sizes, and all values of a word, on one side of what code compares.
func TestSides(t *testing.T) {
	for i := range testees {
		p := &testees[i]
		for _, o := range [][]compile.Option{{compile.Capacity(100)}, {compile.Audit(2), compile.Capacity(100)}, {compile.LiftAfter(1), compile.Audit(3), compile.Capacity(100)}} {
			t.Run(fmt.Sprint(p.name, len(o)), func(t *testing.T) {
				j := newJudge(t, p, o...)
				for again := range 2 {
					for n := 1; n <= most; n++ {
						j.sized(n, 9, fmt.Sprint("size ", n, ", round ", again))
					}
				}
				if len(o) == 1 {
					var b bytes.Buffer
					require.NoError(t, j.f.Explain(&b))
					require.Equal(t, Records[p.name], j.f.Stats().Records, "%s", b.String())
				}
			})
		}
	}
}

// Sizes of both arguments and words change at random.
func TestSides_random(t *testing.T) {
	for i := range testees {
		p := &testees[i]
		for seed := range uint64(4) {
			t.Run(fmt.Sprint(p.name, seed), func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 3))
				j := newJudge(t, p, compile.LiftAfter(1+int(seed)), compile.Audit([]int{0, 2, 3, 5}[seed]), compile.Capacity(1000))
				for n := range 60 {
					most := []int{8, 14, 20, 40}[r.IntN(4)]
					x, y := filled(r, 1+r.IntN(most), 3), filled(r, 1+r.IntN(most), 3)
					if p.words {
						x = filled(r, 4, 3)
					}
					for _, m := range []*Model{j.m, j.other} {
						m.set(n * 7 % 40)
						m.Rate = float64(n%5)*4 + 0.25
					}
					j.call(x, y, fmt.Sprint("call ", n, " of sizes ", x.Shape(), y.Shape()))
				}
			})
		}
	}
}
