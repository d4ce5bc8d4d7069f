package fix

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"
)

func archive(t *testing.T, name string) map[string]string {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	files := map[string]string{}
	for _, f := range a.Files {
		files[f.Name] = string(f.Data)
	}
	return files
}

func told(problems []Problem) string {
	var b strings.Builder
	for _, p := range problems {
		kind := ""
		if p.Note {
			kind = "note: "
		}
		fmt.Fprintf(&b, "%s: %s%s\n", p.Pos, kind, p.Msg)
	}
	return b.String()
}

// The result of each archive, what is told about it, and that a second run does nothing.
func TestSource(t *testing.T) {
	for _, name := range []string{"calls", "hostile", "imports", "lower"} {
		t.Run(name, func(t *testing.T) {
			files := archive(t, name+".txtar")
			out, problems, err := Source("before.go", []byte(files["before.go"]))
			require.NoError(t, err)
			require.Equal(t, files["after.go"], string(out))
			require.Equal(t, files["problems"], told(problems))
			again, left, err := Source("before.go", out)
			require.NoError(t, err)
			require.Equal(t, string(out), string(again))
			require.Len(t, left, len(problems))
		})
	}
}

func TestSource_leavesAlone(t *testing.T) {
	for name, src := range archive(t, "alone.txtar") {
		out, problems, err := Source(name, []byte(src))
		require.NoError(t, err)
		require.Equal(t, src, string(out), name)
		require.Empty(t, problems, name)
	}
}

func TestSource_noGo(t *testing.T) {
	_, _, err := Source("a.go", []byte("package a\n\nfunc {"))
	require.ErrorContains(t, err, "a.go:3:6")
}

// The fields that became arguments are arguments, and op/api knows their structs.
func TestTable(t *testing.T) {
	known := map[string]*form{}
	for _, f := range forms() {
		known[f.AttrsType()] = f
	}
	for name, fields := range becameArguments {
		require.Contains(t, known, name)
		for _, field := range fields {
			found := false
			for _, p := range known[name].Params {
				found = found || p.Field == field
			}
			require.True(t, found, "%s of %s", field, name)
		}
	}
	for _, x := range renames() {
		require.NotEmpty(t, x.to)
	}
}
