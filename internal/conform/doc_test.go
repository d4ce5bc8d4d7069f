package conform

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDocIsFresh(t *testing.T) {
	doc, err := os.ReadFile("../../docs/ops.md")
	require.NoError(t, err)
	require.True(t, string(doc) == Doc(), "docs/ops.md is stale: run go generate ./internal/conform")
}
