package onnx

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/internal/testkit/ort"
)

// resizes are ways in which files say the sizes of pictures that are open.
var resizes = []string{
	// by sizes of another value, as PyTorch exports F.interpolate(x, size=y.shape[2:])
	`<int64[2] two = {2,2}, int64[1] a = {0}, int64[1] b = {2}, int64[1] c = {4}> {
		p = MaxPool<kernel_shape=[2,2], strides=[2,2], ceil_mode=1>(x) s = Shape(x) hw = Slice(s, b, c, a) t = Shape(p) nc = Slice(t, a, b, a) all = Concat<axis=0>(nc, hw)
		y = Resize<mode="linear">(p, _, _, all) }`,
	// by sizes in other order, of some axes
	`<int64[1] a = {0}, int64[1] b = {2}, int64[1] c = {4}, int64[2] k = {3,2}> {
		s = Shape(x) hw = Slice(s, b, c, a) d = Mul(hw, k) y = Resize<mode="linear", axes=[3,2]>(x, _, _, d) }`,
	// by factors of which none is whole
	`<float[4] f = {1,1,1.5,0.7}> { y = Resize<mode="linear">(x, _, f) }`,
	`<float[4] f = {1,1,0.333,2.1}> { y = Resize<mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor">(x, _, f) }`,
	`<float[2] f = {1.3,1}> { y = Resize<mode="cubic", axes=[2,3]>(x, _, f) }`,
	// channels last
	`<int64[1] a = {0}, int64[1] b = {1}, int64[1] c = {3}, int64[1] d = {4}, int64[2] k = {2,3}> {
		z = Transpose<perm=[0,2,3,1]>(x) s = Shape(z) n = Slice(s, a, b, a) hw = Slice(s, b, c, a) m = Slice(s, c, d, a) w = Mul(hw, k) all = Concat<axis=0>(n, w, m)
		y = Resize<mode="nearest">(z, _, _, all) }`,
	// to a multiple of 8
	`<int64[1] a = {0}, int64[1] b = {2}, int64[1] c = {4}, int64[1] e = {8}, int64[1] seven = {7}> {
		s = Shape(x) nc = Slice(s, a, b, a) hw = Slice(s, b, c, a) i = Add(hw, seven) j = Div(i, e) k = Mul(j, e) all = Concat<axis=0>(nc, k)
		y = Resize<mode="linear", coordinate_transformation_mode="align_corners">(x, _, _, all) }`,
	// to known sizes
	`<int64[1] a = {0}, int64[1] b = {2}, int64[2] k = {5,9}> {
		s = Shape(x) nc = Slice(s, a, b, a) all = Concat<axis=0>(nc, k) y = Resize<mode="linear">(x, _, _, all) }`,
}

// A Resize over open axes is exported with its sizes, and ONNX Runtime computes the same
// results for the export as for the file.
func TestExportOfResizeOverOpenAxes(t *testing.T) {
	r := ort.Start(t)
	for i, text := range resizes {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			src := `<ir_version: 8, opset_import: ["" : 19]> g (float[N,2,H,W] x) => (float y) ` + text
			model := parseText(src)
			m, err := fromText(src).Import(Options{})
			require.NoError(t, err)
			var b bytes.Buffer
			require.NoError(t, Export(&b, m, ExportOptions{}))
			for _, s := range [][3]int{{1, 7, 8}, {3, 12, 5}} {
				x := array.New(array.F32, s[0], 2, s[1], s[2])
				for i := range x.Len() {
					array.SetFloat64At(x, i, float64(i*i%23)-7)
				}
				want, err := r.Run(ort.Model{Data: pb.Append(nil, model), Plain: true}, ort.Inputs{"x": x})
				require.NoError(t, err)
				got, err := r.Run(ort.Model{Data: b.Bytes(), Plain: true}, ort.Inputs{"x": x})
				require.NoError(t, err)
				_, err = Sample{Outputs: want[0]}.Check(got[0], Tolerance{Rel: 1e-5, Abs: 1e-5})
				require.NoError(t, err)
			}
		})
	}
}
