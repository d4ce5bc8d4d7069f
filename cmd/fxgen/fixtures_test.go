package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/npy"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/cli"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/models"
)

// compiled are the networks whose generated code is compiled and run on every
// change; the nightly tier compiles all of them.
var compiled = map[string]bool{"mlp": true, "resnet18": true, "unet": true, "dlrm": true}

// TestFixturesInEveryEngine runs the networks of the zoo as a user would and
// compares their outputs with PyTorch's, also after their batch norms are folded.
func TestFixturesInEveryEngine(t *testing.T) {
	for _, m := range models.All() {
		t.Run(m.Name, func(t *testing.T) {
			f := fxtest.LoadFixture(t, m.Name)
			f.SkipLarge(t)
			for _, engine := range []string{"eager", "interp", "plan", "module", "gen"} {
				t.Run(engine, func(t *testing.T) {
					if (engine == "module" || engine == "gen") && !compiled[m.Name] {
						fxtest.Nightly(t)
					}
					runFixture(t, f, engine, "")
					if f.HasBatchNorms() && engine != "eager" {
						t.Run("folded", func(t *testing.T) { runFixture(t, f, engine, "conv-bn") })
					}
				})
			}
		})
	}
}

func runFixture(t *testing.T, f *fxtest.Fixture, engine, passes string) {
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
	f.Check(t, runOutputs(t, args, names))
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
