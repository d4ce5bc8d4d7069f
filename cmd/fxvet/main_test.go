package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const top = "../.."

// build builds the command.
func build(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "fxvet")
	out, err := command("go", "build", "-o", bin, "./cmd/fxvet").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return bin
}

func command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = top
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	return cmd
}

// The command is a checker for go vet, and a program of its own; both find the same.
func TestCommandRunsInGoVetAndByItself(t *testing.T) {
	bin := build(t)
	const want = "FX1043: the model puts another tensor into a field: field last keeps a traced value"
	for _, args := range [][]string{{"go", "vet", "-vettool=" + bin, "./internal/testkit/faults"}, {bin, "./internal/testkit/faults"}} {
		out, err := command(args[0], args[1:]...).CombinedOutput()
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit, "%s", out)
		require.Contains(t, string(out), want)
		require.NotContains(t, string(out), "panic")
	}
	out, err := command(bin, "-fxkeep", "-json", "./internal/testkit/faults").Output()
	require.NoError(t, err)
	var found map[string]map[string][]struct{ Posn, Message, Category string }
	require.NoError(t, json.Unmarshal(out, &found))
	list := found["github.com/gofx-dev/gofx/internal/testkit/faults"]["fxkeep"]
	require.NotEmpty(t, list)
	for _, d := range list {
		require.Contains(t, []string{"FX1014", "FX1015", "FX1043"}, d.Category)
		require.Contains(t, d.Message, d.Category+": ")
	}
}
