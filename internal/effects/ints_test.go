package effects

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Lines are listed of which all is known that code does with their ints: those of the programs that compiled functions are tested with, except for
// programs whose names say that they are not.
func TestInts(t *testing.T) {
	p, err := Open(context.Background(), "../testkit/compiled/ints", os.Environ())
	require.NoError(t, err)
	scope, n := p.Package.Types.Scope(), 0
	for _, name := range scope.Names() {
		f, err := p.Function(name)
		if err != nil || strings.HasPrefix(name, "Compile") || f.Signature.Params().Len() != 3 {
			continue
		}
		s := p.Summary(f)
		n++
		pinned := strings.HasPrefix(name, "Pin")
		require.Equal(t, pinned, len(s.Pinned) > 0, "%s: %v", name, s.Pinned)
		for _, line := range s.Pinned {
			require.NotEmpty(t, line.Why, name)
		}
	}
	require.Greater(t, n, 30)
	for name, want := range map[string]Ints{
		"Above":    {Tests: []IntTest{{IntExpr{{"ask", 0}}, ">", IntExpr{{"const", 8}}}}},
		"Cropped":  {Tests: []IntTest{{IntExpr{{"ask", 0}}, ">", IntExpr{{"const", 9}}}}, Uses: []IntUse{{Op: "narrow", Count: 1, Exprs: []IntExpr{{{"ask", 0}}, {{"const", 9}}}}}},
		"Negative": {Uses: []IntUse{{Op: "slice", Count: 2, Exprs: []IntExpr{{{"ask", 0}}, {{"ask", 0}, {"const", 7}, {"-", 0}}}}}},
		"Capped":   {Uses: []IntUse{{Op: "narrow", Count: 1, Exprs: []IntExpr{{{"ask", 0}, {"const", 5}, {"min", 0}}}}}},
	} {
		f, err := p.Function(name)
		require.NoError(t, err)
		got := p.Summary(f).Ints
		require.Len(t, got.Asks, 1, name)
		require.Equal(t, want.Tests, got.Tests, name)
		for i := range got.Uses {
			got.Uses[i].Body = Body{}
		}
		require.Equal(t, want.Uses, got.Uses, name)
	}
}
