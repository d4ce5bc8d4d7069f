package lowering_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/lowering"
)

func ExampleFolder() {
	dir, err := os.MkdirTemp("", "kernels")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	kernels := lowering.UserFolder("npu", dir) // "" is a folder of the user's
	key := lowering.Key("driver 1.2", "kernel void k() {}")
	fmt.Println(kernels.Load(key) == nil)
	kernels.Save(key, []byte("what the driver made of it"))
	fmt.Println(string(kernels.Load(key)))
	// Output:
	// true
	// what the driver made of it
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	f := lowering.UserFolder("npu", dir)
	require.NotEqual(t, lowering.Key("a", "bc"), lowering.Key("ab", "c"))
	file := func(key string) string { return filepath.Join(dir, lowering.Key(key)+".bin") }
	for i, key := range []string{"a", "b", "c"} {
		f.Save(lowering.Key(key), make([]byte, 100))
		at := time.Now().Add(time.Duration(i-10) * time.Hour)
		require.NoError(t, os.Chtimes(file(key), at, at))
	}
	require.Len(t, f.Load(lowering.Key("a")), 100, "which makes it the one that was used last")
	require.Equal(t, f.Load(lowering.Key("a")), f.Load("a"), "a key is made of what is none")
	old := time.Now().Add(-48 * time.Hour)
	left := filepath.Join(dir, lowering.Key("d")+"-123.new")
	mine := []string{"model.bin", "new-ideas.txt", "new-left", lowering.Key("d") + ".txt", lowering.Key("d")[1:] + ".bin"}
	for _, name := range append(mine, filepath.Base(left)) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), make([]byte, 1000), 0o600))
		require.NoError(t, os.Chtimes(filepath.Join(dir, name), old, old))
	}
	f.Trim(300)
	require.NoFileExists(t, left)
	for _, name := range mine {
		require.FileExists(t, filepath.Join(dir, name), "the folder's files are not all of them the cache's")
	}
	require.Nil(t, f.Load("b"), "of three with their sums, two fit")
	require.NotNil(t, f.Load("c"))
	require.NotNil(t, f.Load("a"))
	f.Save("../b", []byte("x"))
	require.Equal(t, []byte("x"), f.Load("../b"))
	require.NoFileExists(t, filepath.Join(filepath.Dir(dir), "b.bin"))

	data, err := os.ReadFile(file("a"))
	require.NoError(t, err)
	for _, damaged := range [][]byte{nil, data[:len(data)-1], append(data[:50:50], 1), data[:10]} {
		require.NoError(t, os.WriteFile(file("a"), damaged, 0o600))
		require.Nil(t, f.Load("a"))
	}
	none := lowering.UserFolder("npu", "-")
	none.Save("a", []byte("x"))
	require.Nil(t, none.Load("a"))
	blocked := lowering.UserFolder("npu", file("a"))
	blocked.Save("a", []byte("x")) // no folder can be there
	require.Nil(t, blocked.Load("a"))
}

// Of those that offer at once all get the same, and what is not good is replaced.
func TestFolder_Offer(t *testing.T) {
	dir := t.TempDir()
	f := lowering.UserFolder("npu", dir)
	good := func(b []byte) bool { return string(b) != "bad" }
	f.Save("k", []byte("bad"))
	require.Equal(t, "a", string(f.Offer("k", []byte("a"), good)))
	require.Equal(t, "a", string(f.Offer("k", []byte("b"), good)))
	require.Equal(t, "a", string(f.Load("k")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, lowering.Key("k")+".bin"), []byte("damaged"), 0o600))
	require.Equal(t, "c", string(f.Offer("k", []byte("c"), good)))
	require.Equal(t, "d", string(lowering.Folder("").Offer("k", []byte("d"), good)), "nothing is kept")

	var wg sync.WaitGroup
	got := make([]string, 20)
	for i := range got {
		wg.Go(func() { got[i] = string(f.Offer("new", fmt.Append(nil, i), good)) })
	}
	wg.Wait()
	for _, s := range got {
		require.Equal(t, got[0], s)
	}
	require.Equal(t, got[0], string(f.Load("new")))
	left, err := filepath.Glob(filepath.Join(dir, "*.new"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func ExampleFolder_Offer() {
	dir, err := os.MkdirTemp("", "choices")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	f := lowering.Folder(dir)
	any := func([]byte) bool { return true }
	fmt.Println(string(f.Offer("way", []byte("tiles"), any)), string(f.Offer("way", []byte("lanes"), any)))
	// Output: tiles tiles
}
