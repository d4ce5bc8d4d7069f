package published_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/internal/testkit/compiled/published"
	"github.com/gofx-dev/gofx/internal/testkit/zoo"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
)

// The small networks of the list have compiled functions; cmd/fxgen calls those of all.
func TestNetworksAreCompiled(t *testing.T) {
	for _, r := range zoo.Rows {
		if !zoo.Small(r.Parameters, r.MACs) {
			continue
		}
		f, err := published.New(models.Lookup(r.Name).New())
		require.NoError(t, err, r.Name)
		f.Close()
	}
	_, err := published.New(nn.NewReLU(), compile.Strict())
	require.EqualError(t, err, "there is no compiled function of a *nn.ReLU")
}
