package parity

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/fusion"
	"github.com/gofx-dev/gofx/passes/shapeprop"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

func init() { area("2.6", typeRows, fuseRows, driverRows) }

// typeOf reads a type.
func typeOf(t *testing.T, text string) shape.Type {
	t.Helper()
	typ, err := shape.ParseType(text)
	require.NoError(t, err)
	return typ
}

// residual is a block of convolutions and batch norms with a sum around them.
type residual struct {
	Conv1, Conv2 *nn.Conv2d
	Bn1, Bn2     *nn.BatchNorm2d
}

func newResidual() *residual {
	m := &residual{nn.NewConv2d(2, 2, 3, nn.Padding(1)), nn.NewConv2d(2, 2, 3, nn.Padding(1)), nn.NewBatchNorm2d(2), nn.NewBatchNorm2d(2)}
	for i, b := range []*nn.BatchNorm2d{m.Bn1, m.Bn2} {
		b.RunningMean.AddScalarInPlace(0.5 + float64(i))
		b.RunningVar.AddScalarInPlace(2)
	}
	return m
}

func (m *residual) Forward(x tt) tt {
	y := m.Bn1.Forward(m.Conv1.Forward(x)).Relu()
	return m.Bn2.Forward(m.Conv2.Forward(y)).Add(x).Relu()
}

const image = "f32[N,2,5,5]"

var typeRows = []row{
	{id: "107a", input: "types of the inputs given to a graph without any: getattr, functions, methods, leaves, tuples, sizes that are not known", outcome: "every type is inferred; what is not known stays unknown", on: in(shapeprop.Infer), test: func(t *testing.T) {
		m := parse(t, `graph g(%x: ?) {
  %w = get_attr[w]
  %a = call_module[fc](%x)
  %b = call_method[relu](%a)
  %c = call_function[split](%b) {sizes=[1,2], dim=1}
  %d = call_function[getitem](%c) {index=1}
  %e = call_function[add](%d, %w)
  return %e
}
param w : f32[2]
param fc.weight : f32[3,4]
module fc = linear (weight=fc.weight, bias=_)
`)
		apply2(t, m, shapeprop.Infer(map[string]shape.Type{"x": typeOf(t, "f32[N,4]")}))
		require.Equal(t, "(f32[N,1], f32[N,2])", m.Graph.Find("c").Type().String())
		require.Equal(t, "f32[N,2]", m.Graph.Find("e").Type().String())
		unknown := parse(t, "graph g(%x: ?) {\n  %a = call_function[neg](%x)\n  %b = call_function[exp](%a)\n  return %b\n}")
		apply2(t, unknown, shapeprop.Infer(map[string]shape.Type{"x": typeOf(t, "f32[*]")}))
		require.Equal(t, "f32[*]", unknown.Graph.Find("b").Type().String())
	}},
	{id: "107b", input: "two runs of a graph on inputs of other sizes", outcome: "each node has the type that it had; a size that differed is unknown", on: in(shapeprop.Observe), test: func(t *testing.T) {
		m := parse(t, chain)
		for n := range m.Graph.Nodes() {
			n.SetType(shape.Unranked(array.F32))
		}
		observe := func(x tt) string {
			require.NoError(t, shapeprop.Observe(context.Background(), m, x))
			typ, ok := shapeprop.Observed.Get(m.Graph.Find("c"))
			require.True(t, ok)
			return typ.String()
		}
		require.Equal(t, "f32[1,2]", observe(tensor.Ones(1, 2)))
		require.Equal(t, "f32[?,2]", observe(tensor.Ones(3, 2)))
	}},
	{id: "107c", input: "an input of a type that two operators refuse", outcome: "both mistakes, at their lines; the graph is as it was", on: in(shapeprop.Infer), test: func(t *testing.T) {
		m := parse(t, "graph g(%x: ?[*], %y: ?[*]) {\n  %a = call_function[add](%x, %y) : ? at \"net.go:5\"\n  %c = call_function[sum](%x) {dim=[4]} : ? at \"net.go:7\"\n  return %a, %c\n}")
		text := m.String()
		_, err := passes.Run(context.Background(), m, []passes.Pass{shapeprop.Infer(map[string]shape.Type{"x": typeOf(t, "f32[2]"), "y": typeOf(t, "f32[3]")})}, passes.Options{})
		require.ErrorIs(t, err, op.ShapeMismatch)
		require.ErrorIs(t, err, op.BadAxis)
		require.ErrorContains(t, err, "net.go:7: sum")
		require.Equal(t, text, m.String())
	}},
	{id: "108a", input: "layers, methods and functions of one meaning", outcome: "calls of functions of one form, with named operands and all attributes; types, names, lines and keys stay", on: in(plainPass), test: func(t *testing.T) {
		m := linear(t)
		key := graph.NewKey[int]("mark")
		key.Set(m.Graph.Find("fc"), 7)
		apply(t, m, simplify.Functionalize)
		fc := m.Graph.Find("fc")
		require.Equal(t, graph.CallFunction, fc.Opcode())
		require.Equal(t, "fc.weight", fc.Operand("weight").Target())
		require.Equal(t, "f32[N,2]", fc.Type().String())
		require.Equal(t, 41, fc.Pos().Line)
		v, _ := key.Get(fc)
		require.Equal(t, 7, v)
	}},
	{id: "108b", input: "every layer of package nn in a model, made functional", outcome: "the same numbers from calls of functions alone", on: in(plainPass), test: func(t *testing.T) {
		m := nn.NewSequential(nn.NewConv2d(2, 4, 3), nn.NewBatchNorm2d(4), nn.NewReLU(), nn.NewGroupNorm(2, 4), nn.NewPReLU(4), nn.NewGELU(),
			nn.NewMaxPool2d(2), nn.NewConvTranspose2d(4, 2, 2), nn.NewFlatten(), nn.NewLinear(8, 3), nn.NewLayerNorm([]int{3}))
		gm := capture(t, m, fx.Input("x", "f32[N,2,5,5]"))
		want := floats(m.Forward(tensor.Ones(1, 2, 5, 5)))
		_, err := gm.Apply(context.Background(), []passes.Pass{simplify.Functionalize}, fx.PassOptions{})
		require.NoError(t, err)
		for n := range gm.Graph.Nodes() {
			require.NotEqual(t, graph.CallModule, n.Opcode())
		}
		require.Equal(t, want, results(t, gm, tensor.Ones(1, 2, 5, 5)))
	}},
	{id: "109", input: "the parts of a tuple of different types", outcome: "each getitem has the type of its part", on: in(op.ItemType), test: func(t *testing.T) {
		gm := capture(t, func(x tt) []tt { v, i := x.Topk(2, 0); return []tt{v, i} }, fx.Input("x", "f32[5]"))
		var items []string
		for n := range gm.Graph.Calls(op.GetItem) {
			items = append(items, n.Type().String())
		}
		require.Equal(t, []string{"f32[2]", "i64[2]"}, items)
	}},
}

var fuseRows = []row{
	{id: "111", input: "a residual block of convolutions and batch norms; one without statistics; one whose value is used elsewhere", outcome: "folded into the weights, with the same numbers to rounding; left alone with the reason", on: in(variable{"passes/fusion.ConvBN", fusion.ConvBN}), test: func(t *testing.T) {
		gm := capture(t, newResidual(), fx.Input("x", image))
		report := apply(t, gm.Module, fusion.ConvBN)
		require.Equal(t, 2, report.Matches("conv-bn"), report.Explain())
		require.Equal(t, map[string]int{"conv2d": 2, "relu": 2, "add": 1}, opcounts(gm.Graph))
		type plain struct {
			Conv *nn.Conv2d
			Bn   *nn.BatchNorm2d
		}
		m := plain{nn.NewConv2d(2, 2, 3), nn.NewBatchNorm2d(2, nn.TrackRunningStats(false))}
		gm = capture(t, func(x tt) tt { return m.Bn.Forward(m.Conv.Forward(x)) }, fx.Input("x", image))
		require.Zero(t, apply(t, gm.Module, fusion.ConvBN).Matches("conv-bn"))
		m.Bn = nn.NewBatchNorm2d(2)
		gm = capture(t, func(x tt) (a, b tt) { y := m.Conv.Forward(x); return m.Bn.Forward(y), y }, fx.Input("x", image))
		report = apply(t, gm.Module, fusion.ConvBN)
		require.Zero(t, report.Matches("conv-bn"))
		require.Contains(t, report.Explain(), "%")
	}},
	{id: "112", input: "the default pipeline on a residual block", outcome: "fewer nodes, the same numbers to rounding", on: in(fx.Optimise, (*fx.GraphModule).Apply), test: func(t *testing.T) {
		m := newResidual()
		gm := capture(t, m, fx.Input("x", image))
		report, err := gm.Apply(context.Background(), fx.Optimise(), fx.PassOptions{Numeric: &passes.Numeric{}})
		require.NoError(t, err)
		require.True(t, report.Changed())
		require.Equal(t, map[string]int{"conv2d": 2, "relu": 2, "add": 1}, opcounts(gm.Graph))
		x := tensor.Ones(1, 2, 5, 5)
		require.InDeltaSlice(t, tensor.Data[float32](m.Forward(x)), results(t, gm, x)[0], 1e-5)
	}},
	{id: "117", input: "an operator replaced by another one with attributes of its own, in every place", outcome: "operands, line and uses are those of the old one", on: in(passes.EachNode, (*passes.Ctx).Replace), test: func(t *testing.T) {
		m := linear(t)
		apply2(t, m, passes.EachNode("retarget", "Makes sub of mul.", func(c *passes.Ctx, n *graph.Node) error {
			if n.Op() != std.Mul {
				return nil
			}
			return c.Replace(n, n.Graph().Before(n).Function(std.Sub, tensor.SubAttrs{Alpha: tensor.Number(2.0)}, n.Args()...), "a test")
		}))
		sub := m.Graph.Output().Arg(0)
		require.Equal(t, std.Sub, sub.Op())
		require.Equal(t, 42, sub.Pos().Line)
		require.Equal(t, []float32{-17, 5}, values(t, m, tensor.Ones(1, 2)))
	}},
}

// apply2 runs passes that may change the results of the graph.
func apply2(t *testing.T, m *graph.Module, list ...passes.Pass) *passes.Report {
	t.Helper()
	report, err := passes.Run(context.Background(), m, list, passes.Options{})
	require.NoError(t, err)
	require.Empty(t, graph.Lint(m.Graph))
	return report
}

// named is a pass that does nothing but tell.
func named(name string, seen *string, order ...passes.Before) passes.Pass {
	return passes.Pass{Name: name, Order: order, Run: func(*passes.Ctx, *graph.Graph) (bool, error) { *seen += name; return false, nil }}
}

var driverRows = []row{
	{id: "113a", input: "three passes, with the order that one demands, in that order and in another", outcome: "they run as listed; refused with the reason before any runs", on: in(passes.Run, passes.CheckOrder), test: func(t *testing.T) {
		seen := ""
		order := passes.Before{First: "a", Then: "b", Why: "b hides what a looks for"}
		list := []passes.Pass{named("a", &seen), named("b", &seen, order), named("c", &seen)}
		apply2(t, parse(t, chain), list...)
		require.Equal(t, "abc", seen)
		_, err := passes.Run(context.Background(), parse(t, chain), []passes.Pass{list[2], list[1], list[0]}, passes.Options{})
		require.ErrorIs(t, err, passes.BadPipeline)
		require.ErrorContains(t, err, "b hides what a looks for")
		require.Equal(t, "abc", seen)
		require.Error(t, passes.CheckOrder([]passes.Pass{list[1], list[0]}))
	}},
	{id: "113b", input: "a pass that breaks the graph, fails, or panics, after one that has changed it", outcome: "the error names the pass; the module is as it was; the report has the passes before", on: in(passes.Run), test: func(t *testing.T) {
		good := passes.Rule(passes.Rewrite{Name: "good", Doc: "d", Pattern: tensor.Exp, Replacement: func(x tt) tt { return x.Neg() }})
		for want, bad := range map[diag.Code]func(*passes.Ctx, *graph.Graph) (bool, error){
			graph.BrokenOrder: func(_ *passes.Ctx, g *graph.Graph) (bool, error) {
				g.MoveBefore(g.Find("c"), g.Find("a"))
				return true, nil
			},
			passes.Panicked: func(*passes.Ctx, *graph.Graph) (bool, error) { panic("oh") },
			"FX0000":        func(*passes.Ctx, *graph.Graph) (bool, error) { return true, diag.New("FX0000", "no") },
		} {
			m := parse(t, chain)
			text := m.String()
			report, err := passes.Run(context.Background(), m, []passes.Pass{good, {Name: "bad", Run: bad}}, passes.Options{})
			require.ErrorIs(t, err, want)
			require.ErrorContains(t, err, "pass bad")
			require.Equal(t, text, m.String())
			require.Equal(t, "good", report.Passes[0].Name)
		}
	}},
	{id: "113c", input: "a pass that is repeated until it changes nothing, one that never stops", outcome: "as often as needed; FX3028", on: in(passes.Fixpoint, passes.Rules), test: func(t *testing.T) {
		m := negations(t, 5)
		apply(t, m, passes.Fixpoint(passes.Rule(passes.Rewrite{Name: "double", Doc: "d", Pattern: negNeg, Replacement: itself}), 9))
		require.Equal(t, map[string]int{"neg": 1}, opcounts(m.Graph))
		endless := passes.Pass{Name: "endless", Run: func(*passes.Ctx, *graph.Graph) (bool, error) { return true, nil }}
		_, err := passes.Run(context.Background(), m, []passes.Pass{passes.Fixpoint(endless, 3)}, passes.Options{})
		require.ErrorIs(t, err, passes.NoFixpoint)
		_, err = passes.Run(context.Background(), m, []passes.Pass{passes.Rules("rules", "d", 3, endless)}, passes.Options{})
		require.ErrorIs(t, err, passes.NoFixpoint)
	}},
	{id: "113d", input: "a pass that changes what the graph computes, with the numeric check; one that matches too often", outcome: "refused with the element that differs; refused with the count", on: in(passes.Run, passes.Expect, passes.Differ), test: func(t *testing.T) {
		wrong := passes.Rule(passes.Rewrite{Name: "wrong", Doc: "d", Pattern: tensor.Exp, Replacement: func(x tt) tt { return x.Neg() }})
		_, err := passes.Run(context.Background(), parse(t, chain), []passes.Pass{wrong}, passes.Options{Numeric: &passes.Numeric{}})
		require.ErrorIs(t, err, passes.NumericChange)
		_, err = passes.Run(context.Background(), parse(t, chain), []passes.Pass{wrong}, passes.Options{Expect: []passes.Expectation{passes.Expect("wrong", 2)}})
		require.ErrorIs(t, err, passes.MatchCount)
		require.NotEmpty(t, passes.Differ(array.FromSlice([]float32{1}), array.FromSlice([]float32{2}), 0, 0.5))
	}},
	{id: "114", input: "a pipeline with a folder and a function after each pass", outcome: "the text before and after each pass with the difference; what was replaced and erased; each new node knows the rewrite and the user's line", on: in(passes.Run, passes.Diff, (*passes.Origin).String), test: func(t *testing.T) {
		m, dir := linear(t), filepath.Join(t.TempDir(), "dump")
		var seen []passes.PassReport
		o := passes.Options{DumpDir: dir, OnPass: func(r passes.PassReport, _ *graph.Module) { seen = append(seen, r) }}
		_, err := passes.Run(context.Background(), m, []passes.Pass{passes.Rule(passes.Rewrite{Name: "div", Doc: "d", Pattern: tensor.Mul, Replacement: func(x, y tt) tt { return x.Div(y.Reciprocal()) }}), simplify.DCE}, o)
		require.NoError(t, err)
		diff, err := os.ReadFile(filepath.Join(dir, "01-div.diff"))
		require.NoError(t, err)
		require.Contains(t, string(diff), "-  %y = call_function[mul]")
		require.Len(t, seen, 2)
		require.Equal(t, passes.Replaced, seen[0].Log[0].Kind)
		origin, ok := passes.Made.Get(m.Graph.Output().Arg(0))
		require.True(t, ok)
		require.Contains(t, origin.String(), "rewrite 1 of pass div, rule div, from %y at model.go:42")
	}},
	{id: "116", input: "a relation of sizes that two calls need, and one that follows from it", outcome: "one guard, with the line of the first; checked once at entry", on: in((*graph.Graph).Guards), test: func(t *testing.T) {
		gm := capture(t, func(x, y, z tt) []tt { return []tt{x.Add(y), y.Add(x), x.Matmul(y), x.Mul(z).Matmul(y)} },
			fx.Input("x", "f32[N]"), fx.Input("y", "f32[M]"), fx.Input("z", "f32[1]"))
		require.Len(t, gm.Graph.Guards(), 1, "%s", gm.Graph)
		_, err := gm.Run(context.Background(), vector(1, 2), vector(1, 2, 3), vector(1))
		require.ErrorIs(t, err, diag.Code("FX1022"))
		require.ErrorContains(t, err, "N")
	}},
}
