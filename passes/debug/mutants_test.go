package debug_test

import (
	"fmt"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/mutants"
	"github.com/gofx-dev/gofx/internal/testkit/repo"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/debug"
)

// written is a test that Write has made of a mutant.
type written struct {
	name, src, err string
}

// TestMutants tries twenty mutants on programs of 200 nodes: Bisect names the rewrite of
// those that are passes, Compare the value of those that are kernels, Minimise leaves
// ten nodes or fewer, and the tests that are written fail for the right reason.
func TestMutants(t *testing.T) {
	seeds := uint64(5)
	if testing.Short() {
		seeds = 1
	}
	require.Len(t, append(mutants.Rewrites(), mutants.Kernels()...), 20)
	require.Len(t, mutants.Pipeline("", ""), 12)
	var tests []written
	for seed := range seeds {
		m := mutants.Program(seed)
		require.InDelta(t, 210, m.Graph.Len(), 30)
		c := debug.Case{Module: m, Inputs: inputs(t, m)}
		require.NoError(t, mutants.Fails("", "none")(t.Context(), c), "the passes are right without a mutant")
		for _, mutant := range mutants.Rewrites() {
			victim := bisected(t, c, mutant, seed)
			tests = append(tests, minimised(t, c, mutant, victim, seed))
		}
		for _, mutant := range mutants.Kernels() {
			compared(t, c, mutant)
			tests = append(tests, minimised(t, c, mutant, "", seed))
		}
	}
	runWritten(t, tests)
}

func inputs(t *testing.T, m *graph.Module) []*array.Array {
	in, err := passes.Inputs(m.Graph, nil, 7)
	require.NoError(t, err)
	return in
}

// bisected finds a node at which a mutant changes the results, and demands that Bisect
// names its rewrite.
func bisected(t *testing.T, c debug.Case, mutant string, seed uint64) (victim string) {
	victims, err := mutants.Victims(t.Context(), c.Module, mutant)
	require.NoError(t, err)
	require.NotEmpty(t, victims, "%s of seed %d", mutant, seed)
	for i := range victims {
		victim = victims[(i+int(seed)+len(victims)/2)%len(victims)]
		o := passes.Options{Numeric: &passes.Numeric{Inputs: c.Inputs}}
		found, err := debug.Bisect(t.Context(), c.Module, mutants.Pipeline(mutant, victim), o, nil)
		if err != nil {
			require.ErrorContains(t, err, string(debug.NothingFails))
			continue // this one does not change the results
		}
		pass, _, _ := strings.Cut(mutant, "/")
		require.Equal(t, pass, found.Pass, "%s at %s", mutant, victim)
		require.NotNil(t, found.Event, "%s at %s: %s", mutant, victim, found)
		require.Equal(t, victim, found.Event.Node.Name(), mutant)
		report, err := passes.Run(t.Context(), graph.Clone(c.Module), mutants.Pipeline(mutant, victim), passes.Options{})
		require.NoError(t, err)
		total := 0
		for _, p := range report.Passes {
			total += p.Matches + 1
		}
		require.LessOrEqual(t, found.Runs, 2+bits.Len(uint(total)))
		repeats(t, c, mutants.Pipeline(mutant, victim), found)
		return victim
	}
	require.Fail(t, "no node at which the mutant changes the results", "%s of seed %d: %v", mutant, seed, victims)
	return ""
}

// repeats demands that StopAt shows what Bisect says: right before the rewrite, wrong
// after it.
func repeats(t *testing.T, c debug.Case, pipeline []passes.Pass, found *debug.Culprit) {
	check, err := passes.Numeric{Inputs: c.Inputs}.Against(t.Context(), c.Module)
	require.NoError(t, err)
	for back, wrong := range []bool{true, false} {
		m := graph.Clone(c.Module)
		_, err := passes.Run(t.Context(), m, pipeline, passes.Options{StopAt: passes.StopAt{Pass: found.Pass, Match: found.Match - back}})
		require.NoError(t, err)
		require.Equal(t, wrong, check(t.Context(), m) != nil)
		require.Equal(t, graph.Hash([]*graph.Module{found.Bad, found.Good}[back].Graph), graph.Hash(m.Graph))
	}
}

// compared demands that Compare names the first node whose kernel is wrong.
func compared(t *testing.T, c debug.Case, operator string) {
	d, err := debug.Compare(t.Context(), c.Module, c.Module, c.Inputs, debug.CompareOptions{Second: mutants.Engine(operator)})
	require.NoError(t, err)
	require.NotNil(t, d.First(), operator)
	first := ""
	for n := range c.Module.Graph.Nodes() {
		if first == "" && n.Op() != nil && n.Op().Key() == operator {
			first = n.Name()
		}
	}
	require.Equal(t, first, d.First().Node, "%s\n%s", operator, d)
	require.Greater(t, d.First().Largest, 1e-3, "%s\n%s", operator, d)
}

// maxNodes is how large a minimal case may be.
const maxNodes = 10

func minimised(t *testing.T, c debug.Case, mutant, victim string, seed uint64) written {
	before := c.Module.String()
	m, err := debug.Minimise(t.Context(), c, mutants.Fails(mutant, victim))
	require.NoError(t, err, mutant)
	require.Equal(t, before, c.Module.String())
	require.LessOrEqual(t, m.Module.Graph.Len(), maxNodes, "%s at %s:\n%s", mutant, victim, m.Module)
	t.Logf("%s at %q: %d nodes, %d tries, kept %v", mutant, victim, m.Module.Graph.Len(), m.Tries, m.Kept)
	w := written{err: m.Err.Error()}
	w.name = fmt.Sprintf("Test_%s_%d", strings.NewReplacer("/", "_", "-", "_").Replace(mutant), seed)
	src, err := debug.Write(m, debug.TestFile{Package: "zz_minimised", Name: w.name, Imports: []string{"github.com/gofx-dev/gofx/internal/testkit/mutants"},
		Fails: "mutants.Fails(" + strconv.Quote(mutant) + ", " + strconv.Quote(victim) + ")"})
	require.NoError(t, err)
	w.src = string(src)
	return w
}

// runWritten compiles the tests as a package of this module and runs them twice: with
// the mutants each fails as it was said to, without them all pass.
func runWritten(t *testing.T, tests []written) {
	root, err := repo.Root()
	require.NoError(t, err)
	dir := t.TempDir()
	var overlay []string
	for i, w := range tests {
		file := filepath.Join(dir, strconv.Itoa(i)+".go")
		require.NoError(t, os.WriteFile(file, []byte(w.src), 0o666))
		overlay = append(overlay, fmt.Sprintf("%q: %q", filepath.Join(root, "internal", "zz_minimised", strconv.Itoa(i)+"_test.go"), file))
	}
	file := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"Replace": {`+strings.Join(overlay, ", ")+"}}"), 0o666))
	program := filepath.Join(dir, "minimised.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-overlay", file, "-c", "-o", program, "./internal/zz_minimised")
	build.Dir = root
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	run := func(env ...string) string {
		cmd := exec.CommandContext(t.Context(), program, "-test.v")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
		out, _ := cmd.CombinedOutput() // the tests fail
		return string(out)
	}
	broken := run()
	for _, w := range tests {
		_, said, ran := strings.Cut(broken, "=== RUN   "+w.name+"\n")
		require.True(t, ran, "%s\n%s", broken, w.src)
		said, _, _ = strings.Cut(said, "--- ")
		for line := range strings.Lines(w.err) {
			require.Contains(t, said, strings.TrimSpace(line), w.src)
		}
		require.Contains(t, broken, "--- FAIL: "+w.name+" ")
	}
	mended := run(mutants.Mended + "=1")
	require.NotContains(t, mended, "--- FAIL", mended)
	require.Equal(t, len(tests), strings.Count(mended, "--- PASS: "), mended)
}
