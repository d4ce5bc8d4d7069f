package conform

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/xla"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// answers are the targets' answers on operators that they support.
var answers = map[string]func(n *graph.Node) (ok bool, reason string){GPU: gpu.Supports, StableHLO: xla.Supports}

// ask enters the targets' answers on every sample call.
func ask(t testing.TB, m *Matrix) {
	t.Helper()
	for _, o := range Ops() {
		if o.Structural() || m.Cell(o, GPU) != nil { // nothing to ask, or asked before
			continue
		}
		for _, s := range o.Samples() {
			n := callOf(t, o, s)
			for _, target := range Targets {
				if ok, why := answers[target](n); ok {
					m.Add(o, target, s.Name, nil)
				} else {
					require.NotEmpty(t, why, "%s %s", o.Name, s.Name)
					m.Add(o, target, s.Name, errors.New(why))
				}
			}
		}
	}
}

// computed reads which samples XLA has computed, from the file that the tests of lowering/xla write
// and hold to the emitted programs.
func computed(t testing.TB) map[string]int {
	t.Helper()
	data, err := os.ReadFile("../../../lowering/xla/testdata/xla.tsv")
	require.NoError(t, err)
	counts := map[string]int{}
	for line := range strings.Lines(string(data)) {
		if f := strings.Split(line, "\t"); len(f) == 3 {
			counts[f[0]], err = strconv.Atoi(f[1])
			require.NoError(t, err, line)
		}
	}
	return counts
}

// callOf returns a call as the sample has it, in a graph of its own.
func callOf(t testing.TB, o *op.Op, s op.Sample) *graph.Node {
	t.Helper()
	c := graph.New("sample").At()
	c.OnError = func(err error) { require.NoError(t, err) }
	args := make([]*graph.Node, len(s.In))
	for i, a := range s.In {
		if a != nil {
			args[i] = c.Placeholder("x", shape.TypeOf(a), nil)
		}
	}
	return c.Function(o, s.Attrs, args...)
}

// TestDocSaysWhatTargetsTake holds the part of docs/ops.md about targets to their answers;
// go generate writes it with the rest.
func TestDocSaysWhatTargetsTake(t *testing.T) {
	var m Matrix
	ask(t, &m)
	var b strings.Builder
	m.left(&b)
	have, err := os.ReadFile(opsFile)
	require.NoError(t, err)
	require.Contains(t, string(have), b.String(), "docs/ops.md is stale: run go generate ./internal/testkit/conform")
	m.Computed = computed(t)
	for _, o := range Ops() {
		require.Contains(t, string(have), "\n"+opRow(o, Count(o), m.except(o)), "docs/ops.md is stale: run go generate ./internal/testkit/conform")
	}
}
