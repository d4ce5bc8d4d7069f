package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type documentJSON struct {
	Files       []string
	Output      string
	Diagnostics []struct{ Code, Pos, Msg, Hint string }
}

func documentOf(t *testing.T, text string) (d documentJSON) {
	dec := json.NewDecoder(strings.NewReader(text))
	require.NoError(t, dec.Decode(&d), text)
	require.False(t, dec.More(), "one document: %s", text)
	return d
}

// Every command that takes a source has one document, whether it succeeds or fails.
func TestDocumentsOfEveryVerb(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	require.NoError(t, os.WriteFile("bad.fx", []byte("gofx 1\n\ngraph g(%x: f32[2]) {\n  %y = call_function[add](%x, %nothing)\n  return %z\n}\n"), 0o666))
	_, help, _ := call("-h")
	_, list, _ := strings.Cut(help, "Available Commands:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	verbs := 0
	for line := range strings.Lines(list) {
		name := strings.Fields(line)[0]
		if _, text, _ := call(name, "-h"); name == "devices" || name == "verify" || !strings.Contains(text, "--input ") {
			continue
		}
		verbs++
		args := map[string][]string{
			"compare": {"bad.fx", "bad.fx"}, "draw": {"-o", "a.svg", "bad.fx"}, "export": {"-o", "a.onnx", "bad.fx"}, "lower": {"-target", "cuda", "-o", "a.cu", "bad.fx"},
			"quant": {"-plan", "bad.fx"}, "train": {"-data", "a.csv", "-loss", "mse", "-o", "trained", "bad.fx"}, "verify": {"no_such_folder"},
		}[name]
		if args == nil {
			args = []string{"bad.fx"}
		}
		code, stdout, stderr := call(append([]string{name, "-json"}, args...)...)
		require.Equal(t, 1, code, "%s: %s", name, stderr)
		d := documentOf(t, stdout)
		require.NotEmpty(t, d.Diagnostics, name)
		if name == "verify" {
			continue
		}
		require.Equal(t, "bad.fx:4:", d.Diagnostics[0].Pos[:9], name)
		require.Equal(t, "FX7004", d.Diagnostics[0].Code, name)
		require.Len(t, d.Diagnostics, 2, name)
		require.Equal(t, 2, strings.Count(stderr, "[FX7004]"), "%s says it on stderr too", name)
		require.Equal(t, d.Diagnostics[0].Hint, d.Diagnostics[1].Hint, "each has its hint")
		if d.Diagnostics[0].Hint != "" {
			require.Equal(t, 1, strings.Count(stderr, d.Diagnostics[0].Hint), "a hint of several is said once:\n%s", stderr)
		}
		code, stdout, _ = call(append([]string{name, "-json", "-no-such"}, args...)...)
		require.Equal(t, 2, code, name)
		require.Contains(t, documentOf(t, stdout).Diagnostics[0].Msg, "-no-such")
	}
	require.Greater(t, verbs, 14)
}

func TestJSON_documentsOfWrittenFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	code, stdout, stderr := call("gen", "-json", "-o", "net", "-style", "module", "mlp")
	require.Zero(t, code, stderr)
	d := documentOf(t, stdout)
	require.NotEmpty(t, d.Files)
	for _, f := range d.Files {
		require.FileExists(t, filepath.FromSlash(f))
	}
	require.NotNil(t, d.Diagnostics)
	code, stdout, _ = call("print", "-json", "mlp")
	require.Zero(t, code)
	require.Contains(t, documentOf(t, stdout).Output, "graph mlp(")
	require.NoError(t, os.WriteFile(d.Files[0], []byte("package net\n"), 0o666))
	code, stdout, _ = call("diff", "-json", "-o", "net", "-style", "module", "mlp")
	require.Equal(t, 1, code)
	require.Contains(t, documentOf(t, stdout).Output, "--- net/")
}
