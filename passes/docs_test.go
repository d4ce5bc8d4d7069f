package passes_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheGuideShowsCodeThatRuns compares the pass in docs/add-a-pass.md with the
// one that the examples run.
func TestTheGuideShowsCodeThatRuns(t *testing.T) {
	guide, err := os.ReadFile("../docs/add-a-pass.md")
	require.NoError(t, err)
	code, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(guide), "```go\nvar reluToGelu")
	require.True(t, ok)
	shown, _, ok := strings.Cut(rest, "```")
	require.True(t, ok)
	require.Contains(t, string(code), "var reluToGelu"+shown)
}
