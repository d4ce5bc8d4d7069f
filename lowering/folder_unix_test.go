//go:build unix

package lowering_test

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/lowering"
)

// TestPipesInFoldersAreNotRead: reading one would wait for a writer that never comes.
func TestPipesInFoldersAreNotRead(t *testing.T) {
	f := lowering.Folder(t.TempDir())
	f.Save("key", []byte("data"))
	files, err := filepath.Glob(filepath.Join(string(f), "*.bin"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.NoError(t, syscall.Unlink(files[0]))
	require.NoError(t, syscall.Mkfifo(files[0], 0o600))
	loaded := make(chan []byte)
	go func() { loaded <- f.Load("key") }()
	select {
	case data := <-loaded:
		require.Nil(t, data)
	case <-time.After(10 * time.Second):
		t.Fatal("the load waits")
	}
}

// TestFilesThatAreTooLargeAreNotRead: a file that somebody made large, with gaps, would take all
// memory.
func TestFilesThatAreTooLargeAreNotRead(t *testing.T) {
	dir := t.TempDir()
	f := lowering.Folder(dir)
	path := filepath.Join(dir, lowering.Key("key")+".bin")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	if err := os.Truncate(path, 1<<40); err != nil {
		t.Skip("the file system takes no file of that size: ", err)
	}
	require.Nil(t, f.Load("key"))
	f.Save("key", []byte("data")) // in its place
	require.Equal(t, []byte("data"), f.Load("key"))
}

// TestLinksInARing: neither a file nor a folder that leads to itself is waited for.
func TestLinksInARing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, lowering.Key("key")+".bin")
	require.NoError(t, os.Symlink(path, path))
	f := lowering.Folder(dir)
	require.Nil(t, f.Load("key"))
	f.Save("key", []byte("data")) // in the place of the link
	require.Equal(t, []byte("data"), f.Load("key"))

	ring := filepath.Join(dir, "ring")
	require.NoError(t, os.Symlink(ring, ring))
	f = lowering.Folder(ring)
	f.Save("key", []byte("data"))
	require.Nil(t, f.Load("key"))
}

// TestManyWriteAtOnce: what is loaded is one of the things saved, as a whole.
func TestManyWriteAtOnce(t *testing.T) {
	f := lowering.Folder(t.TempDir())
	var writers sync.WaitGroup
	for k := range 4 {
		writers.Go(func() {
			for i := range 20 {
				f.Save("key", bytes.Repeat([]byte{byte(k)}, 1+(i*k*7919)%20000))
				if data := f.Load("key"); len(data) == 0 || !bytes.Equal(data, bytes.Repeat(data[:1], len(data))) {
					t.Error("something else was loaded: ", len(data))
				}
			}
		})
	}
	writers.Wait()
	left, err := filepath.Glob(filepath.Join(string(f), "*.new"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestFoldersOfOthers: what somebody else may have put into a folder is not loaded, and nothing
// is kept in one that others can write to.
func TestFoldersOfOthers(t *testing.T) {
	dir := t.TempDir()
	f := lowering.Folder(dir)
	f.Save("key", []byte("data"))
	entry := filepath.Join(dir, lowering.Key("key")+".bin")
	require.Equal(t, []byte("data"), f.Load("key"))
	for _, path := range []string{dir, entry} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.NoError(t, os.Chmod(path, info.Mode().Perm()|0o020))
		require.Nil(t, f.Load("key"), path)
		if path == dir {
			f.Save("other", []byte("data"))
			require.NoFileExists(t, filepath.Join(dir, lowering.Key("other")+".bin"))
		}
		require.NoError(t, os.Chmod(path, info.Mode().Perm()))
		require.Equal(t, []byte("data"), f.Load("key"), path)
	}

	whole, err := os.ReadFile(entry)
	require.NoError(t, err)
	other := t.TempDir()
	g := lowering.Folder(other)
	g.Save("first", []byte("x"))
	copied := filepath.Join(other, filepath.Base(entry))
	require.NoError(t, os.WriteFile(copied, whole, 0o600))
	require.Nil(t, g.Load("key"), "it was made elsewhere")
	require.NoError(t, os.WriteFile(filepath.Join(dir, lowering.Key("first")+".bin"), whole, 0o600))
	require.Nil(t, f.Load("first"), "it is another key's")

	secret := filepath.Join(dir, ".key")
	require.NoError(t, os.Chmod(secret, 0o644))
	require.Nil(t, f.Load("key"), "everybody can make such sums")
	f.Save("key", []byte("anew"))
	require.Equal(t, []byte("anew"), f.Load("key"))
	info, err := os.Stat(secret)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}
