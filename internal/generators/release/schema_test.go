package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/licences"
	"github.com/gofx-dev/gofx/internal/testkit/pyenv"
	"github.com/gofx-dev/gofx/internal/testkit/repo"
)

// validate asks CycloneDX's library whether a file fits the schema of its version.
const validate = `import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1]).read())
if error: sys.exit(str(error))`

func TestBillFitsItsSchema(t *testing.T) {
	python := pyenv.Need(t, "cyclonedx", "jsonschema")
	info := &debug.BuildInfo{GoVersion: "go1.26.8", Path: command, Main: debug.Module{Path: repo.Module, Version: "v0.2.0"}}
	for _, m := range licences.All() {
		if m.Path != repo.Module && m.Path != licences.Std {
			info.Deps = append(info.Deps, &debug.Module{Path: m.Path, Version: m.Version, Sum: "h1:sum="})
		}
	}
	for name, ok := range map[string]bool{"right": true, "wrong": false} {
		b, err := billFrom(info, day)
		require.NoError(t, err)
		if !ok {
			b.Components[0].Type = "nothing"
		}
		text, err := indented(b)
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), name+".json")
		require.NoError(t, os.WriteFile(path, text, 0o666))
		out, err := exec.Command(python, "-c", validate, path).CombinedOutput()
		require.Equal(t, ok, err == nil, "%s: %s", name, out)
	}
}
