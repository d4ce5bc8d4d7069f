package tracer_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/tensor"
)

// What a program states of sizes is refused at once for numbers, and is a guard
// of what is captured with symbols.
func TestStatedSizes(t *testing.T) {
	f := func(x *tensor.Tensor) *tensor.Tensor {
		x.Size(0).MustBeAtLeast(2)
		x.Size(0).MustBeAtMost(9)
		x.Size(1).MustBeMultiple(4)
		x.Size(0).MustDiffer(5)
		x.Size(2).MustEqual(x.Size(0).Mul(2))
		return x.Neg()
	}
	gm, err := fx.Trace(context.Background(), f, fx.Input("x", "f32[N,C,L]"))
	require.NoError(t, err)
	var got []string
	for _, g := range gm.Graph.Guards() {
		got = append(got, g.String())
	}
	require.ElementsMatch(t, []string{"N >= 2", "N <= 9", "N != 5", "C % 4 == 0", "L == 2*N"}, got)
	for _, c := range []struct {
		dims []int
		ok   bool
	}{{[]int{3, 8, 6}, true}, {[]int{1, 8, 2}, false}, {[]int{10, 8, 20}, false}, {[]int{5, 8, 10}, false}, {[]int{3, 7, 6}, false}, {[]int{3, 8, 7}, false}} {
		x := tensor.New(array.New(array.F32, c.dims...))
		_, err := gm.Run(context.Background(), x)
		if c.ok {
			require.NoError(t, err)
			require.NotPanics(t, func() { f(x) })
			continue
		}
		require.ErrorIs(t, err, interp.GuardFailed)
		require.Contains(t, refusalOf(func() { f(x) }), "the program needs ")
	}
}

// What a program states of sizes decides which axes squeeze drops.
func TestStatedSizesDecideRanks(t *testing.T) {
	f := func(x *tensor.Tensor) *tensor.Tensor {
		x.Size(0).MustDiffer(1)
		x.Size(1).MustEqual(1)
		x.Size(2).MustBeAtLeast(2)
		return x.Squeeze().Neg()
	}
	gm, err := fx.Trace(context.Background(), f, fx.Input("x", "f32[N,C,L]"))
	require.NoError(t, err)
	require.Equal(t, "f32[N,L]", gm.Graph.Output().Arg(0).Type().String())
	e, err := cpu.Compile(gm.Module, lowering.Options{})
	require.NoError(t, err)
	for _, dims := range [][]int{{3, 1, 4}, {0, 1, 2}, {1, 1, 4}, {3, 2, 4}, {3, 1, 1}} {
		in := []*array.Array{array.New(array.F32, dims...)}
		out, err := gm.RunArrays(context.Background(), in)
		planned, planErr := e.Run(context.Background(), in)
		require.Equal(t, err == nil, planErr == nil, "%v: %v, %v", dims, err, planErr)
		if err == nil {
			require.Equal(t, []int{dims[0], dims[2]}, out[0].Shape())
			require.Equal(t, []int{dims[0], dims[2]}, planned[0].Shape())
		}
	}
	open, err := fx.Trace(context.Background(), func(x *tensor.Tensor) *tensor.Tensor { return x.Squeeze().Neg() }, fx.Input("x", "f32[N,C,L]"))
	require.NoError(t, err)
	_, err = cpu.Compile(open.Module, lowering.Options{})
	require.ErrorIs(t, err, lowering.UnknownSize)
	require.ErrorContains(t, err, "guards_test.go:")
	for _, pins := range []map[string]int{{"N": 3, "C": 1, "L": 4}, {"N": 1, "C": 2, "L": 1}} { // the cure
		e, err := cpu.Compile(open.Module, lowering.Options{Shapes: pins})
		require.NoError(t, err)
		x := array.New(array.F32, pins["N"], pins["C"], pins["L"])
		out, err := e.Run(context.Background(), []*array.Array{x})
		require.NoError(t, err)
		want, err := open.RunArrays(context.Background(), []*array.Array{x})
		require.NoError(t, err)
		require.Equal(t, want[0].Shape(), out[0].Shape())
	}
}

func refusalOf(f func()) (text string) {
	defer func() {
		if e, ok := recover().(*diag.Error); ok {
			text = e.Error()
		}
	}()
	f()
	return "nothing was refused"
}
