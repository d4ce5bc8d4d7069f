package fx_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/tensor"
)

// TestTrace_copies captures functions that copy tensors, and runs them
// interpreted, after all passes, and as a plan: no result may be its input.
func TestTrace_copies(t *testing.T) {
	for name, f := range map[string]func(x *tensor.Tensor) *tensor.Tensor{
		"clone":         func(x *tensor.Tensor) *tensor.Tensor { return x.Clone() },
		"written clone": func(x *tensor.Tensor) *tensor.Tensor { return x.Clone().AddScalarInPlace(1).Add(x) },
		"clone of view": func(x *tensor.Tensor) *tensor.Tensor { return x.T().Clone().T() },
		"copy":          func(x *tensor.Tensor) *tensor.Tensor { return x.Copy(x.MulScalar(2).Cast(array.F64)) },
		"einsum":        func(x *tensor.Tensor) *tensor.Tensor { return tensor.Einsum([]*tensor.Tensor{x}, "ij->ij") },
		"pixel shuffle": func(x *tensor.Tensor) *tensor.Tensor { return x.Unsqueeze(0).PixelShuffle(1).Squeeze(0) },
		"scatter":       func(x *tensor.Tensor) *tensor.Tensor { return x.SelectScatter(x.Select(0, 1), 0, 0) },
		"slice scatter": func(x *tensor.Tensor) *tensor.Tensor { return x.SliceScatter(x.Slice(1, 0, 1), 1, 1, 2) },
		"diagonal": func(x *tensor.Tensor) *tensor.Tensor {
			y := x.Slice(0, 0, 2) // of known size, which a plan needs here
			return y.DiagonalScatter(y.Diagonal().Neg())
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			gm, err := fx.Trace(ctx, f, fx.Input("x", "f32[N,2]"))
			require.NoError(t, err)
			x := tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
			want := f(x).Clone()
			check := func(got *array.Array) {
				t.Helper()
				require.True(t, array.Equal(want.Array(), got), array.Format(got, 9))
				require.NotSame(t, x.Array().Storage(), got.Storage())
			}
			check(gm.Forward(x).Array())
			_, err = gm.Apply(ctx, fx.Passes(), fx.PassOptions{})
			require.NoError(t, err)
			check(gm.Forward(x).Array())
			e, err := cpu.Compile(gm.Module, lowering.Options{})
			require.NoError(t, err)
			out, err := e.Run(ctx, []*array.Array{x.Array()})
			require.NoError(t, err)
			check(out[0])
		})
	}
}
