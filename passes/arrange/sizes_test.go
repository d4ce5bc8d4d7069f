package arrange_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/internal/testkit/repo"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/onnx"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/arrange"
)

// TestMoves_sizesThatAreOneForSmallSymbols: where all sizes that one would try make a dimension
// of size 1, a permutation of it looks as if it did nothing. The first case is what text
// recognisers do: the passes dropped its second permute.
func TestMoves_sizesThatAreOneForSmallSymbols(t *testing.T) {
	for _, c := range []struct{ name, body string }{
		{"windows", `%p = call_function[max_pool1d](%x) {kernel_size=[1], stride=[64]}
  %q = call_function[permute](%p) {dims=[0,2,1]}
  %r = call_function[relu](%q)
  %t = call_function[permute](%r) {dims=[1,0,2]}
  %y = call_function[reshape](%t) {shape=[-1,1,16]}`},
		{"reshape only", `%p = call_function[slice](%x) {dim=2, stop=9223372036854775807, step=300}
  %q = call_function[permute](%p) {dims=[2,0,1]}
  %y = call_function[reshape](%q) {shape=[2,8,-1]}`},
		{"undone by a reshape", `%p = call_function[slice](%x) {dim=2, stop=9223372036854775807, step=64}
  %q = call_function[permute](%p) {dims=[2,1,0]}
  %r = call_function[neg](%q)
  %y = call_function[reshape](%r) {shape=[(S-1)//64+1,8,2]}`},
		{"remainder", `%p = call_function[slice](%x) {dim=2, start=0, stop=S-240*(S//240)}
  %q = call_function[transpose](%p) {dim0=1, dim1=2}
  %r = call_function[reshape](%q) {shape=[2,-1]}
  %y = call_function[relu](%r)`},
		{"product", `%f = call_function[flatten](%x) {start_dim=1, end_dim=2}
  %p = call_function[slice](%f) {dim=1, stop=9223372036854775807, step=2000}
  %q = call_function[t](%p)
  %y = call_function[reshape](%q) {shape=[2,-1]}`},
		{"across", `%p = call_function[slice](%x) {dim=2, stop=9223372036854775807, step=64}
  %q = call_function[permute](%p) {dims=[2,0,1]}
  %u = call_function[unsqueeze](%q) {dim=0}
  %r = call_function[relu](%u)
  %y = call_function[reshape](%r) {shape=[2,(S-1)//64+1,8]}`},
	} {
		m, err := graph.Parse([]byte("gofx 1\n\ngraph g(%x: f32[2,8,S]) {\n  symbol S = dim(%x, 2)\n  "+c.body+"\n  return %y\n}\n"), "sizes.fx")
		require.NoError(t, err, c.name)
		done := graph.Clone(m)
		_, err = passes.Run(context.Background(), done, fx.Optimise(), passes.Options{})
		require.NoError(t, err, c.name)
		exe, err := cpu.Compile(done, lowering.Options{})
		require.NoError(t, err, c.name)
		for _, size := range []int{1, 7, 64, 65, 200, 239, 241, 520, 700} {
			in := inputs(t, m, map[string]int{"S": size}, 1)
			want := results(t, m, in)
			require.Empty(t, fxtest.SameArrays(want, results(t, done, in)), "%s, S = %d\n%s\nbecame\n%s", c.name, size, m, done)
			got, err := exe.Run(context.Background(), in)
			require.NoError(t, err)
			require.Empty(t, fxtest.SameArrays(want, got), "%s, S = %d", c.name, size)
		}
	}
}

// TestMoves_reshapesThatOnlyMoveOnes: such a reshape is a permutation, too, but names sizes that
// an operand which broadcasts has not.
func TestMoves_reshapesThatOnlyMoveOnes(t *testing.T) {
	m, err := graph.Parse([]byte(`gofx 1

graph g(%x: f32[5,1,N]) {
  symbol N = dim(%x, 2)
  %a = call_function[reshape](%x) {shape=[1,5,N]}
  %s = call_function[slice](%a) {dim=1, stop=1}
  %b = call_function[maximum](%a, %s)
  %y = call_function[reshape](%b) {shape=[5,1,N]}
  return %y
}
`), "ones.fx")
	require.NoError(t, err)
	done := graph.Clone(m)
	report, err := passes.Run(context.Background(), done, []passes.Pass{arrange.Moves}, passes.Options{})
	require.NoError(t, err)
	require.Positive(t, report.Matches("moves"))
	for _, size := range []int{1, 5, 7} {
		in := inputs(t, m, map[string]int{"N": size}, 1)
		require.Empty(t, fxtest.SameArrays(results(t, m, in), results(t, done, in)), "N = %d\n%s", size, done)
	}
}

// TestReportedFile is the file in which this was found, a part of a text recogniser.
func TestReportedFile(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	data, err := os.ReadFile(filepath.Join(root, "..", "shared", "reports", "real", "moves_repro.onnx"))
	if err != nil {
		t.Skip("no folder shared/reports next to this checkout")
	}
	f, err := onnx.Parse(data, "moves_repro.onnx")
	require.NoError(t, err)
	m, err := f.Import(onnx.Options{})
	require.NoError(t, err)
	done := graph.Clone(m)
	_, err = passes.Run(context.Background(), done, fx.Optimise(), passes.Options{})
	require.NoError(t, err)
	exe, err := cpu.Compile(done, lowering.Options{})
	require.NoError(t, err)
	for _, size := range []int{8, 200, 1000} {
		in := inputs(t, m, map[string]int{"seq": size}, 1)
		got, err := exe.Run(context.Background(), in)
		require.NoError(t, err)
		require.Empty(t, fxtest.SameArrays(results(t, m, in), got), "seq = %d", size)
	}
}
