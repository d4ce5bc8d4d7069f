package codegen_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"strings"
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
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "module_codes_test.go", nil, 0)
	require.NoError(t, err)
	text := map[string]string{}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			var b bytes.Buffer
			require.NoError(t, printer.Fprint(&b, set, fn.Body.List))
			text[fn.Name.Name] = strings.TrimSpace(b.String())
		}
	}
	found := 0
	for _, info := range diag.Codes() {
		if !strings.HasPrefix(string(info.Code), "FX400") {
			continue
		}
		found++
		require.NotNil(t, examples[info.Code], info.Code)
		require.ErrorIs(t, examples[info.Code](parse(t, reluText)), info.Code)
		require.Equal(t, text["example"+string(info.Code)], info.Example, info.Code)
	}
	require.Equal(t, len(examples), found)
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
