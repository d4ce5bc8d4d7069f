package zoo_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/internal/testkit/zoo"
	"github.com/gofx-dev/gofx/models"
)

// The rows are the networks, with the sizes of their references and the calls of their traces.
func TestRowsAreTheNetworks(t *testing.T) {
	require.Len(t, models.All(), 46)
	require.Len(t, zoo.Rows, 46)
	for i, m := range models.All() {
		ref := fxtest.LoadFixture(t, m.Name)
		var opts []fx.Option
		for _, in := range m.Inputs {
			opts = append(opts, fx.Input(in.Name, in.Type))
		}
		gm, err := fx.Trace(context.Background(), m.New(), opts...)
		require.NoError(t, err, m.Name)
		calls := 0
		for n := range gm.Graph.Nodes() {
			if n.Opcode().IsCall() {
				calls++
			}
		}
		require.Equal(t, zoo.Row{Name: m.Name, Parameters: ref.NumParameters, MACs: ref.MACs, Calls: calls}, zoo.Rows[i])
	}
}

// What the engines' tables name is a network.
func TestEnginesNameNetworks(t *testing.T) {
	require.Nil(t, zoo.Lookup("abacus"))
	for _, e := range zoo.Engines {
		require.Same(t, zoo.Lookup(e.Name), zoo.Lookup(e.Name))
		require.NotEmpty(t, e.Doc)
		for _, name := range e.Always {
			r, ok := zoo.Of(name)
			require.True(t, ok, name)
			require.Equal(t, zoo.Change, e.Tier(r), "%s, %s", e.Name, name)
		}
		for name := range e.Not {
			r, ok := zoo.Of(name)
			require.True(t, ok, name)
			require.Equal(t, zoo.Never, e.Tier(r))
		}
		for name := range e.Bounds {
			_, ok := zoo.Of(name)
			require.True(t, ok, name)
			require.Greater(t, e.Within(name), e.Bound)
		}
	}
	r, _ := zoo.Of("vgg11")
	require.Equal(t, zoo.Nightly, zoo.Lookup("eager").Tier(r))
}
