package onnx_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/internal/testkit/ort"
	"github.com/gofx-dev/gofx/onnx"
)

// narrowMoves casts to a type, moves the elements with operators of ONNX that take it and
// such that do not, also in a branch, and casts back.
const narrowMoves = `graph moves(%x: f32[N,4], %go: bool[]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : TYPE[1,4]
  %q = call_function[cast](%x) {dtype=TYPE} : TYPE[N,4]
  %all = call_function[cat](%q, %w) {dim=0} : TYPE[N+1,4]
  %back = call_function[flip](%all) {dims=[0]} : TYPE[N+1,4]
  %t = call_function[permute](%back) {dims=[1,0]} : TYPE[4,N+1]
  %part = call_function[slice](%t) {dim=0, start=1, stop=4, step=1} : TYPE[3,N+1]
  %r = call_function[cond](%go, %part) : TYPE[3,N+1] {
    region(%v: TYPE[3,N+1]) {
      return %v
    }
    region(%v: TYPE[3,N+1]) {
      %f = call_function[flip](%v) {dims=[0]} : TYPE[3,N+1]
      return %f
    }
  }
  %flat = call_function[reshape](%r) {shape=[3*N+3]} : TYPE[3*N+3]
  %y = call_function[cast](%flat) {dtype=f32} : f32[3*N+3]
  return (%y, %r)
}
param w : TYPE[1,4]
`

// narrowTypes are the types, with the least operator set that has them.
var narrowTypes = map[array.DType]int{
	array.F8E4M3FN: 19, array.F8E4M3FNUZ: 19, array.F8E5M2: 19, array.F8E5M2FNUZ: 19, array.I4: 21, array.U4: 21, array.F4E2M1FN: 23,
	array.F8E8M0FNU: 24, array.I2: 25, array.U2: 25,
}

// Values of these types come back as they were, and have the set that has them.
func TestNarrowTypesAreExported(t *testing.T) {
	x := array.FromSlice([]float32{0, 1, -2, 7, 0.5, 3, 1000, -1}, 2, 4)
	for d, set := range narrowTypes {
		t.Run(d.String(), func(t *testing.T) {
			m := narrowModule(t, narrowMoves, d)
			data, err := exported(m, onnx.ExportOptions{})
			require.NoError(t, err)
			f, err := onnx.Parse(data, "m.onnx")
			require.NoError(t, err)
			require.GreaterOrEqual(t, f.Describe().Opset, set)
			for _, yes := range []bool{true, false} {
				same(t, nil, m, onnx.ExportOptions{}, []*array.Array{x, array.Scalar(yes)})
			}
			_, err = exported(m, onnx.ExportOptions{Opset: set - 1})
			require.ErrorIs(t, err, onnx.CodeExport)
			require.ErrorContains(t, err, "element type "+d.String()+" needs operator set")
		})
	}
}

// narrowModule is a graph with values of a type for parameters, scales in f32.
func narrowModule(t *testing.T, text string, d array.DType) *graph.Module {
	t.Helper()
	m, err := graph.Parse([]byte("gofx 1\n"+strings.ReplaceAll(text, "TYPE", d.String())), "test.fx")
	require.NoError(t, err)
	for _, p := range m.Params() {
		of, dims, ok := p.TypeOf().Concrete()
		require.True(t, ok)
		p.Value = array.New(array.F32, dims...)
		for i := range p.Value.Len() {
			array.SetFloat64At(p.Value, i, float64(int(1)<<(i%4))/4)
		}
		p.Value = array.Cast(p.Value, of)
		m.SetParam(*p)
	}
	return m
}

// narrowQuant has weights of a type, and quantises to it.
const narrowQuant = `graph quant(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %s = get_attr[s] : f32[4]
  %w = get_attr[w] : TYPE[3,4]
  %d = call_function[dequantize](%w, %s) {axis=1} : f32[3,4]
  %q = call_function[quantize](%x, %s) {axis=1, dtype=TYPE} : TYPE[N,4]
  %y = call_function[dequantize](%q, %s) {axis=1} : f32[N,4]
  return (%y, %d)
}
param s : f32[4]
param w : TYPE[3,4]
`

// ortLacks are the types that ONNX Runtime cannot move, with its error messages.
var ortLacks = map[array.DType]string{array.F4E2M1FN: "Cast(23)", array.F8E8M0FNU: "Transpose(24)", array.I4: "Reshape(21)", array.U4: "Reshape(21)",
	array.I2: "Reshape(25)", array.U2: "Reshape(25)"}

// Values of these types are the same in ONNX Runtime, as far as it has them: its interface
// for Node.js has none of them, so that the models give f32.
func TestNarrowTypesInONNXRuntime(t *testing.T) {
	o := ort.Start(t)
	x := array.FromSlice([]float32{0, 1, -2, 7, 0.5, 3, 1, -1}, 2, 4)
	head, rest, _ := strings.Cut(narrowMoves, "  %r = call_function[cond]")
	_, tail, _ := strings.Cut(rest, "\n  }\n") // ONNX Runtime's If has the types of 8 bits only
	moves := strings.Replace(head+"  %r = call_function[flip](%part) {dims=[0]} : TYPE[3,N+1]\n"+tail, "return (%y, %r)", "return (%y)", 1)
	moves = strings.Replace(moves, ", %go: bool[]", "", 1)
	for d := range narrowTypes {
		t.Run(d.String(), func(t *testing.T) {
			positive := x
			if d == array.F8E8M0FNU {
				positive = array.FromSlice([]float32{1, 2, 4, 8, 16, 0.5, 0.25, 1}, 2, 4)
			}
			m := narrowModule(t, moves, d)
			data, err := exported(m, onnx.ExportOptions{})
			require.NoError(t, err)
			got, err := o.Run(ort.Model{Data: data, Plain: true}, ort.Inputs{"x": positive})
			if why := ortLacks[d]; why != "" {
				require.ErrorContains(t, err, "implementation for "+why)
			} else {
				require.NoError(t, err)
				want, err := run(m, []*array.Array{positive})
				require.NoError(t, err)
				fxtest.Close(t, "ONNX Runtime", want, got[0])
			}
			if d != array.F8E8M0FNU && d != array.F4E2M1FN { // the first is for scales
				text := narrowQuant
				if d.Bits() == 2 { // of four elements ONNX Runtime 1.30 quantises some only
					text = strings.Replace(text, "%y = call_function[dequantize](%q, %s) {axis=1}", "%y = call_function[relu](%x)", 1)
				}
				same(t, o, narrowModule(t, text, d), onnx.ExportOptions{}, []*array.Array{x})
			}
		})
	}
}
