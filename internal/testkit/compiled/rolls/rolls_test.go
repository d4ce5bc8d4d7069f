package rolls

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
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

func param(r *rand.Rand, sizes ...int) *tt {
	x := filled(r, sizes...).MulScalar(1)
	x.MarkParam()
	return x
}

const rows, width = 2, 3

func newModel() *Model {
	r := rand.New(rand.NewPCG(1, 2))
	m := &Model{W: param(r, width, width), U: param(r, width, width), B: param(r, width), Scale: 0.5, Steps: 4, Depth: 3, On: true}
	m.Layers = []*Layer{{param(r, width), 2}, {param(r, width), 3}}
	m.Xs = []*tt{param(r, width), param(r, width)}
	return m
}

type function = func(m *Model, x, y *tt) []*tt

type told interface {
	Stats() compile.Stats
}

func one[C interface {
	Call(m *Model, x, y *tt) *tt
	told
}](name string, plain func(m *Model, x, y *tt) *tt, made func(...compile.Option) C, steps bool) testee {
	list := func(f func(m *Model, x, y *tt) *tt) function {
		return func(m *Model, x, y *tt) []*tt { return []*tt{f(m, x, y)} }
	}
	return testee{name, list(plain), func(o ...compile.Option) (function, told) { f := made(o...); return list(f.Call), f }, steps}
}

func two[C interface {
	Call(m *Model, x, y *tt) (*tt, *tt)
	told
}](name string, plain func(m *Model, x, y *tt) (*tt, *tt), made func(...compile.Option) C, steps bool) testee {
	list := func(f func(m *Model, x, y *tt) (*tt, *tt)) function {
		return func(m *Model, x, y *tt) []*tt { a, b := f(m, x, y); return []*tt{a, b} }
	}
	return testee{name, list(plain), func(o ...compile.Option) (function, told) { f := made(o...); return list(f.Call), f }, steps}
}

// testee is a program, as it is and compiled. steps tells that a field says how many rounds there are, else a size of x does.
type testee struct {
	name  string
	plain function
	made  func(...compile.Option) (function, told)
	steps bool
}

const many = 12 // numbers of rounds

var testees = []testee{
	one("RollSizes", RollSizes, CompileRollSizes, false),
	one("RollCounted", RollCounted, CompileRollCounted, false),
	one("RollSteps", RollSteps, CompileRollSteps, true),
	two("RollStacked", RollStacked, CompileRollStacked, false),
	one("RollTwice", RollTwice, CompileRollTwice, false),
	two("RollGated", RollGated, CompileRollGated, false),
	one("RollNil", RollNil, CompileRollNil, false),
	one("RollLayers", RollLayers, CompileRollLayers, true),
	one("RollCat", RollCat, CompileRollCat, false),
	one("RollParam", RollParam, CompileRollParam, true),
	one("RollClassic", RollClassic, CompileRollClassic, true),
	one("RollNested", RollNested, CompileRollNested, false),
	one("RollDeep", RollDeep, CompileRollDeep, false),
	one("RollFirst", RollFirst, CompileRollFirst, false),
	one("RollFlag", RollFlag, CompileRollFlag, false),
	one("RollTied", RollTied, CompileRollTied, false),
	one("UnrollBranch", UnrollBranch, CompileUnrollBranch, true),
	one("UnrollStore", UnrollStore, CompileUnrollStore, true),
	one("UnrollBreak", UnrollBreak, CompileUnrollBreak, true),
	one("UnrollGrows", UnrollGrows, CompileUnrollGrows, true),
	one("UnrollLayers", UnrollLayers, CompileUnrollLayers, true),
	one("UnrollUses", UnrollUses, CompileUnrollUses, true),
	one("UnrollDelays", UnrollDelays, CompileUnrollDelays, true),
	one("UnrollKeeps", UnrollKeeps, CompileUnrollKeeps, true),
	one("UnrollDims", UnrollDims, CompileUnrollDims, false),
}

// judge calls a program as it is and compiled, each on its own model.
type judge struct {
	t        *testing.T
	p        *testee
	f        function
	told     told
	m, other *Model
}

func newJudge(t *testing.T, p *testee, o ...compile.Option) *judge {
	f, told := p.made(o...)
	return &judge{t, p, f, told, newModel(), newModel()}
}

// both calls the program with so many rounds, and compares bits.
func (j *judge) both(rounds, sizes int, what string) {
	j.t.Helper()
	r := rand.New(rand.NewPCG(uint64(rounds), 7))
	x, y := filled(r, sizes, rows, width), filled(r, rows, width)
	if j.p.steps {
		x = filled(r, rows, width)
		j.m.Steps, j.other.Steps = rounds, rounds
	}
	j.call(x, y, what)
}

func (j *judge) call(x, y *tt, what string) {
	j.t.Helper()
	want, got := j.p.plain(j.m, x, y), j.f(j.other, x, y)
	require.Len(j.t, got, len(want))
	for i := range want {
		require.True(j.t, array.Equal(want[i].Array(), got[i].Array()), "%s: %s, result %d: %v, want %v", j.p.name, what, i, got[i], want[i])
	}
	require.Equal(j.t, [3]any{j.m.Steps, j.m.Depth, j.m.Past == nil}, [3]any{j.other.Steps, j.other.Depth, j.other.Past == nil})
	if j.m.Past != nil {
		require.True(j.t, array.Equal(j.m.Past.Array(), j.other.Past.Array()), what)
	}
}

// A loop whose rounds do the same has one record for all numbers of rounds from 2 on, others have one for each.
func TestRounds(t *testing.T) {
	for i := range testees {
		p := &testees[i]
		for _, o := range [][]compile.Option{nil, {compile.Audit(2)}} {
			t.Run(fmt.Sprint(p.name, len(o)), func(t *testing.T) {
				j := newJudge(t, p, o...)
				for again := range 2 {
					for k := range many {
						n := 2 + (k*5+again)%many
						j.both(n, n, fmt.Sprint("rounds ", n))
					}
				}
				if len(o) == 0 {
					require.Equal(t, Records[p.name], j.told.Stats().Records, "%s", j.told.Stats())
				}
			})
		}
	}
}

// Every word changes between calls, alone and with the number of rounds, which is 0 and 1, too; arguments have other sizes.
func TestRounds_random(t *testing.T) {
	for i := range testees {
		p := &testees[i]
		for seed := range uint64(3) {
			t.Run(fmt.Sprint(p.name, seed), func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 5))
				j := newJudge(t, p, compile.LiftAfter(2+int(seed)*1000), compile.Audit(int(seed)), compile.Capacity(1000))
				for n := range 70 {
					rounds, batch := r.IntN(10), rows
					if r.IntN(4) == 0 {
						batch = 1 + r.IntN(3)
					}
					if p.name == "RollStacked" || p.name == "RollTwice" || p.name == "RollCat" || p.name == "RollLayers" || p.name == "UnrollLayers" { // these need a round
						rounds = max(rounds, 1)
					}
					x, y := filled(r, rounds, batch, width), filled(r, batch, width)
					if p.steps {
						x = filled(r, batch, width)
					}
					how, value := r.IntN(14), filled(r, width)
					for _, m := range []*Model{j.m, j.other} {
						if p.steps {
							m.Steps = rounds
						}
						switch how {
						case 0:
							m.Scale = float64(n%3) + 0.5
						case 1:
							m.Depth = n % 4
						case 2:
							m.On = !m.On
						case 3:
							m.Layers[0].Scale = float64(n % 2)
						case 4:
							m.Layers = append(m.Layers[:1:1], &Layer{value, 2}, &Layer{value, 3})[:1+n%3]
						case 5:
							m.Xs[n%2] = value
						case 6:
							m.B.AssignInPlace(value)
						case 7:
							m.Past = nil
						}
					}
					j.call(x, y, fmt.Sprint("call ", n, ": ", rounds, " rounds, change ", how))
				}
			})
		}
	}
}

// Two numbers of rounds make one record, which Explain tells of.
func TestRounds_explained(t *testing.T) {
	f := CompileRollSizes()
	m, r := newModel(), rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{3, 7, 5, 9} {
		f.Call(m, filled(r, n, rows, width), filled(r, rows, width))
	}
	require.Equal(t, compile.Stats{Calls: 4, Hits: 2, Misses: 2, Captures: 2, Records: 1}, f.Stats())
	var b bytes.Buffer
	require.NoError(t, f.Explain(&b))
	require.Contains(t, b.String(), "record 1: ")
	require.NotContains(t, b.String(), "record 2: ")
	require.Contains(t, b.String(), "    any number of rounds from 2 on: programs.go:")
}

// Numbers of rounds that were equal when a loop was rolled are compared with each other from then on.
func TestEqualNumbersOfRounds(t *testing.T) {
	for i := range testees {
		p := &testees[i]
		if p.name != "RollParam" {
			continue
		}
		j := newJudge(t, p)
		for _, n := range [][2]int{{2, 2}, {3, 3}, {5, 5}, {2, 4}, {5, 3}, {4, 4}, {3, 2}} {
			j.m.Depth, j.other.Depth = n[1], n[1]
			j.both(n[0], n[0], fmt.Sprint("rounds ", n))
		}
		require.Positive(t, j.told.Stats().Hits)
	}
}

// Plans that round by themselves are not compared by bits when they are made: what the rounds are shown to be has to hold.
func TestRoundsOfPlansThatRound(t *testing.T) {
	for i := range testees {
		p := &testees[i]
		t.Run(p.name, func(t *testing.T) {
			j := newJudge(t, p, compile.On(cpu.Target{}, lowering.Options{}))
			for _, n := range []int{3, 5, 2, 7, 4, 9, 1, 6} {
				r := rand.New(rand.NewPCG(uint64(n), 7))
				x, y := filled(r, n, rows, width), filled(r, rows, width)
				if p.steps {
					x = filled(r, rows, width)
					j.m.Steps, j.other.Steps = n, n
				}
				want, got := p.plain(j.m, x, y), j.f(j.other, x, y)
				for k := range want {
					require.InDeltaSlice(t, tensor.Data[float32](want[k].Clone().Flatten(0, -1)), tensor.Data[float32](got[k].Clone().Flatten(0, -1)), 1e-3, "%d rounds", n)
				}
			}
		})
	}
}

// Arguments that lie turned in memory have the bits of eager code in rolled records, too.
func TestRoundsOfTurnedArguments(t *testing.T) {
	for i := range testees {
		p := &testees[i]
		t.Run(p.name, func(t *testing.T) {
			j := newJudge(t, p)
			r := rand.New(rand.NewPCG(8, 9))
			wide := func(m *Model, seed uint64) {
				w := rand.New(rand.NewPCG(seed, 1))
				m.W, m.U, m.B = param(w, 70, 70), param(w, 70, 70), param(w, 70)
				m.Layers = []*Layer{{param(w, 70), 2}, {param(w, 70), 3}}
				m.Xs = []*tt{param(w, 70), param(w, 70)}
			}
			wide(j.m, 5)
			wide(j.other, 5)
			for range 40 {
				n := 2 + r.IntN(6)
				turn := func(sizes ...int) *tt {
					last := len(sizes) - 1
					if r.IntN(2) == 0 {
						return filled(r, sizes...)
					}
					sizes[last], sizes[last-1] = sizes[last-1], sizes[last]
					return filled(r, sizes...).Transpose(-1, -2)
				}
				x, y := turn(n, rows, 70), turn(rows, 70)
				if p.steps {
					x = turn(rows, 70)
					j.m.Steps, j.other.Steps = n, n
				}
				j.call(x, y, fmt.Sprint("rounds ", n))
			}
		})
	}
}
