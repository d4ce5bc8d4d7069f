package passes_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/passtest"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/fusion"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/integer"
	"github.com/gofx-dev/gofx/passes/quant/tune"
	"github.com/gofx-dev/gofx/passes/shapeprop"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
)

const small = `
graph g(%x: f32[N,3]) {
  symbol N = dim(%x, 0)
  %a = call_method[relu](%x) : f32[N,3] at "net.go:7"
  %b = call_function[neg](%a) : f32[N,3] at "net.go:8"
  return %b
}
`

// swap turns relu into another unary operator.
func swap(name string, o *op.Op) passes.Pass { return replace(name, std.Relu, o) }

func replace(name string, from, o *op.Op) passes.Pass {
	return passes.EachNode(name, "Replaces an operator.", func(c *passes.Ctx, n *graph.Node) error {
		if n.Op() != from {
			return nil
		}
		return c.Replace(n, n.Graph().Before(n).Function(o, nil, n.Arg(0)), "out of fashion")
	})
}

func run(m *graph.Module, o passes.Options, list ...passes.Pass) (*passes.Report, error) {
	return passes.Run(context.Background(), m, list, o)
}

func TestRunReports(t *testing.T) {
	m := passtest.Parse(t, small)
	r, err := run(m, passes.Options{}, swap("swap", std.Gelu), swap("again", std.Gelu))
	require.NoError(t, err)
	require.Equal(t, std.Gelu, m.Graph.Find("b").Arg(0).Op())
	require.True(t, r.Changed())
	require.Equal(t, 1, r.Matches("swap"))
	require.False(t, r.Passes[1].Changed)
	require.Equal(t, 4, r.Passes[0].NodesBefore)
	require.Equal(t, "swap: 1 matches, 0 left as they are\n  net.go:7: %a replaced by %gelu: out of fashion\nagain: 0 matches, 0 left as they are\n", r.Explain())
	require.Contains(t, r.String(), "swap")
	require.Equal(t, "net.go:7", m.Graph.Find("b").Arg(0).Pos().String(), "what a pass makes inherits the position")
}

func TestRun_leavesTheModuleOnError(t *testing.T) {
	boom := diag.New("FX0000", "boom")
	for name, c := range map[string]struct {
		pass passes.Pass
		code diag.Code
		msg  string
		opts passes.Options
	}{
		"error":   {passes.Pass{Run: func(*passes.Ctx, *graph.Graph) (bool, error) { return true, boom }}, "FX0000", "while running pass bad", passes.Options{}},
		"panic":   {passes.Pass{Run: func(*passes.Ctx, *graph.Graph) (bool, error) { panic("oh") }}, passes.Panicked, "run_test.go", passes.Options{}},
		"index":   {passes.Pass{Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) { return g.Inputs()[c.Matches()+7] == nil, nil }}, passes.Panicked, "out of range", passes.Options{}},
		"cursor":  {passes.EachNode("", "", func(c *passes.Ctx, n *graph.Node) error { n.Graph().At().Function(std.Add, nil, n); return nil }), op.OperandCount, "pass bad", passes.Options{}},
		"foreign": {passes.EachNode("", "", func(c *passes.Ctx, n *graph.Node) error { return diag.New("FX0000", "no") }), "FX0000", "node %x", passes.Options{}},
		"lint":    {passes.EachNode("", "", func(c *passes.Ctx, n *graph.Node) error { n.SetType(shape.Type{}); return erase(c, n) }), graph.EraseUsed, "is used", passes.Options{}},
		"broken": {passes.Pass{Run: func(_ *passes.Ctx, g *graph.Graph) (bool, error) {
			b := g.Output().Arg(0)
			g.MoveBefore(b, b.Arg(0))
			return true, nil
		}}, graph.BrokenOrder, "after the pass", passes.Options{}},
		"fact":     {passes.EachNode("", "", func(c *passes.Ctx, n *graph.Node) error { n.SetType(shape.Unranked(array.F32)); return nil }), passes.BrokenFact, "typed", passes.Options{}},
		"requires": {passes.Pass{Requires: []passes.Fact{passes.Functional}, Run: nop}, passes.MissingFact, "run functionalize", passes.Options{}},
		"numeric":  {swap("", std.Neg), passes.NumericChange, "differs at element", passes.Options{Numeric: &passes.Numeric{}}},
		"count":    {passes.EachNode("", "", refuse), passes.MatchCount, "first candidate that did not match: %x: do not like it", passes.Options{Expect: []passes.Expectation{passes.Expect("bad", 2)}}},
		"at least": {swap("", std.Gelu), passes.MatchCount, "matched 1 times, expected 2 or more", passes.Options{Expect: []passes.Expectation{passes.ExpectAtLeast("bad", 2)}}},
		"fixpoint": {passes.Fixpoint(passes.Pass{Run: func(*passes.Ctx, *graph.Graph) (bool, error) { return true, nil }}, 3), passes.NoFixpoint, "after 3 rounds", passes.Options{}},
	} {
		t.Run(name, func(t *testing.T) {
			m := passtest.Parse(t, small)
			before := m.String()
			c.pass.Name = "bad"
			r, err := run(m, c.opts, replace("good", std.Neg, std.Neg), c.pass)
			require.ErrorIs(t, err, c.code, "%v", err)
			require.ErrorContains(t, err, c.msg)
			require.ErrorContains(t, err, "pass bad")
			require.Equal(t, before, m.String())
			require.Equal(t, "good", r.Passes[0].Name)
		})
	}
}

func nop(*passes.Ctx, *graph.Graph) (bool, error) { return false, nil }

func refuse(c *passes.Ctx, n *graph.Node) error {
	c.Refuse(n, "do not like it")
	return nil
}

func erase(c *passes.Ctx, n *graph.Node) error { return c.Erase(n, "") }

func TestRun_checksThePipeline(t *testing.T) {
	p := passes.Pass{Name: "p", Run: nop}
	before := []passes.Before{{First: "conv-bn", Then: "decompose", Why: "it is composite"}}
	order := []passes.Pass{{Name: "decompose", Run: nop}, {Name: "conv-bn", Run: nop, Order: before}}
	free := []passes.Pass{{Name: "decompose", Run: nop}, {Name: "conv-bn", Run: nop}}
	for name, c := range map[string]struct {
		list []passes.Pass
		opts passes.Options
		msg  string
	}{
		"disable":               {[]passes.Pass{p}, passes.Options{Disable: []string{"q"}}, `no pass "q"`},
		"stop":                  {[]passes.Pass{p}, passes.Options{StopAfter: "q"}, `no pass "q"`},
		"expect":                {[]passes.Pass{p}, passes.Options{Expect: []passes.Expectation{passes.Expect("q", 1)}}, `"q" has an Expect count`},
		"no run":                {[]passes.Pass{{Name: "p"}}, passes.Options{}, "no name or no Run"},
		"order":                 {order, passes.Options{}, "conv-bn runs after decompose, expected it before: it is composite"},
		"order of the pipeline": {free, passes.Options{Order: before}, "conv-bn runs after decompose, expected it before: it is composite"},
		"stop at":               {[]passes.Pass{p}, passes.Options{StopAt: passes.StopAt{Pass: "q", Match: 1}}, `no pass "q"`},
		"stop before":           {[]passes.Pass{p}, passes.Options{StopAt: passes.StopAt{Pass: "p", Match: -1}}, "StopAt is rewrite -1 of pass"},
		"stop nowhere":          {[]passes.Pass{p}, passes.Options{StopAt: passes.StopAt{Match: 2}}, "StopAt is rewrite 2 of pass"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := run(passtest.Parse(t, small), c.opts, c.list...)
			require.ErrorIs(t, err, passes.BadPipeline)
			require.ErrorContains(t, err, c.msg)
		})
	}
	_, err := run(passtest.Parse(t, small), passes.Options{Disable: []string{"decompose"}}, order...)
	require.NoError(t, err, "a disabled pass is no part of the order")
}

func TestRun_refusesABrokenGraph(t *testing.T) {
	m := passtest.Parse(t, small)
	m.Graph.MoveBefore(m.Graph.Find("b"), m.Graph.Find("a"))
	_, err := run(m, passes.Options{}, passes.Pass{Name: "p", Run: nop})
	require.ErrorIs(t, err, passes.LintFailed)
	_, err = run(m, passes.Options{NoLint: true}, passes.Pass{Name: "p", Run: nop})
	require.NoError(t, err)
}

func TestRun_stopsAndDisables(t *testing.T) {
	m := passtest.Parse(t, small)
	seen := ""
	_, err := run(m, passes.Options{StopAfter: "b", Disable: []string{"a"}, OnPass: func(r passes.PassReport, _ *graph.Module) { seen += r.Name }},
		passes.Pass{Name: "a", Run: nop}, passes.Pass{Name: "b", Run: nop}, passes.Pass{Name: "c", Run: nop})
	require.NoError(t, err)
	require.Equal(t, "b", seen)
}

func TestRunIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := passes.Run(ctx, passtest.Parse(t, small), []passes.Pass{swap("s", std.Neg)}, passes.Options{})
	require.ErrorIs(t, err, context.Canceled)
}

func TestDump(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dump")
	_, err := run(passtest.Parse(t, small), passes.Options{DumpDir: dir}, swap("swap/relu", std.Gelu), passes.Pass{Name: "nop", Run: nop})
	require.NoError(t, err)
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = f.Name()
	}
	require.Equal(t, "00-trace.fx 01-swap_relu.diff 01-swap_relu.fx 02-nop.diff 02-nop.fx", strings.Join(names, " "))
	diff, err := os.ReadFile(filepath.Join(dir, "01-swap_relu.diff"))
	require.NoError(t, err)
	require.Contains(t, string(diff), "-  %a = call_method[relu](%x) : f32[N,3] at \"net.go:7\"\n")
	require.Contains(t, string(diff), "+  %gelu = call_function[gelu](%x) : f32[N,3] at \"net.go:7\"\n")
	last, err := os.ReadFile(filepath.Join(dir, "02-nop.fx"))
	require.NoError(t, err)
	_, err = graph.Parse(last, "02-nop.fx")
	require.NoError(t, err)
	_, err = run(passtest.Parse(t, small), passes.Options{DumpDir: filepath.Join(dir, "00-trace.fx", "x")}, passes.Pass{Name: "nop", Run: nop})
	require.ErrorIs(t, err, passes.DumpFailed)
}

func TestNumeric_needsInputs(t *testing.T) {
	nothing := passes.Pass{Name: "nop", Run: nop}
	for name, c := range map[string]struct {
		text string
		spec passes.Numeric
		msg  string
	}{
		"type":  {"graph g(%x: f32[*]) {\n  return %x\n}\n", passes.Numeric{}, "f32[*]"},
		"guard": {"graph g(%x: f32[N]) {\n  symbol N = dim(%x, 0)\n  guard N == 7\n  return %x\n}\n", passes.Numeric{Sizes: map[string]int{"N": 5}}, "N = 5"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := run(passtest.Parse(t, c.text), passes.Options{Numeric: &c.spec}, nothing)
			require.ErrorIs(t, err, passes.NoInputs)
			require.ErrorContains(t, err, c.msg)
		})
	}
	m, err := graph.Parse([]byte("gofx 1\ngraph g(%x: f32[2]) {\n  %w = get_attr[w] : f32[2]\n  return %w\n}\nparam w : f32[2]\n"), "t.fx")
	require.NoError(t, err)
	_, err = run(m, passes.Options{Numeric: &passes.Numeric{}}, nothing)
	require.ErrorIs(t, err, passes.NoInputs)
}

func TestNumeric_inputsFitTheGuards(t *testing.T) {
	m := passtest.Parse(t, `
graph g(%x: f32[N,M,4], %y: i64[K] = 3, %z: bool[M,L]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%x, 1)
  symbol K = dim(%y, 0)
  symbol L = dim(%z, 1)
  guard N == 2*M
  guard L == 7
  return %x
}
`)
	in, err := passes.Inputs(m.Graph, map[string]int{"M": 3}, 1)
	require.NoError(t, err)
	require.Equal(t, []int{6, 3, 4}, in[0].Shape())
	require.Nil(t, in[1])
	require.Equal(t, []int{3, 7}, in[2].Shape())
	require.Equal(t, array.Bool, in[2].DType())
	again, err := passes.Inputs(m.Graph, map[string]int{"M": 3}, 1)
	require.NoError(t, err)
	require.True(t, array.Equal(in[0], again[0]))
}

func TestDiffer(t *testing.T) {
	a := array.FromSlice([]float32{1, 100})
	require.Empty(t, passes.Differ(array.FromSlice([]float32{1.0005, 100}), a, 1e-5, 0))
	require.Contains(t, passes.Differ(array.FromSlice([]float32{1.01, 100}), a, 1e-5, 0), "element 0")
	require.Contains(t, passes.Differ(array.FromSlice([]float64{1, 100}), a, 1, 1), "f64[2]")
	require.NotEmpty(t, passes.Differ(array.FromSlice([]int32{2}), array.FromSlice([]int32{1}), 9, 9))
}

func TestMergeTypes(t *testing.T) {
	for _, c := range [][3]string{
		{"f32[?,3]", "f32[N,4]", "f32[N,3]"}, {"?[*]", "f32[N]", "f32[N]"}, {"(f32[*], ?)", "(f32[2], i64[])", "(f32[2], i64[])"},
		{"f32[2]", "f32[2,3]", "f32[2]"},
	} {
		x, err := shape.ParseType(c[0])
		require.NoError(t, err)
		y, err := shape.ParseType(c[1])
		require.NoError(t, err)
		require.Equal(t, c[2], passes.MergeTypes(x, y).String())
	}
}

func TestConcat_gathersFacts(t *testing.T) {
	p := passes.Concat("c", "Runs two.", passes.Pass{Requires: []passes.Fact{passes.Typed}, Breaks: []passes.Fact{passes.Functional}, Run: nop},
		passes.Pass{Requires: []passes.Fact{passes.Functional, passes.EvalMode}, Run: nop})
	require.Len(t, p.Requires, 2)
	require.Len(t, p.Breaks, 1)
	_, err := run(passtest.Parse(t, small), passes.Options{}, p)
	require.NoError(t, err)
}

// builtIn returns the passes below this package.
func builtIn() []passes.Pass {
	return append(fusion.Recognisers(), shapeprop.Infer(nil), shapeprop.Specialize(nil), simplify.Functionalize, fusion.ConvBN, fusion.LinearBN, fusion.BNAffine, fusion.ScatterAdd,
		simplify.ConstFold, tune.Equalise, tune.Smooth(nil, tune.SmoothOptions{}), quant.Prepare(nil, nil), quant.Convert(nil, nil), integer.Lower, simplify.Decompose, simplify.CSE, simplify.DCE, simplify.DropUnused)
}

func TestOrderHasReasons(t *testing.T) {
	var names []string
	for _, p := range builtIn() {
		names = append(names, p.Name)
	}
	after, seen := map[string][]string{}, 0
	for _, p := range builtIn() {
		for _, o := range p.Order {
			require.NotEmpty(t, o.Why)
			require.Contains(t, names, o.First)
			require.Contains(t, names, o.Then)
			require.Contains(t, []string{o.First, o.Then}, p.Name, "it is about other passes")
			after[o.First] = append(after[o.First], o.Then)
			seen++
		}
	}
	require.Greater(t, seen, 20)
	var visit func(name string, path []string)
	visit = func(name string, path []string) {
		require.NotContains(t, path, name, "a cycle")
		for _, n := range after[name] {
			visit(n, append(path, name))
		}
	}
	for name := range after {
		visit(name, nil)
	}
}

type fitAttrs struct{ Fit bool }

var fit = op.Define("fit", op.Spec[fitAttrs]{Doc: "fit is x.", In: op.Args("x"), Training: func(a fitAttrs) bool { return a.Fit },
	Infer:     func(_ *op.Infer, _ fitAttrs, in []shape.Type) (shape.Type, error) { return in[0], nil },
	Decompose: func(_ op.Builder, _ fitAttrs, in []op.Value) op.Value { return in[0] }})

// What is training is a fact of the record, whatever the attribute is called.
func TestEvalMode_isAFactOfTheRecord(t *testing.T) {
	g := graph.New("g")
	c := g.At()
	x := c.Placeholder("x", shape.TensorType(array.F32, shape.ConstDims(2)), nil)
	c.Function(fit, fitAttrs{}, x)
	require.Nil(t, passes.EvalMode.Violation(g))
	n := c.Function(fit, fitAttrs{Fit: true}, x)
	require.Equal(t, n, passes.EvalMode.Violation(g))
}
