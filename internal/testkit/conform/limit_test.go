package conform

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tensor"
)

// TestMemoryLimit: no engine asks for more memory than array.MaxBytes, and views
// take none.
func TestMemoryLimit(t *testing.T) {
	grow := func(x *tensor.Tensor) *tensor.Tensor {
		y := x.Unsqueeze(0).Expand(1<<40, -1)
		return x.Unsqueeze(1).Add(x).Add(y.Select(0, 5))
	}
	gm, err := fx.Trace(ctx, grow, fx.Input("x", "f32[N]"))
	require.NoError(t, err)
	e, err := cpu.Compile(gm.Module, lowering.Options{})
	require.NoError(t, err)
	engines := map[string]func(x *array.Array) error{
		Eager: func(x *array.Array) error {
			if err := thrown(func() { grow(tensor.New(x)) }); err != nil {
				return err
			}
			return nil
		},
		Interp: func(x *array.Array) error {
			_, err := gm.Run(ctx, tensor.New(x))
			return err
		},
		Plan: func(x *array.Array) error {
			_, err := e.Run(ctx, []*array.Array{x})
			return err
		},
	}
	defer array.SetMaxBytes(array.SetMaxBytes(1 << 20))
	for name, run := range engines {
		require.NoError(t, run(array.New(array.F32, 100)), name)
		var d *diag.Error
		require.ErrorAs(t, run(array.New(array.F32, 1000)), &d, name)
		require.Equal(t, op.TooLarge, d.Code, name)
		require.NoError(t, run(array.New(array.F32, 200)), "%s after a refusal", name)
	}
}

// TestMemoryLimitOfOne: Options.MaxBytes holds for one compilation: at once where sizes are
// numbers, in runs elsewhere.
func TestMemoryLimitOfOne(t *testing.T) {
	double := func(x *tensor.Tensor) *tensor.Tensor {
		for range 26 {
			x = tensor.Cat([]*tensor.Tensor{x, x}, 0)
		}
		return x
	}
	var d *diag.Error
	fixed, err := fx.Trace(ctx, double, fx.Input("x", "f32[16]"))
	require.NoError(t, err)
	_, err = cpu.Compile(fixed.Module, lowering.Options{MaxBytes: 1 << 20})
	var l diag.List
	require.ErrorAs(t, err, &l)
	require.Equal(t, op.TooLarge, l[0].Code)

	open, err := fx.Trace(ctx, double, fx.Input("x", "f32[N]"))
	require.NoError(t, err)
	e, err := cpu.Compile(open.Module, lowering.Options{MaxBytes: 1 << 20})
	require.NoError(t, err)
	_, err = e.Run(ctx, []*array.Array{array.New(array.F32, 16)})
	require.ErrorAs(t, err, &d)
	require.Equal(t, op.TooLarge, d.Code)
	out, err := e.Run(ctx, []*array.Array{array.New(array.F32, 0)})
	require.NoError(t, err)
	require.Equal(t, 0, out[0].Len())
	require.NoError(t, e.Close())
}
