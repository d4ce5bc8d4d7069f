package gpu_test

import (
	"math"
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

// ulps are the errors of one rounding to a type, times four: an operator may round more than once.
var ulps = map[array.DType]float64{array.F16: 0x1p-9, array.BF16: 0x1p-6, array.F32: 0x1p-21, array.F64: 0x1p-50}

// least are the least normal numbers: devices may take what is smaller for zero.
var least = map[array.DType]float64{array.F16: 0x1p-14, array.BF16: 0x1p-126, array.F32: 0x1p-126, array.F64: 0x1p-1022}

// cancelling are elementwise operators that add numbers of opposite signs, as sums do.
var cancelling = map[string]bool{"gelu": true, "logaddexp": true}

// differs says how results differ beyond the operator's tolerance, "" when they do not:
// integers and what is only moved are equal.
func differs(o *op.Op, want, got *array.Array) string {
	d := fxtest.SameArray(want, got)
	u, float := ulps[want.DType()]
	if d == "" || !float || o.Class == op.Movement || got.DType() != want.DType() || len(got.Shape()) != len(want.Shape()) || got.Len() != want.Len() {
		return d
	}
	rel, abs := max(o.Tol.Rel, u), max(o.Tol.Abs, least[want.DType()])
	if o.Class != op.Elementwise {
		rel = max(rel, 1e-5)
	}
	if o.Class != op.Elementwise || len(o.In) > 2 || cancelling[o.Name] {
		for k := range want.Len() { // sums of products cancel: errors are relative to what is added
			if x := math.Abs(array.Float64At(want, k)); x <= math.MaxFloat64 {
				abs = max(abs, rel*max(x, 1))
			}
		}
	}
	for k := range want.Len() {
		x, y := array.Float64At(want, k), array.Float64At(got, k)
		if x != y && !(x != x && y != y) && !(math.Abs(x-y) <= abs+rel*math.Abs(x)) {
			return d
		}
	}
	return ""
}
