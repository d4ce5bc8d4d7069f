package codegen_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/codegen/internal/golden"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/conform"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/tensor"
)

// corpus returns graphs of every operator and every kind of model.
func corpus(t *testing.T) map[string]*graph.Module {
	t.Helper()
	all := map[string]*graph.Module{}
	for _, o := range conform.Ops() {
		if g := conform.StructuralGraph(o); g != nil {
			all[o.Name] = parse(t, g.Text)
		}
		samples := o.Samples()
		if len(samples) > 2 {
			samples = samples[len(samples)-2:]
		}
		for _, s := range samples {
			m, err := callOf(o, s, graph.CallFunction)
			require.NoError(t, err, "%s %s", o.Name, s.Name)
			all[o.Name+" "+s.Name] = m
		}
	}
	for _, c := range golden.All() {
		gm, err := c.Capture(context.Background())
		require.NoError(t, err, c.Name)
		if gm.Graph.Len() < 200 {
			all[c.Name] = gm.Module
		}
	}
	return all
}

// survives runs, lints, lowers and prints a module. Panics, and errors without a
// code, fail the test.
func survives(t *testing.T, what string, m *graph.Module) {
	t.Helper()
	stage := "lint"
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s: %s panicked: %v\n%s\n%s", what, stage, r, graph.Print(m, graph.PrintOptions{}), debug.Stack())
		}
	}()
	coded := func(err error) {
		if err == nil {
			return
		}
		if errors.Is(err, diag.Internal) && !ownOps(graph.Print(m, graph.PrintOptions{})) {
			t.Errorf("%s: %s: %v\n%s", what, stage, err, graph.Print(m, graph.PrintOptions{}))
		}
		var e *diag.Error
		require.ErrorAs(t, err, &e, "%s: %s", what, stage)
		require.NotEmpty(t, e.Code)
	}
	_ = graph.Lint(m.Graph)
	stage = "module"
	_, err := codegen.Module(m, codegen.ModuleOptions{})
	coded(err)
	stage = "compile"
	e, err := cpu.Compile(m, lowering.Options{Threads: 1})
	coded(err)
	if err == nil {
		stage = "kernel"
		weights := map[string]*array.Array{}
		for _, p := range m.Params() {
			weights[p.Path] = p.Value
		}
		_, err = codegen.Kernel(e.Plan(), weights, codegen.KernelOptions{})
		coded(err)
	}
	in, small := smallInputs(m)
	if !small {
		return
	}
	stage = "interp"
	soon := &limited{Context: context.Background(), left: 2000}
	_, err = (&interp.Interpreter{State: interp.NewState(m)}).Run(soon, in...)
	coded(err)
}

// ownOps reports whether a graph calls operators of a test's own, whose scalar
// expressions do not cope with every element type.
func ownOps(text string) bool {
	return strings.Contains(text, "gofx/internal/") || strings.Contains(text, "_test.")
}

// limited is a context that ends after it was asked some times, because a mutated
// loop may not end.
type limited struct {
	context.Context
	left int
}

func (c *limited) Err() error {
	if c.left--; c.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// smallInputs returns zeros for the inputs; small is false when they, or arrays
// made from them, would take much memory.
func smallInputs(m *graph.Module) (in []*tensor.Tensor, small bool) {
	small = true
	for n := range m.Graph.All() {
		size, known := n.Type().Dims().Prod().Int()
		small = small && (!known || size < 1<<16)
		if o := n.Op(); o != nil && o.Codec().Accepts(n.Attrs()) {
			for _, f := range o.Codec().Fields(n.Attrs()) {
				if k, ok := f.Value.(int); ok && k > 1<<16 {
					small = false
				}
			}
		}
	}
	for _, n := range m.Graph.Inputs() {
		t := n.Type()
		dims := make([]int, t.Dims().Len())
		for i := range dims {
			dims[i] = 3
			if k, known := t.Dim(i).Int(); known && k >= 0 {
				dims[i] = k
			}
		}
		d := t.DType()
		if d == array.Invalid {
			d = array.F32
		}
		if size, ok := array.NumElems(dims); !ok || size > 1<<16 {
			return nil, false
		}
		in = append(in, tensor.New(array.New(d, dims...)))
	}
	return in, small
}

// TestNoGraphMakesAnEngineFall prints, lowers and runs graphs that were changed at
// random, in their text and by edits.
func TestNoGraphMakesAnEngineFall(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	read := 0
	graphs := corpus(t)
	for _, name := range slices.Sorted(maps.Keys(graphs)) {
		m := graphs[name]
		survives(t, name, m)
		text := graph.Print(m, graph.PrintOptions{})
		for k := range 6 {
			changed := fxtest.MutateText(r, text)
			got, err := graph.Parse([]byte(changed), "changed.fx")
			if err != nil {
				require.True(t, ownOps(changed) || !errors.Is(err, diag.Internal), "%v\n%s", err, changed)
				continue
			}
			read++
			survives(t, fmt.Sprintf("text %d of %s", k, name), got)
		}
		for k := range 4 {
			clone := graph.Clone(m)
			fxtest.MutateGraph(r, clone.Graph)
			survives(t, fmt.Sprintf("edit %d of %s", k, name), clone)
		}
	}
	require.Greater(t, read, 100, "most changed texts are no graphs")
}

func TestGraphsWithoutResults(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":       "graph g(%x: f32[2]) {\n  return\n}\n",
		"empty list":    "graph g(%x: f32[2]) {\n  return ()\n}\n",
		"absent":        "graph g(%x: f32[2]) {\n  return _\n}\n",
		"nil":           "graph g(%x: f32[2]) {\n  return nil\n}\n",
		"no inputs":     "graph g() {\n  return\n}\n",
		"no output":     "graph g(%x: f32[2]) {\n}\n",
		"effect only":   "graph g(%x: f32[2]) {\n  %b = get_attr[w]\n  %w = call_function[assign](%b, %x)\n  return\n}\nparam w : f32[2] buffer\n",
		"empty struct":  "graph g(%x: f32[2]) {\n  return struct{}\n}\n",
		"double key":    "graph g(%x: f32[2]) {\n  return {a: %x, a: %x}\n}\n",
		"double field":  "graph g(%x: f32[2]) {\n  return struct{A: %x, A: %x}\n}\n",
		"absent within": "graph g(%x: f32[2]) {\n  return [%x, _]\n}\n",
	} {
		survives(t, name, parse(t, "gofx 1\n"+text))
	}
	_, err := codegen.Kernel(&plan.Plan{}, nil, codegen.KernelOptions{})
	require.ErrorIs(t, err, codegen.CodeResults)
	_, err = codegen.Kernel(nil, nil, codegen.KernelOptions{})
	require.ErrorIs(t, err, codegen.CodeResults)
	_, err = codegen.Module(nil, codegen.ModuleOptions{})
	require.ErrorIs(t, err, graph.NoOutput)
	_, err = codegen.Module(parse(t, "gofx 1\ngraph g(%x: f32[2]) {\n}\n"), codegen.ModuleOptions{})
	require.ErrorIs(t, err, graph.NoOutput)
	_, err = codegen.Module(parse(t, "gofx 1\ngraph g(%x: f32[2]) {\n  return {a: %x, a: %x}\n}\n"), codegen.ModuleOptions{})
	require.ErrorIs(t, err, graph.BadStructure)
}

// TestSizesInRecordForm prints calls whose attributes hold lists of sizes and that
// no function of package tensor expresses.
func TestSizesInRecordForm(t *testing.T) {
	for _, o := range conform.Ops() {
		for _, s := range o.Samples() {
			if !o.Codec().HasDims() || len(s.In) >= len(o.In) && !o.Variadic() {
				continue
			}
			s.In = append(append([]*array.Array(nil), s.In...), nil)
			m, _ := callOf(o, s, graph.CallFunction)
			survives(t, o.Name+" "+s.Name, m)
		}
	}
}
