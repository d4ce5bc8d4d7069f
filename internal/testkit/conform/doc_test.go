package conform

import (
	"errors"
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/op/std"
)

var update = flag.Bool("update", false, "write docs/ops.md from the runs")

const opsFile = "../../../docs/ops.md"

// TestDocIsWhatTheEnginesDo runs every sample in every engine and holds
// docs/ops.md to the outcome; with -update it writes the file.
func TestDocIsWhatTheEnginesDo(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: the generated packages take a minute to build")
	}
	all := buildAll(t).matrix
	ask(t, all)
	all.Computed = computed(t)
	doc := all.Doc()
	if *update {
		require.NoError(t, os.WriteFile(opsFile, []byte(doc), 0o644))
	}
	have, err := os.ReadFile(opsFile)
	require.NoError(t, err)
	require.True(t, string(have) == doc, "docs/ops.md is stale: run go generate ./internal/testkit/conform")
}

func TestMatrixShowsWhatFails(t *testing.T) {
	var m Matrix
	m.Add(std.Relu, Plan, "a", nil)
	m.Add(std.Relu, Plan, "b|c", errors.New("element 3 differs: got\n[1]"))
	m.Add(std.Neg, Gen, "a", errors.New("no kernel"))
	m.Add(std.Neg, Gen, "b", errors.New("no kernel"))
	doc := m.Doc()
	require.Contains(t, doc, " | plan 1 of 2 |\n")
	require.Contains(t, doc, "| relu | plan | b\\|c | element 3 differs: got |\n")
	require.Contains(t, doc, " | gen 0 of 2 |\n")
	require.Contains(t, doc, "| neg | gen | all | no kernel |\n")
	m.Add(std.Abs, StableHLO, "a", nil)
	require.Contains(t, m.Doc(), " | XLA has run 0 of 1 |\n")
	m.Computed = map[string]int{"abs": 1}
	require.NotContains(t, m.Doc(), "XLA has run")
}

// A generator that fails for one operator costs the samples of that one alone.
func TestBatchesNameWhatCannotBeGenerated(t *testing.T) {
	failing := errors.New("no such operator")
	var m Matrix
	p := &program{t: t, dir: t.TempDir(), runs: map[string][]int{}}
	addSamples(p, &m, Gen, func(b *batch, pkg string) error {
		for _, c := range b.calls {
			if c.o == std.Relu {
				return failing
			}
		}
		return nil
	})
	require.Equal(t, len(std.Relu.Samples()), len(m.Cell(std.Relu, Gen).Failed))
	require.Zero(t, m.Cell(std.Relu, Gen).Passed)
	require.Equal(t, failing.Error(), m.Cell(std.Relu, Gen).Failed[0].Why)
	require.Len(t, m.cells, 1, "the others wait for the run")
}
