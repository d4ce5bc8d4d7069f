package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array/npy"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes/partition"
)

// cuts are the ways to make sub-graphs of a network; each returns the calls of them.
var cuts = []struct {
	name string
	cut  func(m *graph.Module) ([]*graph.Node, error)
}{
	{"split", func(m *graph.Module) ([]*graph.Node, error) {
		at, calls := map[*graph.Node]int{}, 0
		for n := range m.Graph.Nodes() {
			if at[n] = calls; n.Opcode().IsCall() {
				calls++
			}
		}
		return partition.Split(m, func(n *graph.Node) string { return "part" + strconv.Itoa(3*at[n]/calls) })
	}},
	{"partition", func(m *graph.Module) ([]*graph.Node, error) {
		p, err := partition.Propose(m.Graph, func(n *graph.Node) (bool, string) {
			return n.Op().Class != op.Elementwise, "elementwise"
		}, partition.Options{})
		if err != nil {
			return nil, err
		}
		return partition.Fuse(m, p.Parts...)
	}},
	{"outline", func(m *graph.Module) ([]*graph.Node, error) {
		var all []*graph.Node
		for n := range m.Graph.Nodes() {
			if n.Opcode().IsCall() && n.Op() != op.GetItem { // these belong to the parts that they take apart
				all = append(all, n)
			}
		}
		call, err := graph.Outline("middle", all[len(all)/4:3*len(all)/4+1])
		return []*graph.Node{call}, err
	}},
}

// TestCutNetworksInEveryEngine cuts the networks of the zoo into sub-graphs, saves them, and
// compares the engines' results for the folders with PyTorch's outputs. The eager engine has
// no part in it: it runs the Go function.
func TestCutNetworksInEveryEngine(t *testing.T) {
	for _, m := range models.All() {
		t.Run(m.Name, func(t *testing.T) {
			f := fxtest.LoadFixture(t, m.Name)
			f.SkipLarge(t)
			module := m.New()
			models.Synthetic(m, module, "gofx-1")
			var types []fx.Option
			for _, in := range m.Inputs {
				types = append(types, fx.Input(in.Name, in.ShapeType().String()))
			}
			whole, err := fx.Trace(context.Background(), module, types...)
			require.NoError(t, err)
			inputs, err := m.SyntheticInputs("gofx-1")
			require.NoError(t, err)
			dir := t.TempDir()
			var values []string
			for i, in := range inputs {
				file := filepath.Join(dir, m.Inputs[i].Name+".npy")
				require.NoError(t, npy.WriteFile(file, in.Array()))
				values = append(values, "-in", m.Inputs[i].Name+"="+file)
			}
			for _, c := range cuts {
				cut := graph.Clone(whole.Module)
				calls, err := c.cut(cut)
				require.NoError(t, err, c.name)
				require.NotEmpty(t, calls, c.name)
				var results []string // of a folder, they are called as the values
				for a := range cut.Graph.Output().Inputs() {
					results = append(results, a.Name())
				}
				folder := filepath.Join(dir, c.name)
				require.NoError(t, graph.Save(folder, cut))
				for _, engine := range []string{"interp", "plan", "module", "gen"} {
					t.Run(c.name+"/"+engine, func(t *testing.T) {
						if (engine == "module" || engine == "gen") && m.Name != "mlp" {
							fxtest.Nightly(t)
						}
						f.Check(t, runOutputs(t, append([]string{"run", folder, "-engine", engine}, values...), results))
					})
				}
				require.NoError(t, os.RemoveAll(folder), "large networks fill a disk")
			}
		})
	}
}
