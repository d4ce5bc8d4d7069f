package op_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Sizes that follow from others broadcast where their form says so, and are equal elsewhere.
func TestBroadcastOfSizesThatFollow(t *testing.T) {
	n, s := shape.Sym("N"), shape.Sym("S")
	one := shape.Const(1)
	least := n.Min(one)                            // 0 or 1
	cut := one.Sub(shape.Const(0).Max(one.Sub(s))) // of a table with one row, as many rows as a text has
	for _, c := range []struct {
		a, b, want shape.Dim
		guards     []string
	}{
		{n, s, n, []string{"N == S"}},
		{n, shape.Const(3), shape.Const(3), []string{"N == 3"}},
		{cut, s, s, []string{"S >= 1"}},
		{s, cut, s, []string{"S >= 1"}},
		{least, s, s, []string{"N >= 1"}},
		{shape.Const(4), least, shape.Const(4), []string{"N >= 1"}},
		{least, least, least, nil},
		{one, s, s, nil},
		{n, shape.Const(0), shape.Const(0), []string{"N == 0"}},
	} {
		var guards []string
		infer := &op.Infer{Assume: func(r shape.Relation) error { guards = append(guards, r.Normal().String()); return nil }}
		got, err := infer.Broadcast(shape.Of(c.a), shape.Of(c.b))
		require.NoError(t, err)
		require.True(t, got.At(0).Equal(c.want), "%s and %s: %s", c.a, c.b, got)
		require.Equal(t, c.guards, guards, "%s and %s", c.a, c.b)
	}
}
