package analyzers_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/repo"
)

// register is what the plugin of docs/fxvet.md uses of github.com/golangci/plugin-module-register v0.1.2.
const register = `package register

import "golang.org/x/tools/go/analysis"

const LoadModeTypesInfo = "typesinfo"

type LinterPlugin interface {
	BuildAnalyzers() ([]*analysis.Analyzer, error)
	GetLoadMode() string
}

func Plugin(name string, p func(conf any) (LinterPlugin, error)) {}
`

// TestDocumentShowsThePlugin compiles the plugin that docs/fxvet.md shows.
func TestDocumentShowsThePlugin(t *testing.T) {
	top, err := repo.Root()
	require.NoError(t, err)
	page, err := os.ReadFile(filepath.Join(top, "docs", "fxvet.md"))
	require.NoError(t, err)
	_, section, ok := strings.Cut(string(page), "\n## In golangci-lint\n")
	require.True(t, ok)
	block := regexp.MustCompile("(?s)```go\n(.*?)```").FindStringSubmatch(section)
	require.NotNil(t, block)
	mod, err := os.ReadFile(filepath.Join(top, "go.mod"))
	require.NoError(t, err)
	sum, err := os.ReadFile(filepath.Join(top, "go.sum"))
	require.NoError(t, err)
	text := strings.Replace(string(mod), "module "+repo.Module, "module example.com/lint", 1) + fmt.Sprintf(
		"\nrequire (\n\t%s v0.0.0\n\tgithub.com/golangci/plugin-module-register v0.1.2\n)\n\nreplace (\n\t%[1]s => %s\n\tgithub.com/golangci/plugin-module-register => ./stub\n)\n",
		repo.Module, top)
	dir := t.TempDir()
	for name, data := range map[string]string{
		"go.mod": text, "go.sum": string(sum), "fxlint/fxlint.go": block[1], "stub/register/register.go": register,
		"stub/go.mod": "module github.com/golangci/plugin-module-register\n\ngo 1.26\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600))
	}
	cmd := exec.Command("go", "vet", "-mod=mod", "./fxlint")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-buildvcs=false", "GOPROXY=off", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}
