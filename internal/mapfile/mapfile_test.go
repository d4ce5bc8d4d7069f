package mapfile

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func open(t *testing.T, path string) *os.File {
	f, err := os.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// The mapping has the file's contents, outlives the handle, and is private.
func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	want := bytes.Repeat([]byte("weights."), 100_000)
	require.NoError(t, os.WriteFile(path, want, 0o644))
	f := open(t, path)
	got, err := Read(f)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.NoError(t, os.Remove(path))
	require.True(t, bytes.Equal(want, got.Bytes()))
	require.NoError(t, os.WriteFile(path, want, 0o644))
	again, err := Read(open(t, path))
	require.NoError(t, err)
	again.Bytes()[0] = 'W'
	onDisk, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, onDisk), "a write reached the file")
	for range 2 {
		require.NoError(t, again.Close())
		require.NoError(t, (*Memory)(nil).Close())
	}
	require.NoError(t, CloseAll([]*Memory{got, again, nil}))
}

func TestReadOthers(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o644))
	b, err := Read(open(t, empty))
	require.NoError(t, err)
	require.Empty(t, b.Bytes())
	require.NoError(t, b.Close())
	_, err = Read(open(t, dir))
	require.ErrorContains(t, err, "is a directory")
}
