package cpu_test

import (
	"bytes"
	"context"
	"runtime/pprof"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

const profiled = `gofx 1

graph net(%x: f32[N,256]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[256,256]
  %h = call_function[linear](%x, %w, _)
  %t = call_function[transpose](%h) {dim0=0, dim1=1}
  %y = call_function[softmax](%t) {dim=1}
  return %y
}
param w : f32[256,256]
`

func TestProfileTellsWhatStepsTake(t *testing.T) {
	m, err := graph.Parse([]byte(profiled), "net.fx")
	require.NoError(t, err)
	m.SetParam(graph.Param{Path: "w", Value: array.New(array.F32, 256, 256)})
	e, err := cpu.Compile(m, lowering.Options{Threads: 1, Shapes: map[string]int{"N": 64}})
	require.NoError(t, err)
	defer e.Close()
	in := []*array.Array{array.New(array.F32, 64, 256)}

	times, err := e.Profile(context.Background(), in, 3)
	require.NoError(t, err)

	require.Len(t, times, len(e.Plan().Steps))
	ops := map[string]cpu.StepTime{}
	for i, s := range times {
		require.Same(t, &e.Plan().Steps[i], s.Step)
		ops[s.Step.Op] = s
	}
	require.Equal(t, int64(2*64*256*256), ops["linear"].Flops)
	require.Positive(t, ops["linear"].Time)
	require.GreaterOrEqual(t, ops["linear"].Bytes, int64(4*(64*256*2+256*256)))
	require.Zero(t, ops["transpose"].Bytes)

	// Runs that nobody profiles have no labels, which allocate.
	out := []*array.Array{array.New(array.F32, 256, 64)}
	require.NoError(t, e.RunInto(context.Background(), out, in))
	require.Zero(t, testing.AllocsPerRun(3, func() { _ = e.RunInto(context.Background(), out, in) }))
	_, err = e.Profile(context.Background(), nil, 1)
	require.Error(t, err)
}

// labelled is a step that keeps the labels of the goroutine that runs it, as
// runtime/pprof would put them next to a sample.
type labelled struct{ seen *string }

func (l labelled) Run(_ *kernel.Workspace, out, in []*array.Array) {
	copy(array.Data[float32](out[0]), array.Data[float32](in[0]))
	var text bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&text, 1)
	for one := range strings.SplitSeq(text.String(), "\n\n") {
		if strings.Contains(one, "labelled.Run") {
			_, *l.seen, _ = strings.Cut(one, "# labels: ")
			*l.seen, _, _ = strings.Cut(*l.seen, "\n")
		}
	}
}

var (
	labelsSeen string
	labelledOp = op.Define("labelled", op.Spec[struct{}]{
		Doc: "labelled is its operand.", In: op.Args("x"),
		Infer:  func(_ *op.Infer, _ struct{}, in []shape.Type) (shape.Type, error) { return in[0], nil },
		Kernel: func(struct{}, []shape.Type) kernel.Step { return labelled{&labelsSeen} },
	})
)

func TestOnlyProfiledRunsHaveLabels(t *testing.T) {
	m := module(t, "graph net(%x: f32[4]) {\n %y = call_function["+labelledOp.Key()+"](%x)\n return %y\n}\n")
	e := compile(t, m, lowering.Options{Threads: 1})
	in := []*array.Array{array.New(array.F32, 4)}
	_, err := e.Profile(ctx, in, 1)
	require.NoError(t, err)
	require.JSONEq(t, `{"op":"labelled", "scope":""}`, labelsSeen)
	_, err = e.Run(ctx, in)
	require.NoError(t, err)
	require.Empty(t, labelsSeen)
}

// What Cost counts is what the executable holds, and what Profile measures.
func TestCostIsOfTheStepsThatRun(t *testing.T) {
	m, err := graph.Parse([]byte(profiled), "net.fx")
	require.NoError(t, err)
	m.SetParam(graph.Param{Path: "w", Value: array.New(array.F32, 256, 256)})
	e, err := cpu.Compile(m, lowering.Options{Threads: 1})
	require.NoError(t, err)
	defer e.Close()
	for _, n := range []int{1, 64, 300} {
		sizes := map[string]int{"N": n}
		w, err := e.Cost(sizes)
		require.NoError(t, err)
		peak, err := e.PeakBytes(sizes)
		require.NoError(t, err)
		require.Equal(t, peak, w.Memory.Arena+w.Memory.Scratch)
		require.EqualValues(t, 4*256*n, w.Memory.Inputs)
		require.EqualValues(t, 4*256*n, w.Memory.Outputs)
		require.Equal(t, e.Footprint().Packed, w.Memory.Weights, "the one weight is packed")
		require.Len(t, w.Steps, 2, "the transpose moves nothing")

		times, err := e.Profile(context.Background(), []*array.Array{array.New(array.F32, n, 256)}, 1)
		require.NoError(t, err)
		for _, s := range w.Steps {
			require.Equal(t, []int64{s.Flops, s.Bytes()}, []int64{times[s.At].Flops, times[s.At].Bytes})
			require.Equal(t, s.Nodes, times[s.At].Step.Nodes)
		}
	}
	_, err = e.Cost(nil)
	require.ErrorIs(t, err, lowering.BadOption)
}
