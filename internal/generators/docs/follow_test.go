package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/follow"
	"github.com/gofx-dev/gofx/internal/testkit/workdir"
)

// ownPart is the heading of a guide's part on this repository alone.
const ownPart = "\n## In gofx itself"

// followed are the guides that begin with a fresh module.
var followed = []string{"add-an-op.md", "add-a-pass.md", "add-a-target.md", "tutorial.md"}

// TestGuidesAreFollowedWordByWord follows the guides in a fresh module: it writes the
// files, runs the commands, and compares their output.
func TestGuidesAreFollowedWordByWord(t *testing.T) {
	for _, name := range followed {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join(top, "docs", name))
			require.NoError(t, err)
			page, _, _ := strings.Cut(string(text), ownPart)
			r := follow.Reader{Dir: workdir.Of(t), Env: userEnv(t), Then: useCheckout(t)}
			for _, step := range strings.Split(page, "\n## ") {
				title, _, _ := strings.Cut(step, "\n")
				if !t.Run(title, func(t *testing.T) { require.NoError(t, r.Follow(step)) }) {
					return // the next steps stand on this one
				}
			}
			require.Greater(t, r.Files, 2)
			require.Greater(t, r.Commands, 3)
			require.Greater(t, r.Outputs, 1)
		})
	}
}

// useCheckout has a new module use this checkout instead of a release.
func useCheckout(t *testing.T) func(line string) []string {
	checkout, err := filepath.Abs(top)
	require.NoError(t, err)
	return func(line string) []string {
		if !strings.HasPrefix(line, "go mod init ") {
			return nil
		}
		return []string{"go mod edit -replace github.com/gofx-dev/gofx=" + checkout}
	}
}

// userEnv is the environment of a user who has the contents of the module cache. Modules
// that go get asks for beyond it, like the requirements of a module that nothing here
// imports, come from the user's proxy.
func userEnv(t *testing.T) []string {
	programs, err := workdir.Kept("programs of " + t.Name())
	if err != nil { // the user has no cache folder that can be written to
		programs = t.TempDir()
	}
	out, err := exec.Command("go", "env", "-json", "GOCACHE", "GOMODCACHE", "GOPROXY").Output()
	require.NoError(t, err)
	var m map[string]string
	require.NoError(t, json.Unmarshal(out, &m))
	proxy := filepath.ToSlash(filepath.Join(m["GOMODCACHE"], "cache", "download"))
	return append(os.Environ(), "GOCACHE="+m["GOCACHE"], "GOMODCACHE="+m["GOMODCACHE"], "GOPROXY=file://"+proxy+","+m["GOPROXY"], "GOSUMDB=off", "GONOSUMDB=*", "GOFLAGS=", "GOTOOLCHAIN=local", "NO_COLOR=1",
		"FXGEN_CACHE="+programs)
}

// TestCommandsOfTheGeneratedPage runs the commands of docs/generated.md in the
// folder of the package that it shows.
func TestCommandsOfTheGeneratedPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(top, "docs", "generated.md"))
	require.NoError(t, err)
	list := blocks(string(page), "sh")
	require.NotEmpty(t, list)
	r := follow.Reader{Dir: filepath.Join(top, "examples", "digits"), Env: userEnv(t)}
	for _, text := range list {
		for line := range strings.Lines(text) {
			out := filepath.Join(t.TempDir(), "program")
			require.NoError(t, r.Shell(strings.Replace(strings.TrimSpace(line), " -o digits ", " -o "+out+" ", 1)))
			require.FileExists(t, out)
		}
	}
}
