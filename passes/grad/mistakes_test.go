package grad_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes/grad"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// TestExamplesOfCodes makes the mistake of every documented code of gradients, as its
// example says, and demands that code.
func TestExamplesOfCodes(t *testing.T) {
	of := func(body string, wrt ...string) func() error {
		return func() error {
			m := graphOf(t, body)
			for _, path := range []string{"w", "s"} {
				m.SetParam(graph.Param{Path: path, Value: vec(1, 2, 3), Buffer: path == "s"})
			}
			before := m.String()
			_, err := grad.ValueAndGrad(ctx, m, grad.Options{Wrt: wrt})
			require.Equal(t, before, m.String())
			return err
		}
	}
	mistakes := map[diag.Code]func() error{
		grad.Unreached:      of("graph net(%x: f64[3], %y: f64[3]) {\n %l = call_function[sum](%x) : f64[]\n return %l\n}\n", "x", "y"),
		grad.NotFloat:       of("graph net(%x: i64[3]) {\n %c = call_function[cast](%x) {dtype=f64} : f64[3]\n %l = call_function[sum](%c) : f64[]\n return %l\n}\n", "x"),
		grad.NotScalar:      of("graph net(%x: f64[3]) {\n %y = call_function[exp](%x) : f64[3]\n return %y\n}\n", "x"),
		op.NoGradient:       of("graph net(%x: f64[3,3]) {\n %u = call_function[unique](%x) {flat=true} : (f64[?], i64[?], i64[9], i64[?])\n %y = call_function[getitem](%u) {index=0} : f64[?]\n %l = call_function[sum](%y) : f64[]\n return %l\n}\n", "x"),
		grad.NoSuchTensor:   of("graph net(%x: f64[3]) {\n %l = call_function[sum](%x) : f64[]\n return %l\n}\n", "weigth"),
		grad.EvaluationMode: of("graph net(%x: f64[2,3]) {\n %w = get_attr[w] : f64[3]\n %y = call_function[batch_norm](%x, %w, %w) {eps=1e-05} : f64[2,3]\n %l = call_function[sum](%y) : f64[]\n return %l\n}\n", "x"),
		grad.Quantised:      of("graph net(%x: f32[3]) {\n %s = call_function[full]() {value=0.1, dtype=f32} : f32[]\n %q = call_function[quantize](%x, %s, _) {dtype=i8} : i8[3]\n %y = call_function[dequantize](%q, %s, _) : f32[3]\n %l = call_function[sum](%y) : f32[]\n return %l\n}\n", "x"),
		grad.ReadAfterWrite: of("graph net(%x: f64[3]) {\n %s = get_attr[s] : f64[3]\n %a = call_function[assign](%s, %x) : f64[3]\n %t = get_attr[s] : f64[3]\n %y = call_function[mul](%x, %t) : f64[3]\n %l = call_function[sum](%y) : f64[]\n return %l\n}\n", "x"),
		grad.OpenSize:       of("graph net(%x: f64[3], %y: f64[?]) {\n %z = call_function[mul](%x, %y) : f64[3]\n %l = call_function[sum](%z) : f64[]\n return %l\n}\n", "y"),
		grad.ControlFlow: func() error {
			gm, err := fx.Trace(ctx, func(x *tensor.Tensor) *tensor.Tensor {
				out := tensor.While(func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Sum().LtScalar(9) },
					func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0].Exp()} }, x)
				return out[0].Sum()
			}, fx.Input("x", "f64[3]"))
			require.NoError(t, err)
			_, err = gm.ValueAndGrad(ctx, fx.GradOptions{Wrt: []string{"x"}})
			require.ErrorContains(t, err, "mistakes_test.go:")
			return err
		},
	}
	for _, info := range diag.Codes() {
		if info.Code < "FX3090" || info.Code > "FX3099" {
			continue
		}
		t.Run(string(info.Code), func(t *testing.T) {
			mistake := mistakes[info.Code]
			require.NotNil(t, mistake, "%s has no example here", info.Code)
			require.ErrorIs(t, mistake(), info.Code)
		})
	}
}

// All mistakes come at once.
func TestMistakes_comeTogether(t *testing.T) {
	m := graphOf(t, `graph net(%x: f64[3,3], %y: f64[3,3]) {
  %a = call_function[bitcast](%x) {dtype=f64} : f64[3,3]
  %b = call_function[bitcast](%y) {dtype=f64} : f64[3,3]
  %c = call_function[add](%a, %b) : f64[3,3]
  %l = call_function[sum](%c) : f64[]
  return %l
}
`)
	_, err := grad.Gradient(ctx, m, grad.Options{Wrt: []string{"x", "y"}})
	var list diag.List
	require.ErrorAs(t, err, &list)
	require.Len(t, list, 2)
}

// Zeros are given only where they are asked for.
func TestUnused_isZeroWhereAllowed(t *testing.T) {
	m := graphOf(t, "graph net(%x: f64[2]) {\n %f = call_function[floor](%x) : f64[2]\n %l = call_function[sum](%f) : f64[]\n return %l\n}\n")
	_, err := grad.Gradient(ctx, m, grad.Options{Wrt: []string{"x"}})
	require.ErrorIs(t, err, grad.Unreached)
	g, err := grad.Gradient(ctx, m, grad.Options{Wrt: []string{"x"}, AllowUnused: true})
	require.NoError(t, err)
	require.Equal(t, [][]float64{{0, 0}}, values(t, g, vec(1, 2)))
}

// Generated Go names a derivative by the operator that it is of.
func TestGeneratedGo(t *testing.T) {
	m := graphOf(t, "graph net(%x: f64[3]) {\n %y = call_function[gelu](%x) : f64[3]\n %l = call_function[sum](%y) : f64[]\n return %l\n}\n")
	g, err := grad.Gradient(ctx, m, grad.Options{Wrt: []string{"x"}})
	require.NoError(t, err)
	files, err := codegen.Module(g, codegen.ModuleOptions{})
	require.NoError(t, err)
	text := ""
	for _, f := range files.List {
		text += string(f.Data)
	}
	require.Contains(t, text, "tensor.CallOp(std.Gelu.Derivative(0), nil, x, nil, ")
}

func goFunction(x *tensor.Tensor) *tensor.Tensor { return x.Exp() }

// A wrapped Go function is refused at its line.
func TestGoFunctions_areRefused(t *testing.T) {
	opaque := tensor.WrapPure(goFunction, func(_ *op.Infer, in []shape.Type) ([]shape.Type, error) { return in, nil })
	gm, err := fx.Trace(ctx, func(x *tensor.Tensor) *tensor.Tensor { return opaque(x).Sum() }, fx.Input("x", "f64[3]"))
	require.NoError(t, err)
	_, err = gm.Gradient(ctx, fx.GradOptions{Wrt: []string{"x"}})
	require.ErrorIs(t, err, op.NoGradient)
	require.ErrorContains(t, err, "mistakes_test.go:")
}

// Writes through a view are values: PyTorch refuses this program.
func TestWriteThroughView(t *testing.T) {
	gm, err := fx.Trace(ctx, func(x *tensor.Tensor) *tensor.Tensor {
		y := x.MulScalar(2)
		y.Select(0, 1).MulInPlace(y.Select(0, 0))
		return y.Sum()
	}, fx.Input("x", "f64[3]"))
	require.NoError(t, err)
	g, err := gm.Gradient(ctx, fx.GradOptions{Wrt: []string{"x"}})
	require.NoError(t, err)
	out, err := g.RunArrays(ctx, []*array.Array{vec(1, 2, 3)})
	require.NoError(t, err)
	require.Equal(t, []float64{10, 4, 2}, array.Data[float64](out[0]))
}
