//go:build unix

package proc

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNothingOutlivesAbandon: running processes end, and no process can start while the
// program exits.
func TestNothingOutlivesAbandon(t *testing.T) {
	t.Setenv("GOTMPDIR", t.TempDir())
	dir, remove, err := TempDir()
	require.NoError(t, err)
	defer remove()
	file, removeFile, err := Create(dir + "/file")
	require.NoError(t, err)
	defer removeFile()
	require.NoError(t, file.Close())

	cmd := Command(t.Context(), "sleep", "1000")
	id, err := start(cmd)
	require.NoError(t, err)
	require.Contains(t, table.groups, id)
	abandon()
	require.ErrorContains(t, cmd.Wait(), "killed")
	require.NoDirExists(t, dir)

	delete(table.groups, id)
	later := make(chan error)
	go func() {
		dir, remove, err := TempDir()
		if err == nil {
			remove()
		}
		later <- err
		_, err = start(Command(t.Context(), dir+"/nothing"))
		later <- err
	}()
	list, err := os.ReadDir(os.Getenv("GOTMPDIR"))
	require.NoError(t, err)
	require.Empty(t, list)
	require.False(t, table.TryLock())
	table.Unlock() // as no exiting process does
	require.NoError(t, <-later)
	require.ErrorIs(t, <-later, os.ErrNotExist)
}

// Where nothing can be put, that is said with what to do.
func TestTempDir_noPlace(t *testing.T) {
	t.Setenv("GOTMPDIR", filepath.Join(t.TempDir(), "none"))
	_, _, err := TempDir()
	require.ErrorIs(t, err, NoFolder)
	require.ErrorContains(t, err, "none")
	require.ErrorContains(t, err, "set TMPDIR")
}
