//go:build unix

package lowering_test

import (
	"path/filepath"
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
	files, err := filepath.Glob(filepath.Join(string(f), "*key*"))
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
