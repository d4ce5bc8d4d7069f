package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/bench/verdict"
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
			require.Equal(t, w.verdict == "", w.none != "", "%s says what is compared, or why it has no row", w.id)
			require.NotEmpty(t, verdict.Claims[w.id], "%s has claims", w.id)
			require.NotEmpty(t, w.casesOf(), "%s can be measured", w.id)
			for _, key := range w.used {
				name, threads, _ := strings.Cut(key, " ")
				require.True(t, slices.ContainsFunc(groups(), func(c *Case) bool { return c.Group+"/"+c.Shape == name }), "%s: there is no case %s", w.id, name)
				require.Contains(t, []string{"", "2"}, threads)
			}
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
	require.Len(t, verdict.Claims, len(ids), "claims of workloads that are not there")
	for _, r := range all {
		require.True(t, r.Group != resultGroup || used[r], "%s belongs to no workload", r.Shape)
	}
}

// The page has a table a paper, from rows alone, and a second time is the same.
func TestResultsPage(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "img"), 0o755))
	rows := []*Row{
		{Group: "lazy", Shape: "32ops_n1000", Threads: 1, Least: map[string]float64{"": 1, "eager": 8, "torch": 4, "plan exact": 0.8}, Pairs: 7, CPU: "a CPU", Commit: "abc"},
		{Group: resultGroup, Shape: "W2_counts", Threads: 1, Counts: []Count{{"graphs", 2}, {"part", 0.25}}, CPU: "a CPU", Commit: "abc", TookS: 2.6},
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
		"| **W2** | **not run** | 32 calls of which two groups depend on an argument | plots alone (12 CPU cores, GPU) | | | | a CPU, abc | 3 |\n| | holds | graphs | - | 2 | 2 | - | | |\n",
		"![times by those of eager code](img/results_torchy_1.svg)",
	} {
		require.Contains(t, text, line)
	}
	require.NotContains(t, text, "## LazyTensor", "a paper without rows has no table")
	picture, err := os.ReadFile(filepath.Join(dir, "img", "results_torchy_1.svg"))
	require.NoError(t, err)
	requireSVG(t, string(picture), 3) // two bars, and PyTorch at one
	require.NoError(t, writeResults(dir, rows))
	again, err := os.ReadFile(filepath.Join(dir, resultsFile))
	require.NoError(t, err)
	require.Equal(t, text, string(again))
}

// The page is that of the stored rows, and so are its pictures. Every verdict that says "reproduced" takes less than ten minutes to
// repeat, and few are not run.
func TestStoredPage(t *testing.T) {
	rows, err := readFiles([]string{"papers/rows.json"})
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "img"), 0o755))
	page, err := os.ReadFile(filepath.Join("..", "docs", resultsFile))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, resultsFile), page, 0o644))
	require.NoError(t, writeResults(dir, rows))
	for _, name := range []string{resultsFile, "img/results_torchy_1.svg", "img/results_lazytensor_1.svg", "img/results_magpy_1.svg"} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join("..", "docs", name))
		require.NoError(t, err)
		require.True(t, string(want) == string(got), "%s is not that of the rows: run go run ./papers -doc", name)
	}
	seen, missing := judged(rows), 0
	for _, p := range papers {
		for _, w := range p.workloads {
			all, _ := verdict.Judge(w.id, seen)
			sum := seconds(w.allOf(rows))
			if all == verdict.NotRun {
				missing++
			}
			require.False(t, all == verdict.Reproduced && sum >= 600, "%s takes %.0f s", w.id, sum)
		}
	}
	require.LessOrEqual(t, missing, 8)
}

// Workloads are found by their names, and have their cases on one thread or two.
func TestWorkloadsByName(t *testing.T) {
	list, err := find("W42,W1")
	require.NoError(t, err)
	require.Len(t, list, 2)
	cases := list[0].casesOf()
	require.Len(t, cases, 2)
	require.Len(t, cases[1], 2, "counts, and one thread")
	require.Len(t, cases[2], 1)
	require.Equal(t, "resnet50_interp_b1", cases[2][0].Shape)
	_, err = find("W18")
	require.ErrorContains(t, err, `there is no workload "W18"`)
	list, err = find("")
	require.NoError(t, err)
	require.Len(t, list, len(verdict.Claims))
}

// A workload that is measured is judged by its new rows, which are stored where that is asked for.
func TestJudgePapers(t *testing.T) {
	fresh := &Row{Group: resultGroup, Shape: "W40_counts", Threads: 1, Counts: []Count{{"nodes, flat", 444}, {"nodes, modules", 177}}, TookS: 1}
	measure := func(_ options, list []workload) ([]*Row, bool, error) {
		require.Len(t, list, 1)
		require.Equal(t, "W40", list[0].id)
		return []*Row{fresh}, false, nil
	}
	path := filepath.Join(t.TempDir(), "rows.json")
	old := &Row{Group: resultGroup, Shape: "W40_counts", Threads: 1, Counts: []Count{{"nodes, flat", 9}, {"nodes, modules", 177}}}
	other := &Row{Group: "gemm", Shape: "64x64x64", Threads: 1}
	require.NoError(t, writeRows(path, []*Row{other, old}))
	told := func(o options) string {
		var b strings.Builder
		o.papers = path
		failed, err := judgePapers(o, measure, &b)
		require.NoError(t, err)
		require.False(t, failed)
		return b.String()
	}
	before := told(options{})
	require.Contains(t, before, "W40 not reproduced\n\tnodes with a node for each parameter: 9 (the paper 445, reached 444 to 446): not reproduced\n")
	require.Contains(t, before, "W1 not run\n")
	now := "W40 reproduced\n\tnodes with a node for each parameter: 444 (the paper 445, reached 444 to 446): reproduced\n\tnodes, modules as calls: 177 (the paper -, reached 177): holds\n"
	require.Equal(t, now, told(options{of: "W40"}))
	require.Equal(t, before, told(options{}), "nothing was stored")
	require.Equal(t, now, told(options{of: "W40", keep: true}))
	rows, err := readFiles([]string{path})
	require.NoError(t, err)
	require.Len(t, rows, 2)
	require.Equal(t, "64x64x64", rows[0].Shape)
	require.Equal(t, fresh, rows[1])
	_, err = judgePapers(options{papers: path + ".not"}, measure, io.Discard)
	require.Error(t, err)
}
