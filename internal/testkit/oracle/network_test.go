package oracle_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/internal/testkit/oracle"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
)

// TestNetworkComputesTheSame compares networks as PyTorch computes them from their
// operators' expressions: of every kind that models has.
func TestNetworkComputesTheSame(t *testing.T) {
	if err := oracle.Available(); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{"mlp", "resnet18"} {
		m := models.Lookup(name)
		net := m.New()
		models.Synthetic(m, net, "gofx-1")
		var opts []fx.Option
		for _, in := range m.Inputs {
			opts = append(opts, fx.Input(in.Name, in.Type))
		}
		gm, err := fx.Trace(context.Background(), net, opts...)
		require.NoError(t, err)
		ready, err := lowering.Prepare(gm.Module, lowering.Options{Shapes: m.Dims})
		require.NoError(t, err)
		x, err := m.SyntheticInputs("gofx-1")
		require.NoError(t, err)
		in := make([]*array.Array, len(x))
		for i := range x {
			in[i] = x[i].Array()
		}
		got, err := oracle.AskNetwork(context.Background(), t.TempDir(), ready, in)
		require.NoError(t, err, name)
		want := nn.RunAll(net, x...)
		require.Len(t, got, len(want))
		for i := range want {
			require.Equal(t, want[i].Shape(), got[i].Shape())
			for k := range got[i].Len() {
				require.InDelta(t, array.Float64At(want[i].Array(), k), array.Float64At(got[i], k), 1e-4, "%s: output %d", name, i)
			}
		}
	}
}
