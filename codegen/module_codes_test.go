package codegen_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

const reluText = `gofx 1
graph g(%x: f32[2,4]) {
  %y = call_function[relu](%x)
  return %y
}
`

func parse(t *testing.T, text string) *graph.Module {
	t.Helper()
	m, err := graph.Parse([]byte(text), "g.fx")
	require.NoError(t, err)
	return m
}

// private is defined in a package that no other can import.
var private = op.Unary("private", "private returns x.", func(_ *expr.Builder, x expr.Value) expr.Value { return x })

func exampleFX4001(m *graph.Module) error {
	f := op.NewAdHoc("example.com/net", "unexported", op.Args("x"), false, false, nil)
	m.Graph.Before(m.Graph.Output()).Function(f, nil, m.Graph.First())
	_, err := codegen.Module(m, codegen.ModuleOptions{})
	return err
}

func exampleFX4002(m *graph.Module) error {
	m.Graph.Before(m.Graph.Output()).Function(private, nil, m.Graph.First())
	_, err := codegen.Module(m, codegen.ModuleOptions{})
	return err
}

func exampleFX4003(m *graph.Module) error {
	f := op.NewAdHoc("example.com/net", "Gate.Forward", op.Args("x"), false, false, nil)
	m.SetBound("gate", graph.Bound{Op: f, Attrs: op.None{}})
	m.Graph.Before(m.Graph.Output()).Module("gate", m.Graph.First())
	_, err := codegen.Module(m, codegen.ModuleOptions{})
	return err
}

func exampleFX4004(m *graph.Module) error {
	top := m.Graph.Before(m.Graph.Output()).Function(std.Topk, std.TopkAttrs{K: 1}, m.Graph.First())
	m.Graph.Output().SetArg(0, top)
	_, err := codegen.Module(m, codegen.ModuleOptions{})
	return err
}

func exampleFX4005(m *graph.Module) error {
	x := m.Graph.First()
	m.Graph.Before(m.Graph.Output()).Function(op.Assign, nil, x, x)
	_, err := codegen.Module(m, codegen.ModuleOptions{})
	return err
}

func exampleFX4006(m *graph.Module) error {
	attrs := std.ReshapeAttrs{Shape: shape.Of(shape.Sym("M"), shape.Const(4))}
	m.Graph.Before(m.Graph.Output()).Function(std.Reshape, attrs, m.Graph.First())
	_, err := codegen.Module(m, codegen.ModuleOptions{})
	return err
}

func exampleFX4007(m *graph.Module) error {
	m.SetParam(graph.Param{Path: "w"})
	at := m.Graph.Before(m.Graph.Output())
	at.Function(std.Neg, nil, at.GetAttr("w"))
	_, err := codegen.Module(m, codegen.ModuleOptions{})
	return err
}

func exampleFX4008(m *graph.Module) error {
	m.SetParam(graph.Param{Path: "w,buffer", Value: array.New(array.F32, 4)})
	at := m.Graph.Before(m.Graph.Output())
	at.Function(std.Neg, nil, at.GetAttr("w,buffer"))
	_, err := codegen.Module(m, codegen.ModuleOptions{})
	return err
}

func TestModuleCodesHaveTheirExamples(t *testing.T) {
	examples := map[diag.Code]func(m *graph.Module) error{
		codegen.OpaqueFunc: exampleFX4001, codegen.ForeignOp: exampleFX4002, codegen.OpaqueModule: exampleFX4003, codegen.WholeTuple: exampleFX4004,
		codegen.BadAssign: exampleFX4005, codegen.LostSize: exampleFX4006, codegen.StateType: exampleFX4007, codegen.StatePath: exampleFX4008,
	}
	examplesHold(t, "module_codes_test.go", "FX400", examples, func(mistake func(*graph.Module) error) error {
		return mistake(parse(t, reluText))
	})
}

func TestEverythingThatCannotBePrintedIsReportedAtOnce(t *testing.T) {
	m := parse(t, reluText)
	require.Error(t, exampleFX4001(m))
	require.Error(t, exampleFX4002(m))
	files, err := codegen.Module(m, codegen.ModuleOptions{})
	require.Nil(t, files)
	require.ErrorIs(t, err, codegen.OpaqueFunc)
	require.ErrorIs(t, err, codegen.ForeignOp)
}
