package cpu_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tensor"
)

// donated runs a graph with inputs that may be overwritten, and demands the bits that it
// gives without. It returns how many values lie in an input.
func donated(t *testing.T, m *graph.Module, in, want []*array.Array) int {
	t.Helper()
	given := make([]*array.Array, len(in))
	for i, a := range in {
		given[i] = array.Clone(a)
	}
	e := compile(t, m, lowering.Options{Donate: []int{0, 1}})
	got, err := e.Run(ctx, given)
	require.NoError(t, err)
	for i := range want {
		require.Empty(t, fxtest.SameArray(want[i], got[i]), "with donated inputs\n%s\n%s", m, e.Plan())
	}
	return strings.Count(e.Plan().String(), "in x at") + strings.Count(e.Plan().String(), "in y at")
}

const donor = `
graph net(%x: f32[N,4], %r: f32[N,4]) {
  symbol N = dim(%x, 0)
  %a = call_function[exp](%x) : f32[N,4]
  %s = call_function[cumsum](%a) {dim=1} : f32[N,4]
  %b = call_function[add](%s, %r) : f32[N,4]
  %y = call_function[cumsum](%b) {dim=1} : f32[N,4]
  return %y
}
`

// TestDonatedInputsAreOverwritten looks at the plan, at the memory that it takes and at
// what a run leaves of its inputs.
func TestDonatedInputsAreOverwritten(t *testing.T) {
	m := module(t, donor)
	var g op.Gen
	x, r := g.Normal(50, 4), g.Normal(50, 4)
	was := array.Clone(x)
	plain := compile(t, m, lowering.Options{})
	want, err := plain.Run(ctx, []*array.Array{x, r})
	require.NoError(t, err)
	require.Empty(t, fxtest.SameArray(was, x), "inputs are read only")

	e := compile(t, m, lowering.Options{Donate: []int{0}})
	require.Contains(t, e.Plan().String(), "input x : f32[N,4] donated\n")
	require.Contains(t, e.Plan().String(), "temp a : f32[N,4] in x at 0")
	before, err := plain.PeakBytes(map[string]int{"N": 50})
	require.NoError(t, err)
	after, err := e.PeakBytes(map[string]int{"N": 50})
	require.NoError(t, err)
	require.Less(t, after, before)

	version := x.Storage().Version()
	got, err := e.Run(ctx, []*array.Array{x, r})
	require.NoError(t, err)
	require.Empty(t, fxtest.SameArray(want[0], got[0]))
	require.NotEmpty(t, fxtest.SameArray(was, x))
	require.Greater(t, x.Storage().Version(), version, "what is computed of it is computed again")
	require.False(t, got[0].Storage().Overlaps(x.Storage()), "results are new arrays")
}

// TestDonatedMemoryThatIsUsedElsewhere gives memory that must stay as it is.
func TestDonatedMemoryThatIsUsedElsewhere(t *testing.T) {
	m := module(t, donor)
	var g op.Gen
	both := g.Normal(9, 4)
	was := array.Clone(both)
	want := interpret(t, m, both, both)
	e := compile(t, m, lowering.Options{Donate: []int{0}})
	for range 2 {
		got, err := e.Run(ctx, []*array.Array{both, both})
		require.NoError(t, err)
		require.Empty(t, fxtest.SameArray(want[0], got[0]))
		require.Empty(t, fxtest.SameArray(was, both), "it is another input as well")
	}

	wide := g.Normal(9, 8)
	was = array.Clone(wide)
	gaps := &array.Array{}
	gaps.SetLayout(wide, []int{9, 4}, []int{8, 2}, 0)
	r := g.Normal(9, 4)
	want = interpret(t, m, gaps, r)
	for range 2 {
		got, err := e.Run(ctx, []*array.Array{gaps, r})
		require.NoError(t, err)
		require.Empty(t, fxtest.SameArray(want[0], got[0]))
		require.Empty(t, fxtest.SameArray(was, wide), "what has gaps is copied")
	}

	for name, use := range map[string]string{
		"as it is":       "%y = call_function[mul](%s, %w) : f32[3,3]",
		"packed":         "%y = call_function[matmul](%s, %w) : f32[3,3]",
		"packed, turned": "%t = call_function[transpose](%w) {dim0=0, dim1=1} : f32[3,3]\n  %y = call_function[matmul](%s, %t) : f32[3,3]",
		"in a body": `%y = call_function[scan](%s, %w) {carry=1, seqs=1} : (f32[3,3]) {
    region body(%c: f32[3,3], %row: f32[3]) {
      %u = get_attr[w] : f32[3,3]
      %m = call_function[matmul](%c, %u) : f32[3,3]
      %n = call_function[add](%m, %row) : f32[3,3]
      return (%n)
    }
  }`,
	} {
		text := strings.Replace(`
graph net(%x: f32[3,3]) {
  %w = get_attr[w] : f32[3,3]
  %a = call_function[exp](%x) : f32[3,3]
  %s = call_function[cumsum](%a) {dim=1} : f32[3,3]
  USE
  return %y
}
param w : f32[3,3]
`, "USE", use, 1)
		if name == "in a body" {
			text = strings.NewReplacer("(%s, %w)", "(%s, %s)", "  %w = get_attr[w] : f32[3,3]\n", "", "return %y\n", "%z = call_function[getitem](%y) {index=0} : f32[3,3]\n  return %z\n").Replace(text)
		}
		weighted := module(t, text)
		w := weighted.Param("w").Value
		was = array.Clone(w)
		want = interpret(t, weighted, w)
		e := compile(t, weighted, lowering.Options{Donate: []int{0}})
		require.Contains(t, e.Plan().String(), "in x at", name)
		for range 2 {
			got, err := e.Run(ctx, []*array.Array{w})
			require.NoError(t, err)
			near(t, name, want, got)
			require.Empty(t, fxtest.SameArray(was, w), "it is a weight as well, %s", name)
		}
	}
}

// The default of an input stays what it is.
func TestDefaultsAreNotOverwritten(t *testing.T) {
	f := func(x *tensor.Tensor) *tensor.Tensor { return x.Exp().Cumsum(0) }
	gm, err := fx.Trace(ctx, f, fx.InputDefault("x", "f32[3]", array.FromSlice([]float32{1, 2, 3}, 3)))
	require.NoError(t, err)
	e := compile(t, gm.Module, lowering.Options{Donate: []int{0}})
	require.Contains(t, e.Plan().String(), "in x at")
	first, err := e.Run(ctx, nil)
	require.NoError(t, err)
	for range 2 {
		again, err := e.Run(ctx, []*array.Array{nil})
		require.NoError(t, err)
		require.Empty(t, fxtest.SameArray(first[0], again[0]))
	}
}

// TestDonatedInputsThatAreReadLater has nothing to overwrite.
func TestDonatedInputsThatAreReadLater(t *testing.T) {
	for name, text := range map[string]string{
		"by a later step": `
graph net(%x: f32[3,3]) {
  %a = call_function[exp](%x) : f32[3,3]
  %s = call_function[cumsum](%a) {dim=1} : f32[3,3]
  %y = call_function[matmul](%s, %x) : f32[3,3]
  return %y
}
`,
		"through a view": `
graph net(%x: f32[3,3]) {
  %t = call_function[transpose](%x) {dim0=0, dim1=1} : f32[3,3]
  %a = call_function[exp](%x) : f32[3,3]
  %s = call_function[cumsum](%a) {dim=1} : f32[3,3]
  %y = call_function[matmul](%s, %t) : f32[3,3]
  return %y
}
`,
		"as a result": `
graph net(%x: f32[3,3]) {
  %a = call_function[exp](%x) : f32[3,3]
  %s = call_function[cumsum](%a) {dim=1} : f32[3,3]
  return (%s, %x)
}
`,
		"by the result itself": `
graph net(%x: f32[3,3]) {
  %a = call_function[exp](%x) : f32[3,3]
  return %a
}
`,
	} {
		t.Run(name, func(t *testing.T) {
			var g op.Gen
			x := g.Normal(3, 3)
			was, m := array.Clone(x), module(t, text)
			want := interpret(t, m, x)
			e := compile(t, m, lowering.Options{Donate: []int{0}})
			require.NotContains(t, e.Plan().String(), "in x at")
			got, err := e.Run(ctx, []*array.Array{x})
			require.NoError(t, err)
			near(t, name, want, got)
			require.Empty(t, fxtest.SameArray(was, x))
		})
	}
}
