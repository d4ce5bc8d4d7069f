package conform

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

func TestOpsDoc(t *testing.T) {
	asked := 0
	doc := opsDoc([]string{"interp", "plan"}, func(*op.Op) int { return 7 }, func(o *op.Op) []string {
		asked++
		if o == std.Sub {
			return []string{"plan 5 of 7", "a|b"}
		}
		return nil
	})
	require.Equal(t, len(Ops()), asked)
	for _, o := range Ops() {
		require.Equal(t, 1, strings.Count(doc, "\n| `"+o.Name+"("), o.Name)
	}
	require.Less(t, strings.Count(doc, "\n"), 700, "docs/ops.md is an index")
	require.Contains(t, doc, "in every engine: interp, plan.\n")
	require.Contains(t, doc, "\n| `relu(x)` | `Relu*` | ")
	require.Contains(t, doc, "\n| `sub(x, other?; other, alpha, reverse)` | `Sub*`, `SubScalar*`, `RSubScalar` | x - alpha*other. | expression | 7 | plan 5 of 7; a\\|b |\n")
	require.Contains(t, doc, "\n| `getitem(tuple; index)` |  | takes one member out of a tuple. | structural | 7 | may share the data of tuple |\n")
	require.Contains(t, doc, "`ml.TreeEnsemble`")
	require.Contains(t, doc, " → values, indices`")
	// A departure stands once, with all of its operators.
	for _, d := range std.Sub.Differences() {
		require.Equal(t, 1, strings.Count(doc, "\n| "+cell(d.Text)+" | "), d.Text)
	}
	require.Contains(t, doc, "\n### Computes what PyTorch refuses\n")
}

func TestCausesNameTypesTogether(t *testing.T) {
	var lines []string
	for _, r := range causes([]Failure{{"a", "no kernel"}, {"b", "no rule for i4"}, {"c", "no rule for f32"}, {"d", "no rule for f32"}, {"e", "f32 to i4"}}) {
		lines = append(lines, r.String())
	}
	require.Equal(t, []string{"f32 to i4", "no kernel", "no rule for f32, i4"}, lines)
}
