package swap

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A folder in the place of a file keeps its contents, and a device stays one.
func TestInto_replacesFilesAlone(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) File { return File{filepath.Join(dir, ".t-"+name), filepath.Join(dir, name)} }
	inside := filepath.Join(dir, "main", "inside")
	require.NoError(t, os.Mkdir(filepath.Dir(inside), 0o700))
	write(t, inside, "theirs")
	write(t, file("a").Path, "old")
	for _, list := range [][]File{{file("main")}, {file("main"), file("a")}, {file("a"), file("main")}} {
		for main := range list {
			for _, f := range list {
				write(t, f.Temp, "new")
			}
			require.ErrorIs(t, Into(list, main), syscall.EISDIR)
			require.Equal(t, "theirs", read(t, inside))
			require.Equal(t, "old", read(t, file("a").Path))
		}
	}
	device := File{filepath.Join(dir, ".t-device"), os.DevNull}
	write(t, device.Temp, "new")
	require.ErrorContains(t, Into([]File{device}, -1), "is a device")
	asked := errors.New("the contents were asked for")
	for _, path := range []string{filepath.Dir(inside), os.DevNull} {
		require.NotErrorIs(t, Write(path, ".t-", func(io.Writer) error { return asked }), asked)
	}
}

// A new file is as readable as others of the program, one in place of another as that was.
func TestWrite_permissions(t *testing.T) {
	dir := t.TempDir()
	usual, err := os.Create(filepath.Join(dir, "usual"))
	require.NoError(t, err)
	info, err := usual.Stat()
	require.NoError(t, err)
	require.NoError(t, usual.Close())
	path := filepath.Join(dir, "a")
	mode := func() os.FileMode {
		require.NoError(t, Write(path, ".t-", func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err }))
		info, err := os.Stat(path)
		require.NoError(t, err)
		return info.Mode()
	}
	require.Equal(t, info.Mode(), mode())
	require.NoError(t, os.Chmod(path, 0o640))
	require.Equal(t, os.FileMode(0o640), mode())
}

// Writers of several files do it one after the other, and readers that hold the folder see
// files of one of them. The one without which the others are useless may be missing only
// where a writer stopped, so never here.
func TestInto_oneAfterTheOther(t *testing.T) {
	dir := t.TempDir()
	names := []string{"main", "a", "b"}
	path := func(name string) string { return filepath.Join(dir, name) }
	put := func(text string) {
		var files []File
		for _, name := range names {
			temp := path(".t-" + name + text)
			if os.WriteFile(temp, []byte(text), 0o600) != nil {
				return // the reader finds it
			}
			files = append(files, File{temp, path(name)})
		}
		_ = Into(files, 0) // the reader finds it
	}
	put("0")
	var writers sync.WaitGroup
	for _, text := range []string{"1", "2", "3"} {
		writers.Go(func() {
			for range 100 {
				put(text)
			}
		})
	}
	for range 300 {
		release := Hold(dir, true)
		first := read(t, path("main"))
		require.NotEmpty(t, first)
		for _, name := range names {
			require.Equal(t, first, read(t, path(name)))
		}
		release()
	}
	writers.Wait()
	Hold(filepath.Join(dir, "none"), true)()
}
