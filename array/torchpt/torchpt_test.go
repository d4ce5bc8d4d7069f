package torchpt

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// folders returns where files of PyTorch are: those that are checked in, and new ones
// where PyTorch is installed.
func folders(t *testing.T) map[string]string {
	all := map[string]string{"checked in": "testdata"}
	python := "/usr/bin/python3"
	if exec.Command(python, "-c", "import torch").Run() != nil {
		t.Log("no PyTorch: only the files that are checked in are read")
		return all
	}
	dir := t.TempDir()
	out, err := exec.Command(python, "testdata/make.py", dir).CombinedOutput()
	require.NoError(t, err, string(out))
	all["made now"] = dir
	return all
}

func get(t *testing.T, f *File, name string) *array.Array {
	t.Helper()
	a, err := f.Get(name)
	require.NoError(t, err)
	d, shape, ok := f.Type(name)
	require.True(t, ok)
	require.Equal(t, d, a.DType())
	require.Equal(t, shape, append([]int{}, a.Shape()...))
	require.True(t, a.IsContiguous())
	return a
}

func floats(a *array.Array) []float64 {
	out := make([]float64, a.Len())
	for i := range out {
		out[i] = array.Float64At(a, i)
	}
	return out
}

func open(t *testing.T, path string) *File {
	t.Helper()
	f, err := Open(path)
	require.NoError(t, err)
	return f
}

func TestFilesOfPyTorch(t *testing.T) {
	for what, dir := range folders(t) {
		t.Run(what, func(t *testing.T) {
			for _, name := range []string{"types.pt", "protocol3.pt", "protocol4.pt", "protocol5.pt", "legacy_types.pt", "legacy_types4.pt"} {
				checkTypes(t, open(t, filepath.Join(dir, name)))
			}
			checkState(t, open(t, filepath.Join(dir, "state.pth")), "")
			checkState(t, open(t, filepath.Join(dir, "legacy.pt")), "trained:")
			for _, name := range []string{"checkpoint.pt", "legacy_checkpoint.pt"} {
				f := open(t, filepath.Join(dir, name))
				checkState(t, f, "model.")
				require.Contains(t, f.Names(), "optimizer.state.0.exp_avg")
			}
			f := open(t, filepath.Join(dir, "list.pt"))
			require.Equal(t, []string{"0", "1.a"}, f.Names())
			f = open(t, filepath.Join(dir, "tensor.pt"))
			require.Equal(t, []string{""}, f.Names())
			require.Equal(t, []float64{1, 1, 1, 1}, floats(get(t, f, "")))
			checkRefused(t, dir)
		})
	}
}

func checkTypes(t *testing.T, f *File) {
	want := []float64{1, 2, 3, 4, 5, 100}
	for name, d := range map[string]array.DType{"float32": array.F32, "float64": array.F64, "float16": array.F16, "bfloat16": array.BF16,
		"int8": array.I8, "uint8": array.U8, "int16": array.I16, "int32": array.I32, "int64": array.I64} {
		a := get(t, f, name)
		require.Equal(t, d, a.DType())
		require.Equal(t, []int{2, 3}, a.Shape())
		require.Equal(t, want, floats(a), name)
		require.Equal(t, name, f.Format(name))
	}
	require.Equal(t, []byte{1, 0, 1}, array.Bytes(get(t, f, "bool")))
	require.Equal(t, []float64{7.5}, floats(get(t, f, "scalar")))
	require.Equal(t, []int{0, 3}, get(t, f, "empty").Shape())
	base := make([]float64, 24)
	for i := range base {
		base[i] = float64(i)
	}
	require.Equal(t, base, floats(get(t, f, "whole")))
	require.Equal(t, base, floats(get(t, f, "parameter")))
	require.Equal(t, base[20:], floats(get(t, f, "tail")))
	require.Equal(t, []float64{5, 8, 11, 14, 17}, floats(get(t, f, "slice")))
	require.Equal(t, []float64{3, 3, 3, 3, 3, 3, 3, 3, 3, 3}, floats(get(t, f, "expanded")))
	x := get(t, f, "transposed")
	require.Equal(t, []int{6, 4}, x.Shape())
	require.Equal(t, float32(13), array.At[float32](x, 1, 2))
	x = get(t, f, "permuted")
	require.Equal(t, []int{4, 2, 3}, x.Shape())
	require.Equal(t, float32(3+12+8), array.At[float32](x, 3, 1, 2))
	require.True(t, get(t, f, "whole").Storage().Overlaps(get(t, f, "tail").Storage()), "tensors of one storage share it")
	d, _, ok := f.Type("complex64")
	require.True(t, ok)
	require.Equal(t, array.Invalid, d)
	_, err := f.Get("complex64")
	require.ErrorIs(t, err, CodeTensor)
	require.ErrorContains(t, err, "element type complex64")
}

func checkState(t *testing.T, f *File, prefix string) {
	names := []string{"0.weight", "0.bias", "1.weight", "1.bias", "1.running_mean", "1.running_var", "1.num_batches_tracked"}
	prefix, trained := strings.CutPrefix(prefix, "trained:")
	for i, name := range f.Names()[:len(names)] {
		require.Equal(t, prefix+names[i], name)
	}
	if trained || prefix != "" {
		return // trained
	}
	require.Equal(t, []float64{0, 1, 2, 3, 4, 5}, floats(get(t, f, "0.weight")))
	require.Equal(t, []float64{1, 2}, floats(get(t, f, "0.bias")))
	require.Equal(t, []float64{2, 3}, floats(get(t, f, "1.weight")))
	require.Equal(t, array.I64, get(t, f, "1.num_batches_tracked").DType())
}

// checkRefused: everything except tensors and plain data is refused by its name and not
// executed.
func checkRefused(t *testing.T, dir string) {
	for name, c := range map[string]struct {
		code diag.Code
		msgs []string
	}{
		"hostile.pt":        {CodeObject, []string{`"posix.system"`, "nothing is executed"}},
		"module.pt":         {CodeObject, []string{`"torch.nn.modules.container.Sequential"`, `"torch.nn.modules.linear.Linear"`, `"torch.nn.modules.batchnorm.BatchNorm1d"`}},
		"sparse.pt":         {CodeObject, []string{"_rebuild_sparse_tensor", "sparse tensors are not read"}},
		"quantised.pt":      {CodeObject, []string{"_rebuild_qtensor", "quantised tensors are not read", "torch.QInt8Storage"}},
		"legacy_hostile.pt": {CodeObject, []string{`"posix.system"`, "nothing is executed"}},
		"legacy_module.pt":  {CodeObject, []string{`"torch.nn.modules.container.Sequential"`, "save tensors alone"}},
		"script.pt":         {CodeFormat, []string{"TorchScript"}},
	} {
		_, err := Open(filepath.Join(dir, name))
		require.ErrorIs(t, err, c.code, name)
		for _, msg := range c.msgs {
			require.ErrorContains(t, err, msg, name)
		}
		require.ErrorContains(t, err, name)
		require.NoFileExists(t, "executed")
	}
}

func TestUnreadableFiles(t *testing.T) {
	_, err := Open("testdata/none.pt")
	require.ErrorIs(t, err, CodeRead)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = Open("testdata")
	require.ErrorIs(t, err, CodeRead)
}
