package fx_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/tensor"
)

func adds(x, y *tensor.Tensor) *tensor.Tensor {
	return x.Relu().Add(y)
}

// Sizes that do not fit (FX1022) are refused at the line whose call requires them, in every engine.
func TestGuards_refusedSizesHaveTheirLine(t *testing.T) {
	gm, err := fx.Trace(t.Context(), adds, fx.Input("x", "f32[N,4]"), fx.Input("y", "f32[M,4]"))
	require.NoError(t, err)
	require.NotEmpty(t, gm.Graph.Guards())
	x, y := array.New(array.F32, 2, 4), array.New(array.F32, 3, 4)
	_, interpreted := gm.Run(t.Context(), tensor.New(x), tensor.New(y))
	exe, err := cpu.Compile(gm.Module, lowering.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { exe.Close() })
	_, planned := exe.Run(t.Context(), []*array.Array{x, y})
	for name, err := range map[string]error{"interp": interpreted, "plan": planned} {
		var e *diag.Error
		require.True(t, errors.As(err, &e), "%s: %v", name, err)
		require.Equal(t, diag.Code("FX1022"), e.Code)
		require.Equal(t, "guard_pos_test.go", filepath.Base(e.Pos.File), name)
		require.Equal(t, 19, e.Pos.Line, name)
	}
}
