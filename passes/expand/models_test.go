package expand_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes/expand"
)

// TestModels lowers whole networks to primitives, with a symbol for the batch.
func TestModels(t *testing.T) {
	var g op.Gen
	bert := models.NewBert(models.BertConfig{VocabSize: 11, MaxPositions: 6, TypeVocabSize: 2, HiddenSize: 8, NumLayers: 2,
		NumHeads: 2, IntermediateSize: 16, LayerNormEps: 1e-12})
	for name, c := range map[string]struct {
		model any
		args  []fx.Option
		in    []*array.Array
	}{
		"bert": {bert, []fx.Option{fx.Input("ids", "i64[N,S]"), fx.Input("mask", "i64[N,S]")},
			[]*array.Array{g.Int(11, 2, 3), array.FromSlice([]int64{1, 1, 1, 1, 1, 0}, 2, 3)}},
		"lstm": {models.NewLSTM(8, 2), []fx.Option{fx.Input("x", "f32[5,N,8]")}, []*array.Array{g.Normal(5, 3, 8)}},
	} {
		t.Run(name, func(t *testing.T) {
			gm, err := fx.Trace(context.Background(), c.model, c.args...)
			require.NoError(t, err)
			for _, p := range gm.Params() {
				array.Copy(p.Value, g.Normal(p.Value.Shape()...))
			}
			want, err := gm.RunArrays(context.Background(), c.in)
			require.NoError(t, err)
			ready, err := lowering.Prepare(gm.Module, lowering.Options{})
			require.NoError(t, err)
			direct := func(n *graph.Node) (bool, string) { return expand.IsPrimitive(n.Op()), "no primitive" }
			require.NoError(t, lowering.Legalize(ready.Graph, "primitives", direct, expand.Table()))
			require.Empty(t, left(ready))
			got, err := run(ready, c.in)
			require.NoError(t, err)
			fxtest.Close(t, name, want, got)
		})
	}
}
