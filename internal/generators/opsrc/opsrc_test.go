package opsrc

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/op/api"
	"github.com/gofx-dev/gofx/op/std"
)

// TestExpressions requires an expression of every operator with attributes: only
// operators without attributes can be PyTorch's function of the same name.
func TestExpressions(t *testing.T) {
	all, err := Load()
	require.NoError(t, err)
	for _, o := range api.Ops() {
		operands := map[string]bool{}
		for _, in := range o.In {
			operands[in.Name] = true
		}
		for _, a := range o.Codec().Fields(o.Codec().Zero()) {
			if all[o].Torch == "" {
				require.Contains(t, operands, a.Name, "write %sEXPRESSION next to %s", directive, o.Name)
			}
		}
	}
	require.Equal(t, Source{"softmax", "F.softmax(x, dim)"}, all[std.Softmax])
	require.Equal(t, Source{"reduce", "torch.max(x, dim, keep_dim)"}, all[std.MaxDim])
	require.Equal(t, Source{"unary", ""}, all[std.Tan])
}

// A directive that no operator claims is a mistake, never ignored.
func TestMisplacedExpressions(t *testing.T) {
	for name, c := range map[string]struct{ src, err string }{
		"var":     {"//gofx:torch a(x)\nvar Softmax = 1\n", ""},
		"group":   {"// All.\nvar (\n\t// Is.\n\t//\n\t//gofx:torch a(x)\n\tSoftmax = 1\n)\n", ""},
		"unknown": {"//gofx:torch a(x)\nvar Nothing = 1\n", "a.go:3:1"},
		"func":    {"//gofx:torch a(x)\nfunc Softmax() {}\n", "a.go:3:1"},
		"apart":   {"//gofx:torch a(x)\n\nvar Softmax = 1\n", "a.go:3:1"},
		"twice":   {"//gofx:torch a(x)\n//gofx:torch b(x)\nvar Softmax = 1\n", "a.go:4:1"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "a.go"), []byte("package std\n\n"+c.src), 0o666))
			got, err := read(dir)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, Source{"a", "a(x)"}, got[std.Softmax])
		})
	}
}
