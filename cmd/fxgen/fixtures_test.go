package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/npy"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/cli"
	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/internal/testkit/compiled/published"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/internal/testkit/zoo"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// runs are the engines that this test has a way to run; tests of their own run the others.
var runs = map[string]func(t *testing.T, f *fxtest.Fixture){
	"eager":   byCommand("eager"),
	"interp":  byCommand("interp"),
	"plan":    byCommand("plan"),
	"module":  byCommand("module"),
	"gen":     byCommand("gen"),
	"lazy":    inSession,
	"compile": compiled,
	"int8":    inInt8,
}

// TestFixturesInEveryEngine runs the networks of the zoo as a user would and compares their
// outputs with PyTorch's, also after their batch norms are folded, as often as the table says.
func TestFixturesInEveryEngine(t *testing.T) {
	for _, row := range zoo.Rows {
		t.Run(row.Name, func(t *testing.T) {
			f := fxtest.LoadFixture(t, row.Name)
			for _, e := range zoo.Engines {
				run, tier := runs[e.Name], e.Tier(row)
				if run == nil || tier == zoo.Never {
					continue
				}
				t.Run(e.Name, func(t *testing.T) {
					if tier == zoo.Nightly {
						fxtest.Nightly(t)
					}
					run(t, f)
				})
			}
		})
	}
}

// byCommand runs a network by fxgen, and again with its batch norms folded.
func byCommand(engine string) func(t *testing.T, f *fxtest.Fixture) {
	return func(t *testing.T, f *fxtest.Fixture) {
		f.Check(t, commanded(t, f, engine, ""))
		if f.HasBatchNorms() && engine != "eager" {
			t.Run("folded", func(t *testing.T) { f.Check(t, commanded(t, f, engine, "conv-bn")) })
		}
	}
}

// commanded returns what fxgen computes of a network.
func commanded(t *testing.T, f *fxtest.Fixture, engine, passes string) []*array.Array {
	args := []string{"run", f.Model, "-engine", engine}
	if passes != "" {
		args = append(args, "-passes", passes)
	}
	for _, in := range f.Inputs {
		sizes := make([]string, len(in.Shape))
		for i, n := range in.Shape {
			sizes[i] = strconv.Itoa(n)
		}
		args = append(args, "-shape", in.Name+"="+strings.Join(sizes, ","))
	}
	var names []string
	for _, o := range f.Outputs {
		names = append(names, o.Name)
	}
	return runOutputs(t, args, names)
}

// inInt8 runs a network that is quantised, whose results may be as far from the reference as the
// table says.
func inInt8(t *testing.T, f *fxtest.Fixture) {
	bound := zoo.Lookup("int8").Within(f.Model)
	for i, got := range commanded(t, f, "int8", "") {
		far := fxtest.Compare(f.Outputs[i].Stored(got), f.Expected(t, f.Outputs[i])).L2Rel
		t.Logf("%s is %.4f off, allowed %.4f", f.Outputs[i].Name, far, bound)
		require.False(t, math.IsNaN(far))
		require.LessOrEqual(t, far, bound, f.Outputs[i].Name)
	}
}

// network returns a network with its weights and inputs.
func network(t *testing.T, name string) (module any, in []*tensor.Tensor) {
	m := models.Lookup(name)
	module = m.New()
	models.Synthetic(m, module, "gofx-1")
	in, err := m.SyntheticInputs("gofx-1")
	require.NoError(t, err)
	return module, in
}

// inSession runs a network in a lazy session until its graphs are compiled.
func inSession(t *testing.T, f *fxtest.Fixture) {
	module, in := network(t, f.Model)
	s := lazy.New(lazy.Options{Synchronous: true})
	defer func() { require.NoError(t, s.Close()) }()
	for range 4 {
		var x []*tensor.Tensor
		for _, a := range in {
			x = append(x, s.In(a))
		}
		f.Check(t, arraysOf(nn.RunAll(module, x...)))
	}
	require.Positive(t, s.Stats().Compiles)
	require.Positive(t, s.Stats().Hits)
}

// compiled calls the compiled function of a network: the first call is recorded and later ones are
// hits, except where code looks at data.
func compiled(t *testing.T, f *fxtest.Fixture) {
	module, in := network(t, f.Model)
	n, err := published.New(module, compile.Capacity(4))
	require.NoError(t, err)
	defer n.Close()
	for range 4 {
		f.Check(t, arraysOf(n.Call(in...)))
	}
	stats := n.Stats()
	if f.Model == "blockdrop" || f.Model == "greedy_decoder" { // Cond and While look at data
		require.Zero(t, stats.Records, "%s", stats)
		return
	}
	require.Equal(t, []int{1, 3}, []int{stats.Records, stats.Hits}, "%s", stats)
}

func arraysOf(x []*tensor.Tensor) (out []*array.Array) {
	for _, y := range x {
		out = append(out, y.Array())
	}
	return out
}

// runOutputs returns the outputs that a command writes.
func runOutputs(t *testing.T, args, names []string) (got []*array.Array) {
	dir := t.TempDir()
	for _, name := range names {
		args = append(args, "-out", name+"="+filepath.Join(dir, name+".npy"))
	}
	var out, errs bytes.Buffer
	require.Zero(t, cli.Main(args, &out, &errs), "%s", errs.String())
	for _, name := range names {
		a, err := npy.ReadFile(filepath.Join(dir, name+".npy"))
		require.NoError(t, err)
		got = append(got, a)
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, len(names), "a run leaves nothing but its outputs")
	return got
}
