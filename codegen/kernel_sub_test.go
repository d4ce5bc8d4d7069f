package codegen_test

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/codegen/internal/golden/kernel_calls"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/simplify"
)

// callsText calls sub-graphs: as modules with weights of their own, at two sizes, from
// another sub-graph and from a body, with several results, and one that writes state.
const callsText = `
graph calls(%x: f32[N,4], %y: f32[M,4]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%y, 0)
  %a = call_module[l0](%x) : f32[N,4]
  %b = call_module[l1](%a) : f32[N,4]
  %c = call_module[l0](%y) : f32[M,4]
  %pair = call_function[call](%b, %c) {graph="both"} : (f32[N,4], f32[4])
  %p = call_function[getitem](%pair) {index=0} : f32[N,4]
  %q = call_function[getitem](%pair) {index=1} : f32[4]
  %seen = call_function[call](%q) {graph="count"} : f32[4]
  %half = call_function[sum](%seen) : f32[]
  %positive = call_function[gt](%half) {other=0.0} : bool[]
  %cond = call_function[cond](%positive, %p) : f32[N,4] {
    region(%u: f32[N,4]) {
      %r = call_module[l1](%u) : f32[N,4]
      return %r
    }
    region(%u: f32[N,4]) {
      %r = call_function[neg](%u) : f32[N,4]
      return %r
    }
  }
  return (%cond, %seen)
}
subgraph layer(%h: f32[B,4], %w: f32[4,4], %b: f32[4]) {
  symbol B = dim(%h, 0)
  %fc = call_function[linear](%h, %w, %b) : f32[B,4]
  %act = call_function[gelu](%fc) : f32[B,4]
  %norm = call_function[softmax](%act) {dim=-1} : f32[B,4]
  return %norm
}
subgraph both(%u: f32[P,4], %v: f32[Q,4]) {
  symbol P = dim(%u, 0)
  symbol Q = dim(%v, 0)
  %n = call_module[l1](%u) : f32[P,4]
  %m = call_function[mean](%v) {dim=[0]} : f32[4]
  %s = call_function[add](%n, %m) : f32[P,4]
  return (%s, %m)
}
subgraph count(%z: f32[4]) {
  %calls = get_attr[calls] live : f32[4]
  %next = call_function[add](%calls, %z) : f32[4]
  %kept = call_function[assign](%calls, %next) : f32[4]
  return %kept
}
param calls : f32[4] buffer
param l0.w : f32[4,4]
param l0.b : f32[4]
param l1.w : f32[4,4]
param l1.b : f32[4]
module l0 = call {graph="layer"} (w=l0.w, b=l0.b)
module l1 = call {graph="layer"} (w=l1.w, b=l1.b)
`

// TestKernelOfSubGraphs keeps the printed form of calls of sub-graphs, which equals
// the printed form of the same graph without calls, and compares its results with the
// interpreter's.
func TestKernelOfSubGraphs(t *testing.T) {
	m := kernelModule(t, callsText)
	require.NoError(t, graph.Lint(m.Graph).Err())
	print := func(m *graph.Module) map[string]string {
		e, err := cpu.Compile(m, lowering.Options{})
		require.NoError(t, err)
		files, err := codegen.Kernel(e.Plan(), state(m), codegen.KernelOptions{Package: "kernel_calls", Weights: codegen.WeightsLiteral})
		require.NoError(t, err)
		checkStyle(t, files)
		text := map[string]string{}
		for _, f := range files.List {
			text[f.Name] = string(f.Data)
		}
		return text
	}
	text := print(m)
	flat := graph.Clone(m)
	_, err := passes.Run(background, flat, []passes.Pass{simplify.Inline}, passes.Options{})
	require.NoError(t, err)
	require.Empty(t, flat.Subs())
	require.True(t, maps.Equal(print(flat), text), "it is another text without calls")

	for name, have := range text {
		file := filepath.Join("internal", "golden", "kernel_calls", name)
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(have), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err, "run the test with -update")
		require.Equal(t, string(want), have)
	}

	var g op.Gen
	x, y := g.Normal(3, 4), g.Normal(2, 4)
	net, err := kernel_calls.New()
	require.NoError(t, err)
	held, err := net.NewState()
	require.NoError(t, err)
	reference := interp.Interpreter{State: interp.NewState(graph.Clone(m))}
	for range 3 { // the state goes on
		cond, seen, err := net.Forward(background, held, array.Dense[float32]{Array: x}, array.Dense[float32]{Array: y})
		require.NoError(t, err)
		want, err := reference.RunArrays(background, []*array.Array{x, y})
		require.NoError(t, err)
		for i, a := range []*array.Array{cond.Array, seen.Array} {
			require.Empty(t, passes.Differ(a, want[i], 1e-5, 1e-6))
		}
	}
}
