package fxtest

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/repo"
)

var update = flag.Bool("update", false, "copy the reference data in testdata anew from the folder shared beside the checkout")

// shared returns the folder of all reference data, which lies next to the checkout.
func shared(t *testing.T) string {
	root, err := repo.Root()
	require.NoError(t, err)
	dir := filepath.Join(filepath.Dir(root), "shared", "fixtures")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no folder shared/fixtures next to this checkout: nothing to compare testdata with")
	}
	return dir
}

func networks(t *testing.T) (names []string) {
	list, err := os.ReadDir(Data(t))
	require.NoError(t, err)
	for _, e := range list {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	require.NotEmpty(t, names)
	return names
}

// TestDataIsTheShared compares every file here with where it comes from.
func TestDataIsTheShared(t *testing.T) {
	from := shared(t)
	for _, name := range networks(t) {
		here, there := filepath.Join(Data(t), name), filepath.Join(from, name)
		if *update {
			require.NoError(t, os.RemoveAll(here))
			require.NoError(t, os.CopyFS(here, os.DirFS(there)))
		}
		require.Equal(t, files(t, there), files(t, here), name)
	}
}

func files(t *testing.T, dir string) map[string]string {
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	all := map[string]string{}
	for _, e := range list {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		all[e.Name()] = string(text)
	}
	return all
}

// TestDataIsWhole finds an output that is missing or cut short.
func TestDataIsWhole(t *testing.T) {
	for _, name := range networks(t) {
		f := LoadFixture(t, name)
		require.Equal(t, name, f.Model)
		require.NotEmpty(t, f.Outputs, name)
		for _, o := range f.Outputs {
			want := o.Sample
			if want == 0 {
				want = 1
				for _, n := range o.Shape {
					want *= n
				}
			}
			require.Equal(t, want, f.Expected(t, o).Len(), "%s: %s", name, o.Name)
		}
	}
	f := LoadFixture(t, "mlp")
	wrong := array.New(array.F32, f.Outputs[0].Shape...)
	require.False(t, Compare(wrong, f.Expected(t, f.Outputs[0])).Within(f.Outputs[0].Tolerance), "zeros pass for a reference")
}
