package lowering_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/cases"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/partition"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

var ctx = context.Background()

// picky is the cpu target for some operators only; it refuses to compile others.
type picky struct {
	name     string
	supports partition.Supports
	compiled *int
}

func (p picky) Name() string { return p.name }

func (p picky) Supports(n *graph.Node) (bool, string) {
	if ok, why := p.supports(n); !ok {
		return false, why
	}
	return cpu.Target{}.Supports(n)
}

func (p picky) Compile(m *graph.Module, o lowering.Options) (lowering.Executable, error) {
	for n := range m.All() {
		if !n.Opcode().IsCall() || n.Op() == op.GetItem {
			continue
		}
		if ok, why := p.supports(n); !ok {
			return nil, lowering.Refuse(n, p.name, why)
		}
	}
	if p.compiled != nil {
		*p.compiled++
	}
	return cpu.Target{}.Compile(m, o)
}

func only(ops ...string) picky {
	return picky{name: "npu", supports: func(n *graph.Node) (bool, string) {
		return slices.Contains(ops, n.Op().Name), "only " + strings.Join(ops, ", ")
	}}
}

// share supports a share of the calls, by operator.
func share(seed uint64, percent int) picky {
	return picky{name: "npu", supports: func(n *graph.Node) (bool, string) {
		h := seed
		for _, c := range n.Op().Name {
			h = (h ^ uint64(c)) * 0x100000001b3
		}
		return int(h>>33%100) < percent, "not today"
	}}
}

func pieces(t *testing.T, m *graph.Module, first lowering.Target, o lowering.Options) *lowering.Pieces {
	t.Helper()
	e, err := lowering.Split{First: first, Rest: cpu.Target{}}.Pieces(m, o)
	require.NoError(t, err, "%s", m)
	return e
}

func interpret(t *testing.T, m *graph.Module, in []*array.Array) []*array.Array {
	p := interp.Interpreter{State: interp.NewState(m)}
	out, err := p.RunArrays(ctx, in)
	require.NoError(t, err)
	return out
}

const mixed = `
graph net(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[4,4]
  %a = call_function[linear](%x, %w) : f32[N,4] at "m.go:3" "f"
  %b = call_function[exp](%a) : f32[N,4] at "m.go:4" "f"
  %c = call_function[relu](%b) : f32[N,4]
  %d = call_function[linear](%c, %w) : f32[N,4]
  %e = call_function[add](%d, %a) : f32[N,4]
  return (%e, %a, %a, %x, %w)
}
param w : f32[4,4]
`

func mixedModule(t *testing.T) *graph.Module {
	m := parse(t, mixed)
	var g op.Gen
	m.SetParam(graph.Param{Path: "w", Value: g.Normal(4, 4)})
	return m
}

func TestSplit(t *testing.T) {
	m := mixedModule(t)
	before := m.String()
	e := pieces(t, m, only("linear", "relu", "add"), lowering.Options{Exact: true, Threads: 1})
	require.Equal(t, before, m.String())
	require.Equal(t, `part npu0 on npu: 1 calls
part cpu0 on cpu: 1 calls
part npu1 on npu: 3 calls
%b on cpu: npu: only linear, relu, add
%x to npu0: f32[N,4]
%npu0 from npu0: f32[N,4]
%cpu0 to npu1: f32[N,4]
%npu0 to npu1: f32[N,4]
%npu1 from npu1: f32[N,4]
`, e.String())
	for _, rows := range []int{3, 1, 0, 3} {
		var g op.Gen
		in := []*array.Array{g.Normal(rows, 4)}
		got, err := e.Run(ctx, in)
		require.NoError(t, err)
		fxtest.Same(t, "split", interpret(t, m, in), got)
		for i, a := range got {
			clear(array.Bytes(a)) // results are the caller's alone
			for k, b := range got {
				if i < k && rows > 0 {
					require.NotSame(t, &array.Bytes(a)[0], &array.Bytes(b)[0])
				}
			}
		}
	}
	st := e.Stats()
	require.EqualValues(t, 4, st.Runs)
	require.EqualValues(t, 4, st.Parts[2].Runs)
	require.Equal(t, lowering.Moved{Values: 4 * 3, Bytes: 3 * 4 * 4 * (3 + 1 + 0 + 3)}, st.In)
	require.Equal(t, lowering.Moved{Values: 4 * 2, Bytes: 2 * 4 * 4 * (3 + 1 + 0 + 3)}, st.Out)
	require.Equal(t, []string{"b"}, []string{st.Fallback[0].Node})
	require.Equal(t, 4, st.Fallback[0].Pos.Line)

	_, err := e.Run(ctx, []*array.Array{array.New(array.F32, 2, 5)})
	require.ErrorIs(t, err, interp.GuardFailed)
	_, err = e.Run(ctx, nil)
	require.ErrorIs(t, err, interp.MissingInput)
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	_, err = e.Run(stopped, []*array.Array{array.New(array.F32, 2, 4)})
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, e.Close())
	require.NoError(t, e.Close())
	_, err = e.Run(ctx, []*array.Array{array.New(array.F32, 2, 4)})
	require.ErrorIs(t, err, lowering.Closed)
}

func TestSplitEmptyAndWhole(t *testing.T) {
	m := mixedModule(t)
	var g op.Gen
	in := []*array.Array{g.Normal(2, 4)}
	want := interpret(t, m, in)
	for name, c := range map[string]struct {
		first          lowering.Target
		least, on, all int
	}{
		"nothing":   {only(), 0, 0, 1},
		"all":       {only("linear", "relu", "add", "exp"), 0, 1, 1},
		"too small": {only("linear", "relu", "add"), 2, 1, 2},
		"nested":    {lowering.Split{First: only("relu"), Rest: only("add")}, 0, 2, 4},
	} {
		e, err := lowering.Split{First: c.first, Rest: cpu.Target{}, Min: c.least}.Pieces(m, lowering.Options{Exact: true})
		require.NoError(t, err, name)
		got, err := e.Run(ctx, in)
		require.NoError(t, err)
		fxtest.Same(t, name, want, got)
		on := 0
		for _, p := range e.Stats().Parts {
			if p.Target == c.first.Name() {
				on++
			}
		}
		require.Equal(t, c.on, on, "%s\n%s", name, e)
		require.Len(t, e.Stats().Parts, c.all, name)
	}
	one := parse(t, "graph g(%x: f32[2]) {\n return %x\n}\n")
	got, err := pieces(t, one, only(), lowering.Options{}).Run(ctx, []*array.Array{array.FromSlice([]float32{1, 2}, 2)})
	require.NoError(t, err)
	require.Equal(t, []float32{1, 2}, array.Data[float32](got[0]))
}

func TestSplitOptions(t *testing.T) {
	m := mixedModule(t)
	var g op.Gen
	in := []*array.Array{g.Normal(2, 4)}
	want := interpret(t, m, in)
	e := pieces(t, m, only("linear"), lowering.Options{Shapes: map[string]int{"N": 2}, Outputs: []int{1, 0}, Exact: true, Donate: []int{0}})
	got, err := e.Run(ctx, in)
	require.NoError(t, err)
	fxtest.Same(t, "chosen", []*array.Array{want[1], want[0]}, got)
	require.Equal(t, "f32[2,4]", e.Transfers()[0].Type.String())
	_, err = e.Run(ctx, []*array.Array{g.Normal(3, 4)})
	require.ErrorIs(t, err, interp.GuardFailed)
	_, err = lowering.Split{First: only(), Rest: cpu.Target{}}.Compile(m, lowering.Options{Outputs: []int{9}})
	require.ErrorIs(t, err, lowering.BadOption)
	_, err = lowering.Split{First: only()}.Compile(m, lowering.Options{})
	require.ErrorIs(t, err, lowering.BadOption)
	m.SetParam(graph.Param{Path: "w", Type: m.Param("w").TypeOf()})
	_, err = lowering.Split{First: only(), Rest: cpu.Target{}}.Compile(m, lowering.Options{})
	require.ErrorIs(t, err, interp.NoParam)
}

// liar supports what it does not compile.
type liar struct{ picky }

func (liar) Supports(*graph.Node) (bool, string) { return true, "" }

// short gives too few results.
type short struct{ lowering.Executable }

func (short) Run(context.Context, []*array.Array) ([]*array.Array, error) { return nil, nil }

type shortTarget struct{ picky }

func (s shortTarget) Compile(m *graph.Module, o lowering.Options) (lowering.Executable, error) {
	e, err := s.picky.Compile(m, o)
	return short{e}, err
}

func TestSplitRefuses(t *testing.T) {
	m := mixedModule(t)
	_, err := lowering.Split{First: only("relu"), Rest: only("linear")}.Compile(m, lowering.Options{})
	require.ErrorIs(t, err, lowering.Unsupported)
	require.ErrorContains(t, err, "m.go:4: exp: target npu+npu cannot run exp: npu: only relu; npu: only linear")
	require.ErrorContains(t, err, "cannot run add")
	ok, why := lowering.Split{First: only("relu"), Rest: only("linear")}.Supports(m.Graph.Find("b"))
	require.False(t, ok)
	require.Equal(t, "npu: only relu; npu: only linear", why)
	_, err = lowering.Split{First: liar{only("linear")}, Rest: cpu.Target{}}.Compile(m, lowering.Options{})
	require.ErrorIs(t, err, lowering.Unsupported)
	require.ErrorContains(t, err, `m.go:4: exp: part "npu0" on npu: target npu cannot run exp`)
	broken := picky{name: "npu", supports: func(n *graph.Node) (bool, string) { panic("oh") }}
	_, err = lowering.Split{First: broken, Rest: cpu.Target{}}.Compile(m, lowering.Options{})
	require.ErrorIs(t, err, passes.Panicked)
	e := pieces(t, m, shortTarget{only("linear")}, lowering.Options{})
	_, err = e.Run(ctx, []*array.Array{array.New(array.F32, 2, 4)})
	require.ErrorIs(t, err, lowering.BadOutput)
	require.ErrorContains(t, err, `part "npu0" on npu: the target gave 0 results, expected 1`)
}

// 2,000 random graphs over two targets, under predicates of their own.
func TestSplitRandom(t *testing.T) {
	graphs := 2000
	if testing.Short() {
		graphs = 100
	}
	random := rapid.Custom(fxtest.RandomGraph)
	parts, moved := 0, int64(0)
	for seed := range graphs {
		m := random.Example(seed)
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		in, err := passes.Inputs(m.Graph, map[string]int{"N": 1 + seed%fxtest.MaxN}, uint64(seed))
		require.NoError(t, err)
		want := interpret(t, m, in)
		e := pieces(t, m, share(r.Uint64(), 10+r.IntN(90)), lowering.Options{Exact: true, Threads: 1})
		got, err := e.Run(ctx, in)
		require.NoError(t, err, "%s\n%s", m, e.Module())
		if d := fxtest.SameArrays(want, got); d != "" {
			t.Fatalf("%d: %s\n%s\n%s", seed, d, m, e.Module())
		}
		require.NoError(t, graph.Lint(e.Module().Graph).Err())
		parts += len(e.Stats().Parts)
		moved += e.Stats().In.Values
	}
	require.Greater(t, parts, graphs/2)
	require.Greater(t, moved, int64(graphs/2))
}

// Graphs over all operators have the bits of the interpreter, on values that stay, too.
func TestSplitWide(t *testing.T) {
	graphs := 300
	if testing.Short() {
		graphs = 50
	}
	random := rapid.Custom(fxtest.WideGraph(nil))
	for seed := range graphs {
		m := random.Example(seed)
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		in, err := passes.Inputs(m.Graph, map[string]int{"N": 1 + seed%fxtest.MaxN}, uint64(seed))
		require.NoError(t, err)
		first := newFar()
		first.picky = share(r.Uint64(), 10+r.IntN(90))
		got, err := pieces(t, m, first, lowering.Options{Exact: true, Threads: 1}).Run(ctx, in)
		require.NoError(t, err, "%d: %s", seed, m)
		require.Empty(t, fxtest.SameArrays(interpret(t, m, in), got), "%d: %s", seed, m)
		require.Zero(t, first.live.Load())
	}
}

// The models of package cases, with control flow, state, opaque functions and sizes from
// data, over two targets.
func TestSplitCases(t *testing.T) {
	for i, c := range append(cases.All(), cases.Writes()...) {
		t.Run(c.Name, func(t *testing.T) {
			untyped := c.Untyped || c.Opts == nil
			for seed, percent := range []int{0, 30, 50, 70, 100} {
				fresh := append(cases.All(), cases.Writes()...)[i] // state is written
				gm, err := fx.Trace(ctx, fresh.Fn, fresh.Opts...)
				require.NoError(t, err)
				e, err := lowering.Split{First: share(uint64(seed*31+i), percent), Rest: cpu.Target{}}.Pieces(gm.Module, lowering.Options{Exact: !untyped}) // exact views run here, without types
				if untyped {
					var l diag.List
					require.True(t, errors.As(err, &l), "%v", err)
					require.ErrorIs(t, err, lowering.UnknownSize)
					continue
				}
				require.NoError(t, err)
				for _, in := range fresh.Inputs {
					want := clones(arrays(fresh.Eager(in)))
					got, err := e.Run(ctx, arrays(in))
					require.NoError(t, err, "%s", e.Module())
					if d := fxtest.CloseArrays(want, got); d != "" {
						t.Fatalf("%d %%: %s\n%s\n%s", percent, d, gm.Module, e.Module())
					}
				}
			}
		})
	}
}

func arrays(in []*tensor.Tensor) []*array.Array {
	out := make([]*array.Array, len(in))
	for i, x := range in {
		out[i] = x.Array()
	}
	return out
}

func clones(in []*array.Array) []*array.Array {
	out := make([]*array.Array, len(in))
	for i, a := range in {
		out[i] = array.Clone(a)
	}
	return out
}

// What writes state, and views of it, run here, in their order; executables do not
// share what they write with the module.
func TestSplitState(t *testing.T) {
	m := parse(t, `
graph g(%x: f32[2]) {
  %s = get_attr[s] : f32[2]
  %v = call_function[narrow](%s) {dim=0, start=0, length=1} : f32[1]
  %a = call_function[add](%s, %x) : f32[2]
  %w = call_function[assign](%s, %a) : f32[2]
  %b = call_function[relu](%v) : f32[1]
  %c = call_function[neg](%w) : f32[2]
  return (%a, %b, %c, %s, %v)
}
param s : f32[2] buffer
`)
	m.SetParam(graph.Param{Path: "s", Buffer: true, Value: array.FromSlice([]float32{1, 2}, 2)})
	other := graph.Clone(m)
	e := pieces(t, m, only("add", "relu", "narrow"), lowering.Options{})
	for i := range 3 {
		in := []*array.Array{array.FromSlice([]float32{float32(i), 10}, 2)}
		want := clones(interpret(t, other, in))
		got, err := e.Run(ctx, in)
		require.NoError(t, err)
		fxtest.Same(t, "state", want, got)
		require.Equal(t, array.Data[float32](want[3]), array.Data[float32](e.State("s")))
	}
	require.Equal(t, []float32{1, 2}, array.Data[float32](m.Param("s").Value))
	require.Nil(t, e.State("none"))
	here := map[string]string{}
	for _, f := range e.Stats().Fallback {
		here[f.Node] = f.On + ": " + f.Reason
	}
	require.Equal(t, map[string]string{"v": "here: it is a view of state that is written", "w": "here: it writes state", "c": "cpu: npu: only add, relu, narrow"}, here)

	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 20 {
				_, err := e.Run(ctx, []*array.Array{array.FromSlice([]float32{1, 0}, 2)})
				require.NoError(t, err)
			}
		})
	}
	wait.Wait()
	require.Equal(t, float32(1+0+1+2+80), array.Data[float32](e.State("s"))[0])
}

// A tensor that may be replaced is read in each run.
func TestSplitLive(t *testing.T) {
	m := mixedModule(t)
	m.Graph.Find("w").SetLive(true)
	e := pieces(t, m, only("linear"), lowering.Options{Exact: true})
	in := []*array.Array{array.FromSlice([]float32{1, 2, 3, 4}, 1, 4)}
	for range 2 {
		got, err := e.Run(ctx, in)
		require.NoError(t, err)
		fxtest.Same(t, "live", interpret(t, m, in), got)
		var g op.Gen
		m.SetParam(graph.Param{Path: "w", Value: g.Uniform(5, 6, 4, 4)})
	}
}

// Control flow goes where all of it can; sizes that are found in a run go along.
func TestSplitControl(t *testing.T) {
	m := parse(t, `
graph g(%p: bool[], %x: f32[N]) {
  symbol N = dim(%x, 0)
  %a = call_function[neg](%x) : f32[N]
  %y = call_function[cond](%p, %a) : f32[N] {
    region(%r: f32[N]) {
      %e = call_function[exp](%r)
      return %e
    }
    region(%r: f32[N]) {
      %f = call_function[neg](%r)
      return %f
    }
  }
  %z = call_function[neg](%y) : f32[N]
  return %z
}
`)
	e := pieces(t, m, only("neg", "cond"), lowering.Options{})
	require.Contains(t, e.String(), "%y on cpu: %e inside of it: npu: only neg, cond")
	require.Len(t, e.Stats().Parts, 3)
	whole := pieces(t, m, only("neg", "cond", "exp"), lowering.Options{})
	require.Len(t, whole.Stats().Parts, 1)
	for _, p := range []bool{true, false} {
		in := []*array.Array{array.Scalar(p), array.FromSlice([]float32{1, -2, 3}, 3)}
		for _, e := range []*lowering.Pieces{e, whole} {
			got, err := e.Run(ctx, in)
			require.NoError(t, err)
			fxtest.Close(t, "cond", interpret(t, m, in), got)
		}
	}
}

// Every network, over two targets, for a few predicates.
func TestSplitModels(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: networks take seconds, and minutes under the race detector")
	}
	predicates := map[string]picky{
		"products":    only("linear", "matmul", "conv2d", "bmm", "baddbmm"),
		"elementwise": {name: "npu", supports: func(n *graph.Node) (bool, string) { return n.Op().Class == op.Elementwise, "not elementwise" }},
		"half":        share(5, 50),
	}
	for _, model := range models.All() {
		t.Run(model.Name, func(t *testing.T) {
			ref := fxtest.LoadFixture(t, model.Name)
			ref.SkipLarge(t)
			module := model.New()
			models.Synthetic(model, module, "gofx-1")
			p := tracer.Tracer{}
			for _, in := range model.Inputs {
				p.Inputs = append(p.Inputs, tracer.Input{Name: in.Name, Type: in.ShapeType()})
			}
			m, err := p.Trace(ctx, module)
			require.NoError(t, err)
			x, err := model.SyntheticInputs("gofx-1")
			require.NoError(t, err)
			for name, first := range predicates {
				e := pieces(t, m, first, lowering.Options{})
				got, err := e.Run(ctx, arrays(x))
				require.NoError(t, err, name)
				ref.Check(t, got)
				t.Log(name, len(e.Stats().Parts), "parts", len(e.Stats().Fallback), "fallbacks", e.Stats().In, e.Stats().Out)
			}
		})
	}
}
