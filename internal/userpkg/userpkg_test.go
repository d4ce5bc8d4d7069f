package userpkg

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"

	"github.com/gofx-dev/gofx/diag"
)

// write makes a folder with files.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return dir
}

func TestFolder_says_why_it_is_no_package(t *testing.T) {
	dir := write(t, map[string]string{"go.mod": "module m\n", "a.go": "package a\n", "empty/README": "", "tests/a_test.go": "package a\n"})
	loose := write(t, map[string]string{"a.go": "package a\n"})
	for pattern, want := range map[string]string{
		filepath.Join(dir, "none"):  "there is no folder",
		filepath.Join(dir, "a.go"):  "is a file",
		filepath.Join(dir, "empty"): "holds no Go files",
		filepath.Join(dir, "tests"): "holds Go tests alone",
		loose:                       "belongs to no module",
	} {
		err := Folder(pattern)
		require.ErrorContains(t, err, want)
		require.ErrorAs(t, err, new(*diag.Error))
	}
	require.NoError(t, Folder(dir))
	require.NoError(t, Folder("example.com/path"), "the go command judges import paths")
}

func TestLoad_gives_mistakes_with_their_places(t *testing.T) {
	dir := write(t, map[string]string{"go.mod": "module m\n\ngo 1.26\n", "a.go": "package a\n\nimport \"m/none\"\n\nvar X int = \"text\"\n\nvar Y = none.Y\n",
		"only_plan9.go": "package a\n"})
	t.Chdir(dir)
	env := append(os.Environ(), "GOFLAGS=", "GOPROXY=off")
	p, err := Load(context.Background(), ".", env, nil)
	require.NoError(t, err)
	list := Problems(p.Errors)
	require.Len(t, list, 2)
	require.ErrorContains(t, list, "there is no package m/none here")
	for _, e := range list {
		require.Equal(t, Compile, e.Code)
		require.Equal(t, "a.go", filepath.Base(e.Pos.File))
		require.Positive(t, e.Pos.Line)
	}
	require.Equal(t, "only_plan9.go by its name", LeftOut(dir))

	p, err = Load(context.Background(), ".", env, map[string][]byte{filepath.Join(dir, "a.go"): []byte("package a\n\nvar X = 1\n")})
	require.NoError(t, err)
	require.Empty(t, p.Errors, "the overlay stands in for the file")
	require.NotNil(t, p.Types.Scope().Lookup("X"))

	_, err = Load(context.Background(), "./none", env, nil)
	require.ErrorContains(t, err, "there is no package ./none here")
	_, err = Load(context.Background(), "./...", append(env, "GOOS=plan9"), nil)
	require.NoError(t, err)
}

func TestPosition_reads_what_is_there(t *testing.T) {
	require.Equal(t, diag.Pos{File: "a.go", Line: 3, Col: 7}, Position("a.go:3:7"))
	require.Equal(t, diag.Pos{File: "a.go", Line: 3}, Position("a.go:3"))
	require.Equal(t, diag.Pos{File: "a.go"}, Position("a.go"))
	require.Equal(t, diag.Pos{}, Position("-"))
}

func TestProblems_tells_mistakes_from_tools_that_fail(t *testing.T) {
	list := Problems([]packages.Error{
		{Msg: "# example.com/net"},
		{Msg: "compile: writing output: write b217/_pkg_.a: no space left on device"},
		{Msg: "import cycle not allowed"},
		{Pos: "a.go:3:1", Msg: "compile: is no keyword"},
	})
	require.Len(t, list, 3)
	require.Equal(t, []diag.Code{Unbuilt, Compile, Compile}, []diag.Code{list[0].Code, list[1].Code, list[2].Code})
}
