package onnx

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

// rounds runs a model and returns its results and how often an operator has run. A plan
// must have the same results.
func rounds(t *testing.T, src string, o *op.Op, in ...*array.Array) (out []*array.Array, times int) {
	t.Helper()
	m, err := fromText(head + src).Import(Options{})
	require.NoError(t, err)
	require.NoError(t, graph.Lint(m.Graph).Err())
	p := interp.Interpreter{State: interp.NewState(m), CallFunction: func(n *graph.Node, in []interp.Result, next func([]interp.Result) (interp.Result, error)) (interp.Result, error) {
		if n.Op() == o {
			times++
		}
		return next(in)
	}}
	out, err = p.RunArrays(context.Background(), in)
	require.NoError(t, err)
	exe, err := cpu.Compile(m, lowering.Options{})
	require.NoError(t, err)
	defer exe.Close()
	planned, err := exe.Run(context.Background(), in)
	require.NoError(t, err)
	require.Len(t, planned, len(out))
	for i := range out {
		require.Equal(t, out[i].Shape(), planned[i].Shape())
		require.Equal(t, array.Bytes(array.Contiguous(out[i])), array.Bytes(array.Contiguous(planned[i])))
	}
	return out, times
}

// A round of a Loop with results of each round, whose number is known when it runs only,
// is computed once if the condition does not depend on the round's results. The
// expensive part of these rounds is Neg.
func TestRoundsAreComputedOnce(t *testing.T) {
	yes, no := array.Scalar(true), array.Scalar(false)
	x := array.FromSlice([]float32{1, 2})
	for name, c := range map[string]struct {
		src    string
		in     []*array.Array
		rounds int
	}{
		"the condition that comes in": {`(int64 n, bool go, float[2] x) => (float[2] y, float["m",2] all) { y, all = Loop<body = b (int64 i, bool c, float[2] v) =>
			(bool c, float[2] w, float[2] w) { w = Neg(v) }>(n, go, x) }`, []*array.Array{single(3), yes, x}, 3},
		"it is false": {`(int64 n, bool go, float[2] x) => (float[2] y, float["m",2] all) { y, all = Loop<body = b (int64 i, bool c, float[2] v) =>
			(bool c, float[2] w, float[2] w) { w = Neg(v) }>(n, go, x) }`, []*array.Array{single(3), no, x}, 0},
		"a constant": {`(int64 n, float[2] x) => (float[2] y, float["m",2] all) <bool t = {1}> { y, all = Loop<body = b (int64 i, bool c, float[2] v) =>
			(bool d, float[2] w, float[2] w) { w = Neg(v) d = Identity(t) }>(n, _, x) }`, []*array.Array{single(2), x}, 2},
		"a constant that ends": {`(int64 n, float[2] x) => (float[2] y, float["m",2] all) <bool t = {0}> { y, all = Loop<body = b (int64 i, bool c, float[2] v) =>
			(bool d, float[2] w, float[2] w) { w = Neg(v) d = Identity(t) }>(n, _, x) }`, []*array.Array{single(5), x}, 1},
		"a constant that ends none": {`(int64 n, float[2] x) => (float[2] y, float["m",2] all) <bool t = {0}> { y, all = Loop<body = b (int64 i, bool c, float[2] v) =>
			(bool d, float[2] w, float[2] w) { w = Neg(v) d = Identity(t) }>(n, _, x) }`, []*array.Array{single(-2), x}, 0},
		"one round": {`(float[2] x) => (float[2] y, float["m",2] all) <bool t = {0}> { y, all = Loop<body = b (int64 i, bool c, float[2] v) =>
			(bool d, float[2] w, float[2] w) { w = Neg(v) d = Identity(t) }>(_, _, x) }`, []*array.Array{x}, 1},
		"one round or none": {`(bool go, float[2] x) => (float[2] y, float["m",2] all) <bool t = {0}> { y, all = Loop<body = b (int64 i, bool c, float[2] v) =>
			(bool d, float[2] w, float[2] w) { w = Neg(v) d = Identity(t) }>(_, go, x) }`, []*array.Array{no, x}, 0},
		"from the round": {`(int64 n, int64 k, float[2] x) => (float[2] y, float["m",2] all) { y, all = Loop<body = b (int64 i, bool c, float[2] v) =>
			(bool d, float[2] w, float[2] w) { w = Neg(v) d = Less(i, k) }>(n, _, x) }`, []*array.Array{single(9), single(2), x}, 3},
		"from outside": {`(int64 n, bool on, float[2] x) => (float[2] y, float["m",2] all) { y, all = Loop<body = b (int64 i, bool c, float[2] v) =>
			(bool d, float[2] w, float[2] w) { w = Neg(v) d = And(c, on) }>(n, _, x) }`, []*array.Array{single(4), no, x}, 1},
		"from a counter": {`(int64 k, int64 from, float[2] x) => (int64 last, float[2] y, float["m",2] all) <int64 one = {1}> { last, y, all = Loop<body = b (int64 i, bool c, int64 j, float[2] v) =>
			(bool d, int64 next, float[2] w, float[2] w) { w = Neg(v) next = Add(j, one) d = Less(next, k) }>(_, _, from, x) }`, []*array.Array{single(7), single(3), x}, 4},
		"from a size": {`(float["N",2] z, float[2] x) => (float[2] y, float["m",2] all) <bool t = {0}> { s = Shape<start = 0, end = 1>(z) n = Squeeze(s) y, all = Loop<body = b (int64 i, bool c, float[2] v) =>
			(bool d, float[2] w, float[2] w) { w = Neg(v) d = Identity(t) }>(n, _, x) }`, []*array.Array{array.New(array.F32, 0, 2), x}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			out, times := rounds(t, c.src, std.Neg, c.in...)
			require.Equal(t, c.rounds, times)
			all := out[len(out)-1]
			require.Equal(t, []int{c.rounds, 2}, all.Shape())
			want := []float32{-1, -2, 1, 2, -1, -2, 1, 2}
			require.Equal(t, want[:2*c.rounds], append([]float32{}, array.Data[float32](array.Contiguous(all))...))
		})
	}
}

// If the condition depends on a round's results, those are computed twice, and the rest
// of the round once.
func TestRoundsThatDecideAreCounted(t *testing.T) {
	src := `(int64 top, int64 x) => (int64 last, int64["m"] all) { last, all = Loop<body = b (int64 i, bool c, int64 v) =>
		(bool d, int64 w, int64 r) { w = Add(v, v) r = Neg(w) d = Less(w, top) }>(_, _, x) }`
	out, times := rounds(t, src, std.Neg, single(20), single(3))
	require.Equal(t, []int64{-6, -12, -24}, array.Data[int64](out[1]))
	require.Equal(t, 3, times)
}
