package pyenv_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/pyenv"
)

func TestNeed_skipsWithoutPackage(t *testing.T) {
	skipped := t.Run("inner", func(t *testing.T) {
		t.Setenv("GOFX_PYTHON", filepath.Join(t.TempDir(), "nothing"))
		pyenv.Need(t, "numpy")
		t.Error("Need returned without an interpreter")
	})
	require.True(t, skipped)
}

func TestFileIsThere(t *testing.T) {
	info, err := os.Stat(pyenv.File(t, "numpy", "__init__.py"))
	require.NoError(t, err)
	require.False(t, info.IsDir())
}
