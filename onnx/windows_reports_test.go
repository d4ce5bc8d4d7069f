package onnx_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/onnx"
)

// Models made after reports of other importers: windows over open heights and widths, two
// letters of which one is 1, and pools and lists of another rank than their input.
func TestReportedWindows(t *testing.T) {
	root := filepath.Join("..", "..", "shared", "reports")
	if _, err := os.Stat(root); err != nil {
		t.Skip("the models are not here: ", err)
	}
	folders, err := filepath.Glob(filepath.Join(root, "windows_open", "*"))
	require.NoError(t, err)
	require.NotEmpty(t, folders)
	for _, dir := range folders {
		t.Run(filepath.Base(dir), func(t *testing.T) { checkReport(t, dir) })
	}
	folders, err = filepath.Glob(filepath.Join(root, "broadcast_open", "*"))
	require.NoError(t, err)
	for _, dir := range folders {
		f, err := onnx.Read(filepath.Join(dir, "model.onnx"))
		require.NoError(t, err)
		samples, err := f.Samples(dir)
		require.NoError(t, err)
		for _, s := range samples {
			m, bound, err := f.ImportFor(s.Inputs, onnx.Options{})
			require.NoError(t, err)
			require.Empty(t, bound)
			p := interp.Interpreter{State: interp.NewState(m)}
			got, err := p.RunArrays(context.Background(), f.Args(s, nil))
			require.NoError(t, err)
			_, err = s.Check(got, onnx.StandardTolerance)
			require.NoError(t, err, dir)
		}
	}
	for _, name := range []string{"silent_3d_of_2d", "indices_panic", "ct_outpad"} {
		f, err := onnx.Read(filepath.Join(root, "hostile", name+".onnx"))
		require.NoError(t, err)
		_, err = f.Import(onnx.Options{})
		require.ErrorIs(t, err, onnx.CodeModel)
		require.NotErrorIs(t, err, diag.Internal)
	}
}
