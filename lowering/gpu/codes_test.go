package gpu_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
)

// failing is a device whose driver refuses everything with a code.
type failing struct{ code diag.Code }

func (f *failing) err() error { return diag.New(f.code, "the driver of the test refuses") }

func (f *failing) Info() device.Info {
	return device.Info{Kind: device.OpenCL, Name: "failing", Doubles: true}
}

func (f *failing) Alloc(int) (device.Buffer, error) { return nil, f.err() }

func (f *failing) Build(string, []byte) (device.Program, bool, error) { return nil, false, f.err() }

func (f *failing) NewQueue() (device.Queue, error) { return nil, f.err() }

func (f *failing) Close() error { return nil }

// The bodies of these functions are the examples of package diag; the test compares the texts
// and runs them.

func exampleFX5101(*graph.Module) error {
	_, err := gpu.Open("opencl:no such card")
	return err
}

func exampleFX5102(m *graph.Module) error {
	lost := run.NewDevice(&failing{code: gpu.Lost})
	_, err := gpu.Target{Device: lost}.Compile(m, lowering.Options{})
	return err
}

func exampleFX5103(m *graph.Module) error {
	broken := run.NewDevice(&failing{code: gpu.BuildFailed})
	_, err := gpu.Target{Device: broken}.Compile(m, lowering.Options{})
	return err
}

func exampleFX5104(m *graph.Module) error {
	full := run.NewDevice(&failing{code: gpu.DriverFailed})
	_, err := gpu.Target{Device: full}.Compile(m, lowering.Options{})
	return err
}

func exampleFX5105(*graph.Module) error {
	var p gpu.Pack
	data := p.Bytes()
	_, err := gpu.ReadPack(data[:len(data)-1])
	return err
}

// fixed is lowered when it is compiled.
const fixed = "gofx 1\ngraph fixed(%x: f32[2,8]) {\n  %y = call_function[relu](%x)\n  return %y\n}\n"

func TestEveryCodeHasItsExample(t *testing.T) {
	examples := map[diag.Code]func(m *graph.Module) error{
		"FX5101": exampleFX5101, "FX5102": exampleFX5102, "FX5103": exampleFX5103, "FX5104": exampleFX5104, "FX5105": exampleFX5105,
	}
	text := sources(t)
	found := 0
	for _, info := range diag.Codes() {
		if !strings.HasPrefix(string(info.Code), "FX510") {
			continue
		}
		found++
		run := examples[info.Code]
		require.NotNil(t, run, info.Code)
		require.ErrorIs(t, run(parsed(t, fixed)), info.Code)
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
