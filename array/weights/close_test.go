package weights

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/gguf"
	"github.com/gofx-dev/gofx/array/npy"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/array/torchpt"
)

// mappings counts the files of a folder that are mapped.
func mappings(t *testing.T, dir string) int {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux lists mappings in a file")
	}
	b, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	return bytes.Count(b, []byte(dir))
}

// Nothing of a refused file stays mapped, whatever is wrong with it.
func TestRefusedFilesAreGivenBack(t *testing.T) {
	dir := t.TempDir()
	good := st(t, safetensors.Named{Name: "w", Array: x(2)})
	put(t, dir, "good.safetensors", good)
	torch, err := os.ReadFile("../torchpt/testdata/hostile.pt")
	require.NoError(t, err)
	bad := map[string]func() error{}
	of := func(name string, b []byte, open func(path string) error) {
		path := put(t, dir, name, b)
		bad[name] = func() error { return open(path) }
	}
	weights := func(path string) error { _, err := Open(path); return err }
	of("cut.safetensors", good[:len(good)-1], weights)
	of("none.bin", []byte("nothing that is known"), weights)
	of("cut.gguf", ggufOf("a", 1, 2)[:40], weights)
	of("part.gguf", ggufOf("split.count", 3, 2), weights)
	of("cut.npy", npyOf(t, x(2))[:20], weights)
	of("cut.npz", npz(t, npy.Named{Name: "w", Array: x(2)})[:30], weights)
	of("hostile.pt", torch, weights)
	of("model.safetensors#none", good, weights)
	of("a.safetensors.index.json", []byte(`{"weight_map": {"w": "good.safetensors", "v": "good.safetensors"}}`), weights)
	of("b.safetensors.index.json", []byte(`{"weight_map": {"w": "good.safetensors", "v": "cut.safetensors"}}`), weights)
	of("c.safetensors.index.json", []byte(`{"weight_map": `), weights)
	bad["a part that is not there"] = func() error { return weights(filepath.Join(dir, "good.safetensors#none")) }
	delete(bad, "model.safetensors#none")
	of("own.gguf", ggufOf("a", 1, 2)[:40], func(path string) error { _, err := gguf.Open(path); return err })
	of("own.safetensors", good[:len(good)-1], func(path string) error { _, err := safetensors.Map(path); return err })
	of("own.npz", []byte("PK"), func(path string) error { _, err := npy.OpenArchive(path); return err })
	of("own.pt", torch, func(path string) error { _, err := torchpt.Open(path); return err })
	for name, open := range bad {
		require.Error(t, open(), name)
		require.Zero(t, mappings(t, dir), name)
	}
}

// Close gives back the memory of good files; later calls give an error and do not end the
// program. Copies that Get returned stay.
func TestClose(t *testing.T) {
	dir := t.TempDir()
	checkpoint, err := os.ReadFile("../torchpt/testdata/checkpoint.pt")
	require.NoError(t, err)
	index := put(t, dir, "model.safetensors.index.json", []byte(`{"weight_map": {"w": "a.safetensors", "v": "b.safetensors"}}`))
	put(t, dir, "b.safetensors", st(t, safetensors.Named{Name: "v", Array: x(3)}))
	for _, path := range []string{
		put(t, dir, "a.safetensors", st(t, safetensors.Named{Name: "w", Array: x(2)})),
		index,
		put(t, dir, "w.gguf", ggufOf("a", 1, 2)),
		put(t, dir, "w.npz", npz(t, npy.Named{Name: "w", Array: x(2)})),
		put(t, dir, "w.npy", npyOf(t, x(2))),
		put(t, dir, "c.pt", checkpoint) + "#model",
	} {
		f, err := Open(path)
		require.NoError(t, err, path)
		require.Positive(t, mappings(t, dir), path)
		names := f.Names()
		a, err := f.Get(names[0])
		require.NoError(t, err, path)
		stays := array.Clone(a)
		for range 2 {
			require.NoError(t, f.Close(), path)
			require.Zero(t, mappings(t, dir), path)
		}
		require.NotEmpty(t, names[0]+".", path)
		require.Positive(t, stays.Len())
		_, err = f.Get(names[0])
		require.Error(t, err, path)
		f.Names()
		f.Type(names[0])
		f.Format(names[0])
	}
}

// The formats' own files close too.
func TestCloseOfFormats(t *testing.T) {
	dir := t.TempDir()
	type own interface {
		Names() []string
		Get(name string) (*array.Array, error)
		Close() error
	}
	closed := func(f own, err error) {
		t.Helper()
		require.NoError(t, err)
		names := f.Names()
		require.Equal(t, 1, mappings(t, dir))
		for range 2 {
			require.NoError(t, f.Close())
			require.Zero(t, mappings(t, dir))
		}
		_, err = f.Get(names[0])
		require.ErrorContains(t, err, "was closed")
		require.Equal(t, names, f.Names())
	}
	g, err := gguf.Open(put(t, dir, "w.gguf", ggufOf("a", 1, 2)))
	closed(g, err)
	s, err := safetensors.Map(put(t, dir, "w.safetensors", st(t, safetensors.Named{Name: "w", Array: x(2)})))
	closed(s, err)
	n, err := npy.OpenArchive(put(t, dir, "w.npz", npz(t, npy.Named{Name: "w", Array: x(2)})))
	closed(n, err)
	state, err := os.ReadFile("../torchpt/testdata/state.pth")
	require.NoError(t, err)
	p, err := torchpt.Open(put(t, dir, "w.pth", state))
	closed(p, err)
}
