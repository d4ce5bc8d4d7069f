package onnx_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/conform"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/internal/testkit/ort"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/onnx"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/integer"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
)

// fromText is a module whose parameters count from 1.
func fromText(t *testing.T, text string) *graph.Module {
	t.Helper()
	m, err := graph.Parse([]byte("gofx 1\n"+text), "test.fx")
	require.NoError(t, err)
	for _, p := range m.Params() {
		d, dims, ok := p.TypeOf().Concrete()
		require.True(t, ok)
		a := array.New(d, dims...)
		for i := range a.Len() {
			array.SetFloat64At(a, i, float64(i+1))
		}
		p.Value = a
		m.SetParam(*p)
	}
	return m
}

// same requires that a module computes the same after it was exported and imported, and in
// ONNX Runtime where there is one.
func same(t *testing.T, o *ort.Runtime, m *graph.Module, opt onnx.ExportOptions, runs ...[]*array.Array) {
	t.Helper()
	data, err := exported(m, opt)
	require.NoError(t, err)
	back, err := imported(data)
	require.NoError(t, err)
	require.NoError(t, graph.Lint(back.Graph).Err())
	var results [][]*array.Array
	if o != nil {
		var inputs []ort.Inputs
		for _, in := range runs {
			feeds := ort.Inputs{}
			for i, n := range m.Graph.Inputs() {
				feeds[n.Target()] = in[i]
			}
			inputs = append(inputs, feeds)
		}
		results, err = o.Run(ort.Model{Data: data}, inputs...)
		require.NoError(t, err)
	}
	for k, in := range runs {
		want, err := run(m, in)
		require.NoError(t, err)
		got, err := run(back, in)
		require.NoError(t, err)
		fxtest.Close(t, "imported again", want, got)
		if o != nil {
			fxtest.Close(t, "ONNX Runtime", want, results[k])
		}
	}
}

// The operators of graphs: getitem, dim, cond, while, scan. State is refused.
func TestExportOfControlFlow(t *testing.T) {
	for _, o := range []*op.Op{op.GetItem, op.Dim, op.Cond, op.While, op.Scan, op.Assign} {
		t.Run(o.Name, func(t *testing.T) {
			s := conform.StructuralGraph(o)
			m, err := graph.Parse([]byte(s.Text), "test.fx")
			require.NoError(t, err)
			for path, a := range s.Params {
				p := *m.Param(path)
				p.Value = a
				m.SetParam(p)
			}
			if o == op.Assign {
				_, err := exported(m, onnx.ExportOptions{})
				require.ErrorIs(t, err, onnx.CodeExport)
				require.ErrorContains(t, err, `"buffer"`)
				return
			}
			var runs [][]*array.Array
			for _, x := range s.Inputs()[1:] {
				runs = append(runs, []*array.Array{x})
			}
			same(t, nil, m, onnx.ExportOptions{}, runs...)
			t.Run("ONNX Runtime", func(t *testing.T) { same(t, ort.Start(t), m, onnx.ExportOptions{}, runs...) })
		})
	}
}

// Sizes that follow from those of inputs are computed by the model.
const sizesText = `graph sizes(%x: f32[N,S,6]) {
  symbol N = dim(%x, 0)
  symbol S = dim(%x, 1)
  %heads = call_function[reshape](%x) {shape=[N,S,2,3]} : f32[N,S,2,3]
  %rows = call_function[reshape](%heads) {shape=[N*S,6]} : f32[N*S,6]
  %first = call_function[slice](%rows) {dim=0, start=0, stop=N, step=1} : f32[N,6]
  %half = call_function[slice](%x) {dim=1, start=0, stop=S//2, step=1} : f32[N,S//2,6]
  %zeros = call_function[zeros]() {size=[N,S//2,6]} : f32[N,S//2,6]
  %count = call_function[arange]() {end=N} : i64[N]
  %wide = call_function[reshape](%count) {shape=[N,1,1]} : i64[N,1,1]
  %sum = call_function[add](%half, %zeros) : f32[N,S//2,6]
  %y = call_function[add](%sum, %wide) : f32[N,S//2,6]
  return (%y, %first)
}
`

func TestExportKeepsSymbols(t *testing.T) {
	m := fromText(t, sizesText)
	var g op.Gen
	runs := [][]*array.Array{{g.Normal(1, 2, 6)}, {g.Normal(4, 7, 6)}, {g.Normal(2, 1, 6)}}
	same(t, nil, m, onnx.ExportOptions{}, runs...)
	data, err := exported(m, onnx.ExportOptions{})
	require.NoError(t, err)
	back, err := imported(data)
	require.NoError(t, err)
	require.Equal(t, m.Graph.Inputs()[0].Type().String(), back.Graph.Inputs()[0].Type().String())
	require.Equal(t, m.Graph.Output().Arg(0).Type().String(), back.Graph.Output().Arg(0).Type().String())
	t.Run("ONNX Runtime", func(t *testing.T) { same(t, ort.Start(t), m, onnx.ExportOptions{}, runs...) })
}

// An older operator set makes several of one.
func TestExportOpset(t *testing.T) {
	m := fromText(t, `graph g(%x: f32[N,4,5]) {
  symbol N = dim(%x, 0)
  %a = call_function[gelu](%x) : f32[N,4,5]
  %w = get_attr[w] : f32[5]
  %b = call_function[rms_norm](%a, %w) {normalized_shape=[5], eps=1e-06} : f32[N,4,5]
  %c = call_function[group_norm](%b) {num_groups=2, eps=1e-05} : f32[N,4,5]
  %y = call_function[mean](%c) {dim=[1], keep_dim=true} : f32[N,1,5]
  return %y
}
param w : f32[5]
`)
	var g op.Gen
	in := []*array.Array{g.Normal(3, 4, 5)}
	for _, c := range []struct {
		opset int
		has   []string
	}{{0, []string{"Gelu", "RMSNormalization", "GroupNormalization"}}, {17, nil}, {20, []string{"Gelu"}}, {21, []string{"Gelu", "GroupNormalization"}}} {
		data, err := exported(m, onnx.ExportOptions{Opset: c.opset})
		require.NoError(t, err)
		for _, name := range []string{"Gelu", "RMSNormalization", "GroupNormalization"} {
			require.Equal(t, slices.Contains(c.has, name), bytes.Contains(data, []byte(name)), "%s in set %d", name, c.opset)
		}
		same(t, nil, m, onnx.ExportOptions{Opset: c.opset}, in)
		t.Run("ONNX Runtime", func(t *testing.T) { same(t, ort.Start(t), m, onnx.ExportOptions{Opset: c.opset}, in) })
	}
	for _, opset := range []int{-1, 9, 16, 99} {
		_, err := exported(m, onnx.ExportOptions{Opset: opset})
		require.ErrorIs(t, err, onnx.CodeExport)
	}
}

// Everything that cannot be written is in one list, with the node's name.
func TestExportReportsEverything(t *testing.T) {
	m := fromText(t, `graph g(%x: f32[3,4], %seen: f64[2], %i: i64[6], %at: i64[2]) {
  %a = call_function[observe](%x, %seen) : f64[2]
  %w = get_attr[w] : f32[9,4]
  %b = call_function[embedding_bag](%i, %w, %at) : f32[2,4]
  return (%a, %b)
}
param w : f32[9,4]
`)
	_, err := exported(m, onnx.ExportOptions{})
	var list diag.List
	require.True(t, errors.As(err, &list))
	require.Len(t, list, 2)
	require.Equal(t, []string{"a", "b"}, []string{list[0].Node, list[1].Node})
	for _, e := range list {
		require.Equal(t, onnx.CodeExport, e.Code)
		require.NotEmpty(t, e.Hint)
	}

	g := graph.New("g")
	unknown := graph.NewModule(g)
	g.At().Output(nil, g.At().Placeholder("x", shape.Type{}, nil))
	_, err = exported(unknown, onnx.ExportOptions{})
	require.ErrorIs(t, err, onnx.CodeExport)

	missing := fromText(t, "graph g() {\n  %w = get_attr[w] : f32[2]\n  return %w\n}\nparam w : f32[2]\n")
	missing.Params()[0].Value = nil
	_, err = exported(missing, onnx.ExportOptions{})
	require.Error(t, err)
}

// Inputs and constants that are results, and a result that is one twice, have names of
// their own; names that are alike stay apart.
func TestExportNames(t *testing.T) {
	m := fromText(t, `graph g(%x: f32[5], %w: f32[5]) {
  %p = get_attr[w] : f32[5]
  %y = call_function[add](%p, %w) : f32[5]
  return (%x, %p, %y, %y)
}
param w : f32[5]
`)
	var g op.Gen
	same(t, nil, m, onnx.ExportOptions{}, []*array.Array{g.Normal(5), g.Normal(5)})
	data, err := exported(m, onnx.ExportOptions{Outputs: []string{"a", "b", "x", "a"}})
	require.NoError(t, err)
	f, err := onnx.Parse(data, "g.onnx")
	require.NoError(t, err)
	require.Equal(t, []string{"x", "w"}, f.Inputs())
	require.Equal(t, []string{"a", "b", "x_1", "a_1"}, f.Outputs())
}

// The same module gives the same bytes, and with its constants in a separate file the
// same graph.
func TestExportFile(t *testing.T) {
	m := captured(t, models.Lookup("mlp"))
	first, err := exported(m, onnx.ExportOptions{})
	require.NoError(t, err)
	second, err := exported(m, onnx.ExportOptions{})
	require.NoError(t, err)
	require.True(t, bytes.Equal(first, second))

	dir := t.TempDir()
	path := filepath.Join(dir, "mlp.onnx")
	require.NoError(t, onnx.ExportFile(path, m, onnx.ExportOptions{}))
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.Equal(first, written))

	require.NoError(t, onnx.ExportFile(path, m, onnx.ExportOptions{External: true}))
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 2, "the model and its constants, and no temporary file")
	f, err := onnx.Read(path)
	require.NoError(t, err)
	back, err := f.Import(onnx.Options{})
	require.NoError(t, err)
	one, err := imported(first)
	require.NoError(t, err)
	equal, diff := graph.EqualModules(one, back)
	require.True(t, equal, diff)

	require.Error(t, onnx.ExportFile(filepath.Join(dir, "no", "such.onnx"), m, onnx.ExportOptions{}))
	require.ErrorIs(t, onnx.Export(&bytes.Buffer{}, m, onnx.ExportOptions{External: true}), onnx.CodeExport)
	bad := fromText(t, conform.StructuralGraph(op.Assign).Text[len("gofx 1\n"):])
	require.ErrorIs(t, onnx.ExportFile(path, bad, onnx.ExportOptions{}), onnx.CodeExport)
	files, err = os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 2)
}

// Quantised networks are written with QuantizeLinear and DequantizeLinear; the import of
// the export is quantised alike, and lowered to the same operators on integers.
func TestExportOfQuantised(t *testing.T) {
	names := []string{"mlp", "resnet18"}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			entry := models.Lookup(name)
			m := captured(t, entry)
			in := inputsOf(t, entry, entry.Dims)
			quantised(t, m, in)
			data, err := exported(m, onnx.ExportOptions{})
			require.NoError(t, err)
			require.Contains(t, string(data), "QuantizeLinear")
			back, err := imported(data)
			require.NoError(t, err)
			want, err := run(m, in)
			require.NoError(t, err)
			got, err := run(back, in)
			require.NoError(t, err)
			near(t, want, got)
			c := passes.NewCtx(context.Background(), back)
			_, err = integer.Lower.Run(c, back.Graph)
			require.NoError(t, err)
			require.Positive(t, integers(back), "operators on integers")
			lowered, err := run(back, in)
			require.NoError(t, err)
			near(t, want, lowered)
			t.Run("ONNX Runtime", func(t *testing.T) {
				o := ort.Start(t)
				results, err := o.Run(ort.Model{Data: data}, ort.Inputs{entry.Inputs[0].Name: in[0]})
				require.NoError(t, err)
				near(t, want, results[0])
			})
		})
	}
}

// near requires results of quantised networks to agree: values of 8 bits may be one apart.
func near(t *testing.T, want, got []*array.Array) {
	t.Helper()
	for i := range want {
		d := fxtest.Compare(got[i], want[i])
		t.Log(d)
		require.LessOrEqual(t, d.L2Rel, 0.01)
	}
}

// integers counts the operators on quantised values that stand for one on floats.
func integers(m *graph.Module) (n int) {
	for x := range m.Graph.Nodes() {
		if o := x.Op(); o != nil && o.HasReference() {
			n++
		}
	}
	return n
}

// quantised calibrates a module on the inputs and lowers it to integers.
func quantised(t *testing.T, m *graph.Module, in []*array.Array) {
	t.Helper()
	ctx := context.Background()
	config := &quant.Config{Global: quant.Setting{Mode: quant.Static}}
	backend := cpu.QuantBackend()
	_, err := passes.Run(ctx, m, []passes.Pass{simplify.FunctionalizeAll, quant.Prepare(config, backend)}, passes.Options{})
	require.NoError(t, err)
	_, err = quant.Calibrate(ctx, m, func(yield func([]*array.Array, error) bool) {
		yield(in, nil)
	}, quant.CalibrateOptions{})
	require.NoError(t, err)
	_, err = passes.Run(ctx, m, []passes.Pass{quant.Convert(config, backend), integer.Lower}, passes.Options{})
	require.NoError(t, err)
	require.Positive(t, integers(m))
}
