package gpu_test

import (
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
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
var expandedEveryTime = map[string]bool{"topk": true, "rnn": true, "q_gru": true, "q_add": true, "fold": true, "quantize": true}

// everyRun reports whether a call runs on every change.
func everyRun(n *graph.Node) bool {
	return gpu.Direct(n) || fxtest.IsNightly() || expandedEveryTime[n.Op().Name]
}

// runSamples returns how many samples ran, and why others did not.
func runSamples(t *testing.T, g gpu.Target, o *op.Op) (ran int, refused string) {
	b := newTogether(t)
	samples := chosen(o.Samples())
	var want []*array.Array
	var calls []int // the sample of each result
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
		want, calls = append(want, w...), append(calls, slices.Repeat([]int{i}, len(w))...)
		ran++
	}
	if ran == 0 {
		return 0, refused
	}
	e, err := g.Compile(b.module(), lowering.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	for range 2 { // what a run leaves does not show in the next
		got, err := e.Run(ctx, b.in)
		require.NoError(t, err)
		require.Len(t, got, len(want))
		for i := range got {
			s := samples[calls[i]]
			if d := fxtest.Beyond(o, s.Attrs, s.In, want[i], got[i]); d != "" {
				t.Errorf("%s %s: %s", o.Key(), s.Name, d)
			}
		}
	}
	specials(t, e, o, samples, args, calls)
	return ran, refused
}

// specials runs samples with NaN or infinity somewhere, or with one number everywhere, in the program of
// the calls: NaN, infinities and numbers are where the interpreter has them.
func specials(t *testing.T, e lowering.Executable, o *op.Op, samples []op.Sample, args [][]*graph.Node, calls []int) {
	r := rand.New(rand.NewPCG(2, 754))
	for range 8 {
		var in []*array.Array
		special := slices.Clone(samples) // several may have one name
		for i, s := range samples {
			if x := fxtest.Special(r, s.In); x != nil {
				if _, err := o.Eval(&kernel.Workspace{}, s.Attrs, x); err == nil {
					s.In = x
				}
			}
			special[i] = s
			for k := range args[i] {
				if s.In[k] != nil {
					in = append(in, s.In[k])
				}
			}
		}
		got, err := e.Run(ctx, in)
		require.NoError(t, err)
		for i := 0; i < len(got); {
			s := special[calls[i]]
			want, err := o.Eval(&kernel.Workspace{}, s.Attrs, s.In)
			require.NoError(t, err)
			for k, w := range want {
				if d := fxtest.Beyond(o, s.Attrs, s.In, w, got[i+k]); d != "" && !fxtest.Excused(o, s.Attrs, s.In) {
					t.Errorf("%s %s, special: %s", o.Key(), s.Name, d)
				}
			}
			i += len(want)
		}
	}
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

// TestFarFromZero: elements that have more in common than they differ by keep the digits of their differences,
// on processors and where groups of work-items reduce together.
func TestFarFromZero(t *testing.T) {
	for name, of := range map[string]func(t testing.TB) gpu.Target{"processor": target, "groups": grouped} {
		t.Run(name, func(t *testing.T) {
			b := newTogether(t)
			calls := fxtest.FarFromZero()
			var args [][]*graph.Node
			for _, c := range calls {
				args = append(args, b.operands(c.In))
			}
			for i, c := range calls {
				b.result(b.c.Function(c.Op, c.Attrs, args[i]...), i)
			}
			got, err := compile(t, of(t), b.module()).Run(ctx, b.in)
			require.NoError(t, err)
			for i, c := range calls {
				want, err := c.Op.Eval(&kernel.Workspace{}, c.Attrs, c.In)
				require.NoError(t, err)
				require.Empty(t, fxtest.CloseArray(want[0], got[i]), c.Op.Name)
			}
		})
	}
}
