package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/repo"
)

func TestGeneratedFilesAreCurrent(t *testing.T) {
	require.NoError(t, repo.WithGenerated("diag", Generate, (*repo.Generated).Current))
}

// generate returns the output for a table with the given source.
func generate(t *testing.T, rows string) (map[string][]byte, error) {
	t.Helper()
	dir := t.TempDir()
	src := "package diag\n\nvar codes = []Info{\n" + rows + "\n}\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "codes_trial.go"), []byte(src), 0o644))
	g, err := Generate(dir)
	if err != nil {
		return nil, err
	}
	return g.Files, nil
}

func TestConstantsOfRows(t *testing.T) {
	files, err := generate(t, `{
		//gofx:code a/b.Second c.Other
		Code: "FX1002", Title: "second mistake",
	},
	{
		//gofx:code a/b.First
		Code: "FX1001", Title: "first mistake",
	},
	{Code: "FX1003", Title: "without a constant"},`)
	require.NoError(t, err)
	require.Len(t, files, 2)
	require.Equal(t, header+`
package b

import "github.com/gofx-dev/gofx/diag"

// The codes of this package; docs/errors.md explains them.
const (
	First  diag.Code = "FX1001" // first mistake
	Second diag.Code = "FX1002" // second mistake
)
`, string(files["a/b/codes_gen.go"]))
	require.Contains(t, string(files["c/codes_gen.go"]), `Other diag.Code = "FX1002"`)
}

func TestMistakesOfRows(t *testing.T) {
	for rows, message := range map[string]string{
		"//gofx:code a.B\n{Code: \"FX1001\", Title: \"t\"},":       "codes_trial.go:4:1: //gofx:code is not in the row of a code",
		"{\n//gofx:code a.B\nTitle: \"t\"},":                       "its row a Code and a Title",
		"{\n//gofx:code B\nCode: \"FX1001\", Title: \"t\"},":       `"B" is no constant`,
		"{\n//gofx:code a.B a.2\nCode: \"FX1001\", Title: \"t\"},": `"a.2" is no constant`,
	} {
		_, err := generate(t, rows)
		require.ErrorContains(t, err, message)
	}
}
