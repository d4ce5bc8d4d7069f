package fx_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/tensor"
)

// Bounds beyond an end, paddings to a multiple and pieces of an open size are the same as
// in an eager call, for every size, also of a graph that was read from its text.
func TestOpenSizes(t *testing.T) {
	ctx := context.Background()
	for name, f := range map[string]func(x *tensor.Tensor) *tensor.Tensor{
		"first":  func(x *tensor.Tensor) *tensor.Tensor { return x.Slice(0, 0, 100) },
		"last":   func(x *tensor.Tensor) *tensor.Tensor { return x.Slice(0, -4, tensor.End) },
		"from":   func(x *tensor.Tensor) *tensor.Tensor { return x.Slice(0, 4, 1_000_000_000) },
		"rest":   func(x *tensor.Tensor) *tensor.Tensor { return x.Slice(0, 3, x.Size(0)).Exp() },
		"middle": func(x *tensor.Tensor) *tensor.Tensor { return x.Slice(0, 2, -2, tensor.SliceAttrs{Step: 3}) },
		"multiple": func(x *tensor.Tensor) *tensor.Tensor {
			return x.T().Pad([]tensor.Size{x.Size(0).Sub(x.Size(0)), x.Size(0).Mul(-1).Mod(4)})
		},
		"halves": func(x *tensor.Tensor) *tensor.Tensor {
			h := x.Size(0).Div(2)
			return x.Split([]tensor.Size{h, x.Size(0).Sub(h)}, 0)[1].MulScalar(2)
		},
		"diagonal": func(x *tensor.Tensor) *tensor.Tensor { return x.Diagonal() },
		"least":    func(x *tensor.Tensor) *tensor.Tensor { return x.Slice(0, 0, x.Size(0).Min(5).Max(1)) },
	} {
		t.Run(name, func(t *testing.T) {
			gm, err := fx.Trace(ctx, f, fx.Input("x", "f32[N,2]"))
			require.NoError(t, err)
			read, err := graph.Parse([]byte(gm.Module.String()), "open.fx")
			require.NoError(t, err)
			e, err := cpu.Compile(gm.Module, lowering.Options{})
			require.NoError(t, err)
			defer e.Close()
			for _, n := range []int{1, 3, 4, 8, 101} {
				x := array.New(array.F32, n, 2)
				for i := range x.Len() {
					array.SetFloat64At(x, i, float64(i+1))
				}
				want := f(tensor.New(x)).Array()
				got, err := gm.RunArrays(ctx, []*array.Array{x})
				require.NoError(t, err)
				require.True(t, array.Equal(want, got[0]), "interp, %d", n)
				again, err := fx.NewGraphModule(read).RunArrays(ctx, []*array.Array{x})
				require.NoError(t, err)
				require.True(t, array.Equal(want, again[0]), "text, %d", n)
				out, err := e.Run(ctx, []*array.Array{x})
				require.NoError(t, err)
				require.True(t, array.Equal(want, out[0]), "plan, %d", n)
			}
		})
	}
}
