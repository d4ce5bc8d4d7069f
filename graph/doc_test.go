package graph_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
)

// TestDocumentation reads the example of docs/ir.md and checks that the page
// lists every code of Lint.
func TestDocumentation(t *testing.T) {
	page, err := os.ReadFile("../docs/ir.md")
	require.NoError(t, err)
	_, example, found := strings.Cut(string(page), "```\ngofx 1")
	require.True(t, found)
	example, _, _ = strings.Cut(example, "```")
	m, err := graph.Parse([]byte("gofx 1"+example), "ir.md")
	require.NoError(t, err)
	require.Empty(t, graph.Lint(m.Graph))
	require.Equal(t, "gofx 1"+example, graph.Print(m, graph.PrintOptions{Positions: true}))
	for _, c := range []diag.Code{graph.NoOutput, graph.BrokenUses, graph.BrokenOrder, graph.ForeignNode, graph.LatePlaceholder,
		graph.OutputPlace, graph.DuplicateName, graph.BadOperator, graph.BadOperandCount, graph.MissingParam, graph.MissingModule,
		graph.UndefinedSymbol, graph.DeadFact, graph.TypeDisagrees, graph.BadStructure, graph.BadRegions, graph.BadAssign, graph.BrokenNodeList, graph.BadCall, graph.Recursive} {
		require.Contains(t, string(page), string(c))
	}
}
