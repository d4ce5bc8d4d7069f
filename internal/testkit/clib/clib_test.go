package clib

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/dynlib"
)

var shared Shared

func TestMain(m *testing.M) {
	code := shared.Main(m)
	if _, err := os.Stat(shared.dir); shared.dir != "" && !os.IsNotExist(err) {
		panic("libraries are left in " + shared.dir)
	}
	os.Exit(code)
}

func call(t *testing.T, path string) int {
	lib, err := dynlib.Open(path)
	require.NoError(t, err)
	return int(dynlib.Call(lib.Lookup("one")))
}

func TestTextTakesOptions(t *testing.T) {
	require.Equal(t, 7, call(t, Text(t, "int one() { return N; }", "-DN=7")))
}

// A library of one name is built once: the source is gone when it is asked for again.
func TestSharedBuildsOnce(t *testing.T) {
	source := filepath.Join(t.TempDir(), "one.c")
	require.NoError(t, os.WriteFile(source, []byte("int one() { return N; }"), 0o600))
	first := shared.Build(t, "one.so", source, "-DN=1")
	require.Equal(t, 2, call(t, shared.Build(t, "two.so", source, "-DN=2")))
	require.NoError(t, os.Remove(source))
	require.Equal(t, first, shared.Build(t, "one.so", source, "-DN=1"))
	require.Equal(t, 1, call(t, first))
}

func TestErrorsSayWhatTheCompilerSays(t *testing.T) {
	if why := C.Missing(); why != "" {
		t.Skip(why)
	}
	require.ErrorContains(t, C.Library(filepath.Join(t.TempDir(), "none.so"), "/no/such/source.c"), "/no/such/source.c")
	require.Equal(t, "no compiler no-such-compiler here to build a library for tests with", Compiler("no-such-compiler").Missing())
}
