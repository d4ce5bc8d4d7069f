package passes_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/passtest"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/fusion"
	"github.com/gofx-dev/gofx/passes/shapeprop"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
)

var ouroboros *op.Op

func init() {
	ouroboros = op.Define("ouroboros", op.Spec[op.None]{Doc: "ouroboros is defined by itself.", In: op.Args("x"),
		Infer:     func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) { return in[0], nil },
		Decompose: func(b op.Builder, _ op.None, in []op.Value) op.Value { return b.Call(ouroboros, nil, in[0]) }})
}

// TestExamplesOfCodes makes the mistake of every documented code of passes, as
// its example says, and demands that code.
func TestExamplesOfCodes(t *testing.T) {
	each := func(f func(c *passes.Ctx, n *graph.Node) error) []passes.Pass {
		return []passes.Pass{passes.EachNode("p", "", f)}
	}
	with := func(o passes.Options, list ...passes.Pass) func(*graph.Module) error {
		return func(m *graph.Module) error {
			_, err := run(m, o, list...)
			return err
		}
	}
	file := filepath.Join(t.TempDir(), "file.txt")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	always := passes.Pass{Name: "p", Run: func(*passes.Ctx, *graph.Graph) (bool, error) { return true, nil }}
	quiet := passes.Pass{Name: "p", Run: nop}
	mistakes := map[diag.Code]func(m *graph.Module) error{
		interp.Dropped: func(m *graph.Module) error {
			tr := interp.Transformer{Node: func(*graph.Cursor, *graph.Node, []*graph.Node, func() *graph.Node) *graph.Node { return nil }}
			_, err := tr.Run(m)
			return err
		},
		passes.BadPipeline: with(passes.Options{}, simplify.Decompose, fusion.ConvBN),
		passes.MissingFact: with(passes.Options{}, passes.Pass{Name: "p", Requires: []passes.Fact{passes.Functional}, Run: nop}),
		passes.BrokenFact: with(passes.Options{}, each(func(_ *passes.Ctx, n *graph.Node) error {
			n.SetType(shape.Unranked(n.Type().DType()))
			return nil
		})...),
		passes.LintFailed: with(passes.Options{}, each(func(_ *passes.Ctx, n *graph.Node) error {
			n.Graph().MoveBefore(n.Graph().Output(), n)
			return nil
		})...),
		passes.Panicked:        with(passes.Options{}, each(func(*passes.Ctx, *graph.Node) error { panic("oh") })...),
		passes.MatchCount:      with(passes.Options{Expect: []passes.Expectation{passes.Expect("conv-bn", 53)}}, fusion.ConvBN),
		passes.NumericChange:   with(passes.Options{Numeric: &passes.Numeric{}}, replace("p", std.Relu, std.Neg)),
		passes.NoFixpoint:      with(passes.Options{}, passes.Fixpoint(always, 3)),
		passes.BadRule:         with(passes.Options{}, passes.Rule(passes.Rewrite{Name: "p", Pattern: func(x tt) tt { return x }, Replacement: func(x tt) tt { return x.Neg() }})),
		passes.DumpFailed:      with(passes.Options{DumpDir: filepath.Join(file, "dump")}, quiet),
		shapeprop.NoSuchInput:  with(passes.Options{}, shapeprop.Infer(map[string]shape.Type{"q": {}})),
		shapeprop.NoSuchSymbol: with(passes.Options{}, shapeprop.Specialize(map[string]int{"Q": 8})),
		passes.NoInputs: func(*graph.Module) error {
			return with(passes.Options{Numeric: &passes.Numeric{}}, quiet)(passtest.Parse(t, "graph g(%x: f32[*]) {\n  return %x\n}\n"))
		},
		simplify.TooManyNodes: func(*graph.Module) error {
			if testing.Short() {
				return diag.New(simplify.TooManyNodes, "takes a second")
			}
			m := passtest.Parse(t, "graph g(%x: f32[2]) {\n  %y = call_function["+ouroboros.Key()+"](%x) : f32[2]\n  return %y\n}\n")
			return with(passes.Options{}, simplify.Decompose)(m)
		},
	}
	for _, info := range diag.Codes() {
		mine := info.Code >= "FX3020" && info.Code < "FX3040" || info.Code == interp.Dropped
		if !mine {
			continue
		}
		make := mistakes[info.Code]
		require.NotNil(t, make, "%s has no example here", info.Code)
		delete(mistakes, info.Code)
		m := passtest.Parse(t, small)
		before := m.String()
		require.ErrorIs(t, make(m), info.Code)
		require.Equal(t, before, m.String(), "%s: the module has changed", info.Code)
	}
	require.Empty(t, mistakes, "codes that diag does not explain")
}

func TestCtx_outsideOfTheDriver(t *testing.T) {
	m := passtest.Parse(t, small)
	c := passes.NewCtx(context.Background(), m)
	changed, err := replace("p", std.Relu, std.Gelu).Run(c, m.Graph)
	require.NoError(t, err)
	require.True(t, changed)
	require.Equal(t, 1, c.Matches())
	require.Len(t, c.Log(), 1)
	for i := range 1002 {
		c.Refuse(m.Graph.Output(), "again "+strconv.Itoa(i))
		c.Refuse(m.Graph.Output(), "again 0")
	}
	require.Len(t, c.Refusals(), 1000)
	require.Equal(t, []string{"2 more candidates were left as they are"}, c.Notes())
	require.Equal(t, "%output left as it is: again 0", c.Refusals()[0].String())
}
