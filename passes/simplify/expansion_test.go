package simplify_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/simplify"
)

// halves writes a split in two as slices, and leaves others.
func halves(b op.Builder, attrs any, in []op.Value) ([]op.Value, string) {
	a := attrs.(std.SplitAttrs)
	if a.Sizes.Len() != 2 {
		return nil, "it has not two pieces"
	}
	at := a.Sizes.At(0)
	return []op.Value{
		b.Call(std.Slice, std.SliceAttrs{Dim: a.Dim, Stop: at}, in[0]),
		b.Call(std.Slice, std.SliceAttrs{Dim: a.Dim, Start: at, Stop: std.End}, in[0]),
	}, ""
}

// expandBody expands the calls of a graph of %x : f32[4,6] by a table.
func expandBody(t *testing.T, body string, keep func(n *graph.Node) bool, table simplify.Expansions) (*graph.Module, []string, error) {
	t.Helper()
	m, err := graph.Parse([]byte("gofx 1\n\ngraph f(%x: f32[4,6], %u: f32[*]) {\n"+body), "f.fx")
	require.NoError(t, err)
	var why []string
	refused := func(n *graph.Node, reason string) { why = append(why, n.Name()+": "+reason) }
	_, err = simplify.ExpandExcept(keep, refused, table).Run(passes.NewCtx(context.Background(), m), m.Graph)
	if err == nil {
		require.Empty(t, graph.Lint(m.Graph), m.String())
	}
	return m, why, err
}

func TestExpandTuple(t *testing.T) {
	table := simplify.Expansions{std.Split: halves}
	m, why, err := expandBody(t, `  %s = call_function[split](%x) {sizes=[1,3], dim=0} : (f32[1,6], f32[3,6])
  %b = call_function[getitem](%s) {index=1} : f32[3,6] at "m.go:3" "f"
  %n = call_function[neg](%b) : f32[3,6]
  %e = call_function[exp](%b) : f32[3,6]
  return %n, %e
}
`, nil, table)
	require.NoError(t, err)
	require.Empty(t, why)
	require.Nil(t, m.Graph.Find("s"))
	require.Nil(t, m.Graph.Find("b"))
	n, e := m.Graph.Find("n").Arg(0), m.Graph.Find("e").Arg(0)
	require.Same(t, n, e)
	require.Equal(t, std.Slice, n.Op())
	require.Equal(t, "f32[3,6]", n.Type().String())
}

func TestExpand_reasonsForCallsLeft(t *testing.T) {
	table := simplify.Expansions{std.Split: halves}
	_, why, err := expandBody(t, `  %s = call_function[split](%x) {sizes=[1,2,1], dim=0} : (f32[1,6], f32[2,6], f32[1,6])
  %b = call_function[getitem](%s) {index=1} : f32[2,6]
  %r = call_function[split](%u) {sizes=[1,2], dim=0} : (f32[*], f32[*])
  %c = call_function[getitem](%r) {index=1} : f32[*]
  return %b, %c
}
`, nil, table)
	require.NoError(t, err)
	require.Equal(t, []string{"s: it has not two pieces", "r: the rank of an operand is not known"}, why)
}

func TestExpand_keepsAcceptedCalls(t *testing.T) {
	body := "  %y = call_function[stack](%x, %x) {dim=0} : f32[2,4,6]\n  %s = call_function[softmax](%y) {dim=0} : f32[2,4,6]\n  return %s\n}\n"
	double := func(b op.Builder, _ any, in []op.Value) ([]op.Value, string) {
		return []op.Value{b.Call(std.Add, std.AddAttrs{}, in[0], in[0])}, ""
	}
	table := simplify.Expansions{std.Softmax: double}
	m, _, err := expandBody(t, body, func(n *graph.Node) bool { return n.Op() == std.Stack }, table)
	require.NoError(t, err)
	require.NotNil(t, m.Graph.Find("y"))
	require.Equal(t, std.Add, m.Graph.Output().Arg(0).Op())
	m, _, err = expandBody(t, body, func(n *graph.Node) bool { return n.Op() == std.Softmax }, table)
	require.NoError(t, err)
	require.Nil(t, m.Graph.Find("y"))
	require.Equal(t, std.Softmax, m.Graph.Output().Arg(0).Op())
}

// An expansion that is wrong is a mistake of ours, with the operator's name.
func TestWrongExpansions(t *testing.T) {
	body := "  %s = call_function[softmax](%x) {dim=0} : f32[4,6]\n  return %s\n}\n"
	for want, x := range map[string]simplify.Expansion{
		"gives 2 results, expected 1": func(_ op.Builder, _ any, in []op.Value) ([]op.Value, string) { return []op.Value{in[0], in[0]}, "" },
		"gives i64[4,6] instead of f32[4,6]": func(b op.Builder, _ any, in []op.Value) ([]op.Value, string) {
			return []op.Value{b.Call(std.Argsort, std.SortAttrs{}, in[0])}, ""
		},
		"softmax: axis 7 is out of range": func(b op.Builder, _ any, in []op.Value) ([]op.Value, string) {
			return []op.Value{b.Call(std.Softmax, std.DimAttrs{Dim: 7}, in[0])}, ""
		},
	} {
		_, _, err := expandBody(t, body, nil, simplify.Expansions{std.Softmax: x})
		require.ErrorContains(t, err, want)
	}
}

// The first table that has the operator is asked.
func ExampleExpandExcept() {
	mine := simplify.Expansions{std.Softmax: func(b op.Builder, attrs any, in []op.Value) ([]op.Value, string) {
		e := b.Call(std.Exp, op.None{}, in[0]) // right for small numbers
		sum := b.Call(std.Sum, std.ReduceAttrs{Dim: op.IntList(attrs.(std.DimAttrs).Dim), KeepDim: true}, e)
		return []op.Value{b.Call(std.Div, std.DivAttrs{}, e, sum)}, ""
	}}
	show("  %s = call_function[softmax](%x) {dim=1} : f32[N,2]\n  return %s\n}\n", simplify.ExpandExcept(nil, nil, mine))
	fmt.Println(len(mine))
	// Output:
	// %exp = call_function[exp](%x) : f32[N,2]
	// %sum = call_function[sum](%exp) {dim=[1], keep_dim=true} : f32[N,1]
	// %div = call_function[div](%exp, %sum) : f32[N,2]
	// return %div
	// 1
}
