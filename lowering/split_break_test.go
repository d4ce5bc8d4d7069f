package lowering_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/partition"
	"github.com/gofx-dev/gofx/tensor"
)

// notRelu leaves relu to the other target.
var notRelu = picky{name: "npu", supports: func(n *graph.Node) (bool, string) { return n.Op().Name != "relu", "no relu" }}

// Small programs that ask for what a cut easily loses.
func TestSplitPrograms(t *testing.T) {
	for name, text := range map[string]string{
		"two results of one call, one of them twice": `graph g(%x: f32[4]) {
  %t = call_function[split](%x) {sizes=[1,3], dim=0}
  %a = call_function[getitem](%t) {index=1}
  %b = call_function[getitem](%t) {index=0}
  %c = call_function[getitem](%t) {index=1}
  %d = call_function[relu](%a)
  return (%c, %a, %b, %d, %a)
}`,
		"no inputs": `graph g() {
  %a = call_function[ones]() {size=[3]}
  %b = call_function[relu](%a)
  %c = call_function[neg](%b)
  return (%c, %a)
}`,
		"a size that is an expression, and one that only comes along": `graph g(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %f = call_function[reshape](%x) {shape=[4*N]} : f32[4*N]
  %r = call_function[relu](%f) : f32[4*N]
  %u = call_function[reshape](%r) {shape=[2,2*N]} : f32[2,2*N]
  %v = call_function[neg](%u) : f32[2,2*N]
  return %v
}`,
		"an input as a result, and unused": `graph g(%x: f32[2], %y: f32[2]) {
  %a = call_function[relu](%x)
  return (%y, %a, %y)
}`,
		"values of other types": `graph g(%x: f32[2,3]) {
  %i = call_function[argmax](%x) {dim=[1]}
  %b = call_function[relu](%x)
  %c = call_function[cast](%b) {dtype=f16}
  %d = call_function[gt](%b) {other=0.5}
  return (%i, %c, %d)
}`,
	} {
		t.Run(name, func(t *testing.T) {
			m := parse(t, text+"\n")
			for n := 1; n <= 3; n++ {
				in, err := passes.Inputs(m.Graph, map[string]int{"N": n}, uint64(n))
				require.NoError(t, err)
				want := interpret(t, m, in)
				for _, first := range []picky{notRelu, only("relu"), only()} {
					got, err := pieces(t, m, first, lowering.Options{Exact: true}).Run(ctx, in)
					require.NoError(t, err)
					fxtest.Same(t, first.name, want, got)
				}
			}
		})
	}
}

var (
	mu  sync.Mutex
	log []float32
)

// noted is opaque, and has an effect.
func noted(x *tensor.Tensor) *tensor.Tensor {
	mu.Lock()
	defer mu.Unlock()
	log = append(log, tensor.Data[float32](x)[0])
	return x.Clone()
}

var note = tensor.Wrap(noted, tensor.Signature("f32[N] -> f32[N]"))

// A call for its effect alone runs once, in its place, wherever it is.
func TestSplitEffects(t *testing.T) {
	gm, err := fx.Trace(ctx, func(x *tensor.Tensor) *tensor.Tensor {
		note(x)
		y := x.Relu()
		note(y.AddScalar(1))
		return note(y.Exp()).Neg()
	}, fx.Input("x", "f32[N]"))
	require.NoError(t, err)
	for _, first := range []picky{notRelu, only("relu", "neg"), only("exp", "add")} {
		log = nil
		e := pieces(t, gm.Module, first, lowering.Options{Exact: true})
		got, err := e.Run(ctx, []*array.Array{array.FromSlice([]float32{-1, 0}, 2)})
		require.NoError(t, err)
		require.Equal(t, []float32{-1, -1}, array.Data[float32](got[0]))
		require.Equal(t, []float32{-1, 1, 1}, log, "%s", e)
	}
}

// Many goroutines may run one executable.
func TestSplitGoroutines(t *testing.T) {
	m := mixedModule(t)
	e := pieces(t, m, only("linear", "add"), lowering.Options{Exact: true, Threads: 1})
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() {
			var g op.Gen
			in := []*array.Array{g.Normal(1+i, 4)}
			want := interpret(t, m, in)
			for range 20 {
				got, err := e.Run(ctx, in)
				if err != nil || fxtest.SameArrays(want, got) != "" {
					t.Error("results differ", err)
				}
			}
		})
	}
	wait.Wait()
	require.EqualValues(t, 80, e.Stats().Runs)
}

// Parts that were made before are inlined, and cut again.
func TestSplitOfParts(t *testing.T) {
	m := mixedModule(t)
	in := []*array.Array{array.FromSlice([]float32{1, -2, 3, -4}, 1, 4)}
	want := interpret(t, m, in)
	p, err := partition.Propose(m.Graph, notRelu.supports, partition.Options{})
	require.NoError(t, err)
	_, err = partition.Fuse(m, p.Parts...)
	require.NoError(t, err)
	var target lowering.Target = lowering.Split{First: only("linear"), Rest: lowering.Split{First: only("relu"), Rest: cpu.Target{}}}
	require.Empty(t, lowering.Query(target, mixedModule(t).Graph))
	e, err := target.Compile(m, lowering.Options{Exact: true})
	require.NoError(t, err)
	got, err := e.Run(ctx, in)
	require.NoError(t, err)
	fxtest.Same(t, "split of a split", want, got)
}

// empty is a target of which a result, or the executable, is nil.
type empty struct {
	picky
	nothing, resident bool
}

func (e empty) Compile(m *graph.Module, o lowering.Options) (lowering.Executable, error) {
	x, err := e.picky.Compile(m, o)
	switch {
	case e.nothing:
		return nil, err
	case e.resident:
		return hollowResident{hollow{x}}, err
	}
	return hollow{x}, err
}

type hollow struct{ lowering.Executable }

func (hollow) Run(context.Context, []*array.Array) ([]*array.Array, error) {
	return make([]*array.Array, 1), nil
}

type hollowResident struct{ hollow }

func (hollowResident) Put(context.Context, *array.Array) (lowering.Value, error) { return nil, nil }

func (hollowResident) RunValues(context.Context, []lowering.Value) ([]lowering.Value, error) {
	return make([]lowering.Value, 1), nil
}

// TestTargetsThatGiveNothing: what a user's target leaves out is an error that names it, on either side of a split.
func TestTargetsThatGiveNothing(t *testing.T) {
	m := parse(t, `
graph g(%x: f32[2]) {
  %a = call_function[relu](%x) : f32[2]
  %b = call_function[exp](%a) : f32[2]
  %c = call_function[relu](%b) : f32[2]
  return (%c, %b)
}
`)
	relu, others := only("relu"), picky{name: "npu", supports: func(n *graph.Node) (bool, string) { return true, "" }}
	for _, split := range []lowering.Split{
		{First: empty{picky: relu}, Rest: cpu.Target{}},
		{First: empty{picky: relu, resident: true}, Rest: cpu.Target{}},
		{First: only("exp"), Rest: empty{picky: others}},
		{First: only("exp"), Rest: empty{picky: others, resident: true}},
	} {
		e, err := split.Pieces(m, lowering.Options{})
		require.NoError(t, err)
		_, err = e.Run(ctx, []*array.Array{array.New(array.F32, 2)})
		require.ErrorIs(t, err, lowering.BadOutput)
		require.ErrorContains(t, err, "on npu: result 0 of the target is missing")
		require.NoError(t, e.Close())
	}
	_, err := lowering.Split{First: empty{picky: relu, nothing: true}, Rest: cpu.Target{}}.Pieces(m, lowering.Options{})
	require.ErrorContains(t, err, "on npu: internal error: the target compiles to nil")
}
