package effects

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/userpkg"
)

// A build cache that loses files while packages are loaded is a mistake with a cure, whichever package has none: the go command that stands first in PATH
// names export data that is not there.
func TestLostExportData(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the go command of the test is a shell script")
	}
	goCommand, err := exec.LookPath("go")
	require.NoError(t, err)
	lost := func(what string) error {
		bin := t.TempDir()
		script := fmt.Sprintf("#!/bin/sh\n%s \"$@\" | awk '/\"ImportPath\":/ {path=$2} path ~ /%s/ && /\"Export\":/ {sub(/\\/[0-9a-f]*-d\"/, \"/lost\\\"\")} {print}'\n", goCommand, what)
		require.NoError(t, os.WriteFile(filepath.Join(bin, "go"), []byte(script), 0o755))
		t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
		_, err := Open(t.Context(), "./testdata/programs", nil)
		return err
	}
	for _, what := range []string{`"(errors|io|fmt|sync)"`, `"(unicode|reflect|os)"`, `gofx\/(diag|shape|op|array)"`, `.`} {
		t.Run(what, func(t *testing.T) {
			var e *diag.Error
			err := lost(what)
			require.Error(t, err)
			var l diag.List
			l.Add(err)
			e = l[0]
			require.Equal(t, userpkg.Compile, e.Code, "%v", err)
			require.NotEmpty(t, e.Hint, "%v", err)
		})
	}
}
