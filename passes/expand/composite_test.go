package expand_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes/expand"
)

// TestExpand_everySampleEndsInPrimitives expands all samples of all operators: composites are
// made of what the table expands.
func TestExpand_everySampleEndsInPrimitives(t *testing.T) {
	table, reasons := expand.Table(), expand.Reasons()
	for _, o := range op.All() {
		if o.Path != "" || o.AdHoc || o.Structural() || table[o] != nil || reasons[o] != "" {
			continue
		}
		t.Run(o.Name, func(t *testing.T) {
			for _, s := range o.Samples() {
				m, err := single(o, s.Attrs, s.In, typesOf(s.In))
				require.NoError(t, err)
				require.Empty(t, expanded(t, m), s.Name)
				require.Empty(t, left(m), s.Name)
				want, err := o.Eval(&kernel.Workspace{}, s.Attrs, s.In)
				require.NoError(t, err)
				got, err := run(m, s.In)
				require.NoError(t, err, "%s\n%s", s.Name, m)
				require.Empty(t, differ(o, s.Attrs, s.In, want, got), "%s\n%s", s.Name, m)
			}
		})
	}
}

// Operators are primitive, expanded or excused, never two of these; an operator with an
// entry may be primitive for some attributes.
func TestExpand_placesAreDistinct(t *testing.T) {
	table, reasons := expand.Table(), expand.Reasons()
	for o := range reasons {
		require.Nil(t, table[o], o.Name)
		require.False(t, expand.IsPrimitive(o), o.Name)
	}
	both := 0
	for _, o := range expand.Primitives() {
		require.False(t, o.Composite() || o.Scalar() || o.Structural(), o.Name)
		require.True(t, expand.IsPrimitive(o))
		if table[o] != nil {
			both++
		}
	}
	require.Equal(t, 5, both, "pad, scatter and three convolutions have attributes that are expanded")
	require.LessOrEqual(t, len(expand.Primitives()), 30)
	clear(table)
	require.NotEmpty(t, expand.Table(), "the table is the caller's own")
}

// Results that the operator promises to own are no views of operands, also where nothing
// is computed.
func TestResultsAreApart(t *testing.T) {
	views := 0
	table := expand.Table()
	for _, o := range op.All() {
		if table[o] == nil || o.ViewOf > 0 {
			continue
		}
		for _, s := range o.Samples() {
			m, err := single(o, s.Attrs, s.In, typesOf(s.In))
			require.NoError(t, err)
			if len(expanded(t, m)) > 0 {
				continue
			}
			for _, v := range m.Graph.Output().Args() {
				for v.Op() != nil && v.Op().ViewOf > 0 {
					v = v.Arg(v.Op().ViewOf - 1)
				}
				require.NotNil(t, v.Op(), "%s %s gives an operand\n%s", o.Name, s.Name, m)
				if v.Op().Name == "clone" {
					views++
				}
			}
		}
	}
	require.Positive(t, views)
}
