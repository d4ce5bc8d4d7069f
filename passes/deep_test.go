package passes_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
)

// A chain that is longer than one match and than one look takes several matches, and
// no more stack than there is.
func TestVeryLongChains(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: chains of 100,000 nodes take a second")
	}
	long := func() *graph.Module {
		g := graph.New("g")
		m := graph.NewModule(g)
		c := g.At()
		n := c.Placeholder("x", shape.TensorType(array.F32, shape.ConstDims(4)), nil)
		for range 100000 {
			n = c.Function(std.Neg, nil, n)
		}
		c.Output(nil, n)
		return m
	}
	for matches, base := range map[int]func(x tt) tt{4: func(x tt) tt { return x }, 0: func(x tt) tt { return x.Tanh() }} {
		r, err := run(long(), passes.Options{NoLint: true}, passes.Rule(open(func(x tt) tt { return passes.Repeat(base(x), 2, 0, neg) })))
		require.NoError(t, err)
		require.Equal(t, matches, r.Matches("open"))
	}
}
