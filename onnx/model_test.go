package onnx

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
)

const reshapedText = `<ir_version: 8, opset_import: ["" : 17]> g (float["N",6] x, int64["K"] to) => (float["A","B"] y) { y = Reshape(x, to) }`

func inputsOf(n, a, b int) map[string]*array.Array {
	return map[string]*array.Array{"x": array.New(array.F32, n, 6), "to": array.FromSlice([]int64{int64(a), int64(b)})}
}

// A model whose ranks follow from an input is compiled for each of its values once, and
// keeps a bounded number of these.
func TestModelsAreBoundByValue(t *testing.T) {
	f := fromText(reshapedText)
	require.Equal(t, []string{"to"}, f.SizedBy(Options{}))
	m := NewModel(f, cpu.Target{}, ModelOptions{Most: 2})
	ctx := context.Background()
	run := func(n, a, b int, want ...int) {
		t.Helper()
		out, err := m.Run(ctx, inputsOf(n, a, b))
		require.NoError(t, err)
		require.Equal(t, want, out[0].Shape())
	}
	run(2, 3, 4, 3, 4)
	run(2, 4, 3, 4, 3)
	run(2, 3, 4, 3, 4)
	run(4, -1, 4, 6, 4)
	require.Equal(t, ModelStats{Held: 2, Compiled: 3, Evicted: 1, Runs: 4}, m.Stats())
	run(8, -1, 4, 12, 4) // the batch is no value
	run(2, 3, 4, 3, 4)
	require.Equal(t, ModelStats{Held: 2, Compiled: 3, Evicted: 1, Runs: 6}, m.Stats())

	_, err := m.Run(ctx, inputsOf(2, 5, 5))
	require.ErrorContains(t, err, "node \"Reshape_y\": reshape: 6*N must be 25")
	_, err = m.Run(ctx, map[string]*array.Array{"x": array.New(array.F32, 2, 6)})
	require.ErrorIs(t, err, CodeValue)
	_, err = m.Run(ctx, map[string]*array.Array{"x": array.New(array.F32, 2, 6), "z": array.New(array.F32), "to": nil})
	require.ErrorIs(t, err, interp.ExtraInput)
	require.ErrorIs(t, err, interp.MissingInput)

	// The caller may change the values afterwards.
	in := inputsOf(2, 2, 6)
	_, err = m.Run(ctx, in)
	require.NoError(t, err)
	array.Data[int64](in["to"])[0], array.Data[int64](in["to"])[1] = 6, 2
	out, err := m.Run(ctx, in)
	require.NoError(t, err)
	require.Equal(t, []int{6, 2}, out[0].Shape())
	require.NoError(t, m.Close())
	_, err = m.Run(ctx, in)
	require.ErrorIs(t, err, lowering.Closed)
}

// Runs that need other executables than are kept go on at the same time.
func TestModelsRunAtOnce(t *testing.T) {
	m := NewModel(fromText(reshapedText), cpu.Target{}, ModelOptions{Most: 1})
	var wg sync.WaitGroup
	for _, a := range []int{1, 2, 3, 4, 6} {
		wg.Go(func() {
			for range 20 {
				out, err := m.Run(context.Background(), inputsOf(2, a, -1))
				if err != nil || out[0].Dim(0) != a {
					t.Errorf("%d: %v", a, err)
				}
			}
		})
	}
	wg.Wait()
	s := m.Stats()
	require.Equal(t, int64(100), s.Runs)
	require.Equal(t, s.Compiled, s.Evicted+1)
	require.NoError(t, m.Close())
}

// A number never becomes a large constant: the constant is computed when the model runs,
// or for a range whose numbers are given then.
func TestNumbersAreNoLargeConstants(t *testing.T) {
	head := `<ir_version: 8, opset_import: ["" : 17]> g (float["N"] x) => (float["M"] y) <int64[1] n = {30000000}, float[1] o = {2.0}, float a = {0.0}, float b = {30000000.0}, float d = {1.0}> `
	for name, body := range map[string]string{
		"ConstantOfShape": `{ c = ConstantOfShape(n) y = Add(x, c) }`,
		"Expand":          `{ c = Expand(o, n) y = Add(x, c) }`,
		"Tile":            `{ c = Tile(o, n) y = Add(x, c) }`,
		"Range":           `{ c = Range(a, b, d) y = Add(x, c) }`,
		"NonZero":         `{ c = ConstantOfShape(n) i = NonZero(c) z = ReduceSum<keepdims = 0>(i) f = Cast<to = 1>(z) y = Add(x, f) }`,
	} {
		m, err := fromText(head + body).Import(Options{})
		require.NoError(t, err, name)
		require.Empty(t, graph.Lint(m.Graph), name)
		for _, p := range m.Params() {
			require.Less(t, p.Value.Len(), 1000, name)
		}
	}
}

// Ranges, and values computed from their length, run with numbers that come as inputs.
func TestRangesOfInputs(t *testing.T) {
	f := fromText(`<ir_version: 8, opset_import: ["" : 17]> g (int64 a, int64 b) => (float["M"] y, int64[1] n) <int64 d = {2}> {
		r = Range(a, b, d) y = Cast<to = 1>(r) n = Shape(r) }`)
	require.Empty(t, f.SizedBy(Options{}))
	m, err := f.Import(Options{})
	require.NoError(t, err)
	e, err := cpu.Compile(m, lowering.Options{})
	require.NoError(t, err)
	for _, b := range []int64{9, 3, 0} {
		out, err := e.Run(context.Background(), []*array.Array{array.Scalar(int64(2)), array.Scalar(b)})
		require.NoError(t, err)
		require.Equal(t, []int64{int64(out[0].Len())}, array.Data[int64](out[1]))
		require.Equal(t, max(0, int(b-1)/2), out[0].Len())
	}
}

// Errors that only the whole graph shows are the importer's to report: here branches whose
// results have other element types.
func TestImportLints(t *testing.T) {
	f := fromText(`<ir_version: 8, opset_import: ["" : 17]> g (bool c, float[2,3] x) => (float y) {
		y = If <then_branch = a () => (int64[2,3] p) { p = Cast<to = 7>(x) }, else_branch = b () => (float[2,3] q) { q = Neg(x) }> (c) }`)
	_, err := f.Import(Options{})
	require.ErrorIs(t, err, graph.BadRegions)
	require.ErrorContains(t, err, "model.onnx")
}
