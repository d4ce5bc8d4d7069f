package compile_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/compile/state"
	"github.com/gofx-dev/gofx/tensor"
)

type countedIn struct {
	N *int
	X *tensor.Tensor
}

// What eager code does and a session refuses is done, once.
func TestRefusedBySessions(t *testing.T) {
	table := state.Table{Func: "f", InPlace: pairTable.InPlace, Elems: []state.Elem{{Type: "*int", Access: rw}}}
	f := compile.New(table, func(in *countedIn, out *oneOut) {
		*in.N++
		in.X.AddScalarInPlace(1)
		in.X.Select(0, 0).Expand(1, -1).AddScalarInPlace(2)
		out.R = in.X
	})
	n, x := 0, tensor.Ones(2, 2)
	for i := range 5 {
		out := f.Call(countedIn{&n, x})
		require.Equal(t, i+1, n)
		require.Equal(t, float64(12+8*i), out.R.Sum().Item())
		require.Equal(t, x.Sum().Item(), out.R.Sum().Item())
	}
	require.Equal(t, compile.Stats{Calls: 5, Misses: 5, Refused: 3, Plain: 3, Lazy: 2, Failed: 2}, f.Stats())
}

// A panic of the function's own comes once from its code, after what it has done before.
func TestPanicsAreTheFunctions(t *testing.T) {
	table := state.Table{Func: "f", InPlace: pairTable.InPlace, Elems: []state.Elem{{Type: "*int", Access: rw}}}
	f := compile.New(table, func(in *countedIn, _ *oneOut) {
		*in.N++
		in.X.AddScalarInPlace(1)
		panic("stop")
	})
	n, x := 0, tensor.Ones(2)
	for i := range 4 {
		require.PanicsWithValue(t, "stop", func() { f.Call(countedIn{&n, x}) })
		require.Equal(t, i+1, n)
		require.Equal(t, float64(2+i), x.Sum().Item()/2)
	}
	require.Zero(t, f.Stats().Refused)
}

// A view of a tensor that the function makes for itself keeps its memory.
func TestViewsOfOwnTensors(t *testing.T) {
	f := compile.New(state.Table{Func: "f", InPlace: pairTable.InPlace}, func(in *xIn, out *twoOut) {
		z := tensor.Zeros(4)
		z.AddInPlace(in.X)
		out.A, out.B = z.Narrow(0, 1, 2), z
	})
	for range 6 {
		out := f.Call(xIn{vec(1, 2, 3, 4)})
		out.A.AddScalarInPlace(10)
		require.Equal(t, []float32{1, 12, 13, 4}, tensor.Data[float32](out.B))
	}
}
