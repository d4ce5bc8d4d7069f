// Package pyenv finds the Python that tests compare gofx with: that of a virtual environment with
// pinned packages, which install.sh makes at .venv of the repository, or the one that the
// environment's GOFX_PYTHON names.
package pyenv

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofx-dev/gofx/internal/testkit/repo"
)

// Need returns the path of the interpreter, or skips the test where it or one of the modules is
// missing.
func Need(t testing.TB, modules ...string) string {
	t.Helper()
	python := interpreter(t)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	script := "import importlib.util as u, sys; print(*[m for m in sys.argv[1:] if u.find_spec(m) is None])"
	out, err := exec.CommandContext(ctx, python, append([]string{"-c", script}, modules...)...).Output()
	if err != nil {
		t.Fatalf("%s: %v", python, err)
	}
	if missing := strings.TrimSpace(string(out)); missing != "" {
		t.Skipf("%s has no %s; internal/testkit/pyenv/install.sh installs packages", python, missing)
	}
	return python
}

// File returns the path of a file of an installed package, such as a shared library, or skips the
// test where the package is missing.
func File(t testing.TB, module, name string) string {
	t.Helper()
	python := Need(t, module)
	script := "import importlib.util as u, sys; print(u.find_spec(sys.argv[1]).submodule_search_locations[0])"
	out, err := exec.Command(python, "-c", script, module).Output()
	if err != nil {
		t.Fatalf("%s: where is %s? %v", python, module, err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), name)
}

func interpreter(t testing.TB) string {
	t.Helper()
	python := os.Getenv("GOFX_PYTHON")
	if python == "" {
		root, err := repo.Root()
		if err != nil {
			t.Fatal(err)
		}
		python = filepath.Join(root, ".venv", "bin", "python")
	}
	if _, err := os.Stat(python); err != nil {
		t.Skip("there is no Python for tests: internal/testkit/pyenv/install.sh makes .venv, and GOFX_PYTHON names another")
	}
	return python
}
