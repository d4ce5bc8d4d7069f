package graph_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	_ "github.com/gofx-dev/gofx/op/std"
)

// TestExamplesOfCodes reads every documented example in text form and demands
// exactly its code, from the parser or from Lint.
func TestExamplesOfCodes(t *testing.T) {
	ran := 0
	for _, info := range diag.Codes() {
		if !strings.HasPrefix(info.Example, "gofx ") {
			continue
		}
		ran++
		t.Run(string(info.Code), func(t *testing.T) {
			m, err := graph.Parse([]byte(info.Example), "example.fx")
			if err == nil {
				err = graph.Lint(m.Graph).Err()
			}
			require.Error(t, err)
			require.ErrorIs(t, err, info.Code)
			for _, e := range err.(diag.List) {
				if info.Code != graph.TooMany {
					require.Equal(t, info.Code, e.Code, "%s", e)
				}
			}
		})
	}
	require.Greater(t, ran, 25)
}
