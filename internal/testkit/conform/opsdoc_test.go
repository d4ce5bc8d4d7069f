package conform

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/op"
)

func TestOpsDoc(t *testing.T) {
	asked := map[string]int{}
	doc := opsDoc([]string{"interp", "a|b"}, func(o *op.Op, engine string) string {
		asked[engine]++
		return o.Name + "@" + engine
	})
	ops := 0
	for _, o := range Ops() {
		ops++
		require.Equal(t, 1, strings.Count(doc, "\n### "+o.Name+"\n"), o.Name)
	}
	require.Equal(t, map[string]int{"interp": ops, "a|b": ops}, asked)
	require.Contains(t, doc, "| operator | meaning | interp | a\\|b |\n|---|---|---|---|\n")
	require.Contains(t, doc, "| [relu](#relu) | expression | relu@interp | relu@a\\|b |\n")
	// How sub departs from PyTorch is between the attributes and the functions; it is
	// package op/std that says so.
	sub := doc[strings.Index(doc, "\n### sub\n"):strings.Index(doc, "\n### tan\n")]
	require.Contains(t, sub, "sub is x - alpha*other.\n\n- operands: `x`, `other?`\n- attributes: `other` (number), `alpha` (number), `reverse` (bool)\n")
	for _, d := range op.Lookup("sub").Differences() {
		require.Contains(t, sub, d.Text)
	}
	require.Contains(t, sub, `
`+"```go"+`
func Sub(x, other *Tensor, opts ...std.SubAttrs) *Tensor
func SubScalar(x *Tensor, v any, opts ...std.SubAttrs) *Tensor
func RSubScalar(x *Tensor, v any, opts ...std.SubAttrs) *Tensor
`+"```"+`

Also methods of the first tensor, in place: `+"`SubInPlace`, `SubScalarInPlace`"+`.
`)
	require.Contains(t, doc, "- results: `values`, `indices`\n")
	require.Contains(t, doc, "### getitem\n\ngetitem takes one member out of a tuple.\n\n- operands: `tuple`\n- attributes: `index` (int)\n- the result may share the data of `tuple`\n")
	require.NotContains(t, doc, "func Getitem")
	require.Contains(t, doc, "It is `ml.TreeEnsemble` of package github.com/gofx-dev/gofx/op/ml, with `ml.TreeEnsembleAttrs`; `tensor.CallOp` calls it.")
	require.NotContains(t, doc, "func TreeEnsemble")
}
