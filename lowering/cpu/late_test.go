package cpu_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
)

func TestSizesThatFollowFromValues(t *testing.T) {
	for name, text := range fxtest.LateGraphs {
		t.Run(name, func(t *testing.T) {
			m := module(t, text)
			require.Empty(t, graph.Lint(m.Graph))
			for _, o := range []lowering.Options{{Exact: true}, {}, {Shapes: map[string]int{"N": 2}}} {
				e := compile(t, m, o)
				ours := graph.Clone(m)
				for _, in := range fxtest.LateInputs() {
					if o.Shapes != nil && in[0].Dim(0) != 2 {
						continue
					}
					out, err := e.Run(ctx, in)
					require.NoError(t, err, "%s", e.Plan())
					want := interpret(t, ours, in...)
					if o.Exact {
						same(t, want, out)
					}
					near(t, "", want, out)
					for _, a := range out {
						require.NotNil(t, a.Storage())
					}
				}
			}
		})
	}
}

// TestLateResultsIntoMemory gives arrays of several sizes for results whose sizes follow
// from values: memory that is large enough is used again, other memory is not written.
func TestLateResultsIntoMemory(t *testing.T) {
	m := module(t, fxtest.LateGraphs["a result as it is found, twice"])
	e := compile(t, m, lowering.Options{Threads: 1})
	in := fxtest.LateInputs()[0]
	want := interpret(t, m, in...)
	large := array.New(array.I64, 9, 9)
	a, b, c := array.Make(array.I64, []int{9, 9}, []int{9, 1}, 0, large.Storage()), array.New(array.F32, 2, 3), &array.Array{}
	require.NoError(t, e.RunInto(ctx, []*array.Array{a, b, c}, in))
	same(t, want, []*array.Array{a, b, c})
	require.Same(t, large.Storage(), a.Storage())
	part := array.Make(array.I64, []int{2, 2}, []int{2, 1}, 4, large.Storage()) // too small
	before := bits(large)
	require.NoError(t, e.RunInto(ctx, []*array.Array{part, b, c}, in))
	same(t, want, []*array.Array{part, b, c})
	require.Equal(t, before, bits(large))
	require.ErrorIs(t, e.RunInto(ctx, []*array.Array{a, b, a}, in), lowering.BadOutput)
	require.ErrorIs(t, e.RunInto(ctx, []*array.Array{a, b, nil}, in), lowering.BadOutput)
	require.ErrorIs(t, e.RunInto(ctx, []*array.Array{a, in[0], c}, in), lowering.BadOutput)
	array.Data[int64](large)[0] = 7
	require.NoError(t, e.RunInto(ctx, []*array.Array{a, b, c}, in))
	require.Zero(t, testing.AllocsPerRun(20, func() {
		if err := e.RunInto(ctx, []*array.Array{a, b, c}, in); err != nil {
			t.Error(err)
		}
	}))
}

// TestLateRunsAtOnce runs one executable for inputs of different values at the same time.
func TestLateRunsAtOnce(t *testing.T) {
	for name, text := range fxtest.LateGraphs {
		m := module(t, text)
		e := compile(t, m, lowering.Options{Threads: 2, Exact: true})
		if e.Plan().Stateful {
			continue // what a run computes follows from those before
		}
		var wg sync.WaitGroup
		for _, in := range fxtest.LateInputs() {
			want := interpret(t, m, in...)
			wg.Go(func() {
				for range 50 {
					out, err := e.Run(ctx, in)
					if err != nil || fxtest.SameArrays(want, out) != "" {
						t.Errorf("%s: %v %s", name, err, fxtest.SameArrays(want, out))
						return
					}
				}
			})
		}
		wg.Wait()
		require.NoError(t, e.Close())
	}
}

// TestPeakOfSizesThatFollowFromValues counts what is held for the most that is found, or
// for what the caller expects.
func TestPeakOfSizesThatFollowFromValues(t *testing.T) {
	e := compile(t, module(t, `
graph g(%x: f32[N,3]) {
  symbol N = dim(%x, 0)
  %i = call_function[nonzero](%x)
  %f = call_function[cast](%i) {dtype=f32}
  %g = call_function[cumsum](%f) {dim=0}
  %s = call_function[sum](%g)
  return %s
}`), lowering.Options{Threads: 1})
	most, err := e.PeakBytes(map[string]int{"N": 1000})
	require.NoError(t, err)
	require.Greater(t, most, int64(3000*2*(8+4)))
	less, err := e.PeakBytes(map[string]int{"N": 1000, "i_0": 10})
	require.NoError(t, err)
	require.Less(t, less, most/4)
	w, err := e.Cost(map[string]int{"N": 1000})
	require.NoError(t, err)
	require.Empty(t, w.Assumed)
	require.Greater(t, len(w.Steps), 3)
	e = compile(t, module(t, fxtest.LateGraphs["a scan over a range"]), lowering.Options{Threads: 1})
	_, err = e.PeakBytes(map[string]int{"N": 2})
	require.ErrorIs(t, err, lowering.BadOption)
	w, err = e.Cost(map[string]int{"N": 2})
	require.NoError(t, err)
	require.Equal(t, []string{"i_0"}, w.Assumed)
	times, err := e.Profile(ctx, fxtest.LateInputs()[0], 3)
	require.NoError(t, err)
	require.Greater(t, len(times), 4)
}

// TestLateWithOptions chooses results and donates inputs.
func TestLateWithOptions(t *testing.T) {
	m := module(t, fxtest.LateGraphs["stages"])
	for _, o := range []lowering.Options{{Outputs: []int{2}}, {Outputs: []int{5, 0, 5}}, {Donate: []int{0}}, {Outputs: []int{1}, Donate: []int{0}}} {
		e := compile(t, m, o)
		for _, in := range fxtest.LateInputs() {
			want := interpret(t, m, in...)
			if o.Outputs != nil {
				all := want
				want = nil
				for _, k := range o.Outputs {
					want = append(want, all[k])
				}
			}
			got, err := e.Run(ctx, []*array.Array{array.Clone(in[0])})
			require.NoError(t, err)
			same(t, want, got)
		}
	}
}

// TestLateInputsWithGaps gives inputs that do not lie in memory in order.
func TestLateInputsWithGaps(t *testing.T) {
	base := array.FromSlice([]float32{1, 0, 2, 0, 0, 3, 1, 1, 1, 0, 0, 2}, 3, 4)
	x := array.Make(array.F32, []int{4, 3}, []int{1, 4}, 0, base.Storage())
	for name, text := range fxtest.LateGraphs {
		m := module(t, text)
		e := compile(t, m, lowering.Options{Exact: true})
		got, err := e.Run(ctx, []*array.Array{x})
		require.NoError(t, err, name)
		same(t, interpret(t, m, x), got)
	}
}

// partly is the cpu for some operators.
type partly []string

func (partly) Name() string { return "partly" }

func (p partly) Supports(n *graph.Node) (bool, string) {
	return n.Op() != nil && slices.Contains(p, n.Op().Name), "it is for others"
}

func (partly) Compile(m *graph.Module, o lowering.Options) (lowering.Executable, error) {
	return cpu.Target{}.Compile(m, o)
}

// TestLateInParts hands values whose sizes one part finds to another.
func TestLateInParts(t *testing.T) {
	for name, text := range fxtest.LateGraphs {
		m := module(t, text)
		e, err := lowering.Split{First: partly{"nonzero", "neg", "index_select", "range"}, Rest: cpu.Target{}}.Compile(m, lowering.Options{})
		require.NoError(t, err, name)
		for _, in := range fxtest.LateInputs() {
			own := graph.Clone(m)
			if strings.HasPrefix(name, "state") {
				own = m
			}
			got, err := e.Run(ctx, in)
			require.NoError(t, err, name)
			near(t, name, interpret(t, own, in...), got)
		}
	}
}

// TestSizesThatCannotBeHeld asks for more than any machine holds, by numbers.
func TestSizesThatCannotBeHeld(t *testing.T) {
	e := compile(t, module(t, `
graph g(%n: i64[]) {
  %zero = call_function[full]() {size=[], value=0, dtype=i64}
  %one = call_function[full]() {size=[], value=1, dtype=i64}
  %r = call_function[range](%zero, %n, %one)
  %s = call_function[neg](%r)
  return %s
}`), lowering.Options{})
	for _, n := range []int64{1 << 40, 1 << 61, 1<<63 - 1} {
		_, err := e.Run(ctx, []*array.Array{array.Scalar(n)})
		require.ErrorIs(t, err, op.TooLarge)
		require.ErrorContains(t, err, "node %r")
	}
	out, err := e.Run(ctx, []*array.Array{array.Scalar(int64(3))})
	require.NoError(t, err)
	require.Equal(t, []int64{0, -1, -2}, array.Data[int64](out[0]))
}

// TestSizesThatAreReliedOn refuses values that find other sizes than the graph relies on,
// wherever these are known.
func TestSizesThatAreReliedOn(t *testing.T) {
	for name, guards := range map[string]string{
		"a number":               "guard K == 4",
		"two that are found":     "guard K == L",
		"one more":               "guard L+1 == K+1",
		"a product":              "guard K*L == 16",
		"a number and a product": "guard K == 4\n  guard K*L == 16",
		"at least":               "guard K >= 3",
	} {
		e := compile(t, module(t, `
graph g(%x: f32[N,3]) {
  symbol N = dim(%x, 0)
  %i = call_function[nonzero](%x) : i64[K,2]
  symbol K = dim(%i, 0)
  %r = call_function[relu](%x) : f32[N,3]
  %l = call_function[mul](%r, %r) : f32[N,3]
  %j = call_function[nonzero](%l) : i64[L,2]
  symbol L = dim(%j, 0)
  `+guards+`
  %a = call_function[neg](%i)
  %b = call_function[neg](%j)
  return (%a, %b)
}`), lowering.Options{})
		good := array.FromSlice([]float32{1, 2, 3, 0, 0, 4}, 2, 3)
		_, err := e.Run(ctx, []*array.Array{good})
		require.NoError(t, err, name)
		bad := array.FromSlice([]float32{-1, 2, 0, 0, 0, 0}, 2, 3)
		_, err = e.Run(ctx, []*array.Array{bad})
		require.Error(t, err, name)
	}
}
