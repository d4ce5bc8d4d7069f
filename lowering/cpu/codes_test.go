package cpu_test

import (
	"bytes"
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cost"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// The bodies of these functions are the examples of package diag; the test
// compares the texts and runs them.

func exampleFX5001(m *graph.Module) error {
	f := op.NewAdHoc("example.com/net", "f", op.Args("x"), false, false, nil)
	m.Graph.Before(m.Graph.Output()).Function(f, nil, m.Graph.First())
	_, err := cpu.Compile(m, lowering.Options{})
	return err
}

func exampleFX5002(m *graph.Module) error {
	_, err := lowering.PrepareRegion(m, m.Graph, nil)
	return err
}

func exampleFX5003(m *graph.Module) error {
	spec := op.Spec[op.None]{Doc: "half_roll rolls by half of a size.", In: op.Args("x")}
	spec.Infer = func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) { return in[0], nil }
	spec.Kernel = func(_ op.None, in []shape.Type) kernel.Step {
		n, _ := in[0].Dim(0).Int()
		return &kernel.Roll{Shifts: []int{n / 2}, Dims: []int{0}}
	}
	out := m.Graph.Output()
	out.SetArg(0, m.Graph.Before(out).Function(op.Define("half_roll", spec), nil, out.Args()[0]))
	_, err := cpu.Compile(m, lowering.Options{})
	return err
}

func exampleFX5004(*graph.Module) error {
	m, err := graph.Parse([]byte("gofx 1\ngraph g(%x: f32[*]) {\n return %x\n}\n"), "g.fx")
	if err != nil {
		return err
	}
	_, err = cpu.Compile(m, lowering.Options{})
	return err
}

func exampleFX5005(m *graph.Module) error {
	_, err := cpu.Compile(m, lowering.Options{Shapes: map[string]int{"batch": 8}})
	return err
}

func exampleFX5006(m *graph.Module) error {
	e, err := cpu.Compile(m, lowering.Options{})
	if err != nil {
		return err
	}
	e.Close()
	_, err = e.Run(context.Background(), []*array.Array{array.New(array.F32, 1, 8)})
	return err
}

func exampleFX5007(m *graph.Module) error {
	e, err := cpu.Compile(m, lowering.Options{})
	if err != nil {
		return err
	}
	out := []*array.Array{array.New(array.F32, 2, 4)}
	return e.RunInto(context.Background(), out, []*array.Array{array.New(array.F32, 1, 8)})
}

func exampleFX5008(m *graph.Module) error {
	f := op.NewAdHoc("example.com/net", "f", op.Args("x"), false, false, func([]*array.Array) ([]*array.Array, error) {
		return nil, errors.New("no connection")
	})
	v := m.Graph.Before(m.Graph.Output()).Function(f, nil, m.Graph.First())
	v.SetType(m.Graph.First().Type())
	e, err := cpu.Compile(m, lowering.Options{})
	if err != nil {
		return err
	}
	_, err = e.Run(context.Background(), []*array.Array{array.New(array.F32, 1, 8)})
	return err
}

func exampleFX5009(m *graph.Module) error {
	x := m.Graph.First()
	m.SetParam(graph.Param{Path: "b", Type: x.Type(), Buffer: true})
	at := m.Graph.Before(m.Graph.Output())
	first := at.Function(op.Assign, nil, at.GetAttr("b"), x)
	at.Function(op.Assign, nil, first, x)
	_, err := cpu.Compile(m, lowering.Options{})
	return err
}

func exampleFX5030(*graph.Module) error {
	_, err := cost.ReadDevice(strings.NewReader("{\"name\": \"pocket calculator\", \"threads\": 0}"), "calculator.json")
	return err
}

func exampleFX5031(*graph.Module) error {
	d := &cost.Device{Name: "desk", Threads: 1, Cores: 4, Float: 1e9, Memory: []cost.Level{{Rate: 1e9}}}
	e, err := d.Estimate(&cost.Work{Steps: []cost.Step{{Kind: "ConvPacked", Times: 1, Flops: 2e9}}})
	if err != nil {
		return err
	}
	_, err = e.Fleet(cost.Load{Rate: 10, Latency: time.Second})
	return err
}

func TestEveryCodeHasItsExample(t *testing.T) {
	examples := map[diag.Code]func(m *graph.Module) error{
		"FX5001": exampleFX5001, "FX5002": exampleFX5002, "FX5003": exampleFX5003, "FX5004": exampleFX5004, "FX5005": exampleFX5005,
		"FX5006": exampleFX5006, "FX5007": exampleFX5007, "FX5008": exampleFX5008, "FX5009": exampleFX5009, "FX5030": exampleFX5030, "FX5031": exampleFX5031,
	}
	text := sources(t)
	found := 0
	for _, info := range diag.Codes() {
		if !strings.HasPrefix(string(info.Code), "FX50") {
			continue
		}
		found++
		run := examples[info.Code]
		require.NotNil(t, run, info.Code)
		require.ErrorIs(t, run(module(t, mlp)), info.Code)
		require.Equal(t, text["example"+string(info.Code)], info.Example, info.Code)
	}
	require.Equal(t, len(examples), found)
}

// sources returns the bodies of the functions of this file.
func sources(t *testing.T) map[string]string {
	t.Helper()
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "codes_test.go", nil, 0)
	require.NoError(t, err)
	out := map[string]string{}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			var b bytes.Buffer
			require.NoError(t, printer.Fprint(&b, set, fn.Body.List))
			out[fn.Name.Name] = strings.TrimSpace(b.String())
		}
	}
	return out
}
