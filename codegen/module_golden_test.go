package codegen_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/codegen/internal/golden"
)

var update = flag.Bool("update", false, "write the packages in internal/golden")

// TestModuleGoldens compares the present output with the stored packages; their
// own tests run them and trace them again.
func TestModuleGoldens(t *testing.T) {
	kept := map[string]bool{}
	for _, c := range golden.All() {
		t.Run(c.Name, func(t *testing.T) {
			gm, err := c.Capture(context.Background())
			require.NoError(t, err)
			files, err := codegen.Module(gm.Module, c.Options)
			require.NoError(t, err)
			require.Len(t, files.List, 1)
			dir := filepath.Join("internal", "golden", c.Folder())
			require.False(t, kept[dir], "two cases have the folder %s", dir)
			kept[dir] = true
			file := filepath.Join(dir, files.List[0].Name)
			if *update {
				require.NoError(t, os.MkdirAll(dir, 0o755))
				require.NoError(t, os.WriteFile(file, files.List[0].Data, 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err, "run the test with -update")
			require.Equal(t, string(want), string(files.List[0].Data))
		})
	}
}
