package keep

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/lowering"
)

// builder builds a program that says a word, and tells whether it was linked.
type builder struct {
	t         *testing.T
	dir, kept string
}

func newBuilder(t *testing.T) *builder {
	b := &builder{t, t.TempDir(), t.TempDir()}
	t.Setenv(Variable, b.kept)
	t.Setenv("GOFLAGS", "")
	require.NoError(t, os.WriteFile(filepath.Join(b.dir, "go.mod"), []byte("module example.com/m\n\ngo 1.26\n"), 0o666))
	b.source("one")
	return b
}

func (b *builder) source(word string) {
	text := "package main\n\nvar word = \"" + word + "\"\n\nfunc main() { print(word) }\n"
	require.NoError(b.t, os.WriteFile(filepath.Join(b.dir, "main.go"), []byte(text), 0o666))
}

func (b *builder) program() *Binary {
	return &Binary{Key: lowering.Key("m"), Args: []string{"build", "-x"}, Of: ".", Dir: b.dir, Env: os.Environ()}
}

func (b *builder) build() (says string, links bool) {
	file := filepath.Join(b.t.TempDir(), "m.exe")
	out, err := b.program().Build(b.t.Context(), file)
	require.NoError(b.t, err, "%s", out)
	text, err := exec.Command(file).CombinedOutput()
	require.NoError(b.t, err)
	return string(text), strings.Contains(string(out), "-buildmode=") // which -x shows of the linker alone
}

func (b *builder) says(word string, linked bool, why string) {
	b.t.Helper()
	got, links := b.build()
	require.Equal(b.t, word, got, why)
	require.Equal(b.t, linked, links, why)
}

func TestProgramsAreLinkedOnce(t *testing.T) {
	b := newBuilder(t)
	b.says("one", true, "nothing is kept")
	b.says("one", false, "it is kept")
	b.source("two")
	b.says("two", true, "the source has changed")
	b.says("two", false, "the new one is kept")
	files, err := filepath.Glob(filepath.Join(b.kept, "*.bin"))
	require.NoError(t, err)
	require.Len(t, files, 1, "in place of the old one")

	t.Setenv("GOFLAGS", "-ldflags=-X=main.word=three")
	b.says("three", true, "the user's flags for the linker hold")
	b.says("three", false, "and are part of what is kept")

	t.Setenv("GOFLAGS", "")
	b.says("two", true, "other flags")
	path := files[0]
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	data[len(data)/2] ^= 1
	require.NoError(t, os.WriteFile(path, data, 0o666))
	b.says("two", true, "what is kept is damaged")

	t.Setenv(Variable, "-")
	b.says("two", true, "nothing is to be kept")
	t.Setenv(Variable, path)
	b.says("two", true, "a file is where the folder should be")
}

func TestFailedBuildsKeepNothing(t *testing.T) {
	b := newBuilder(t)
	b.source("\" + undefined + \"")
	out, err := b.program().Build(t.Context(), filepath.Join(t.TempDir(), "m.exe"))
	require.Error(t, err)
	require.Contains(t, string(out), "main.go:3:")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = b.program().Build(ctx, filepath.Join(t.TempDir(), "m.exe"))
	require.ErrorIs(t, err, context.Canceled)
	files, err := os.ReadDir(b.kept)
	require.NoError(t, err)
	require.Empty(t, files)
}
