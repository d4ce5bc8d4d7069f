package onnx_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/onnx"
)

// Models made after reports of other importers, which no value is given for: integers that
// follow from sizes, and integers and thresholds that are inputs.
func TestReportedIntegers(t *testing.T) {
	root := filepath.Join("..", "..", "shared", "reports")
	if _, err := os.Stat(root); err != nil {
		t.Skip("the models are not here: ", err)
	}
	for _, kind := range []string{"pad_to_multiple/*", "unet_pad/*", "nms_inputs/*", "sizes_from_shape/*", "shape_arith/*", "windows_open/split_equal_open"} {
		folders, err := filepath.Glob(filepath.Join(root, kind))
		require.NoError(t, err)
		require.NotEmpty(t, folders, kind)
		for _, dir := range folders {
			t.Run(filepath.Base(filepath.Dir(dir))+"/"+filepath.Base(dir), func(t *testing.T) { checkReport(t, dir) })
		}
	}
}

// checkReport imports a model once and runs it on every sample, as it is and exported and
// imported again.
func checkReport(t *testing.T, dir string) {
	f, err := onnx.Read(filepath.Join(dir, "model.onnx"))
	require.NoError(t, err)
	m, err := f.Import(onnx.Options{})
	require.NoError(t, err)
	data, err := exported(m, onnx.ExportOptions{})
	require.NoError(t, err)
	again, err := imported(data)
	require.NoError(t, err)
	exe, err := cpu.Compile(m, lowering.Options{})
	require.NoError(t, err)
	defer exe.Close()
	samples, err := f.Samples(dir)
	require.NoError(t, err)
	require.NotEmpty(t, samples)
	for _, s := range samples {
		args := f.Args(s, nil)
		p := interp.Interpreter{State: interp.NewState(m)}
		got, err := p.RunArrays(context.Background(), args)
		require.NoError(t, err)
		_, err = s.Check(got, onnx.StandardTolerance)
		require.NoError(t, err, "interp")
		got, err = exe.Run(context.Background(), args)
		require.NoError(t, err)
		_, err = s.Check(got, onnx.StandardTolerance)
		require.NoError(t, err, "plan")
		got, err = run(again, args)
		require.NoError(t, err)
		_, err = s.Check(got, onnx.StandardTolerance)
		require.NoError(t, err, "again")
	}
}

// A bound beyond any size that was tried is not taken for the size.
func TestReportedSlice(t *testing.T) {
	path := filepath.Join("..", "..", "shared", "reports", "real", "slice1e9_reshape.onnx")
	if _, err := os.Stat(path); err != nil {
		t.Skip("the model is not here: ", err)
	}
	f, err := onnx.Read(path)
	require.NoError(t, err)
	m, err := f.Import(onnx.Options{})
	require.NoError(t, err)
	require.Equal(t, "f32[N,4]", m.Graph.Output().Arg(0).Type().String())
}
