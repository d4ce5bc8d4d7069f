package report

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
)

// run is one run with every kind of diagnostic.
func run(t *testing.T) *Run {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "a net"), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a net", "net.go"), []byte("package net\n\nvar größe = f(1)\n"), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "odd: name"), nil, 0o666))
	return &Run{Version: "v0.2.0", Dir: dir, Args: []string{"print", "./net#Net"}, ExitCode: 1, Found: diag.List{
		{Code: "FX2003", Pos: diag.Pos{File: "a net/net.go", Line: 3, Col: 15}, Op: "linear", Phase: "trace", Msg: "sizes differ", Hint: "make them equal",
			Related: []diag.Related{{Pos: diag.Pos{File: "/abs/other.go", Line: 7}, Msg: "the other size"}}},
		{Code: "FX8102", Pos: diag.Pos{File: "model.onnx"}, Node: "conv_1", Msg: "no such operator", Err: errors.New("it is new")},
		{Code: "FX2003", Pos: diag.Pos{File: "a net/net.go", Line: 3}, Msg: "a note", Note: true},
		{Code: "FX8102", Pos: diag.Pos{File: "model.onnx: test_data_set_0"}, Msg: "differs"},
		{Code: "FX8102", Pos: diag.Pos{File: "odd: name"}, Msg: "odd"},
		{Code: "FX0000", Msg: "nobody knows this code"},
		{Msg: "print has no flag -x", Hint: "fxgen print -h"},
	}}
}

func TestSARIF(t *testing.T) {
	r := run(t)
	text, err := r.SARIF()
	require.NoError(t, err)
	require.True(t, OwnSARIF(text))
	var log sarifLog
	require.NoError(t, json.Unmarshal(text, &log))
	require.Equal(t, "2.1.0", log.Version)
	one := log.Runs[0]
	var ids []string
	for _, rule := range one.Tool.Driver.Rules {
		ids = append(ids, rule.ID)
	}
	require.Equal(t, []string{"FX2003", "FX8102", "FX0000"}, ids)
	info, _ := diag.Lookup("FX2003")
	require.Equal(t, sarifRule{"FX2003", sarifMessage{info.Title}, sarifMessage{info.Cause}, sarifMessage{info.Cure}}, one.Tool.Driver.Rules[0])
	require.Equal(t, []sarifResult{
		{"FX2003", 0, "error", sarifMessage{"sizes differ\nHint: make them equal"},
			[]sarifLocation{{Physical: &physical{artifact{"a%20net/net.go", "%SRCROOT%"}, &region{3, 13}}}},
			[]sarifLocation{{Physical: &physical{artifact{"file:///abs/other.go", ""}, &region{7, 0}}, Message: &sarifMessage{"the other size"}}},
			map[string]string{"operator": "linear", "phase": "trace"}},
		{"FX8102", 1, "error", sarifMessage{"no such operator: it is new"},
			[]sarifLocation{{Physical: &physical{artifact{"model.onnx", "%SRCROOT%"}, nil}, Logical: []logical{{"conv_1", "element"}}}}, nil, nil},
		{"FX2003", 0, "note", sarifMessage{"a note"}, []sarifLocation{{Physical: &physical{artifact{"a%20net/net.go", "%SRCROOT%"}, &region{3, 0}}}}, nil, nil},
		{"FX8102", 1, "error", sarifMessage{"differs"},
			[]sarifLocation{{Physical: &physical{artifact{"model.onnx", "%SRCROOT%"}, nil}, Logical: []logical{{"test_data_set_0", "element"}}}}, nil, nil},
		{"FX8102", 1, "error", sarifMessage{"odd"}, []sarifLocation{{Physical: &physical{artifact{"./odd:%20name", "%SRCROOT%"}, nil}}}, nil, nil},
		{"FX0000", 2, "error", sarifMessage{"nobody knows this code"}, nil, nil, nil},
	}, one.Results)
	require.Equal(t, []sarifInvocation{{[]string{"print", "./net#Net"}, true, 1, []sarifNotification{{"error", sarifMessage{"print has no flag -x\nHint: fxgen print -h"}}}}}, one.Invocations)
	for code, ok := range map[int]bool{0: true, 1: true, 2: false, 3: false} {
		r.ExitCode = code
		text, err := r.SARIF()
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &log))
		require.Equal(t, ok, log.Runs[0].Invocations[0].ExecutionSuccessful)
	}
}

func TestSARIFWithoutDiagnosticsHasEmptyLists(t *testing.T) {
	text, err := (&Run{Dir: t.TempDir()}).SARIF()
	require.NoError(t, err)
	require.Contains(t, string(text), `"results": []`)
	require.Contains(t, string(text), `"rules": []`)
	require.Contains(t, string(text), `"arguments": []`)
}

func TestVet(t *testing.T) {
	r := run(t)
	text, err := r.Vet()
	require.NoError(t, err)
	require.True(t, OwnVet(text))
	var tree map[string]map[string][]map[string]string
	require.NoError(t, json.Unmarshal(text, &tree))
	require.Equal(t, map[string]map[string][]map[string]string{
		"a net": {"fxgen": {{"category": "FX2003", "posn": filepath.Join(r.Dir, "a net", "net.go") + ":3:15", "message": "sizes differ"}}},
		".": {"fxgen": {
			{"category": "FX8102", "posn": filepath.Join(r.Dir, "model.onnx"), "message": "no such operator: it is new"},
			{"category": "FX8102", "posn": filepath.Join(r.Dir, "model.onnx"), "message": "test_data_set_0: differs"},
			{"category": "FX8102", "posn": filepath.Join(r.Dir, "odd: name"), "message": "odd"},
			{"category": "FX0000", "posn": "-", "message": "nobody knows this code"},
			{"posn": "-", "message": "print has no flag -x"}}},
	}, tree)
	for mod, want := range map[string]string{"module example.com/m\n": "example.com/m/a net", "no module": "a net"} {
		require.NoError(t, os.WriteFile(filepath.Join(r.Dir, "go.mod"), []byte(mod), 0o666))
		text, err = r.Vet()
		require.NoError(t, err)
		clear(tree)
		require.NoError(t, json.Unmarshal(text, &tree))
		require.Len(t, tree, 2)
		require.Contains(t, tree, want)
		require.Contains(t, tree, ".")
	}
	text, err = (&Run{}).Vet()
	require.NoError(t, err)
	require.Equal(t, "{}\n", string(text))
}

// A file of another program is not taken for fxgen's.
func TestOwn(t *testing.T) {
	for _, other := range []string{"", "notes", "[]", `{"runs": []}`, `{"runs": [{"tool": {"driver": {"name": "gosec"}}}]}`, `{"runs": [{"tool": {"driver": {"name": "fxgen"}}}, {}]}`} {
		require.False(t, OwnSARIF([]byte(other)), other)
	}
	for _, other := range []string{"", "notes", "[]", `{"p": {"printf": []}}`, `{"p": {"fxgen": [], "printf": []}}`} {
		require.False(t, OwnVet([]byte(other)), other)
	}
}
