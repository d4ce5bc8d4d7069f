package nn_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
)

// The expressions of this list are the examples that package diag prints.
func examples() []error {
	_, input := models.SyntheticInput(models.InputSpec{Name: "x", Type: "f32[N]", Rule: models.Uniform{}}, "seed", nil)
	return []error{
		nn.LoadStateDict(nn.NewLinear(4, 2), nn.Arrays{"weight": array.New(array.F32, 2, 4)}),
		nn.LoadStateDict(nn.NewPReLU(1), nn.Arrays{"weight": array.New(array.F32, 1), "bias": array.New(array.F32, 1)}),
		nn.LoadStateDict(nn.NewPReLU(1), nn.Arrays{"weight": array.New(array.F32, 2)}),
		nn.LoadStateDict(nn.NewPReLU(1), nn.Arrays{"weight": array.New(array.F16, 1)}),
		input,
		nn.LoadStateDict(nn.NewReLU(), nn.Arrays{"weight": array.New(array.F32, 1)}, nn.NotStrict()),
		nn.Freeze(nn.NewLinear(4, 2), "weigth"),
	}
}

func TestDocumentedExamples(t *testing.T) {
	src, err := os.ReadFile("codes_test.go")
	require.NoError(t, err)
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "codes_test.go", src, 0)
	require.NoError(t, err)
	calls := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			calls[string(src[fset.Position(c.Pos()).Offset:fset.Position(c.End()).Offset])] = true
		}
		return true
	})
	for i, code := range []diag.Code{nn.MissingWeight, nn.UnexpectedWeight, nn.WeightShape, nn.WeightType, models.BadInput, nn.NoWeightFits, nn.NoParameter} {
		info, ok := diag.Lookup(code)
		require.True(t, ok)
		require.True(t, calls[info.Example], "%s: the example is not in this file: %s", code, info.Example)
		require.ErrorIs(t, examples()[i], code)
	}
}
