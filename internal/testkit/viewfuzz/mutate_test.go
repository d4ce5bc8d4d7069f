package viewfuzz_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/repo"
	"github.com/gofx-dev/gofx/internal/testkit/viewfuzz"
)

// TestMutationsApply keeps the table of mutations up to date with the sources.
func TestMutationsApply(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(viewfuzz.Mutations), 15)
	for _, m := range viewfuzz.Mutations {
		_, err := m.Apply(root)
		require.NoError(t, err)
	}
}

// TestMutationsAreFound puts each fault into the decision, builds the tests of this package
// with it and demands that the chains of every change find it. GOFX_VIEWS_MUTATION picks by
// a regular expression of the names.
func TestMutationsAreFound(t *testing.T) {
	only := os.Getenv("GOFX_VIEWS_MUTATION")
	if !nightly() && only == "" {
		t.Skip("GOFX_NIGHTLY is not 1: each mutation is a build")
	}
	names, err := regexp.Compile(only)
	require.NoError(t, err)
	for _, m := range viewfuzz.Mutations {
		if !names.MatchString(m.Name) {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			dir := t.TempDir()
			overlay, err := m.Overlay(dir)
			require.NoError(t, err)
			binary := filepath.Join(dir, "mutated.test")
			out, err := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", binary, ".").CombinedOutput()
			require.NoError(t, err, "%s", out)
			cmd := exec.Command(binary, "-test.run", "^(TestChains|TestLayouts)$")
			cmd.Env = append(os.Environ(), "GOFX_NIGHTLY=", "GOFX_VIEWS_COUNT=5000", "GOFX_VIEWS_FIRST=0")
			out, err = cmd.CombinedOutput()
			require.Error(t, err, "5000 chains do not notice that %s", m.Name)
			line, _, _ := strings.Cut(string(out[max(0, strings.Index(string(out), "GOFX_VIEWS_FIRST=")):]), "\n")
			t.Log(line)
		})
	}
}
