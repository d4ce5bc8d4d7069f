package onnx_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/internal/testkit/ort"
	"github.com/gofx-dev/gofx/onnx"
)

// overOpenAxes are calls over x of f32[N,3,H,W] whose operands are sizes or follow from
// them: a line for each way in which ONNX has sizes and indices as operands.
var overOpenAxes = []string{
	"interpolate(%x) {size=[2*H,W//2+1], mode=\"nearest\"}",
	"interpolate(%x) {size=[2*H,7], mode=\"bilinear\"}",
	"interpolate(%x) {size=[H,W], mode=\"bilinear\", align_corners=true}",
	"interpolate(%x) {size=[9,5], mode=\"bicubic\"}",
	"interpolate(%x) {scale_factor=[2,1.5], mode=\"nearest\"}",
	"resize(%x) {size=[2*H,W+1], mode=\"linear\"}",
	"resize(%x) {size=[9,7], mode=\"linear\"}",
	"resize(%x) {size=[2*H,2*W], scale_factor=[2,2], mode=\"nearest\"}",
	"resize(%x) {size=[H+1,W+1], coordinate_transformation_mode=\"tf_half_pixel_for_nn\"}",
	"resize(%x) {size=[3*H,2*W], mode=\"linear\", coordinate_transformation_mode=\"tf_crop_and_resize\", roi=[0.1,0.2,0.8,0.9]}",
	"resize(%x) {size=[W+2], mode=\"cubic\"}",
	"reshape(%x) {shape=[N,3*H,W]}",
	"reshape(%x) {shape=[H,N,W,3]}",
	"reshape(%x) {shape=[-1,W]}",
	"flatten(%x) {start_dim=0, end_dim=2}",
	"expand(%x) {shape=[H,N,3,H,W]}",
	"expand(%x) {shape=[2,-1,-1,-1,-1]}",
	"slice(%x) {dim=2, start=H//2, stop=H, step=1}",
	"slice(%x) {dim=3, start=1, stop=W-1, step=2}",
	"narrow(%x) {dim=3, start=W//3, length=W//2}",
	"pad(%x) {pad=[1,W-2,H//2,0]}",
	"pad(%x) {pad=[W//4,W//4], mode=\"reflect\"}",
	"pad(%x) {pad=[0,8*((H+7)//8)-H,0,0], mode=\"replicate\"}",
	"tile(%x) {reps=[2,1,N,1]}",
	"repeat(%x) {repeats=[H,1,1,1,2]}",
	"zeros() {size=[N,H//2]}",
	"full() {size=[W,N], value=2.5}",
	"full_like(%x) {value=3}",
	"arange() {end=H*W}",
	"arange() {start=1, end=W, step=2}",
	"select(%x) {dim=2, index=-1}",
	"flip(%x) {dims=[2,3]}",
	"unfold(%x) {kernel_size=[2,2]}",
	"adaptive_avg_pool2d(%x) {output_size=[1,1]}",
	"avg_pool2d(%x) {kernel_size=[2,2], ceil_mode=true}",
	"max_pool2d(%x) {kernel_size=[3,3], stride=[2,2], padding=[1,1]}",
	"mean(%x) {dim=[2,3]}",
	"tril(%x)",
	"triu(%x) {diagonal=1}",
	"roll(%x) {shifts=[1], dims=[3]}",
	"roll(%x) {shifts=[-2,5], dims=[2,3]}",
	"roll(%x) {shifts=[3]}",
	"diagonal(%x) {dim1=2, dim2=3}",
	"diagonal(%x) {offset=-2, dim1=3, dim2=2}",
	"diagonal(%x) {offset=3, dim1=0, dim2=3}",
	"roll(%x) {shifts=[100,-3], dims=[-1,0]}",
	"topk(%x) {k=2, dim=3}",
	"gather(%x, %at) {dim=3}",
	"index_select(%x, %i) {dim=2}",
	"split(%x) {sizes=[1,W-1], dim=3}",
	"chunk(%r) {chunks=2, dim=1}",
	"stack(%x, %x) {dim=4}",

	"conv_transpose2d(%x, %k) {stride=[2,2]}",
	"group_norm(%r) {num_groups=2, eps=0.1}",
	"logsumexp(%x) {dim=[3]}",
	"argmax(%x) {dim=[3]}",
	"var(%x) {dim=[3]}",
	"movedim(%x) {source=[3], destination=[0]}",
	"softmax(%x) {dim=3}",
	"max_pool2d(%x) {kernel_size=[2,2], stride=[2,2], ceil_mode=true}",
	"repeat_interleave(%x) {repeats=3, dim=2}",
	"squeeze(%x)",
	"unflatten(%x) {dim=3, sizes=[1,W]}",
	"select_scatter(%x, %z) {dim=2, index=-1}",
	"slice_scatter(%x, %z4) {dim=2, start=0, stop=1, step=1}",
	"cumsum(%x) {dim=3}",
	"one_hot(%i) {num_classes=H}",
	"layer_norm(%x) {normalized_shape=[W]}",
	"pixel_shuffle(%r) {upscale_factor=2}",
}

// openCall is a graph of a call: of several results the first.
func openCall(call string) string {
	name, rest, _ := strings.Cut(call, "(")
	text := "graph g(%x: f32[N,3,H,W], %z: f32[N,3,W], %z4: f32[N,3,1,W], %i: i64[N], %r: f32[N,4,H,W], %at: i64[N,3,H,2], %k: f32[3,2,3,3]) {\n" +
		"  symbol N = dim(%x, 0)\n  symbol H = dim(%x, 2)\n  symbol W = dim(%x, 3)\n" +
		"  %y = call_function[" + name + "](" + rest + "\n"
	if slices.Contains([]string{"topk", "split", "chunk"}, name) {
		return text + "  %v = call_function[getitem](%y) {index=1}\n  return %v\n}\n"
	}
	return text + "  return %y\n}\n"
}

// Calls over open axes are models that ONNX Runtime runs at any sizes.
func TestExportOverOpenAxes(t *testing.T) {
	r := ort.Start(t)
	for _, call := range overOpenAxes {
		t.Run(call, func(t *testing.T) {
			m := fromText(t, openCall(call))
			data, err := exported(m, onnx.ExportOptions{})
			require.NoError(t, err)
			for _, s := range [][3]int{{2, 4, 6}, {1, 9, 5}, {3, 13, 16}} {
				n, h, w := s[0], s[1], s[2]
				in := []*array.Array{counted(n, 3, h, w), counted(n, 3, w), counted(n, 3, 1, w), array.New(array.I64, n), counted(n, 4, h, w),
					array.New(array.I64, n, 3, h, 2), counted(3, 2, 3, 3)}
				want, err := run(m, in)
				require.NoError(t, err)
				feeds := ort.Inputs{}
				for i, p := range m.Graph.Inputs() {
					feeds[p.Target()] = in[i]
				}
				got, err := r.Run(ort.Model{Data: data, Plain: true}, feeds)
				require.NoError(t, err)
				fxtest.Close(t, fmt.Sprint(s), want, got[0])
			}
		})
	}
}

// A result that is a tuple is none of ONNX's: once the process panicked.
func TestExportOfATuple(t *testing.T) {
	m := fromText(t, "graph g(%x: f32[2,4]) {\n  %y = call_function[topk](%x) {k=2, dim=1}\n  %r = call_function[relu](%x)\n  return %r, %y\n}\n")
	_, err := exported(m, onnx.ExportOptions{})
	require.ErrorIs(t, err, onnx.CodeExport)
	require.ErrorContains(t, err, "node %y")
	require.ErrorContains(t, err, "return its members")
}

func counted(dims ...int) *array.Array {
	a := array.New(array.F32, dims...)
	for i := range a.Len() {
		array.SetFloat64At(a, i, float64(i%17)-3.5)
	}
	return a
}
