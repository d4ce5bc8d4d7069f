package cpu_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
)

// TestScalars runs every operator that takes tensors of rank 0 with such.
func TestScalars(t *testing.T) {
	for _, o := range op.All() {
		if o.Structural() || o.AdHoc {
			continue
		}
		for _, s := range fxtest.Scalars(o) {
			want, err := o.Eval(&kernel.Workspace{}, s.Attrs, s.In)
			require.NoError(t, err)
			m, err := oneCall(o, s.Attrs, s.In, false)
			require.NoError(t, err, o.Key()+" "+s.Name)
			agrees(t, o.Key()+" "+s.Name, m, want, present(s.In))
		}
	}
}
