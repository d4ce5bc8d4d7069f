package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/kernel"
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

// What a profile says of threads adds up to the time, and predictions are for the numbers that
// were asked for.
func TestProfilesTellOfThreads(t *testing.T) {
	code, stdout, stderr := call("profile", "-json", "-threads", "2", "-repeat", "2", "-top", "0", "-predict", "1,16", "resnet18")
	require.Zero(t, code, stderr)
	type part struct {
		MS         float64 `json:"ms"`
		ParallelMS float64 `json:"parallel_ms"`
		UnevenMS   float64 `json:"uneven_ms"`
		HandingMS  float64 `json:"handing_ms"`
		SerialMS   float64 `json:"serial_ms"`
		Barriers   int     `json:"barriers"`
	}
	var p struct {
		part
		Efficiency float64 `json:"efficiency"`
		Rows       []part  `json:"rows"`
		Scaling    []struct {
			Threads, Barriers, Tiles int
			Efficiency               float64
		} `json:"scaling"`
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &p), stdout)
	barriers := 0
	for _, r := range append(p.Rows, p.part) {
		require.InDelta(t, r.MS, r.ParallelMS+r.UnevenMS+r.HandingMS+r.SerialMS, 1e-6)
	}
	for _, r := range p.Rows {
		barriers += r.Barriers
	}
	require.Positive(t, barriers)
	require.Equal(t, p.Barriers, barriers)
	require.Greater(t, p.Efficiency, 0.0)
	require.LessOrEqual(t, p.Efficiency, 1.0)
	require.Len(t, p.Scaling, 2)
	require.Equal(t, []int{1, 16}, []int{p.Scaling[0].Threads, p.Scaling[1].Threads})
	require.Zero(t, p.Scaling[0].Barriers)
	require.GreaterOrEqual(t, p.Scaling[1].Tiles, 16*p.Scaling[1].Barriers/2, "steps have chunks for the threads")
	code, stdout, _ = call("profile", "-threads", "2", "-repeat", "1", "-predict", "4", "-top", "1", "mlp")
	require.Zero(t, code)
	require.Contains(t, stdout, "threads: ")
	require.Contains(t, stdout, "threads  predicted ms  efficiency  uneven  handing  serial  barriers  tiles  GB/s\n4 ")
	require.Contains(t, stdout, "parallel  uneven  handing  serial  barriers")
	code, stdout, _ = call("profile", "-threads", "1", "-repeat", "1", "-top", "1", "mlp")
	require.Zero(t, code)
	require.NotContains(t, stdout, "barriers")
}

// profile -measure lists what it compared, and the second call what the first one kept.
func TestProfileMeasure(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	file := filepath.Join(t.TempDir(), "net.fx")
	require.NoError(t, os.WriteFile(file, []byte("gofx 1\n\ngraph net(%x: f32[N,64,1,1]) {\n  symbol N = dim(%x, 0)\n  %w = get_attr[w] : f32[32,64,1,1]\n"+
		"  %y = call_function[conv2d](%x, %w)\n  return %y\n}\nparam w : f32[32,64,1,1]\n"), 0o600))
	for i := range 2 {
		code, stdout, stderr := call("profile", "-json", "-measure", "-repeat", "1", file)
		require.Zero(t, code, stderr)
		var p struct {
			Measured []struct {
				Step, Chosen string
				Ways         []struct{ Name string }
				Stored       bool
			}
		}
		require.NoError(t, json.Unmarshal([]byte(stdout), &p))
		if strings.HasPrefix(kernel.CPU(), "avx") {
			require.Len(t, p.Measured, 1)
		}
		for _, m := range p.Measured {
			require.Equal(t, "y", m.Step)
			require.Len(t, m.Ways, 2)
			require.Equal(t, i == 1, m.Stored)
		}
		code, stdout, stderr = call("profile", "-measure", "-repeat", "1", file)
		require.Zero(t, code, stderr)
		require.Equal(t, len(p.Measured) > 0, strings.Contains(stdout, " of 1 steps are not computed as rules choose, 1 choices were made before"), stdout)
	}
	code, _, stderr := call("run", "-measure", "-engine", "eager", "mlp")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "-measure is for -engine plan and int8, got -engine eager")
}
