package conform

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/simplify"
)

// TestRandomGraphs compares the engines on graphs that nobody wrote.
func TestRandomGraphs(t *testing.T) {
	nodes, graphs := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		m := fxtest.RandomGraph(t)
		if l := graph.Lint(m.Graph); len(l) > 0 {
			t.Fatalf("%v\n%s", l, m)
		}
		nodes, graphs = nodes+m.Graph.Len(), graphs+1
		in, err := passes.Inputs(m.Graph, map[string]int{"N": rapid.IntRange(1, fxtest.MaxN).Draw(t, "N")}, rapid.Uint64().Draw(t, "seed"))
		noError(t, m, "inputs", err)
		want := run(t, m, in)

		parsed, err := graph.Parse([]byte(m.String()), "random.fx")
		noError(t, m, "parse", err)
		if ok, diff := graph.EqualModules(m, parsed); !ok {
			t.Fatalf("the text form is another graph: %s\n%s", diff, m)
		}
		for _, p := range m.Params() {
			parsed.SetParam(*p)
		}
		agree(t, m, "text", want, run(t, parsed, in))

		for _, o := range []lowering.Options{{Exact: true}, {}} {
			e, err := cpu.Compile(m, o)
			noError(t, m, "compile", err)
			for range 2 { // the second time in memory that was used before
				got, err := e.Run(ctx, in)
				noError(t, m, "plan", err)
				if o.Exact {
					agree(t, m, "exact plan", want, got)
				} else if d := fxtest.CloseArrays(single(want), single(got)); d != "" {
					t.Fatalf("plan: %s\n%s", d, m)
				}
			}
		}

		simple := graph.Clone(m)
		pipeline := []passes.Pass{simplify.Functionalize, simplify.ConstFold, simplify.CSE, simplify.Decompose, simplify.CSE, simplify.DCE, simplify.DropUnused}
		_, err = passes.Run(ctx, simple, pipeline, passes.Options{})
		noError(t, m, "passes", err)
		for i, got := range run(t, simple, in) {
			if d := passes.Differ(got, want[i], 1e-5, 1e-6); d != "" {
				t.Fatalf("result %d after the passes: %s\n%s\nbecame\n%s", i, d, m, simple)
			}
		}
	})
	require.Greater(t, nodes, 10*graphs, "the graphs are not trivial")
}

func run(t *rapid.T, m *graph.Module, in []*array.Array) []*array.Array {
	out, err := fx.NewGraphModule(m).Run(ctx, tensors(in)...)
	noError(t, m, "interp", err)
	return arrays(out)
}

func noError(t *rapid.T, m *graph.Module, what string, err error) {
	if err != nil {
		t.Fatalf("%s: %v\n%s", what, err, m)
	}
}

func agree(t *rapid.T, m *graph.Module, what string, want, got []*array.Array) {
	for i := range want {
		if d := fxtest.SameArray(want[i], got[i]); d != "" {
			t.Fatalf("%s, result %d: %s\n%s", what, i, d, m)
		}
	}
}

// single has results of f64 as f32: a cast may have made them of sums in f32, which plans
// round otherwise.
func single(list []*array.Array) []*array.Array {
	out := slices.Clone(list)
	for i, a := range out {
		if a.DType() == array.F64 {
			out[i] = array.Cast(a, array.F32)
		}
	}
	return out
}
