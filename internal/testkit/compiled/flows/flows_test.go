package flows

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/internal/testkit/compiled/flows/far"
	"github.com/gofx-dev/gofx/internal/testkit/twins"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

func filled(r *rand.Rand, sizes ...int) *tt {
	n := 1
	for _, s := range sizes {
		n *= s
	}
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return tensor.New(array.FromSlice(v, sizes...))
}

func param(r *rand.Rand, sizes ...int) *tt {
	x := filled(r, sizes...).MulScalar(0.5)
	x.MarkParam()
	return x
}

const width = 3

func newModel() *Model {
	r := rand.New(rand.NewPCG(1, 2))
	m := &Model{W: param(r, width), U: param(r, width), B: param(r, width), Scale: 0.5, Limit: 20, Steps: 3, Depth: 3, On: true, Past: filled(r, 1)}
	for range 3 {
		m.Blocks = append(m.Blocks, &Block{W: param(r, width), Scale: 2, On: true})
	}
	m.Net = nn.NewSequential(nn.NewLinear(width, 5), nn.NewReLU(), nn.NewLinear(5, width))
	m.Norm = nn.NewBatchNorm2d(1)
	m.Norm.Training = false
	m.Drop = nn.NewDropout(0.5, nn.DropoutSeed(3))
	m.Drop.Training = true
	m.Act = func(in ts) ts { return ts{in[0].Neg()} }
	return m
}

type function = func(m *Model, x, y *tt) []*tt

type told interface {
	Stats() compile.Stats
}

func one[C interface {
	Call(m *Model, x, y *tt) *tt
	told
}](name string, plain func(m *Model, x, y *tt) *tt, made func(...compile.Option) C, kind kind) testee {
	list := func(f func(m *Model, x, y *tt) *tt) function {
		return func(m *Model, x, y *tt) []*tt { return []*tt{f(m, x, y)} }
	}
	return testee{name, list(plain), func(o ...compile.Option) (function, told) { f := made(o...); return list(f.Call), f }, kind}
}

func two[C interface {
	Call(m *Model, x, y *tt) (*tt, *tt)
	told
}](name string, plain func(m *Model, x, y *tt) (*tt, *tt), made func(...compile.Option) C, kind kind) testee {
	list := func(f func(m *Model, x, y *tt) (*tt, *tt)) function {
		return func(m *Model, x, y *tt) []*tt { a, b := f(m, x, y); return []*tt{a, b} }
	}
	return testee{name, list(plain), func(o ...compile.Option) (function, told) { f := made(o...); return list(f.Call), f }, kind}
}

// kind says what becomes of a program.
type kind int

const (
	flat   kind = iota // one record, x has rows
	steps              // one record, x has a row of rows for each step
	never              // no record
	opened             // one record, after some, as a number became an input
	paired             // no record while m.On is set
)

type testee struct {
	name  string
	plain function
	made  func(...compile.Option) (function, told)
	kind  kind
}

func (p *testee) args(r *rand.Rand, rounds, rows int) (x, y *tt) {
	if p.deep() {
		return filled(r, rounds, rows, width), filled(r, rows, width)
	}
	return filled(r, rows, width), filled(r, rows, width)
}

func (p *testee) deep() bool {
	switch p.name {
	case "Cells", "Outputs", "Nested", "Attends", "NumbersDeep", "Sized", "Rolled", "Dims":
		return true
	}
	return false
}

var testees = []testee{
	one("Chooses", Chooses, CompileChooses, flat),
	one("Methods", Methods, CompileMethods, flat),
	one("Fields", Fields, CompileFields, flat),
	one("Globals", Globals, CompileGlobals, flat),
	one("Repeats", Repeats, CompileRepeats, flat),
	two("Bounded", Bounded, CompileBounded, flat),
	one("Cells", Cells, CompileCells, steps),
	two("Outputs", Outputs, CompileOutputs, steps),
	one("Nested", Nested, CompileNested, steps),
	one("LoopInBranch", LoopInBranch, CompileLoopInBranch, flat),
	one("BranchInLoop", BranchInLoop, CompileBranchInLoop, flat),
	one("Policy", Policy, CompilePolicy, flat),
	one("Greedy", Greedy, CompileGreedy, flat),
	one("Attends", Attends, CompileAttends, steps),
	one("Far", Far, CompileFar, flat),
	one("FarLoop", FarLoop, CompileFarLoop, flat),
	two("Pending", Pending, CompilePending, flat),
	one("InPlaceOwn", InPlaceOwn, CompileInPlaceOwn, flat),
	one("InPlaceLoop", InPlaceLoop, CompileInPlaceLoop, flat),
	one("Views", Views, CompileViews, flat),
	one("Layers", Layers, CompileLayers, flat),
	one("Numbers", Numbers, CompileNumbers, flat),
	one("NumbersDeep", NumbersDeep, CompileNumbersDeep, steps),
	one("Sized", Sized, CompileSized, steps),
	one("Rolled", Rolled, CompileRolled, steps),
	one("Copies", Copies, CompileCopies, flat),
	one("Drops", Drops, CompileDrops, flat),
	one("Dims", Dims, CompileDims, steps),
	one("Stores", Stores, CompileStores, never),
	one("CountsLocal", CountsLocal, CompileCountsLocal, never),
	one("CountsFar", CountsFar, CompileCountsFar, never),
	one("Looks", Looks, CompileLooks, paired),
	one("LooksInLoop", LooksInLoop, CompileLooksInLoop, paired),
	one("Panics", Panics, CompilePanics, paired),
	one("WritesState", WritesState, CompileWritesState, never),
	one("Trains", Trains, CompileTrains, paired),
	one("ReturnsArgument", ReturnsArgument, CompileReturnsArgument, never),
	one("LastArgument", LastArgument, CompileLastArgument, never),
	one("Compares", Compares, CompileCompares, never),
	one("KeepsList", KeepsList, CompileKeepsList, never),
	one("Unknown", Unknown, CompileUnknown, never),
	one("Inner", Inner, CompileInner, flat),
	one("KeepsOperand", KeepsOperand, CompileKeepsOperand, never),
	one("ReturnsWeight", ReturnsWeight, CompileReturnsWeight, never),
	one("DropsInside", DropsInside, CompileDropsInside, never),
	one("Unneeded", Unneeded, CompileUnneeded, flat),
	one("EagerCounter", EagerCounter, CompileEagerCounter, flat),
	one("WritesResult", WritesResult, CompileWritesResult, never),
}

// judge calls a program as it is, compiled, and in a lazy session, each on its own model.
type judge struct {
	t          *testing.T
	p          *testee
	f          function
	told       told
	s          *lazy.Session
	m, comp, l *Model
}

func newJudge(t *testing.T, p *testee, o ...compile.Option) *judge {
	f, told := p.made(o...)
	s := lazy.New(lazy.Options{Synchronous: true})
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return &judge{t, p, f, told, s, newModel(), newModel(), newModel()}
}

type outcome struct {
	out    []*tt
	failed string
}

func caught(f func() []*tt) (o outcome) {
	defer func() {
		if e := recover(); e != nil {
			o.failed = fmt.Sprint(e)
		}
	}()
	return outcome{out: f()}
}

// call calls the program in all ways, and compares bits of results and of what it has stored.
func (j *judge) call(x, y *tt, what string) {
	j.t.Helper()
	before := far.Calls
	mine, theirs := x.Clone(), x.Clone()
	if j.p.name == "WritesResult" {
		defer func() {
			require.True(j.t, array.Equal(mine.Array(), x.Array()), "%s: %s: the argument", j.p.name, what)
		}()
		defer func() {
			require.True(j.t, array.Equal(mine.Array(), theirs.Clone().Array()), "%s: %s: the argument", j.p.name, what)
		}()
	}
	want := caught(func() []*tt { return j.p.plain(j.m, mine, y) })
	calls := far.Calls - before
	got := caught(func() []*tt { return j.f(j.comp, x, y) })
	require.Equal(j.t, 2*calls, far.Calls-before, "%s: %s: calls of a function that stores", j.p.name, what)
	theirs = j.s.In(theirs)
	lazily := caught(func() []*tt { return j.p.plain(j.l, theirs, j.s.In(y)) })
	j.same("compiled", want, got, mine, x, j.comp, what)
	j.same("lazy", want, lazily, mine, theirs, j.l, what)
}

// all is what a call leaves.
type all struct {
	Out []*tt
	X   *tt
	M   *Model
}

func (j *judge) same(way string, want, got outcome, x, y *tt, m *Model, what string) {
	j.t.Helper()
	require.Equal(j.t, want.failed, got.failed, "%s, %s: %s", j.p.name, way, what)
	require.Len(j.t, got.out, len(want.out))
	if way == "compiled" && want.failed == "" {
		require.Empty(j.t, twins.Differ(&all{want.out, x, j.m}, &all{got.out, y, m}), "%s: %s", j.p.name, what)
	}
	for i := range want.out {
		require.True(j.t, array.Equal(want.out[i].Array(), got.out[i].Clone().Array()), "%s, %s: %s, result %d: %v, want %v", j.p.name, way, what, i, got.out[i], want.out[i])
	}
	require.Equal(j.t, j.m.Calls, m.Calls, "%s, %s: %s: Calls", j.p.name, way, what)
	require.True(j.t, array.Equal(j.m.Past.Array(), m.Past.Clone().Array()), "%s, %s: %s: Past", j.p.name, way, what)
	require.True(j.t, array.Equal(j.m.Norm.RunningMean.Array(), m.Norm.RunningMean.Clone().Array()), "%s, %s: %s: statistics", j.p.name, way, what)
}

func (j *judge) all(change func(m *Model)) {
	for _, m := range []*Model{j.m, j.comp, j.l} {
		change(m)
	}
}

// A function with control flow has one record, whatever its data say, or none.
func TestFlows(t *testing.T) {
	for i := range testees {
		p := &testees[i]
		for _, o := range [][]compile.Option{nil, {compile.Audit(2)}} {
			t.Run(fmt.Sprint(p.name, len(o)), func(t *testing.T) {
				j := newJudge(t, p, o...)
				if p.kind == paired {
					j.all(func(m *Model) { m.On = false })
				}
				r := rand.New(rand.NewPCG(3, 4))
				for n := range 8 {
					x, y := p.args(r, 4, 2)
					j.call(x, y, fmt.Sprint("call ", n))
				}
				s := j.told.Stats()
				if p.kind == never {
					require.Zero(t, s.Records, "%s", s)
					require.Zero(t, s.Hits, "%s", s)
					return
				}
				require.Equal(t, 1, s.Records, "%s", s)
				if len(o) == 0 {
					require.Equal(t, 7, s.Hits+s.Misses-1, "%s", s)
					require.Positive(t, s.Hits, "%s", s)
				}
				if p.kind == paired {
					j.all(func(m *Model) { m.On = true })
					for n := range 6 {
						x, y := p.args(r, 4, 2)
						j.call(x, y, fmt.Sprint("call ", n, " with On"))
					}
					require.Equal(t, s.Hits, j.told.Stats().Hits, "%s", j.told.Stats())
				}
			})
		}
	}
}

// Every word changes between calls; arguments have other sizes, and scans other lengths.
func TestFlows_random(t *testing.T) {
	for i := range testees {
		p := &testees[i]
		for seed := range uint64(3) {
			t.Run(fmt.Sprint(p.name, seed), func(t *testing.T) {
				defer func(old, bias float64) { gain, far.Bias = old, bias }(gain, far.Bias)
				r := rand.New(rand.NewPCG(seed, 5))
				j := newJudge(t, p, compile.LiftAfter(2+int(seed)*1000), compile.Audit(int(seed)), compile.Capacity(1000))
				for n := range 60 {
					rounds, rows := 4, 2
					if r.IntN(3) == 0 {
						rounds, rows = r.IntN(5), 1+r.IntN(3)
					}
					x, y := p.args(r, rounds, rows)
					value, how := filled(r, width), r.IntN(16)
					switch how {
					case 0:
						gain = float64(n%3) + 0.5
					case 1:
						far.Bias = float64(n % 4)
					}
					j.all(func(m *Model) { j.change(m, how, n, value) })
					j.call(x, y, fmt.Sprint("call ", n, ": ", rounds, " rounds, ", rows, " rows, change ", how))
				}
			})
		}
	}
}

func (j *judge) change(m *Model, how, n int, value *tt) {
	switch how {
	case 2:
		m.Scale = float64(n%5) / 2
	case 3:
		m.Depth = n % 4
	case 4:
		m.On = !m.On
	case 5:
		m.Limit = float64(n % 25)
	case 6:
		m.Blocks[n%3].Scale = float64(n % 2)
	case 7:
		m.Blocks[n%3].On = n%2 == 0
	case 8:
		m.Blocks = append([]*Block(nil), m.Blocks[1], m.Blocks[2], m.Blocks[0])
	case 9:
		m.W.AssignInPlace(value)
	case 10:
		m.U = value
	case 11:
		m.Steps = n % 5
	case 12:
		m.Act = nil
		if n%2 == 0 {
			m.Act = m.shrink
		}
	}
}

// Numbers that only operators of functions are given become inputs.
func TestNumbersOfFlows(t *testing.T) {
	for i := range testees {
		p := &testees[i]
		if p.name != "Numbers" && p.name != "NumbersDeep" && p.name != "Outputs" {
			continue
		}
		j := newJudge(t, p, compile.Audit(7))
		r := rand.New(rand.NewPCG(3, 4))
		for n := range 40 {
			j.all(func(m *Model) { m.Scale = float64(n)/3 + 2 })
			x, y := p.args(r, 4, 2)
			j.call(x, y, fmt.Sprint("call ", n))
		}
		require.Equal(t, 4, j.told.Stats().Records, "%s: %s", p.name, j.told.Stats())
	}
}

// Sizes that functions pass on become symbols; those that they ask for have a record each.
func TestSizesOfFlows(t *testing.T) {
	for i := range testees {
		p := &testees[i]
		if !p.deep() || p.name == "Rolled" {
			continue
		}
		j := newJudge(t, p, compile.Audit(5))
		r := rand.New(rand.NewPCG(3, 4))
		for n := range 30 {
			x, y := p.args(r, 2+n%15, 2+n%3)
			j.call(x, y, fmt.Sprint("call ", n))
		}
		if s := j.told.Stats(); p.name == "Dims" {
			require.Greater(t, s.Records, 10, "%s: %s", p.name, s)
		} else {
			require.LessOrEqual(t, s.Records, 5, "%s: %s", p.name, s)
		}
	}
}

// Goroutines call one compiled function, each on a model of its own and all on one that they share.
func TestFlows_together(t *testing.T) {
	for i := range testees {
		p := &testees[i]
		if p.kind == never || p.kind == paired || p.name == "Drops" { // these store, or draw from one generator
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			f, _ := p.made()
			shared := newModel()
			var group sync.WaitGroup
			for g := range 8 {
				group.Go(func() {
					own := newModel()
					r := rand.New(rand.NewPCG(uint64(g), 4))
					for n := range 8 {
						x, y := p.args(r, 4, 2)
						for _, m := range []*Model{own, shared} {
							want, got := p.plain(newModel(), x.Clone(), y.Clone()), f(m, x, y)
							for i := range want {
								assert.True(t, array.Equal(want[i].Array(), got[i].Array()), "goroutine %d, call %d", g, n)
							}
						}
					}
				})
			}
			group.Wait()
		})
	}
}

// Explain names the line of a function that keeps its call from being recorded.
func TestFlows_explained(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		f interface {
			Call(m *Model, x, y *tt) *tt
			Explain(w io.Writer) error
		}
		line, why string
	}{
		{CompileLooks(), "return ts{in[0].MulScalar(in[0].Max().Item())}", "it reads the data of a tensor"},
		{CompileWritesState(), "m.Past.AddInPlace(in[0].Sum())", "writes to a tensor that the function has not made"},
		{CompileLastArgument(), "", "give it a Clone of that"},
	} {
		c.f.Call(newModel(), filled(r, 2, width).AbsInPlace(), filled(r, 2, width))
		var b bytes.Buffer
		require.NoError(t, c.f.Explain(&b))
		require.Contains(t, b.String(), c.why)
		code, err := os.ReadFile("programs.go")
		require.NoError(t, err)
		before, _, _ := strings.Cut(string(code), c.line)
		if c.line != "" {
			require.Contains(t, b.String(), fmt.Sprint("programs.go:", strings.Count(before, "\n")+1))
		}
	}
}
