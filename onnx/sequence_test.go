package onnx

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/interp"
)

const head = `<ir_version: 8, opset_import: ["" : 17]> g `

// interpreted imports a model and runs it.
func interpreted(t *testing.T, src string, in ...*array.Array) []*array.Array {
	t.Helper()
	m, err := fromText(head + src).Import(Options{})
	require.NoError(t, err)
	require.Empty(t, graph.Lint(m.Graph).Err())
	p := interp.Interpreter{State: interp.NewState(m)}
	out, err := p.RunArrays(context.Background(), in)
	require.NoError(t, err)
	return out
}

func i64(v ...int64) *array.Array { return array.FromSlice(v) }

func single(v int64) *array.Array { return array.Scalar(v) }

// A Loop whose rounds are known only when it runs has results of each round, also when
// there are none.
func TestLoopOfUnknownRounds(t *testing.T) {
	src := `(int64 n, int64 x) => (int64 last, int64["m"] all) { last, all = Loop<body = b (int64 i, bool c, int64 v) => (bool c, int64 w, int64 r) {
		w = Add(v, i) r = Mul(w, w) }>(n, _, x) }`
	out := interpreted(t, src, single(4), single(10))
	require.Equal(t, int64(16), array.Int64At(out[0], 0))
	require.Equal(t, []int64{100, 121, 169, 256}, array.Data[int64](out[1]))
	out = interpreted(t, src, single(0), single(10))
	require.Equal(t, int64(10), array.Int64At(out[0], 0))
	require.Equal(t, []int{0}, out[1].Shape())
}

// A condition ends the rounds before their number does, or without one.
func TestLoopWithConditionAndResults(t *testing.T) {
	body := `Loop<body = b (int64 i, bool c, int64 v) => (bool go, int64 w, int64 r) { w = Add(v, v) r = Identity(v) go = Less(w, top) }>`
	for name, args := range map[string]string{"number": "(n, yes, x)", "no number": "(_, yes, x)"} {
		t.Run(name, func(t *testing.T) {
			src := `(int64 n, bool yes, int64 x, int64 top) => (int64 last, int64["m"] all) { last, all = ` + body + args + ` }`
			out := interpreted(t, src, single(9), array.Scalar(true), single(3), single(20))
			require.Equal(t, int64(24), array.Int64At(out[0], 0))
			require.Equal(t, []int64{3, 6, 12}, array.Data[int64](out[1]))
			out = interpreted(t, src, single(9), array.Scalar(false), single(3), single(20))
			require.Equal(t, int64(3), array.Int64At(out[0], 0))
			require.Equal(t, 0, out[1].Len())
		})
	}
}

func TestLoopThatNeverRuns(t *testing.T) {
	out := interpreted(t, `(float[2,3] x) => (float[2,3] last, float[0,2,3] all) <int64[1] n = {0}> { last, all = Loop<body = b (int64 i, bool c, float[2,3] v) => (bool c, float[2,3] w, float[2,3] w) {
		w = Add(v, v) }>(n, _, x) }`, array.New(array.F32, 2, 3))
	require.Equal(t, []int{2, 3}, out[0].Shape())
	require.Equal(t, []int{0, 2, 3}, out[1].Shape())
}

func TestSequencesAreTheirMembers(t *testing.T) {
	out := interpreted(t, `(int64[4] x, int64[1] y) => (int64[5] z, int64 n) <int64 first = {-5}, int64 last = {-1}, int64 two = {2}> {
		s = SplitToSequence<axis = 0>(x, two) s1 = SequenceInsert(s, y, last) s2 = SequenceErase(s1) s3 = SequenceInsert(s2, y) n = SequenceLength(s3)
		z = ConcatFromSequence<axis = 0>(s3) }`, i64(1, 2, 3, 4), i64(9))
	require.Equal(t, []int64{1, 2, 9, 9}, array.Data[int64](out[0]))
	require.Equal(t, int64(3), array.Int64At(out[1], 0))
}

// Inputs that are sequences have the length that the caller says, and no other.
func TestSequenceInput(t *testing.T) {
	m := parseText(head + `(float["N"] x) => (float["M"] y) { y = ConcatFromSequence<axis = 0>(x) }`)
	m.Graph.Inputs[0].Type = &pb.Type{Sequence: &pb.Elem{Type: m.Graph.Inputs[0].Type}}
	f, err := Parse(pb.Append(nil, m), "model.onnx")
	require.NoError(t, err)
	_, err = f.Import(Options{})
	require.ErrorIs(t, err, CodeValue)
	_, err = f.Import(Options{Lengths: map[string]int{"x": -3}})
	require.ErrorIs(t, err, CodeModel)
	values := map[string]*array.Array{"x[0]": array.FromSlice([]float32{1}), "x[1]": array.FromSlice([]float32{2, 3})}
	mod, bound, err := f.ImportFor(values, Options{})
	require.NoError(t, err)
	require.Empty(t, bound)
	p := interp.Interpreter{State: interp.NewState(mod)}
	out, err := p.RunArrays(context.Background(), f.Args(Sample{Inputs: values, Lengths: map[string]int{"x": 2}}, nil))
	require.NoError(t, err)
	require.Equal(t, []float32{1, 2, 3}, array.Data[float32](out[0]))
}

func TestSequencesRefused(t *testing.T) {
	for src, code := range map[string]diag.Code{
		`(int64[2] x) => (int64[2] y) <int64 k = {1}> { s = SequenceConstruct(x) y = SequenceAt(s, k) }`:                                                                                                                  CodeModel,
		`(int64[2] x, int64 k) => (int64[2] y) { s = SequenceConstruct(x) y = SequenceAt(s, k) }`:                                                                                                                         CodeValue,
		`(int64[2] x) => (int64[2] y) { s = SequenceConstruct(x) y = Add(s, x) }`:                                                                                                                                         CodeType,
		`(int64[2] x) => (int64[2] y) { y = SequenceAt(x, x) }`:                                                                                                                                                           CodeType,
		`(int64[2] x) => (int64[2] y) { s = SequenceEmpty() y = ConcatFromSequence<axis = 0>(s) }`:                                                                                                                        CodeModel,
		`(int64[2] x) => (int64[2] y) { s = SequenceEmpty() s2 = SequenceErase(s) y = SequenceLength(s2) }`:                                                                                                               CodeModel,
		`(int64[2] x) => (int64[2] y) { o = Optional() y = OptionalGetElement(o) }`:                                                                                                                                       CodeModel,
		`(int64["N"] x) => (int64 y) { s = SplitToSequence(x) y = SequenceLength(s) }`:                                                                                                                                    CodeValue,
		`(int64[2] x) => (int64[2] y) { y = Loop<body = b (int64 i, bool c, int64[2] v) => (bool c, int64[2] w) { w = Add(v, v) }>(_, _, x) }`:                                                                            CodeModel,
		`(int64 n, int64[2] x) => (int64 y) { s = SequenceEmpty() t = Loop<body = b (int64 i, bool c, int64[2] v) => (bool c, int64[2] w) { w = SequenceInsert(v, x) }>(n, _, s) y = SequenceLength(t) }`:                 CodeValue,
		`(int64[2] x) => (int64 y) <int64 n = {1000000000}> { s = SequenceEmpty() t = Loop<body = b (int64 i, bool c, int64[2] v) => (bool c, int64[2] w) { w = SequenceInsert(v, x) }>(n, _, s) y = SequenceLength(t) }`: CodeOperator,
	} {
		_, err := fromText(head + src).Import(Options{})
		require.ErrorIs(t, err, code, src)
	}
}

// A value computed from constants alone is a constant, also if its size follows from it.
func TestNonZeroOfConstantsIsFolded(t *testing.T) {
	m, err := fromText(head + `(int64[1,2] x) => (int64[1,2] y) <int64[4] c = {0, 3, 0, 5}> { k = NonZero(c) y = Mul(k, x) }`).Import(Options{})
	require.NoError(t, err)
	for n := range m.Graph.Nodes() {
		require.False(t, n.Op() != nil && n.Op().ByValue, n.String())
	}
}
