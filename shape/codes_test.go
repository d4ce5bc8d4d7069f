package shape

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
)

// The documented example of each code has the mistake.
func TestDocumentedExamples(t *testing.T) {
	info, ok := diag.Lookup(CodeText)
	require.True(t, ok)
	_, err := ParseType(info.Example)
	require.ErrorIs(t, err, CodeText)

	info, ok = diag.Lookup(CodeEval)
	require.True(t, ok)
	expr, symbol, ok := strings.Cut(info.Example, " with no value for ")
	require.True(t, ok, info.Example)
	_, err = mustDim(t, expr).Eval(func(s string) (int, bool) { return 1, s != symbol })
	require.ErrorIs(t, err, CodeEval)
}
