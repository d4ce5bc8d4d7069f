package expand_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/expand"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
)

// single returns a module of one call on inputs of the given types, nil where the type
// rule refuses it.
func single(o *op.Op, attrs any, in []*array.Array, types []shape.Type) (m *graph.Module, err error) {
	defer diag.Catch(&err)
	g := graph.New("single")
	m = graph.NewModule(g)
	c := g.At()
	args := make([]*graph.Node, len(in))
	k := 0
	for i, a := range in {
		if a == nil {
			continue
		}
		args[i] = c.Placeholder(fmt.Sprintf("x%d", i), types[k], nil)
		for axis, d := range types[k].Dims().Slice() {
			if name, ok := d.IsSymbol(); ok {
				if _, there := g.Symbol(name); !there {
					g.DefineSymbol(name, args[i], axis)
				}
			}
		}
		k++
	}
	v := c.Function(o, attrs, args...)
	n, tuple := o.NumResults(v.Attrs())
	if !tuple {
		c.Output(nil, v)
		return m, nil
	}
	s := &graph.Structure{Kind: graph.Results}
	items := make([]*graph.Node, n)
	for i := range items {
		items[i] = c.ItemNode(v, i)
		s.Fields = append(s.Fields, graph.Leaf(i))
	}
	c.Output(s, items...)
	return m, nil
}

// expanded expands all calls of the module, and returns why some are left.
func expanded(t testingT, m *graph.Module) (why []string) {
	t.Helper()
	refused := func(_ *graph.Node, reason string) { why = append(why, reason) }
	ctx := passes.NewCtx(context.Background(), m)
	_, err := simplify.ExpandExcept(nil, refused, expand.Table()).Run(ctx, m.Graph)
	require.NoError(t, err, m.String())
	_, err = simplify.DCE.Run(ctx, m.Graph)
	require.NoError(t, err)
	require.Empty(t, graph.Lint(m.Graph), m.String())
	return why
}

// left returns the operators of the module that are no primitives.
func left(m *graph.Module) (names []string) {
	for n := range m.All() {
		if n.Opcode().IsCall() && !expand.IsPrimitive(n.Op()) {
			names = append(names, n.Op().Name)
		}
	}
	return names
}

func present(in []*array.Array) (out []*array.Array) {
	for _, a := range in {
		if a != nil {
			out = append(out, a)
		}
	}
	return out
}

func typesOf(in []*array.Array) (types []shape.Type) {
	for _, a := range present(in) {
		types = append(types, shape.TypeOf(a))
	}
	return types
}

func run(m *graph.Module, in []*array.Array) ([]*array.Array, error) {
	p := interp.Interpreter{State: interp.NewState(m)}
	return p.RunArrays(context.Background(), present(in))
}

// differ says how results of a call differ: not at all for movement and what is no float, else
// beyond roundings.
func differ(o *op.Op, attrs any, in, want, got []*array.Array) string {
	if len(want) != len(got) {
		return fmt.Sprintf("%d results, expected %d", len(got), len(want))
	}
	for i := range want {
		d := fxtest.SameArray(want[i], got[i])
		switch {
		case d == "" || o.Class == op.Movement:
		case o.Tol != (op.Tolerance{}):
			d = fxtest.Beyond(o, attrs, in, want[i], got[i])
		default:
			d = fxtest.CloseArray(want[i], got[i])
		}
		if d != "" {
			return fmt.Sprintf("result %d: %s", i, d)
		}
	}
	return ""
}

// eachEntry runs f for every operator with an entry.
func eachEntry(t *testing.T, f func(t *testing.T, o *op.Op)) {
	table := expand.Table()
	for _, o := range op.All() {
		if table[o] != nil {
			t.Run(o.Name, func(t *testing.T) { f(t, o) })
		}
	}
}

// TestSamples expands every sample of every operator of the table.
func TestSamples(t *testing.T) {
	eachEntry(t, func(t *testing.T, o *op.Op) {
		for _, s := range o.Samples() {
			m, err := single(o, s.Attrs, s.In, typesOf(s.In))
			require.NoError(t, err)
			if why := expanded(t, m); len(why) > 0 {
				checkRefusal(t, o, s.Name, why)
				continue
			}
			if l := left(m); len(l) > 0 {
				t.Errorf("%s: %v are left", s.Name, l)
				continue
			}
			want, err := o.Eval(&kernel.Workspace{}, s.Attrs, s.In)
			require.NoError(t, err)
			got, err := run(m, s.In)
			if err != nil {
				t.Errorf("%s: %v\n%s", s.Name, err, m)
				continue
			}
			if d := differ(o, s.Attrs, s.In, want, got); d != "" {
				t.Errorf("%s %+v %v: %s\n%s", s.Name, s.Attrs, typesOf(s.In), d, m)
			}
		}
	})
}

// TestFarFromZero: elements that have more in common than they differ by keep the digits of their differences.
func TestFarFromZero(t *testing.T) {
	for _, c := range fxtest.FarFromZero() {
		m, err := single(c.Op, c.Attrs, c.In, typesOf(c.In))
		require.NoError(t, err)
		require.Empty(t, expanded(t, m))
		want, err := c.Op.Eval(&kernel.Workspace{}, c.Attrs, c.In)
		require.NoError(t, err)
		got, err := run(m, c.In)
		require.NoError(t, err)
		require.Empty(t, differ(c.Op, c.Attrs, c.In, want, got), c.Op.Name)
	}
}

// TestScalesOfSums: int8_linear scales sums, by infinity too, and has none where there is nothing to sum.
func TestScalesOfSums(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, in := range [][]*array.Array{
		{array.FromSlice([]float32{1, 2, -1, 3}, 2, 2), array.FromSlice([]int8{1, 0, -2, 5, 7, 0}, 3, 2), array.FromSlice([]float32{inf, -inf, nan}), array.FromSlice([]int8{3, 1, 0}), nil},
		{array.New(array.F32, 2, 0), array.New(array.I8, 3, 0), array.FromSlice([]float32{inf, 1, nan}), nil, array.FromSlice([]float32{1, 2, 3})},
	} {
		m, err := single(std.Int8Linear, op.None{}, in, typesOf(in))
		require.NoError(t, err)
		require.Empty(t, expanded(t, m))
		want, err := std.Int8Linear.Eval(&kernel.Workspace{}, op.None{}, in)
		require.NoError(t, err)
		got, err := run(m, in)
		require.NoError(t, err)
		require.Empty(t, fxtest.SameArrays(want, got))
	}
}

// refusals are the samples that are not expanded, by operator and name, with a part of
// the reason.
var refusals = func() map[string]string {
	all := map[string]string{"roi_align: max aligned": "mode is max"}
	for _, s := range []string{"plain", "i32", "aligned", "scale", "one size", "strided", "f64", "no region", "max"} {
		all["roi_align: "+s] = "sampling_ratio is 0"
	}
	return all
}()

func checkRefusal(t *testing.T, o *op.Op, sample string, why []string) {
	t.Helper()
	want, ok := refusals[o.Name+": "+sample]
	if !ok {
		t.Errorf("%s: not expanded: %v", sample, why)
		return
	}
	require.Contains(t, why[0], want, "%s: %s", o.Name, sample)
}

// TestExpand_everyOperatorHasAPlace asks of every operator what becomes of it.
func TestExpand_everyOperatorHasAPlace(t *testing.T) {
	table, reasons := expand.Table(), expand.Reasons()
	for _, o := range op.All() {
		if o.Path != "" || o.AdHoc || o.Scalar() || o.Composite() || o.Structural() {
			continue
		}
		if !expand.IsPrimitive(o) && table[o] == nil && reasons[o] == "" {
			t.Errorf("%s is neither primitive nor expanded, and has no reason", o.Name)
		}
	}
}

// testingT is what tests and properties have in common.
type testingT interface {
	require.TestingT
	Helper()
}
