package parity

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/draw"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/shapeprop"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

// Complaints of users, as rows of the areas: see complaints.
func init() {
	area("2.1", controlRows, manyRows)
	area("2.2", wholeRows)
	area("2.3", sameRows)
	area("2.5", boundRows)
	area("2.6", deepRows)
	area("2.8", numberRows)
}

// clipped doubles x until its sum is 100 or more, and negates it if that is more than 150.
func clipped(x tt) tt {
	x = tensor.While(
		func(in []tt) tt { return in[0].Sum().LtScalar(100) },
		func(in []tt) []tt { return []tt{in[0].MulScalar(2)} }, x)[0]
	return tensor.Cond(x.Sum().GtScalar(150),
		func(in []tt) []tt { return []tt{in[0].Neg()} },
		func(in []tt) []tt { return []tt{in[0]} }, x)[0]
}

var controlRows = []row{
	{id: "31b", input: "a loop and a branch on data, by `tensor.While` and `tensor.Cond`; the branch as a Go `if`", outcome: "nodes with bodies, the values of Go for all inputs; refused at its line, with what to call instead", on: in(tensor.While, tensor.Cond), test: func(t *testing.T) {
		gm := capture(t, clipped, fx.Input("x", "f32[N]"))
		require.Equal(t, 1, opcounts(gm.Graph)["while"])
		for _, x := range []tt{vector(1, 1), vector(30), vector(90, 10), vector(200)} {
			require.Equal(t, floats(clipped(x)), results(t, gm, x))
		}
		refused(t, tracer.DataRead, "Cond", func(x tt) tt {
			if x.Sum().Item() > 150 {
				return x.Neg()
			}
			return x
		}, fx.Input("x", "f32[N]"))
	}},
	{id: "18b", input: "a layer that is no field of what is captured", outcome: "its tensors have paths of their own, the call names the layer", on: in(fx.Trace, nn.NewLinear), test: func(t *testing.T) {
		l := nn.NewLinear(2, 2)
		gm := trace(t, func(x tt) tt { return l.Forward(x) })
		require.Len(t, gm.Params(), 2)
		require.Equal(t, graph.CallModule, gm.Graph.Output().Arg(0).Opcode())
		require.Equal(t, floats(l.Forward(twoByTwo)), results(t, gm, twoByTwo))
	}},
}

var manyRows = []row{
	{id: "38b", input: "eight goroutines that capture and transform at once, and run models that are not captured", outcome: "each has its own graph; no state is left over", on: in(fx.Trace), test: func(t *testing.T) {
		want := capture(t, newResidual(), fx.Input("x", image)).Graph.Len()
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 5 {
					m := newResidual()
					gm, err := fx.Trace(context.Background(), m, fx.Input("x", image))
					if err != nil || gm.Graph.Len() != want {
						t.Errorf("%v", err)
						return
					}
					x := tensor.Ones(1, 2, 5, 5)
					if _, err := gm.Apply(context.Background(), fx.Optimise(), fx.PassOptions{Numeric: &passes.Numeric{}}); err != nil || gm.Forward(x).Dim(1) != m.Forward(x).Dim(1) {
						t.Errorf("%v", err)
					}
				}
			})
		}
		wg.Wait()
	}},
	{id: "38c", input: "one model captured 20 times, the graphs dropped", outcome: "their memory is free, and the model is as it was", on: in(fx.Trace), test: func(t *testing.T) {
		m := newNet()
		var graphs []weak.Pointer[graph.Graph]
		for range 20 {
			graphs = append(graphs, weak.Make(trace(t, m).Graph))
		}
		runtime.GC()
		runtime.GC()
		held := 0
		for _, g := range graphs {
			if g.Value() != nil {
				held++
			}
		}
		require.LessOrEqual(t, held, 2)
		require.Len(t, m.Forward(twoByTwo).Shape(), 2)
	}},
}

var wholeRows = []row{
	{id: "44f", input: "a graph edited after a run, and run again, with nothing in between", outcome: "the result of the edited graph", on: in((*fx.GraphModule).Edit), test: func(t *testing.T) {
		gm := fx.NewGraphModule(parse(t, chain))
		require.Equal(t, [][]float32{{1}}, [][]float32{results(t, gm, vector(0, 0))[0][:1]})
		require.NoError(t, gm.Edit(func(g *graph.Graph) error {
			g.Output().SetArg(0, g.Find("a"))
			return nil
		}))
		require.Equal(t, [][]float32{{-1, -2}}, results(t, gm, vector(1, 2)))
	}},
	{id: "59d", input: "graphs broken in every way that lint knows, printed, drawn and listed", outcome: "a text, whatever is wrong", on: in(graph.Print, draw.Table), test: func(t *testing.T) {
		for _, breaks := range []func(m *graph.Module){
			func(m *graph.Module) {
				m.Graph.Find("y").SetArg(0, graph.New("other").At().Placeholder("z", pair, nil))
			},
			func(m *graph.Module) { m.Graph.Find("fc").SetArg(0, m.Graph.Find("y")) },
			func(m *graph.Module) { _ = m.Graph.Erase(m.Graph.Output()) },
			func(m *graph.Module) { m.Graph.Find("y").SetArg(0, nil) },
			func(m *graph.Module) { m.Graph.Before(m.Graph.Output()).GetAttr("none") },
		} {
			m := linear(t)
			breaks(m)
			require.NotEmpty(t, graph.Lint(m.Graph))
			require.Contains(t, graph.Print(m, graph.PrintOptions{Positions: true}), "%fc = call_module[fc]")
			require.Contains(t, draw.Table(m), "call_module")
			require.NotEmpty(t, draw.DOT(m, draw.Options{}))
		}
	}},
	{id: "59e", input: "paths, scopes and notes with quotes, angle brackets and scripts, drawn", outcome: "DOT that is balanced, a page in which they are data", on: in(draw.DOT, draw.HTML), test: func(t *testing.T) {
		m := parse(t, "graph net(%x: f32[2]) {\n  %y = call_function[neg](%x) : f32[2] in \"a\\\"<b>\" \"</script><script>alert(1)\"\n  return %y\n}\n")
		dot := draw.DOT(m, draw.Options{})
		require.Contains(t, dot, "digraph")
		require.Equal(t, strings.Count(dot, "{"), strings.Count(dot, "}"))
		page := string(draw.HTML(m, draw.Options{}))
		require.Contains(t, page, "<html")
		require.NotContains(t, page, "</script><script>alert")
	}},
}

var sameRows = []row{
	{id: "69b", input: "one model captured and optimised ten times, printed; the same graph with other names", outcome: "the same bytes each time; the same hash", on: in(graph.Hash, graph.Print), test: func(t *testing.T) {
		texts := map[string]bool{}
		for range 10 {
			gm := capture(t, newResidual(), fx.Input("x", image))
			_, err := gm.Apply(context.Background(), fx.Optimise(), fx.PassOptions{})
			require.NoError(t, err)
			texts[graph.Print(gm.Module, graph.PrintOptions{})] = true
		}
		require.Len(t, texts, 1)
		for text := range texts {
			require.Contains(t, text, "conv2d")
		}
		a, b := parse(t, chain).Graph, parse(t, strings.ReplaceAll(chain, "%b", "%other")).Graph
		require.Equal(t, graph.Hash(a), graph.Hash(b))
		b.Find("other").SetArg(0, b.Find("x"))
		require.NotEqual(t, graph.Hash(a), graph.Hash(b))
	}},
}

var boundRows = []row{
	{id: "97b", input: "a pattern with two spellings at each of twenty levels, on a chain of 2,000 calls that fit in part; checks that always refuse", outcome: "a search that ends, and says in the report where it was given up", on: in(passes.AnyOf, passes.If), test: func(t *testing.T) {
		gm := capture(t, func(x tt) tt {
			for range 2000 {
				x = x.Neg()
			}
			return x
		}, fx.Input("x", "f32[4]"))
		levels := func(base tt) tt {
			for range 20 {
				base = passes.AnyOf(base.Neg(), base.Neg())
			}
			return base
		}
		n, why := rewrite(t, gm.Module, passes.Rewrite{Pattern: func(x tt) tt { return levels(x.Tanh()) }, Replacement: itself})
		require.Zero(t, n)
		require.Contains(t, why, "the pattern has tanh")
		n, why = rewrite(t, gm.Module, passes.Rewrite{Pattern: func(x tt) tt {
			return levels(passes.If(x, func(*graph.Node) string { return "is refused" }))
		}, Replacement: itself})
		require.Zero(t, n)
		require.Contains(t, why, "the search was given up after ")
	}},
}

var deepRows = []row{
	{id: "104d", input: "a chain of 50,000 calls, linted, printed, read, merged, cleaned, rewritten", outcome: "no limit of depth", on: in(dcePass, graph.Parse), test: func(t *testing.T) {
		g := graph.New("long")
		n := g.At().Placeholder("x", pair, nil)
		for range 50_000 {
			n = g.At().Function(std.Neg, nil, n)
			g.At().Function(std.Neg, nil, n.Arg(0))
		}
		g.At().Output(nil, n)
		m, err := graph.Parse([]byte(graph.NewModule(g).String()), "long.fx")
		require.NoError(t, err)
		report := apply2(t, m, simplify.CSE, simplify.DCE)
		require.Equal(t, 50_002, m.Graph.Len())
		require.True(t, report.Changed())
		m.Graph.Output().SetArg(0, m.Graph.First())
		apply2(t, m, simplify.DCE)
		require.Equal(t, 2, m.Graph.Len())
	}},
	{id: "105e", input: "equal and unused calls, and a pattern, in the bodies of a branch and in a sub-graph", outcome: "merged, removed and rewritten there too; the text nests", on: in((*graph.Graph).All, csePass, dcePass), test: func(t *testing.T) {
		gm := capture(t, func(x tt) tt {
			return tensor.Cond(x.Sum().GtScalar(0),
				func(in []tt) []tt { in[0].Tanh(); return []tt{in[0].Exp().Add(in[0].Exp()).Neg().Neg()} },
				func(in []tt) []tt { return []tt{in[0]} }, x)[0]
		}, fx.Input("x", "f32[2]"))
		require.Equal(t, 2, opcounts(gm.Graph)["exp"])
		apply(t, gm.Module, simplify.CSE, simplify.DCE, passes.Rule(passes.Rewrite{Name: "double", Doc: "d", Pattern: negNeg, Replacement: itself}))
		counts := opcounts(gm.Graph)
		require.Equal(t, 1, counts["exp"], "%s", gm.Graph)
		require.Zero(t, counts["tanh"]+counts["neg"])
		m := body(t, "  %a = call_function[exp](%x)\n  %b = call_function[exp](%x)\n  %c = call_function[add](%a, %b)\n  %d = call_function[neg](%c)\n  return %d")
		call := split(t, m, map[string]string{"a": "p", "b": "p", "c": "p"})
		apply(t, m, simplify.CSE)
		require.Equal(t, map[string]int{"exp": 1, "add": 1}, opcounts(m.Sub(call[0].Callee().Name)))
	}},
}

var numberRows = []row{
	{id: "135e", input: "numbers with tensors of half and double precision; the graph inferred for another element type", outcome: "the element type of the tensors; numbers and factories follow", on: in((*tensor.Tensor).MulScalar, shapeprop.Infer), test: func(t *testing.T) {
		f := func(x tt) tt { return x.MulScalar(2).AddScalar(0.5).Add(x.OnesLike()) }
		for _, d := range []string{"f16[N]", "f64[N]", "bf16[N]"} {
			require.Equal(t, d, capture(t, f, fx.Input("x", d)).Graph.Output().Arg(0).Type().String())
		}
		gm := capture(t, f, fx.Input("x", "f32[N]"))
		apply2(t, gm.Module, shapeprop.Infer(map[string]shape.Type{"x": typeOf(t, "f64[N]")}))
		require.Equal(t, "f64[N]", gm.Graph.Output().Arg(0).Type().String())
		out, err := fx.NewGraphModule(gm.Module).RunArrays(context.Background(), []*array.Array{array.FromSlice([]float64{1})})
		require.NoError(t, err)
		require.Equal(t, []float64{3.5}, array.Data[float64](out[0]))
	}},
}
