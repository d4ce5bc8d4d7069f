package outline_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen/kernelstyle/outline"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/shape"
)

// chain is a plan of so many steps, each with a weight of its scope; scope names
// the scope of a step.
func chain(steps int, scope func(step int) string) *plan.Plan {
	typ := shape.TensorType(array.F32, shape.ConstDims(2))
	p := &plan.Plan{Buffers: []plan.Buffer{{Name: "x", Kind: plan.Input, Type: typ}}}
	last := 0
	for i := range steps {
		s := scope(i)
		p.Buffers = append(p.Buffers, plan.Buffer{Kind: plan.Weight, Path: s + ".w" + strconv.Itoa(i%5), Type: typ},
			plan.Buffer{Kind: plan.Temp, Type: typ, First: i, Last: i + 1})
		n := len(p.Buffers)
		p.Steps = append(p.Steps, plan.Step{Op: "add", Out: []int{n - 1}, In: []int{last, n - 2}, Scope: graph.Scope{Path: s}})
		last = n - 1
	}
	return p
}

func same(int) string    { return "kernel" }
func always(string) bool { return true }

// layer puts steps into layers of five, of which three are followed by a head.
func layer(i int) string {
	if i == 15 {
		return "head"
	}
	return "layers." + strconv.Itoa(i/5)
}

func TestRepeatedScopesBecomeOneBlock(t *testing.T) {
	p := chain(16, layer)
	prog := outline.Of(p, same, always)
	require.Len(t, prog.Blocks, 1)
	b := prog.Blocks[0]
	require.Len(t, b.Items, 5)
	require.Len(t, b.Calls, 3)
	for n, c := range b.Calls {
		require.Equal(t, []any{5 * n, 5*n + 5, layer(5 * n)}, []any{c.First, c.Last, c.Scope})
		require.Len(t, c.Weights, 5)
		require.Equal(t, "layers."+strconv.Itoa(n)+".w3", p.Buffers[c.Weights[3]].Path, "the same place is the same weight")
		require.Len(t, c.Locals, 4)
		require.Equal(t, []int{10 * n, 10*n + 10}, c.Outer, "what comes in and what is used outside")
	}
	require.Len(t, prog.Parts, 1)
	require.Equal(t, "", prog.Parts[0].Scope)
	require.Equal(t, []outline.Item{{Step: 0, Block: b}, {Step: 5, Block: b, Call: 1}, {Step: 10, Block: b, Call: 2}, {Step: 15, Gap: true}}, prog.Parts[0].Items)
}

func TestScopesThatDifferAreNoBlock(t *testing.T) {
	require.Empty(t, outline.Of(chain(16, layer), func(i int) string { return strconv.Itoa(i) }, always).Blocks, "other kernels")
	require.Empty(t, outline.Of(chain(9, func(i int) string { return "layers." + strconv.Itoa(i/3) }), same, always).Blocks, "too short")
	p := chain(16, layer)
	p.Buffers[1].Type = shape.TensorType(array.F32, shape.ConstDims(3))
	require.Len(t, outline.Of(p, same, always).Blocks[0].Calls, 2, "the first layer has a weight of another type")
	require.NotEmpty(t, outline.Of(&plan.Plan{}, same, always).Parts)
}

// TestPartsAreBoundedAndKeepTheOrder cuts plans with and without scopes.
func TestPartsAreBoundedAndKeepTheOrder(t *testing.T) {
	for name, scope := range map[string]func(i int) string{
		"none": func(int) string { return "" }, "stages": func(i int) string { return "stage" + strconv.Itoa(i/90) },
		"deep": func(i int) string { return "net.stage" + strconv.Itoa(i/300) + ".block" + strconv.Itoa(i/50) },
	} {
		kernels := func(i int) string { return strconv.Itoa(i) }
		prog := outline.Of(chain(1000, scope), kernels, always)
		require.Greater(t, len(prog.Parts), 7, name)
		next := 0
		for _, part := range prog.Parts {
			require.LessOrEqual(t, len(part.Items), 130, name)
			for _, it := range part.Items {
				require.Equal(t, next, it.Step, name)
				next++
			}
		}
		require.Equal(t, 1000, next, name)
	}
}
