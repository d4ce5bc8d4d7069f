package models_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/fxtest"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/tracer"
)

func traced(t *testing.T, m *models.Model) *graph.Module {
	t.Helper()
	p := tracer.Tracer{}
	for _, in := range m.Inputs {
		p.Inputs = append(p.Inputs, tracer.Input{Name: in.Name, Type: in.ShapeType()})
	}
	mod, err := p.Trace(context.Background(), m.New())
	require.NoError(t, err)
	return mod
}

// TestTraceHasThePublishedNodes holds for the networks whose source is written
// as the reference's is.
func TestTraceHasThePublishedNodes(t *testing.T) {
	for _, m := range models.All() {
		t.Run(m.Name, func(t *testing.T) {
			mod := traced(t, m)
			got := map[string]int{}
			for n := range mod.Graph.Nodes() {
				got[n.Opcode().String()]++
			}
			if m.Name == "mlp" || strings.HasPrefix(m.Name, "resnet") {
				ref := fxtest.LoadFixture(t, m.Name)
				got["calls"] = got["call_module"] + got["call_function"] + got["call_method"]
				require.Equal(t, ref.Nodes, got)
			}
			require.Equal(t, len(m.Inputs), got["placeholder"])
			require.Equal(t, 1, got["output"])
		})
	}
}
