package quant_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/internal/testkit/quanttest"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/tensor"
)

// TestRandomGraphs quantises random graphs in every mode. A prepared graph computes
// what the graph did; a converted one does so, bit for bit, when quantize and
// dequantize are left out and weights are those that were: nothing else has changed.
func TestRandomGraphs(t *testing.T) {
	granted := map[string]int{}
	rapid.Check(t, func(r *rapid.T) {
		m := fxtest.RandomGraph(r)
		products(r, m)
		in, err := passes.Inputs(m.Graph, nil, 3)
		if err != nil {
			r.Skip(err)
		}
		if _, err := passes.Run(ctx, m, []passes.Pass{simplify.FunctionalizeAll}, passes.Options{}); err != nil {
			r.Fatal(err)
		}
		plain := graph.Clone(m)
		want, err := runs(plain, in)
		if err != nil {
			r.Skip(err)
		}
		c := &quant.Config{Global: quant.Setting{Mode: quant.Mode(rapid.IntRange(1, 3).Draw(r, "mode"))}}
		if c.Global.Mode == quant.Static {
			c.Global.Activation.Observer.Kind = quant.ObserverKind(rapid.IntRange(0, 5).Draw(r, "observer"))
		}
		p, err := quant.Resolve(m, c, cpu.QuantBackend())
		require.NoError(r, err)
		for _, e := range p.Entries {
			require.True(r, e.Part != quant.OperatorPart || e.Granted != "float" || len(e.Why) > 0, "%%%s has no reason", e.Node)
			granted[e.Part.String()+" "+e.Granted]++
		}
		if _, err := passes.Run(ctx, m, []passes.Pass{quant.Prepare(c, cpu.QuantBackend())}, passes.Options{}); err != nil {
			r.Fatal(err)
		}
		got, err := runs(m, in)
		require.NoError(r, err)
		require.Empty(r, fxtest.SameArrays(want, got), "prepared")
		if _, err := quant.Calibrate(ctx, m, quanttest.Inputs(in), quant.CalibrateOptions{}); err != nil && !errors.Is(err, quant.NotPrepared) {
			require.ErrorIs(r, err, quant.NonFinite)
			return
		}
		if _, err := passes.Run(ctx, m, []passes.Pass{quant.Convert(c, cpu.QuantBackend())}, passes.Options{}); err != nil {
			require.ErrorIs(r, err, quant.Uncalibrated) // values without elements
			return
		}
		again, err := graph.Parse([]byte(m.String()), "net.fx")
		require.NoError(r, err)
		require.Equal(r, m.String(), again.String())
		got, err = unquantised(m, plain).RunArrays(ctx, in)
		require.NoError(r, err)
		require.Empty(r, fxtest.SameArrays(want, got), "converted: %s", m)
		_, err = runs(m, in)
		require.NoError(r, err)
	})
	t.Log(granted)
	if testing.Short() {
		return // with few graphs, what they grant is chance
	}
	require.Greater(t, granted["operator static"], 5)
	require.Greater(t, granted["operator dynamic"], 5)
	require.Greater(t, granted["operator weight_only"], 3)
}

// products puts a few linear layers on results that suit, so that there is something
// to quantise.
func products(r *rapid.T, m *graph.Module) {
	out := m.Graph.Output()
	gen := passes.Random{State: 5}
	for i, a := range out.Args() {
		if a == nil || a.Type().DType() != array.F32 || !a.Type().Ranked() || a.Type().Rank() == 0 {
			continue
		}
		k, ok := a.Type().Dim(-1).Int()
		if !ok || k == 0 || !rapid.Bool().Draw(r, "product") {
			continue
		}
		path := m.FreshPath("product")
		m.SetParam(graph.Param{Path: path, Value: gen.Array(array.F32, 3, k)})
		c := m.Graph.Before(out)
		y := c.Function(std.Linear, nil, a, c.GetAttr(path), nil)
		if rapid.Bool().Draw(r, "relu") {
			y = c.Function(std.Relu, nil, y)
		}
		if rapid.Bool().Draw(r, "twice") {
			path := m.FreshPath("square")
			m.SetParam(graph.Param{Path: path, Value: gen.Array(array.F32, 3, 3)})
			y = c.Function(std.Matmul, nil, c.Function(std.Add, nil, y, y), c.GetAttr(path))
		}
		out.SetArg(i, y)
	}
}

func runs(m *graph.Module, in []*array.Array) ([]*array.Array, error) {
	return (&interp.Interpreter{State: interp.NewState(graph.Clone(m))}).RunArrays(ctx, in)
}

// unquantised interprets a converted graph without rounding.
func unquantised(m, plain *graph.Module) *interp.Interpreter {
	hook := func(n *graph.Node, in []interp.Result, next func([]interp.Result) (interp.Result, error)) (interp.Result, error) {
		switch n.Op() {
		case std.Quantize:
			return in[0], nil
		case std.DynamicQuantize:
			one := tensor.Scalar(float32(math.NaN()))
			return interp.Result{Tuple: []*tensor.Tensor{in[0].T, one, one}}, nil
		case std.Dequantize:
			if a := n.Arg(0); a.Opcode() == graph.GetAttr {
				path, _, _ := strings.Cut(a.Target(), "_quantised")
				w := tensor.New(plain.Param(path).Value)
				if slices.ContainsFunc(slices.Collect(n.Users()), func(u *graph.Node) bool { return turned(u, plain) }) {
					w = w.T()
				}
				return interp.Result{T: w}, nil
			}
			return in[0], nil
		}
		return next(in)
	}
	return &interp.Interpreter{State: interp.NewState(graph.Clone(m)), Node: hook}
}

// turned reports whether n turns back a weight whose codes are those of its transpose: it
// was a right operand. Where the operand was a view that turned it, the codes are its own.
func turned(n *graph.Node, plain *graph.Module) bool {
	if n.Op() != std.T {
		return false
	}
	for call := range n.Users() {
		if was := plain.Graph.Find(call.Name()); was != nil && was.Arg(1).Opcode() == graph.GetAttr {
			return true
		}
	}
	return false
}
