package lowering_test

import (
	"fmt"
	"os"
	"path/filepath"
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
	for i, key := range []string{"a", "b", "c"} {
		f.Save(key, make([]byte, 100))
		at := time.Now().Add(time.Duration(i-10) * time.Hour)
		require.NoError(t, os.Chtimes(filepath.Join(dir, key+".bin"), at, at))
	}
	require.Len(t, f.Load("a"), 100, "which makes it the one that was used last")
	left := filepath.Join(dir, "new-left")
	require.NoError(t, os.WriteFile(left, nil, 0o600))
	old := time.Now().Add(-48 * time.Hour)
	require.NoError(t, os.Chtimes(left, old, old))
	f.Trim(300)
	require.NoFileExists(t, left)
	require.Nil(t, f.Load("b"), "of three with their sums, two fit")
	require.NotNil(t, f.Load("c"))
	require.NotNil(t, f.Load("a"))

	data, err := os.ReadFile(filepath.Join(dir, "a.bin"))
	require.NoError(t, err)
	for _, damaged := range [][]byte{nil, data[:len(data)-1], append(data[:50:50], 1), data[:10]} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a.bin"), damaged, 0o600))
		require.Nil(t, f.Load("a"))
	}
	none := lowering.UserFolder("npu", "-")
	none.Save("a", []byte("x"))
	require.Nil(t, none.Load("a"))
	file := lowering.UserFolder("npu", filepath.Join(dir, "a.bin"))
	file.Save("a", []byte("x")) // no folder can be there
	require.Nil(t, file.Load("a"))
}
