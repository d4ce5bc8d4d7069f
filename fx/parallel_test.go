package fx_test

import (
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/tensor"
)

// TestGraphModule_manyGoroutinesRunIt has eight goroutines capture one module, transform, print,
// save, load, run and compile the captured graphs: all of them get the same. The race
// detector watches in CI.
func TestGraphModule_manyGoroutinesRunIt(t *testing.T) {
	net := models.NewBert(models.BertConfig{VocabSize: 30, MaxPositions: 9, TypeVocabSize: 2, HiddenSize: 8, NumLayers: 3, NumHeads: 2, IntermediateSize: 16, LayerNormEps: 1e-12})
	nn.Eval(net)
	models.Synthetic(&models.Model{}, net, "parallel")
	dir := t.TempDir()
	work := func(k int) (out []string, err error) {
		gm, err := fx.Trace(t.Context(), net, fx.Input("ids", "i64[B,S]"), fx.Input("mask", "i64[B,S]"))
		if err != nil {
			return nil, err
		}
		out = append(out, gm.String())
		pipeline := append(fx.Optimise(), fx.Passes()[len(fx.Passes())-2:]...)
		if _, err = gm.Apply(t.Context(), pipeline, fx.PassOptions{Numeric: &passes.Numeric{Sizes: map[string]int{"B": 1, "S": 4}}}); err != nil {
			return nil, err
		}
		out = append(out, gm.String())
		here := filepath.Join(dir, strconv.Itoa(k))
		if err = fx.Save(here, gm); err != nil {
			return nil, err
		}
		if gm, err = fx.Load(here); err != nil {
			return nil, err
		}
		ids := tensor.FromSlice([]int64{1, 5, 2, 9}, 1, 4)
		y, err := gm.Run(t.Context(), ids, ids.OnesLike())
		if err != nil {
			return nil, err
		}
		e, err := cpu.Compile(graph.Clone(gm.Module), lowering.Options{})
		if err != nil {
			return nil, err
		}
		return append(out, gm.String(), y[0].String(), e.Plan().String()), nil
	}
	want, err := work(0)
	require.NoError(t, err)
	var group sync.WaitGroup
	for k := range 8 {
		group.Go(func() {
			got, err := work(k)
			assert.NoError(t, err)
			assert.Equal(t, want, got)
		})
	}
	group.Wait()
}

// TestGraph_manyGoroutinesReadIt lints, prints, compares, copies, saves and runs one graph in eight
// goroutines.
func TestGraph_manyGoroutinesReadIt(t *testing.T) {
	net := nn.NewSequential(nn.NewLinear(4, 4), nn.NewReLU(), nn.NewLayerNorm([]int{4}))
	gm, err := fx.Trace(t.Context(), net, fx.Input("x", "f32[N,4]"))
	require.NoError(t, err)
	text := gm.String()
	fresh := fx.NewGraphModule(graph.Clone(gm.Module)) // nothing has been asked of it yet
	dir := t.TempDir()
	var group sync.WaitGroup
	for k := range 8 {
		group.Go(func() {
			assert.Empty(t, graph.Lint(fresh.Graph))
			assert.Equal(t, text, fresh.String())
			equal, diff := graph.EqualModules(gm.Module, graph.Clone(fresh.Module))
			assert.True(t, equal, diff)
			assert.NoError(t, fx.Save(filepath.Join(dir, strconv.Itoa(k)), fresh))
			_, err := fresh.Run(t.Context(), tensor.FromSlice([]float32{1, 2, 3, 4}, 1, 4))
			assert.NoError(t, err)
			for n := range fresh.Graph.Nodes() {
				assert.Len(t, n.OperandTypes(), len(n.OperandTypes()))
			}
		})
	}
	group.Wait()
}
