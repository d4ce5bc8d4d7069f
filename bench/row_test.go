package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func object(t *testing.T, r *Row) map[string]any {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, writeJSON(&b, r))
	require.Equal(t, 1, strings.Count(b.String(), "\n"), "one line a row")
	m := map[string]any{}
	require.NoError(t, json.Unmarshal(b.Bytes(), &m))
	return m
}

func TestRowHasTheFields(t *testing.T) {
	r := &Row{Group: "gemm", Shape: "64x64x64", OursMS: 2, RoofShare: 0.5}
	r.setPeers(map[string]float64{"torch": 5, "ort": 4})
	m := object(t, r)
	for key, want := range map[string]any{
		"group": "gemm", "shape": "64x64x64", "ours_ms": 2.0, "peer": "ort", "peer_ms": 4.0, "ratio": 0.5, "roof_share": 0.5,
	} {
		require.Equal(t, want, m[key], key)
	}
	require.Equal(t, map[string]any{"torch": 5.0, "ort": 4.0}, m["peers"])
}

func TestMissingPeerLeavesItsFieldsOut(t *testing.T) {
	r := &Row{Group: "gemm", Shape: "64x64x64", OursMS: 2, RoofShare: 0.5}
	r.setPeers(nil)
	m := object(t, r)
	for _, key := range []string{"peer", "peer_ms", "ratio", "peers"} {
		require.NotContains(t, m, key)
	}
	require.Contains(t, m, "ours_ms")
}

func TestMissingKernelLeavesItsFieldsOut(t *testing.T) {
	r := &Row{Group: "gemm", Shape: "64x64x64"}
	r.setPeers(map[string]float64{"torch": 5})
	m := object(t, r)
	for _, key := range []string{"ours_ms", "ratio", "roof_share"} {
		require.NotContains(t, m, key)
	}
	require.Equal(t, 5.0, m["peer_ms"])
}

func TestRowsAreReadBack(t *testing.T) {
	var b bytes.Buffer
	rows := []*Row{{Group: "a", Shape: "b", OursMS: 1, Networks: map[string]int{"n": 2}}, {Group: "c", Threads: 2}}
	for _, r := range rows {
		require.NoError(t, writeJSON(&b, r))
	}
	got, err := readJSON[Row](&b)
	require.NoError(t, err)
	require.Equal(t, rows, got)
	_, err = readJSON[Row](strings.NewReader("{"))
	require.Error(t, err)
}

func TestLaterFilesReplaceRows(t *testing.T) {
	var names []string
	for _, rows := range [][]*Row{
		{{Group: "a", Shape: "s", Threads: 1, OursMS: 1}, {Group: "a", Shape: "s", Threads: 2, OursMS: 2}},
		{{Group: "b", Shape: "s", Threads: 1, OursMS: 3}, {Group: "a", Shape: "s", Threads: 1, OursMS: 4},
			{Group: "quant", Shape: "mlp_static_b8", OursMS: 6}, {Group: "quant", Shape: "mlp_static_b1", OursMS: 5}},
	} {
		var b bytes.Buffer
		for _, r := range rows {
			require.NoError(t, writeJSON(&b, r))
		}
		names = append(names, filepath.Join(t.TempDir(), "rows"))
		require.NoError(t, os.WriteFile(names[len(names)-1], b.Bytes(), 0o600))
	}
	rows, err := readFiles(names)
	require.NoError(t, err)
	var ms []float64
	for _, r := range rows {
		ms = append(ms, r.OursMS)
	}
	require.Equal(t, []float64{5, 6, 4, 2, 3}, ms, "in the order of the cases, the others after them")
	_, err = readFiles([]string{"/nowhere"})
	require.Error(t, err)
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, writeTable(&b, []*Row{{Group: "gemm", Shape: "s", OursMS: 0.5}, {Group: "gemm", Shape: "s", OursMS: 123.4, Peer: "ort", PeerMS: 12.34, Ratio: 10}}))
	lines := strings.Split(b.String(), "\n")
	require.Equal(t, []string{"gemm", "s", "0.5000", "-", "-", "-", "-", "-"}, strings.Fields(lines[1]))
	require.Equal(t, []string{"gemm", "s", "123", "ort", "12.3", "10.00", "-", "-"}, strings.Fields(lines[2]))
}
