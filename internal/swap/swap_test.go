package swap

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func write(t *testing.T, path, text string) {
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func read(t *testing.T, path string) string {
	b, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return ""
	}
	require.NoError(t, err)
	return string(b)
}

func list(t *testing.T, dir string) (names []string) {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestInto(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) File { return File{filepath.Join(dir, ".t-"+name), filepath.Join(dir, name)} }
	all := []File{file("main"), file("a"), file("b")}
	for round := range 2 { // new, and in place of others
		for _, f := range all {
			write(t, f.Temp, "new")
		}
		require.NoError(t, Into(all, 0), round)
		for _, f := range all {
			require.Equal(t, "new", read(t, f.Path))
			write(t, f.Path, "old")
		}
		require.Equal(t, []string{"a", "b", "main"}, list(t, dir))
	}
	// Nothing was replaced: the old ones are all there.
	require.Error(t, Into(all, 0))
	for _, f := range all {
		require.Equal(t, "old", read(t, f.Path))
	}
	// At no time there are the old main and a new other, or the other way round: where it
	// ends in the middle, main is missing.
	write(t, all[0].Temp, "new")
	write(t, all[1].Temp, "new")
	require.Error(t, Into(all, 0), "b is not there")
	require.Equal(t, "", read(t, all[0].Path))
	require.Equal(t, "new", read(t, all[1].Path))
	// One file alone is never missing.
	write(t, all[1].Temp, "newer")
	require.NoError(t, Into(all[1:2], 0))
	require.Equal(t, "newer", read(t, all[1].Path))
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	text := func(s string, err error) func(io.Writer) error {
		return func(w io.Writer) error {
			return errors.Join(err, func() error { _, err := io.WriteString(w, s); return err }())
		}
	}
	require.NoError(t, Write(path, ".t-", text("one", nil)))
	require.NoError(t, Write(path, ".t-", text("two", nil)))
	full := errors.New("the disk is full")
	require.ErrorIs(t, Write(path, ".t-", text("half", full)), full)
	require.Equal(t, "two", read(t, path))
	require.Equal(t, []string{"a"}, list(t, dir))
	require.Error(t, Write(filepath.Join(dir, "no", "a"), ".t-", text("one", nil)))
}

func TestClean(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-2 * LeftFor)
	for name, stays := range map[string]bool{".t-123": false, ".t-ABC4.old": false, ".t-": true, ".t-notes": true, "t-123": true, ".t-12.go": true} {
		path := filepath.Join(dir, name)
		write(t, path, "")
		Clean(dir, ".t-")
		require.FileExists(t, path, "it is being written")
		require.NoError(t, os.Chtimes(path, old, old))
		Clean(dir, ".t-")
		if stays {
			require.FileExists(t, path)
		} else {
			require.NoFileExists(t, path)
		}
	}
	folder := filepath.Join(dir, ".t-9")
	require.NoError(t, os.Mkdir(folder, 0o700))
	write(t, filepath.Join(folder, "f"), "")
	require.NoError(t, os.Chtimes(folder, old, old))
	Clean(dir, ".t-")
	require.NoDirExists(t, folder)
	Clean(filepath.Join(dir, "none"), ".t-")
}
