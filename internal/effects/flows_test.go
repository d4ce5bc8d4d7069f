package effects

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// No record has the control flow of code that asks which tensors are one, in whatever way it asks.
func TestIdentities(t *testing.T) {
	p, err := Open(context.Background(), "../testkit/compiled/corners", os.Environ())
	require.NoError(t, err)
	const tensors, why = "*github.com/gofx-dev/gofx/tensor.Tensor", "what control flow returns may be one of the tensors that it is given"
	for name, what := range map[string]string{
		"CondIdentity": tensors, "CondMapKey": tensors, "WhileIdentity": tensors, "ScanIdentity": tensors, "CondIn": tensors, "CondContains": tensors, "CondInterface": "interface {}",
		"CondStruct": "github.com/gofx-dev/gofx/internal/testkit/compiled/corners.pair",
		"CondTwice":  "", "CondList": "", "WhileList": "", "ScanList": "", "NestedScan": "", "FlowBranch": "",
	} {
		f, err := p.Function(name)
		require.NoError(t, err)
		s := p.Summary(f)
		if what == "" {
			require.True(t, s.Regions, "%s: %v", name, s.Flows)
			continue
		}
		require.False(t, s.Regions, name)
		require.NotEmpty(t, s.Flows, name)
		for _, f := range s.Flows {
			require.Equal(t, "a comparison of "+what, f.What, name)
			require.Equal(t, why, f.Why, name)
		}
	}
}
