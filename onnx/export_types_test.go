package onnx_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/ort"
	"github.com/gofx-dev/gofx/onnx"
	"github.com/gofx-dev/gofx/passes"
)

// loadable are graphs that ONNX Runtime refused to load or to run as they were written: element types that ONNX does
// not allow, Where of bool, Pad of a number, normalisation of nothing.
var loadable = []string{
	`graph g(%x: bool[2,3]) {
  %t = call_function[max_dim](%x) {dim=1}
  %v = call_function[getitem](%t) {index=0}
  %i = call_function[getitem](%t) {index=1}
  return %v, %i
}`,
	`graph g(%x: i8[2,3], %y: i8[3,2]) {
  %t = call_function[matmul](%x, %y)
  return %t
}`,
	`graph g(%x: i32[1,1,4]) {
  %t = call_function[max_pool1d](%x) {kernel_size=[2]}
  return %t
}`,
	`graph g(%q: f32[1,2,3,4]) {
  %t = call_function[scaled_dot_product_attention](%q, %q, %q) {is_causal=true}
  return %t
}`,
	`graph g(%q: f32[1,2,3,4], %m: bool[3,3]) {
  %t = call_function[scaled_dot_product_attention](%q, %q, %q, %m)
  return %t
}`,
	`graph g(%x: f32[]) {
  %y = call_function[pad](%x) {value=1.5}
  return %y
}`,
	`graph g(%x: f32[0,4], %z: f32[3,0]) {
  %y = call_function[layer_norm](%x) {normalized_shape=[4]}
  %w = call_function[layer_norm](%z) {normalized_shape=[0]}
  return %y, %w
}`,
	`graph g(%x: f32[2,3,7,9], %z: f32[3,10]) {
  %y = call_function[adaptive_avg_pool2d](%x) {output_size=[5,11]}
  %w = call_function[adaptive_max_pool1d](%z) {output_size=[4]}
  return %y, %w
}`,
}

func TestExportedTypesLoad(t *testing.T) {
	r := ort.Start(t)
	for _, text := range loadable {
		m, err := graph.Parse([]byte("gofx 1\n"+text), "g.fx")
		require.NoError(t, err)
		in, err := passes.Inputs(m.Graph, nil, 7)
		require.NoError(t, err)
		want, err := fx.NewGraphModule(m).RunArrays(t.Context(), in)
		require.NoError(t, err)
		inputs := ort.Inputs{}
		for i, n := range m.Graph.Inputs() {
			inputs[n.Target()] = in[i]
		}
		for _, set := range []int{0, 17, 21} {
			data, err := exported(m, onnx.ExportOptions{Opset: set})
			require.NoError(t, err)
			got, refused := peerRun(t, r, data, inputs)
			require.Empty(t, refused, text)
			_, err = onnx.Sample{Outputs: want}.Check(got, onnx.Tolerance{Rel: 1e-5, Abs: 1e-5})
			require.NoError(t, err, text)
		}
	}
}

// TestTypesThatAreRefused: a value that no type of ONNX holds is an error of the call.
func TestTypesThatAreRefused(t *testing.T) {
	for text, why := range map[string]string{
		"graph g(%x: i64[1,1,4]) {\n  %t = call_function[max_pool1d](%x) {kernel_size=[2]}\n  return %t\n}": "max_pool1d cannot be written: MaxPool has no i64",
		"graph g(%x: u64[3]) {\n  %t = call_function[pow](%x, %x)\n  return %t\n}":                          "Pow has no u64",
	} {
		m, err := graph.Parse([]byte("gofx 1\n"+text), "g.fx")
		require.NoError(t, err)
		_, err = exported(m, onnx.ExportOptions{})
		require.ErrorIs(t, err, onnx.CodeExport)
		require.ErrorContains(t, err, why)
		require.ErrorContains(t, err, "node %t")
	}
}

// TestAdaptivePoolsOfManyWindows: the number of nodes does not follow from the number of windows.
func TestAdaptivePoolsOfManyWindows(t *testing.T) {
	for _, o := range []string{"adaptive_avg_pool2d", "adaptive_max_pool2d"} {
		nodes := map[int]bool{}
		for _, n := range []int{3, 7, 100000} {
			m, err := graph.Parse([]byte(fmt.Sprintf("gofx 1\ngraph g(%%y: f32[1,1,5,5]) {\n  %%r = call_function[%s](%%y) {output_size=[%d,2]}\n  return %%r\n}\n", o, n)), "g.fx")
			require.NoError(t, err)
			data, err := exported(m, onnx.ExportOptions{})
			require.NoError(t, err)
			nodes[bytes.Count(data, []byte("r."))] = true
			if n < 10 {
				back, err := imported(data)
				require.NoError(t, err)
				in := []*array.Array{array.Reshape(array.FromSlice([]float32{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6, 2, 6, 4, 3}), 1, 1, 5, 5)}
				want, err := run(m, in)
				require.NoError(t, err)
				got, err := run(back, in)
				require.NoError(t, err)
				require.Empty(t, agree(m.Graph.Find("r").Op(), want, got))
			}
		}
		require.Len(t, nodes, 1, o)
	}
}
