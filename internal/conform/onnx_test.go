package conform

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/onnxtest"
	"github.com/gofx-dev/gofx/internal/repo"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

// onnx is what a node of ONNX is here: an operator with its attributes and operands.
// more says that the node computes with values that gofx's operator does not take.
type onnx func(c *onnxtest.Case) (o *op.Op, attrs any, in []*array.Array, more string)

// onnxOps are the operators on 8-bit values.
var onnxOps = map[string]onnx{
	"QuantizeLinear": func(c *onnxtest.Case) (*op.Op, any, []*array.Array, string) {
		return std.Quantize, std.QuantizeAttrs{Axis: axisOf(c, 0)}, c.In, blocked(c)
	},
	"DequantizeLinear": func(c *onnxtest.Case) (*op.Op, any, []*array.Array, string) {
		return std.Dequantize, std.DequantizeAttrs{Axis: axisOf(c, 0)}, c.In, blocked(c)
	},
	"DynamicQuantizeLinear": func(c *onnxtest.Case) (*op.Op, any, []*array.Array, string) {
		return std.DynamicQuantize, nil, c.In, ""
	},
	"QLinearMatMul": func(c *onnxtest.Case) (*op.Op, any, []*array.Array, string) {
		in := slices.Clone(c.In)
		for _, i := range []int{1, 4, 6} { // scales may be f16
			in[i] = array.Cast(in[i], array.F32)
		}
		return std.QMatmul, std.QLinearAttrs{}, in, ""
	},
	"QLinearConv": func(c *onnxtest.Case) (*op.Op, any, []*array.Array, string) {
		return std.QConv2d, convAttrs(c), c.In, uneven(c)
	},
	"MatMulInteger": func(c *onnxtest.Case) (*op.Op, any, []*array.Array, string) {
		return std.QMatmul, std.QLinearAttrs{DType: array.I32}, sums(c), ""
	},
	"ConvInteger": func(c *onnxtest.Case) (*op.Op, any, []*array.Array, string) {
		a := convAttrs(c)
		a.DType = array.I32
		return std.QConv2d, a, sums(c), uneven(c)
	},
}

// axisOf is the axis of a vector of scales; ONNX ignores it for one scale.
func axisOf(c *onnxtest.Case, x int) int {
	if c.In[1].Len() == 1 {
		return 0
	}
	if v := c.Node.Ints["axis"]; len(v) == 1 {
		return int(v[0])
	}
	return 1
}

func blocked(c *onnxtest.Case) string {
	if v := c.Node.Ints["block_size"]; len(v) == 1 && v[0] > 0 {
		return "blocks of scales along an axis"
	}
	return ""
}

func ints(v []int64) op.Ints {
	list := make([]int, len(v))
	for i, n := range v {
		list[i] = int(n)
	}
	return op.IntList(list...)
}

func convAttrs(c *onnxtest.Case) std.QConvAttrs {
	a := std.QConvAttrs{Stride: ints(c.Node.Ints["strides"]), Dilation: ints(c.Node.Ints["dilations"])}
	if p := c.Node.Ints["pads"]; len(p) > 0 {
		a.Padding = ints(p[:len(p)/2])
	}
	if g := c.Node.Ints["group"]; len(g) == 1 {
		a.Groups = int(g[0])
	}
	return a
}

func uneven(c *onnxtest.Case) string {
	p := c.Node.Ints["pads"]
	if !slices.Equal(p[:len(p)/2], p[len(p)/2:]) {
		return "padding that differs from side to side"
	}
	if s := c.Node.Strings["auto_pad"]; s != "" && s != "NOTSET" {
		return "auto_pad " + s
	}
	return ""
}

// sums are the operands of a product without scales, whose zero points may be absent.
func sums(c *onnxtest.Case) []*array.Array {
	in := append(slices.Clone(c.In), nil, nil)
	return []*array.Array{in[0], nil, in[2], in[1], nil, in[3]}
}

// TestONNX runs ONNX's conformance cases of operators on 8-bit values as operators, in
// plans too.
func TestONNX(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	dir := filepath.Join(filepath.Dir(root), "shared", "conformance")
	index, err := os.ReadFile(filepath.Join(dir, "index.tsv"))
	if err != nil {
		t.Skip("no folder shared/conformance beside this checkout")
	}
	passed := map[string]int{}
	for _, line := range strings.Split(string(index), "\n") {
		cols := strings.Split(line, "\t")
		if len(cols) < 2 || onnxOps[cols[1]] == nil || strings.HasSuffix(cols[0], "_expanded") {
			continue
		}
		t.Run(cols[0], func(t *testing.T) {
			c, err := onnxtest.Read(filepath.Join(dir, cols[0]))
			if onnxtest.Unsupported(err) {
				t.Skip(err)
			}
			require.NoError(t, err)
			o, attrs, in, more := onnxOps[c.Node.Op](c)
			if slices.ContainsFunc(c.Out, func(a *array.Array) bool { return a.DType() == array.F16 }) {
				more = "16-bit floats"
			}
			if more != "" {
				t.Skip(more)
			}
			got, err := o.Eval(&kernel.Workspace{}, attrs, in)
			require.NoError(t, err)
			sameBits(t, c.Out, got)
			gm, err := capture(o, attrs, in, false)
			require.NoError(t, err)
			got, err = plan(gm.Module, present(in))
			require.NoError(t, err)
			sameBits(t, c.Out, got)
			passed[c.Node.Op]++
		})
	}
	for name := range onnxOps {
		require.Positive(t, passed[name], name)
	}
	t.Log(passed)
}

// sameBits requires equal types, sizes and elements.
func sameBits(t *testing.T, want, got []*array.Array) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i].DType(), got[i].DType())
		require.Equal(t, want[i].Shape(), got[i].Shape())
		require.Equal(t, array.Bytes(want[i]), array.Bytes(got[i]))
	}
}
