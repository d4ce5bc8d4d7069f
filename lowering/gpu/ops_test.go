package gpu_test

import (
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/fxtest"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/op"
)

// TestEverySampleOnTheDevice runs all samples of all operators that the target supports, those
// of an operator in one program.
func TestEverySampleOnTheDevice(t *testing.T) {
	g := target(t)
	ran, refused := 0, map[string]string{}
	for _, o := range op.All() {
		if o.Structural() || o.AdHoc {
			continue
		}
		t.Run(o.Key(), func(t *testing.T) {
			n, why := runSamples(t, g, o)
			ran += n
			if why != "" {
				refused[o.Key()] = why
			}
		})
	}
	var list []string
	for k, why := range refused {
		list = append(list, k+": "+why)
	}
	sort.Strings(list)
	t.Logf("%d samples ran; not supported in part or whole:\n%s", ran, strings.Join(list, "\n"))
}

// expandedEveryTime are operators without kernels of their own, one or two of a family, that run
// on every change; nightly all do. Package expand holds all expansions to the operators.
var expandedEveryTime = map[string]bool{"topk": true, "rnn": true, "q_add": true, "fold": true, "quantize": true}

// everyRun reports whether a call runs on every change.
func everyRun(n *graph.Node) bool {
	return gpu.Direct(n) || fxtest.IsNightly() || expandedEveryTime[n.Op().Name]
}

// runSamples returns how many samples ran, and why others did not.
func runSamples(t *testing.T, g gpu.Target, o *op.Op) (ran int, refused string) {
	b := newTogether(t)
	samples := chosen(o.Samples())
	var want []*array.Array
	args := make([][]*graph.Node, len(samples))
	for i, s := range samples {
		args[i] = b.operands(s.In)
	}
	for i, s := range samples {
		n := b.c.Function(o, s.Attrs, args[i]...)
		if !everyRun(n) {
			require.NoError(t, b.m.Graph.Erase(n))
			continue
		}
		if ok, why := g.Supports(n); !ok {
			require.NotEmpty(t, why)
			refused = why
			require.NoError(t, b.m.Graph.Erase(n))
			continue
		}
		w, err := o.Eval(&kernel.Workspace{}, s.Attrs, s.In)
		require.NoError(t, err, s.Name)
		b.result(n, i)
		want = append(want, w...)
		ran++
	}
	if ran == 0 {
		return 0, refused
	}
	e, err := g.Compile(b.module(), lowering.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	for range 2 { // what a run leaves behind does not show in the next
		got, err := e.Run(ctx, b.in)
		require.NoError(t, err)
		require.Len(t, got, len(want))
		for i := range got {
			if d := differs(o, want[i], got[i]); d != "" {
				t.Errorf("%s %s: %s", o.Key(), samples[b.of[i]].Name, d)
			}
		}
	}
	return ran, refused
}

// chosen are some of an operator's samples, from all along the list; nightly all.
func chosen(all []op.Sample) []op.Sample {
	const most = 2
	if fxtest.IsNightly() || len(all) <= most {
		return all
	}
	some := make([]op.Sample, most)
	for i := range some {
		some[i] = all[i*(len(all)-1)/(most-1)]
	}
	return some
}

// differs says how results differ beyond the operator's tolerance, "" when they do not:
// integers and what is only moved are equal.
func differs(o *op.Op, want, got *array.Array) string {
	d := fxtest.SameArray(want, got)
	if d == "" || got.DType() != want.DType() || len(got.Shape()) != len(want.Shape()) || got.Len() != want.Len() {
		return d
	}
	rel, abs := fxtest.ToleranceOf(o, want)
	for k := range want.Len() {
		if !fxtest.Near(array.Float64At(want, k), array.Float64At(got, k), rel, abs) {
			return d
		}
	}
	return ""
}
