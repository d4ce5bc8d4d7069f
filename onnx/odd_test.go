package onnx

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/internal/testkit/ort"
)

// Odd models that are refused; those that are not are in testdata/ort/odd.txt.
func TestOddModelsAreRefused(t *testing.T) {
	o := array.Scalar(true)
	x := array.New(array.F32, 2, 3)
	for name, c := range map[string]struct {
		src    string
		code   diag.Code
		in     ort.Inputs
		theirs bool // whether ONNX Runtime runs it
	}{
		"branches of other types": {`(bool c, float[2,3] x) => (float[2,3] y) { y = If<then_branch = t () => (float[2,3] r) { r = Neg(x) },
			else_branch = e () => (int64[2,3] r) { r = Cast<to=7>(x) }>(c) }`, "", ort.Inputs{"c": o, "x": x}, false},
		"a name of two values": {`(float[2,3] x) => (float[2,3] y) { y = Neg(x) y = Abs(x) }`, CodeModel, ort.Inputs{"x": x}, false},
		"a name of a branch outside": {`(bool c, float[2,3] x) => (float[2,3] z) { y = If<then_branch = t () => (float[2,3] r) { q = Neg(x) r = Neg(q) },
			else_branch = e () => (float[2,3] r) { r = Neg(x) }>(c) z = Add(y, q) }`, CodeModel, ort.Inputs{"c": o, "x": x}, false},
		"a Reshape of other sizes": {`(float[2,3] x) => (float y) <int64[2] s = {4,2}> { y = Reshape(x, s) }`, "", ort.Inputs{"x": x}, false},
		"two sizes that are open":  {`(float[2,3] x) => (float y) <int64[2] s = {-1,-1}> { y = Reshape(x, s) }`, "", ort.Inputs{"x": x}, false},
		"0 and -1 with allowzero":  {`(float[2,3] x) => (float y) <int64[2] s = {0,-1}> { y = Reshape<allowzero=1>(x, s) }`, "", ort.Inputs{"x": x}, false},
		"an axis twice":            {`(float[2,3] x) => (float y) <int64[2] a = {0,-4}> { y = Unsqueeze(x, a) }`, "", ort.Inputs{"x": x}, false},
	} {
		t.Run(name, func(t *testing.T) {
			m := parseText(head + c.src)
			data := pb.Append(nil, m)
			f, err := Parse(data, "m.onnx")
			require.NoError(t, err)
			_, err = f.Import(Options{})
			require.Error(t, err)
			if c.code != "" {
				require.ErrorIs(t, err, c.code)
			}
			t.Run("ONNX Runtime", func(t *testing.T) {
				_, err := ort.Start(t).Run(ort.Model{Data: data, Plain: true}, c.in)
				require.Equal(t, c.theirs, err == nil, "%v", err)
			})
		})
	}
}
