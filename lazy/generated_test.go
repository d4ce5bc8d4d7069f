package lazy_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/lowering/generated"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// planned stands in for generated code: a plan of the recorded graph. It is made of the names that
// code is made of, and has weights by find alone.
type planned struct {
	module  *graph.Module
	into    []lowering.Into
	threads int
	run     lowering.Executable
	binds   *int
}

func (p *planned) Call(ctx context.Context, in []*array.Array) ([]*array.Array, error) {
	return p.run.Run(ctx, in)
}

func (p *planned) Bind(find generated.Find, _ generated.Pack) error {
	m := graph.Clone(p.module)
	for _, param := range m.Params() {
		a, err := find(param.Path)
		if err != nil {
			return err
		}
		q := *param
		q.Value = array.Clone(a) // as packed weights are
		m.SetParam(q)
	}
	run, err := cpu.Target{}.Compile(m, lowering.Options{Exact: true, Threads: p.threads, Into: p.into})
	p.run = run
	*p.binds++
	return err
}

// record runs a program in a session that records, and returns its graphs as a package has them.
func record(t *testing.T, o lazy.Options, program func(s *lazy.Session)) (g *generated.Graphs, binds *int) {
	o.Record = true
	s := open(t, o)
	for range 4 {
		program(s)
	}
	g, modules := s.Recorded()
	binds = new(int)
	for i := range g.List {
		g.List[i].New = planOf(modules[i], g.List[i].Into, binds)
	}
	return g, binds
}

// planOf makes plans in the place of generated code.
func planOf(m *graph.Module, into []lowering.Into, binds *int) func(find generated.Find, pack generated.Pack, threads int) (generated.Model, error) {
	return func(find generated.Find, pack generated.Pack, threads int) (generated.Model, error) {
		p := &planned{module: m, into: into, threads: threads, binds: binds}
		return p, p.Bind(find, pack)
	}
}

// halved halves x until it is small.
func halved(x *tensor.Tensor) *tensor.Tensor {
	for x.Abs().Amax().Item() > 1 {
		x = x.MulScalar(0.5).Sub(x.Tanh())
	}
	return x
}

// missed are the counts that tell whether a session ran what was generated.
func missed(s *lazy.Session) []int {
	st := s.Stats()
	return []int{st.Missed, st.Interpreted, st.Compiles}
}

func TestGenerated_branches(t *testing.T) {
	g, _ := record(t, lazy.Options{}, func(s *lazy.Session) { show(halved(s.In(vec(9, -7)))) })
	for range 2 { // sessions share the graphs
		s := open(t, lazy.Options{Generated: g})
		for range 3 {
			require.Equal(t, show(halved(vec(9, -7))), show(halved(s.In(vec(9, -7)))))
		}
		require.Equal(t, []int{0, 0, 0}, missed(s))
		first := s.Explain().Graphs[0]
		require.Equal(t, []any{lazy.Generated, "Graph1", 3}, []any{first.State, first.Generated, first.Compiled})

		hits := s.Stats().Hits
		require.Equal(t, show(vec(1, 2).Exp()), show(s.In(vec(1, 2)).Exp()), "another path")
		require.Equal(t, show(vec(1, 2).Exp()), show(s.In(vec(1, 2)).Exp()))
		require.Equal(t, show(vec(1).Abs().Amax().Reshape(1)), show(s.In(vec(1)).Abs().Amax().Reshape(1)), "other sizes")
		require.Equal(t, []int{3, 3, 0}, missed(s))
		require.Equal(t, hits, s.Stats().Hits)
	}
}

// Graphs that were not generated are compiled where the session has a target.
func TestGenerated_andTarget(t *testing.T) {
	g, _ := record(t, lazy.Options{}, expSum)
	s := open(t, lazy.Options{Generated: g, Target: cpu.Target{}, Warm: 1, Synchronous: true})
	for range 3 {
		expSum(s)
		s.In(vec(3)).Neg().Item()
	}
	require.Equal(t, []int{3, 2, 1}, missed(s))
	require.Equal(t, 4, s.Stats().Hits)
}

// Graphs of another form, and those that may round, are not used.
func TestGenerated_ofOthers(t *testing.T) {
	g, _ := record(t, lazy.Options{Rounding: true}, expSum)
	for _, c := range []struct {
		o      lazy.Options
		misses int
	}{{lazy.Options{}, 1}, {lazy.Options{Rounding: true}, 0}} {
		c.o.Generated = g
		s := open(t, c.o)
		expSum(s)
		require.Equal(t, c.misses, s.Stats().Missed)
	}
	g.Form++
	s := open(t, lazy.Options{Generated: g, Rounding: true})
	expSum(s)
	require.Equal(t, 1, s.Stats().Missed)
}

// summed is a layer, and a run of it that asks for one number.
func summed() (l *nn.Linear, run func(s *lazy.Session) float64, want func() float64) {
	l = nn.NewLinear(3, 2, nn.Seed(1))
	run = func(s *lazy.Session) float64 { return l.Forward(s.In(tensor.Ones(16, 3))).Sum().Item() }
	return l, run, func() float64 { return l.Forward(tensor.Ones(16, 3)).Sum().Item() }
}

// A weight that is written after it was packed is packed again, one that is replaced makes another
// program of the same graph.
func TestGenerated_weights(t *testing.T) {
	_, run, _ := summed()
	g, binds := record(t, lazy.Options{}, func(s *lazy.Session) { run(s) })
	require.Len(t, g.List, 1)
	require.Equal(t, []int{1, 2}, g.List[0].Weights)

	l, run, want := summed()
	s := open(t, lazy.Options{Generated: g})
	for i := range 4 {
		require.Equal(t, want(), run(s))
		require.Equal(t, want(), run(s))
		require.Equal(t, 1+i, *binds, "once for the first run, and for each write")
		l.Weight.MulScalarInPlace(1.5) // by eager code
	}
	l.Weight = tensor.Param(array.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3))
	require.Equal(t, want(), run(s))
	require.Equal(t, []int{0, 0, 0}, missed(s))
	require.Equal(t, 2, s.Stats().Graphs)
	tensor.Data[float32](l.Bias)[0] = 7 // memory of Go code is an input: a graph that g does not have
	require.Equal(t, want(), run(s))
	require.Equal(t, 1, s.Stats().Missed)
}

// A weight that was written while the graphs were recorded is an input from the start.
func TestGenerated_writtenWeights(t *testing.T) {
	l, run, _ := summed()
	step := func(s *lazy.Session) float64 {
		y := run(s)
		l.Weight.MulScalarInPlace(0.5)
		return y
	}
	g, binds := record(t, lazy.Options{}, func(s *lazy.Session) { step(s) })
	require.Len(t, g.List, 1)
	require.Equal(t, []int{2}, g.List[0].Weights)
	l, run, want := summed()
	s := open(t, lazy.Options{Generated: g})
	for range 3 {
		require.Equal(t, want(), step(s))
	}
	require.Equal(t, []int{0, 0, 0}, missed(s))
	require.Equal(t, 1, *binds)
}

// Numbers and positions that differed while the graphs were recorded are inputs.
func TestGenerated_numbers(t *testing.T) {
	run := func(x *tensor.Tensor, i int, by float64) string {
		return fmt.Sprint(x.Reshape(4, 2).Select(0, i).MulScalar(by).AddScalar(3).Exp().Sum().Item())
	}
	x := vec(1, 2, 3, 4, 5, 6, 7, 8)
	i := 0
	g, _ := record(t, lazy.Options{}, func(s *lazy.Session) {
		run(s.In(x), i, 0.1*float64(i)+0.2)
		i++
	})
	require.Len(t, g.List, 1)
	require.Equal(t, []int{0, 1}, g.List[0].Numbers)
	s := open(t, lazy.Options{Generated: g})
	for i := range 4 {
		require.Equal(t, run(x, i, 7.5-float64(i)), run(s.In(x), i, 7.5-float64(i)))
	}
	require.Equal(t, []int{0, 0, 0}, missed(s))
	more := func(x *tensor.Tensor) string {
		return fmt.Sprint(x.Reshape(4, 2).Select(0, 1).MulScalar(2.5).AddScalar(4).Exp().Sum().Item())
	}
	require.Equal(t, more(x), more(s.In(x)), "a number that had been the same")
	require.Equal(t, []int{1, 1, 0}, missed(s))
	require.Equal(t, run(x, 1, 2.5), run(s.In(x), 1, 2.5))
}

// A graph with symbols runs for all sizes, also where the first cone of a session has another one.
func TestGenerated_sizes(t *testing.T) {
	run := func(x *tensor.Tensor) float64 { return x.Exp().Reshape(-1, 2).Sum().Item() }
	n := 2
	g, _ := record(t, lazy.Options{}, func(s *lazy.Session) {
		n += 2
		run(s.In(ramp(n)))
	})
	require.Len(t, g.List, 3, "two of numbers, one with a symbol")
	require.Len(t, g.List[2].Sizes, 3)
	s := open(t, lazy.Options{Generated: g})
	for _, n := range []int{26, 4, 6, 8, 100, 26} {
		require.Equal(t, run(ramp(n)), run(s.In(ramp(n))))
	}
	require.Equal(t, []int{0, 0, 0}, missed(s))
	require.Equal(t, 1, s.Stats().Graphs)
	fixed := open(t, lazy.Options{Generated: g, Dims: lazy.Fixed})
	run(fixed.In(ramp(4)))
	run(fixed.In(ramp(26)))
	require.Equal(t, []int{1, 1, 0}, missed(fixed), "sizes are to be numbers")
}

// What is asked for later is kept in the graph that the recording ends with.
func TestGenerated_learnedOutputs(t *testing.T) {
	run := func(x *tensor.Tensor) string {
		h := x.Exp()
		y := h.Sum()
		return show(y.Reshape(1)) + show(h)
	}
	g, _ := record(t, lazy.Options{}, func(s *lazy.Session) { run(s.In(vec(1, 2))) })
	s := open(t, lazy.Options{Generated: g})
	require.Equal(t, run(vec(1, 2)), run(s.In(vec(1, 2))))
	require.Equal(t, []int{0, 0, 0}, missed(s))
	ask := func(x *tensor.Tensor) string { // a value that no run has asked for
		h := x.Exp()
		z := h.Sum()
		return show(z.Reshape(1)) + show(h) + show(z.Reshape(1, 1).Reshape(1))
	}
	require.Equal(t, ask(vec(1, 2)), ask(s.In(vec(1, 2))))
}

// trained runs five steps of training, and returns the losses.
func trained(t *testing.T, o lazy.Options) (losses []float64, s *lazy.Session) {
	o.Gradients = true
	s = open(t, o)
	l := nn.NewSequential(nn.NewLinear(3, 16, nn.Seed(1)), nn.NewTanh(), nn.NewLinear(16, 1, nn.Seed(2)))
	x, y := tensor.Randn(tensor.Scalar(int64(3)), 16, 3), tensor.Randn(tensor.Scalar(int64(4)), 16, 1)
	for i := range 5 {
		loss := l.Forward(s.In(x)).Sub(s.In(y)).Square().Mean()
		params := nn.Parameters(l)
		for j, d := range tensor.Grad(loss, params...) {
			params[j].SubInPlace(d.MulScalar(0.1 / float64(i+1)))
		}
		losses = append(losses, loss.Item())
		require.NoError(t, s.Barrier())
	}
	return losses, s
}

// A step of training has the bits of eager code, with updates in place where the code makes them
// there, and else with copies.
func TestGenerated_trains(t *testing.T) {
	want, _ := trained(t, lazy.Options{})
	for _, c := range []struct {
		recorded, runs bool // Donate
		donated        int  // of four parameters, from the third barrier on
	}{{false, false, 0}, {false, true, 0}, {true, false, 0}, {true, true, 12}} {
		recorded, s := trained(t, lazy.Options{Record: true, Donate: c.recorded})
		require.Equal(t, want, recorded)
		g, modules := s.Recorded()
		made, binds := 0, 0
		for i := range g.List {
			made += len(g.List[i].Into)
			g.List[i].New = planOf(modules[i], g.List[i].Into, &binds)
		}
		require.Equal(t, map[bool]int{false: 0, true: 4}[c.recorded], made)
		got, s := trained(t, lazy.Options{Generated: g, Donate: c.runs})
		require.Equal(t, want, got)
		require.Equal(t, []int{0, 0, 0}, missed(s))
		require.Equal(t, c.donated, s.Stats().Donated)
		if c.recorded {
			require.Equal(t, 2, binds, "the third barrier runs the same code")
		}
	}
}

// Results of code that are not where the table says are copied, and a table that names what no
// graph updates is none of the session.
func TestGenerated_hostileUpdates(t *testing.T) {
	want, _ := trained(t, lazy.Options{})
	_, s := trained(t, lazy.Options{Record: true, Donate: true})
	g, modules := s.Recorded()
	binds := 0
	for i := range g.List {
		g.List[i].New = planOf(modules[i], nil, &binds)
	}
	got, s := trained(t, lazy.Options{Generated: g, Donate: true})
	require.Equal(t, want, got)
	require.Equal(t, []int{0, 0, 0}, missed(s))
	require.Zero(t, s.Stats().Donated)

	last := len(g.List) - 1
	right := g.List[last].Into
	require.Len(t, right, 4)
	for _, wrong := range [][]lowering.Into{{{Result: -1, Input: right[0].Input}}, {{Result: 99, Input: right[0].Input}}, {{Result: right[0].Result, Input: -1}},
		{{Result: right[0].Result, Input: 99}}, {right[0], right[0]}, {{Result: right[0].Result, Input: right[1].Input}}} {
		g.List[last].Into = wrong
		got, s := trained(t, lazy.Options{Generated: g, Donate: true})
		require.Equal(t, want, got)
		require.Equal(t, 5, s.Stats().Missed, "%v", wrong)
		require.Zero(t, s.Stats().Donated)
	}
}

// What the target refuses is not recorded.
func TestGenerated_refused(t *testing.T) {
	s := open(t, lazy.Options{Record: true, Target: refusing{}})
	expSum(s)
	g, _ := s.Recorded()
	require.Empty(t, g.List)
	require.Equal(t, 1, s.Stats().Refused)
	require.Equal(t, lazy.Refused, s.Explain().Graphs[0].State)
}

// Code that fails to make its model is told, and the graph runs call by call.
func TestGenerated_thatFails(t *testing.T) {
	g, _ := record(t, lazy.Options{}, expSum)
	g.List[0].New = func(generated.Find, generated.Pack, int) (generated.Model, error) { return nil, errors.New("no model") }
	s := open(t, lazy.Options{Generated: g})
	require.Equal(t, vec(1, 2).Exp().Sum().Item(), s.In(vec(1, 2)).Exp().Sum().Item())
	require.Contains(t, s.Explain().Graphs[0].Refusal, "no model")
}

// A table whose numbers are not those of the graph is no graph of the session.
func TestGenerated_hostileTable(t *testing.T) {
	g, _ := record(t, lazy.Options{}, expSum)
	for _, change := range []func(x *generated.Graph){
		func(x *generated.Graph) { x.Weights = []int{0} },
		func(x *generated.Graph) { x.Weights = []int{-1} },
		func(x *generated.Graph) { x.Numbers = []int{5} },
		func(x *generated.Graph) { x.Kept = nil },
		func(x *generated.Graph) { x.Kept = []int{99} },
		func(x *generated.Graph) { x.Sizes = [][]int{{1}, {2}} },
		func(x *generated.Graph) { x.Sizes = [][]int{{2}, {2}, {2}} },
		func(x *generated.Graph) { x.Sizes = [][]int{{2}, {3}, {4}} },
		func(x *generated.Graph) { x.Sizes = [][]int{{2}, {2, 5}, nil} },
		func(x *generated.Graph) { x.Digest++ },
		func(x *generated.Graph) { x.Text += " " },
	} {
		bad := *g
		bad.List = slices.Clone(g.List)
		change(&bad.List[0])
		s := open(t, lazy.Options{Generated: &bad})
		require.Equal(t, vec(1, 2).Exp().Sum().Item(), s.In(vec(1, 2)).Exp().Sum().Item())
		require.Equal(t, 1, s.Stats().Missed)
	}
}
