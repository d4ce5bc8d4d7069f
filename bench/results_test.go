package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every workload is measured or has a reason, and every row belongs to a workload.
func TestResultsAreComplete(t *testing.T) {
	var all []*Row
	for _, c := range groups() {
		all = append(all, &Row{Group: c.Group, Shape: c.Shape})
	}
	used := map[*Row]bool{}
	ids := map[string]bool{}
	for _, p := range papers {
		for _, w := range p.workloads {
			require.False(t, ids[w.id], "%s is there once", w.id)
			ids[w.id] = true
			rows := w.rowsOf(all)
			require.Equal(t, len(rows) == 0, w.none != "", "%s has rows or a reason", w.id)
			require.Equal(t, w.verdict == "", w.none != "", "%s has a verdict or a reason", w.id)
			for _, name := range w.rows {
				group, shape, _ := strings.Cut(name, "/")
				found := false
				for _, r := range rows {
					found = found || r.Group == group && r.Shape == shape
				}
				require.True(t, found, "%s: there is no case %s", w.id, name)
			}
			for _, r := range rows {
				used[r] = true
			}
		}
	}
	for _, r := range all {
		require.True(t, r.Group != resultGroup || used[r], "%s belongs to no workload", r.Shape)
	}
}

// The page has a table a paper, from rows alone, and a second time is the same.
func TestResultsPage(t *testing.T) {
	dir := t.TempDir()
	rows := []*Row{
		{Group: "lazy", Shape: "32ops_n1000", Threads: 1, Least: map[string]float64{"": 1, "eager": 8, "torch": 4, "plan exact": 0.8}, Pairs: 7, CPU: "a CPU"},
		{Group: resultGroup, Shape: "W2_counts", Threads: 1, Counts: []Count{{"graphs", 2}, {"part", 0.25}}, CPU: "a CPU"},
		{Group: resultGroup, Shape: "W6_gpt2_8_tokens", Threads: 1, Least: map[string]float64{"": 2, callByCall: 3, "eager": 3}, Pairs: 5, CPU: "a CPU"},
	}
	require.NoError(t, writeResults(dir, rows))
	b, err := os.ReadFile(filepath.Join(dir, resultsFile))
	require.NoError(t, err)
	text := string(b)
	for _, line := range []string{
		"| | | 32ops n1000 | 1.00 | 8.00 | - | 1.25 | 4.00 | 7 |",
		"| | | graphs 2, part 0.25 | - | - | - | - | - | - |",
		"| | | gpt2 8 tokens | 2.00 | 1.50 | 1.00 | - | - | 5 |",
		"not measured in this run",
		"NNC is not part of today's PyTorch",
	} {
		require.Contains(t, text, line)
	}
	require.NotContains(t, text, "LazyTensor", "a paper without rows has no table")
	require.NoError(t, writeResults(dir, rows))
	again, err := os.ReadFile(filepath.Join(dir, resultsFile))
	require.NoError(t, err)
	require.Equal(t, text, string(again))
}
