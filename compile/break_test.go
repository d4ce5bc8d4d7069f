package compile_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/compile/state"
	"github.com/gofx-dev/gofx/tensor"
)

type weightIn struct {
	M *weighted
	X *tensor.Tensor
}

type weighted struct{ W *tensor.Tensor }

var weightTable = state.Table{Func: pkg + ".weighted", Receiver: true, Fields: []state.Field{field("weighted", "W", tensorName, state.Load)}}

// Go code that was given a weight's memory writes to it without a word.
func TestWeightInMemoryOfGoCode(t *testing.T) {
	j := newJudge(t, weightTable, func(in *weightIn, out *oneOut) { out.R = in.X.Matmul(in.M.W) }, func() weightIn {
		return weightIn{&weighted{tensor.Param(array.FromSlice([]float32{1, 2, 3, 4}, 2, 2))}, tensor.Ones(2, 2)}
	})
	for i := range 4 {
		j.each(func(in *weightIn) { in.M.W.Value().(*array.Array).Storage().Bytes()[i*4+2] ^= 0x40 }).call()
	}
	require.Equal(t, 3, j.f.Stats().Hits, "%s", text(t, j.f))
}

// Reshape of a transposed tensor is a copy, of a dense one a view.
func TestLayoutOfInputs(t *testing.T) {
	dense := func(in *xIn) { in.X = vec(1, 2, 3, 4).Reshape(2, 2) }
	across := func(in *xIn) { in.X = vec(1, 2, 3, 4).Reshape(2, 2).Transpose(0, 1) }
	t.Run("view", func(t *testing.T) {
		j := newJudge(t, state.Table{Func: "f"}, func(in *xIn, out *oneOut) { out.R = in.X.Reshape(4) }, func() xIn { return xIn{vec(1, 2, 3, 4).Reshape(2, 2)} })
		for _, f := range []func(*xIn){dense, dense, across, across, dense, across} {
			j.each(f).call()
		}
	})
	t.Run("write", func(t *testing.T) {
		table := state.Table{Func: "f", InPlace: pairTable.InPlace}
		j := newJudge(t, table, func(in *xIn, out *oneOut) { out.R = in.X.Reshape(4).AddScalarInPlace(1) }, func() xIn { return xIn{vec(1, 2, 3, 4).Reshape(2, 2)} })
		for _, f := range []func(*xIn){across, across, dense, dense, across, dense} {
			j.each(f).call()
		}
	})
}

type point struct{ A, B int }

type valueIn struct {
	P point
	X *tensor.Tensor
	V any
}

type valueOut struct {
	P point
	R *tensor.Tensor
	V any
}

// Structs that pass by value, also in interfaces, pass with all of their fields.
func TestStructsByValue(t *testing.T) {
	j := newJudge(t, state.Table{Func: "f", Dynamic: []string{pkg + ".point"}}, func(in *valueIn, out *valueOut) { out.P, out.V, out.R = in.P, in.V, in.X.Neg() },
		func() valueIn { return valueIn{point{1, 2}, vec(1), point{3, 4}} })
	for i := range 3 {
		j.call()
		j.call()
		j.each(func(in *valueIn) { in.P.B, in.V = i, point{3, i} })
	}
}

type twoOut struct{ A, B *tensor.Tensor }

// Two results that the graph computes once are two tensors.
func TestEqualResults(t *testing.T) {
	j := newJudge(t, weightTable, func(in *weightIn, out *twoOut) { out.A, out.B = in.X.Neg(), in.X.Neg() }, func() weightIn { return weightIn{&weighted{vec(1)}, vec(1, 2)} })
	for range 4 {
		j.call()
		for w := range 2 {
			j.kept[w][len(j.kept[w])-1].A.AddScalarInPlace(1)
		}
	}
	require.Equal(t, 3, j.f.Stats().Hits)
}

// What is made of weights alone is made at each call.
func TestResultsOfWeights(t *testing.T) {
	j := newJudge(t, weightTable, func(in *weightIn, out *twoOut) { out.A, out.B = in.M.W.Neg(), in.M.W.Reshape(4) }, func() weightIn { return weightIn{&weighted{param(2, 2, 1)}, vec(1, 2)} })
	for range 4 {
		j.call()
		for w := range 2 {
			j.kept[w][len(j.kept[w])-1].A.AddScalarInPlace(1)
		}
	}
}

type floatsIn struct {
	F []float32
	X *tensor.Tensor
}

// A slice of the caller's that is written through a tensor made in the call.
func TestSliceWrittenThroughTensor(t *testing.T) {
	table := state.Table{Func: "f", Elems: []state.Elem{{Type: "[]float32", Access: rw | state.Len}}, InPlace: pairTable.InPlace}
	j := newJudge(t, table, func(in *floatsIn, out *oneOut) { tensor.FromSlice(in.F).AddInPlace(in.X); out.R = in.X.Neg() }, func() floatsIn { return floatsIn{[]float32{1, 2}, vec(1, 1)} })
	for range 3 {
		j.each(func(in *floatsIn) { in.F[0], in.F[1] = 1, 2 }).call()
	}
}

// A record that took a weight for a constant is compared with a graph that does so, also after the weight has been
// written so often that later graphs read it.
func TestAuditOfConstants(t *testing.T) {
	f := compile.New(weightTable, func(in *weightIn, out *oneOut) { out.R = in.M.W.MulScalar(2) }, compile.LiftAfter(1), compile.Audit(1))
	m := &weighted{tensor.StateParam(array.New(array.F32, 2))}
	for n := range 4 {
		for range 3 {
			require.Equal(t, m.W.MulScalar(2).String(), f.Call(weightIn{m, vec(1)}).R.String(), "%d\n%s", n, f.Stats())
		}
		m.W.AddScalarInPlace(1)
	}
	require.Positive(t, f.Stats().Records)
}
