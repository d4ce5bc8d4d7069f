package source

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op/expr"
)

// TestFormsAreThere: kernels write each operation for each type that it accepts and kernels
// compute with.
func TestFormsAreThere(t *testing.T) {
	require.Empty(t, forms.Lacking())
	s := scope{load: func(int, array.DType) string { return "loaded" }, index: func() string { return "flat" }, coord: func(int) string { return "along" }}
	written := 0
	for code := range forms {
		for d := array.Invalid + 1; d < 64; d++ {
			if !Computes(d) || !code.Accepts(d) {
				continue
			}
			var text strings.Builder
			out := body(&text, callOf(code, d), "v", "", s)
			require.NotContains(t, text.String(), "= ;", "%s of %s", code, d)
			require.NotContains(t, text.String(), "()", "%s of %s", code, d) // an empty text in parentheses
			require.NotEmpty(t, out[0])
			written++
		}
	}
	require.Greater(t, written, 300)
}

// callOf is the expression of one operation on inputs of a type.
func callOf(code kernel.Code, d array.DType) (g expr.Graph) {
	n := expr.Node{Code: code, DType: d}
	for k := range code.Info().Arity {
		in := expr.Node{Code: kernel.OpInput, DType: d, Imm: uint64(k)}
		if code == kernel.OpSelect && k == 0 {
			in.DType = array.Bool
		}
		n.Args = append(n.Args, k)
		g.Nodes = append(g.Nodes, in)
	}
	if code.Info().ToBool {
		n.DType = array.Bool
	}
	g.Nodes = append(g.Nodes, n)
	g.Outs = []int{len(g.Nodes) - 1}
	return g
}
