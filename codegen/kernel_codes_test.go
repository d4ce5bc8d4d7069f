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
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/shape"
)

// linearText has a step and a weight.
const linearText = `
graph g(%x: f32[2,4]) {
  %w = get_attr[w] : f32[3,4]
  %y = call_function[linear](%x, %w) : f32[2,3]
  return %y
}
param w : f32[3,4]
`

type weights = map[string]*array.Array

// opaque is a step that package kernel does not have.
type opaque struct{ kernel.Copy }

func exampleFX4020(p *plan.Plan, w weights) error {
	p.Steps[0].Kernel = &opaque{}
	_, err := codegen.Kernel(p, w, codegen.KernelOptions{})
	return err
}

func exampleFX4023(p *plan.Plan, _ weights) error {
	_, err := codegen.Kernel(p, nil, codegen.KernelOptions{})
	return err
}

func exampleFX4024(p *plan.Plan, w weights) error {
	_, err := codegen.Kernel(p, w, codegen.KernelOptions{Package: "a b"})
	return err
}

func exampleFX4025(p *plan.Plan, w weights) error {
	p.Buffers[0].Type = shape.Unranked(array.F32)
	_, err := codegen.Kernel(p, w, codegen.KernelOptions{})
	return err
}

func exampleFX4026(p *plan.Plan, w weights) error {
	p.Outputs = nil
	_, err := codegen.Kernel(p, w, codegen.KernelOptions{})
	return err
}

func TestKernelCodesHaveTheirExamples(t *testing.T) {
	examples := map[diag.Code]func(*plan.Plan, weights) error{
		codegen.CodeHost:   exampleFX4020,
		codegen.CodeWeight: exampleFX4023, codegen.CodeOptions: exampleFX4024, codegen.CodeSize: exampleFX4025, codegen.CodeResults: exampleFX4026,
	}
	examplesHold(t, "kernel_codes_test.go", "FX402", examples, func(mistake func(*plan.Plan, weights) error) error {
		m := kernelModule(t, linearText)
		return mistake(planOf(t, m), state(m))
	})
}

// A plan that may use the memory of an input for anything is refused; one that makes a result in
// it prints a function that asks for that input alone.
func TestKernel_donatedInputs(t *testing.T) {
	printed := func(o lowering.Options) (*codegen.Files, error) {
		e, err := cpu.Compile(kernelModule(t, `
graph net(%x: f32[2,3]) {
  %a = call_function[exp](%x) : f32[2,3]
  %y = call_function[cumsum](%a) {dim=1} : f32[2,3]
  return %y
}
`), o)
		require.NoError(t, err)
		return codegen.Kernel(e.Plan(), weights{}, codegen.KernelOptions{})
	}
	_, err := printed(lowering.Options{Donate: []int{0}})
	require.ErrorIs(t, err, codegen.CodeOptions)
	require.ErrorContains(t, err, `the step overwrites input "x"`)
	files, err := printed(lowering.Options{Into: []lowering.Into{{}}})
	require.NoError(t, err)
	var code string
	for _, f := range files.List {
		code += string(f.Data)
	}
	require.Contains(t, code, `c.Updated("x", x)`)
	require.Contains(t, code, "It makes output in the memory of x, which have no gaps")
}

// examplesHold demands of every documented code with the prefix that the file has a
// function with its example as body, which fails with the code.
func examplesHold[F any](t *testing.T, file, prefix string, examples map[diag.Code]F, run func(F) error) {
	t.Helper()
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, nil, 0)
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
		if !strings.HasPrefix(string(info.Code), prefix) {
			continue
		}
		found++
		require.Contains(t, examples, info.Code)
		require.ErrorIs(t, run(examples[info.Code]), info.Code)
		require.Equal(t, text["example"+string(info.Code)], info.Example, info.Code)
	}
	require.Equal(t, len(examples), found)
}
