package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/lowering/cost"
)

func TestScaleOfANetwork(t *testing.T) {
	r, err := scaleOf("mlp_b8", 1)
	require.NoError(t, err)
	require.Positive(t, r.One)
	require.Positive(t, r.Two)
	require.Positive(t, r.Requests)
	require.Len(t, r.Scaling, len(scaleThreads))
	for i, s := range r.Scaling {
		require.Equal(t, scaleThreads[i], s.Threads)
		require.Equal(t, s.Threads > 1, s.Barriers > 0)
	}
	require.NotEmpty(t, r.Lost)
	require.LessOrEqual(t, len(r.Lost), mostLost)
	_, err = scaleOf("mlp_b7", 1)
	require.ErrorContains(t, err, "there is no network mlp_b7")
}

func TestScalePage(t *testing.T) {
	dir := t.TempDir()
	row := &scaleRow{Name: "net_b1", CPU: "A chip", Date: "2026-11-29", Pairs: 5, One: 10, Two: 5.5, Loop: 2, Requests: 1.9, Serial: 0.004, Busy: 0.97}
	for _, n := range scaleThreads {
		row.Scaling = append(row.Scaling, cost.Scaling{Threads: n, Time: time.Duration(10e6 / n), Efficiency: 1, Barriers: 7, Tiles: 70})
	}
	text, err := json.Marshal(row)
	require.NoError(t, err)
	rows, err := readJSON[scaleRow](strings.NewReader(string(text) + "\n"))
	require.NoError(t, err)
	require.Equal(t, []*scaleRow{row}, rows)
	path := filepath.Join(dir, scaleFile)
	require.NoError(t, writeScaleDoc(path, rows))
	first, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(first), "| net_b1 | 10 | 5.5 | 5 | 1.82 | 0.91 | 0.97 | 0.004 | 1.90 | 7 | 70 | 1.00 |")
	require.NoError(t, writeScaleDoc(path, rows))
	again, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(first), string(again))
	require.ErrorContains(t, writeScaleDoc(path, nil), "no rows")
	_, err = readJSON[scaleRow](strings.NewReader("{"))
	require.Error(t, err)
}
