package cardtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/cuda"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/cuda/cudatest"
)

// onDriver returns a compiler whose images the tests' driver runs, and where that lies.
func onDriver(t *testing.T) (compile compiler, folder string) {
	drv := cudatest.New(t)
	dev := drv.Device()
	folder = t.TempDir()
	require.NoError(t, os.Symlink(drv.Path, filepath.Join(folder, "libcuda.so.1")))
	return func(source string) ([]byte, error) { return imageOf(dev, source) }, folder
}

func imageOf(dev *cuda.Device, source string) ([]byte, error) {
	p, _, err := dev.Build(source, nil)
	if err != nil {
		return nil, err
	}
	defer p.Free()
	return p.Binary()
}

// alone runs TestCard in a process that finds a driver in a folder, and no compiler.
func alone(t *testing.T, folder string, s *suite) (said string, rows []row, err error) {
	data, err := s.bytes()
	require.NoError(t, err)
	file, rowsFile := filepath.Join(t.TempDir(), "suite"), filepath.Join(t.TempDir(), "rows")
	require.NoError(t, os.WriteFile(file, data, 0o600))
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, "-test.run=^(TestCard|TestSuiteIsWhole)$", "-test.v", "-suite", file, "-runs", "3", "-rows", rowsFile)
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+folder, "GOFX_GPU=", "CUDA_PATH=", "CUDA_HOME=")
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.ENOEXEC) {
		t.Skip("the machine does not run the test's own program, which is emulated")
	}
	if lines, failed := os.ReadFile(rowsFile); failed == nil {
		for line := range strings.Lines(string(lines)) {
			var r row
			require.NoError(t, json.Unmarshal([]byte(line), &r))
			rows = append(rows, r)
		}
	}
	return string(out), rows, err
}

// TestSuiteRunsWithTheDriverAlone makes a small suite and runs it in a process that has a driver of the
// tests' own and nothing that compiles.
func TestSuiteRunsWithTheDriverAlone(t *testing.T) {
	compile, folder := onDriver(t)
	names := "^mlp/|^operators/abs-|^control/"
	if fxtest.IsNightly() {
		names = "^mlp/|^operators/|^control/"
	}
	list, err := matching(names)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(list), 4)
	s, err := makeSuite(context.Background(), list, compile, nil)
	require.NoError(t, err)
	said, rows, err := alone(t, folder, s)
	require.NoError(t, err, said)
	require.Len(t, rows, len(list), said)
	require.Contains(t, said, fmt.Sprintf("%d of %d programs agree", len(list), len(list)))
	require.Contains(t, said, "| mlp | 3 | f16 | pack |")
	for _, r := range rows {
		require.Less(t, r.Off, 1.0, r.Job)
		require.True(t, r.Launches > 0 || r.Network == "", r.Job) // constants are no launches
	}

	at := slices.IndexFunc(list, func(j *job) bool { return j.Name == "mlp/3/f32" })
	mlp := s.Jobs[at]
	t.Run("a wrong result", func(t *testing.T) {
		other := &suite{Pack: s.Pack, Jobs: []expected{mlp}}
		other.Jobs[0].Results[0].Want[5] += 1
		said, rows, err := alone(t, folder, other)
		require.Error(t, err, said)
		require.Contains(t, said, "0 of 1 programs agree")
		require.Contains(t, rows[0].Wrong, "y: element 5 is ")
	})
	t.Run("no kernels", func(t *testing.T) {
		said, _, err := alone(t, folder, &suite{Pack: new(gpu.Pack).Bytes(), Jobs: []expected{mlp}})
		require.Error(t, err, said)
		require.Contains(t, said, "no NVRTC library is installed")
	})
	t.Run("kernels that the driver refuses", func(t *testing.T) {
		other, err := makeSuite(context.Background(), list[at:at+1], func(string) ([]byte, error) { return []byte(".version 99.0"), nil }, nil)
		require.NoError(t, err)
		said, _, err := alone(t, folder, other)
		require.Error(t, err, said)
		require.Contains(t, said, "does not take the kernels")
	})
	t.Run("no driver", func(t *testing.T) {
		said, _, err := alone(t, t.TempDir(), s)
		require.NoError(t, err, said)
		require.Contains(t, said, "no CUDA driver is installed")
		require.Contains(t, said, "SKIP: TestCard")
	})
}
