package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// sized returns lead followed by the first n entries of spatial.
func sized(n int, lead []int, spatial ...int) []int {
	return append(append([]int(nil), lead...), spatial[:n]...)
}

// convArgs makes x, weight and bias of n spatial dimensions.
func convArgs(g *op.Gen, n, batch, chans, filters, perGroup, k int) []*array.Array {
	x := g.Normal(sized(n, []int{batch, chans}, 7, 6, 5)...)
	w := g.Normal(sized(n, []int{filters, perGroup}, k, k, k)...)
	return []*array.Array{x, w, g.Normal(filters)}
}

func castAll(d array.DType, in []*array.Array) []*array.Array {
	out := make([]*array.Array, len(in))
	for i, a := range in {
		if a != nil {
			out[i] = array.Cast(a, d)
		}
	}
	return out
}

func convSamples(g *op.Gen, n int) []op.Sample {
	call := func(name string, a ConvAttrs, in []*array.Array) op.Sample {
		return op.Sample{Name: name, Attrs: a, In: in}
	}
	list := func(v ...int) op.Ints { return op.IntList(v[:n]...) }
	plain := convArgs(g, n, 2, 3, 4, 3, 3)
	unbatched := convArgs(g, n, 1, 3, 4, 3, 3)
	unbatched[0] = array.Select(unbatched[0], 0, 0)
	strided := convArgs(g, n, 2, 3, 4, 3, 3)
	strided[0], strided[1] = g.Strided(strided[0]), g.Strided(strided[1])
	special := convArgs(g, n, 1, 1, 1, 1, 1)
	special[0] = array.Reshape(g.Special(), sized(n, []int{1, 1}, [][]int{{15}, {5, 3}, {5, 1, 3}}[n-1]...)...)
	return []op.Sample{
		call("plain", ConvAttrs{}, plain),
		call("no bias", ConvAttrs{}, plain[:2]),
		call("stride and padding", ConvAttrs{Stride: op.IntList(2), Padding: op.IntList(1)}, plain),
		call("per dimension", ConvAttrs{Stride: list(2, 1, 3), Padding: list(1, 2, 0), Dilation: list(1, 2, 1)}, plain),
		call("dilation", ConvAttrs{Dilation: op.IntList(2), Padding: op.IntList(2)}, plain),
		call("groups", ConvAttrs{Groups: 2, Padding: op.IntList(1)}, convArgs(g, n, 2, 4, 6, 2, 3)),
		call("depthwise", ConvAttrs{Groups: 4, Padding: op.IntList(1)}, convArgs(g, n, 2, 4, 8, 1, 3)),
		call("pointwise", ConvAttrs{}, convArgs(g, n, 2, 3, 5, 3, 1)),
		call("same, odd kernel", ConvAttrs{PadMode: "same"}, plain),
		call("same, even kernel", ConvAttrs{PadMode: "same", Dilation: op.IntList(1)}, convArgs(g, n, 1, 2, 3, 2, 2)),
		call("valid", ConvAttrs{PadMode: "valid"}, plain),
		call("unbatched", ConvAttrs{Padding: op.IntList(1)}, unbatched),
		call("strided", ConvAttrs{}, strided),
		call("empty batch", ConvAttrs{}, convArgs(g, n, 0, 3, 4, 3, 3)),
		call("f64", ConvAttrs{}, castAll(array.F64, plain)),
		call("bf16", ConvAttrs{}, castAll(array.BF16, convArgs(g, n, 1, 2, 2, 2, 1))),
		call("special", ConvAttrs{}, special),
	}
}

func convBad(g *op.Gen, n int) []op.BadSample {
	in := convArgs(g, n, 2, 3, 4, 3, 3)
	bad := func(name string, code diag.Code, a ConvAttrs, in ...*array.Array) op.BadSample {
		return op.BadSample{Name: name, Attrs: a, In: in, Code: code}
	}
	return []op.BadSample{
		bad("channels", op.SizeMismatch, ConvAttrs{}, convArgs(g, n, 2, 5, 4, 3, 3)...),
		bad("groups do not divide filters", op.SizeMismatch, ConvAttrs{Groups: 3}, convArgs(g, n, 2, 3, 4, 1, 3)...),
		bad("bias", op.SizeMismatch, ConvAttrs{}, in[0], in[1], g.Normal(3)),
		bad("kernel too large", op.SizeMismatch, ConvAttrs{Dilation: op.IntList(4)}, in...),
		bad("empty kernel", op.SizeMismatch, ConvAttrs{}, convArgs(g, n, 2, 3, 4, 3, 0)...),
		bad("rank of x", op.RankMismatch, ConvAttrs{}, g.Normal(3), in[1]),
		bad("rank of weight", op.RankMismatch, ConvAttrs{}, in[0], g.Normal(4, 3)),
		bad("stride", op.BadAttr, ConvAttrs{Stride: op.IntList(0)}, in...),
		bad("padding", op.BadAttr, ConvAttrs{Padding: op.IntList(-1)}, in...),
		bad("dilation", op.BadAttr, ConvAttrs{Dilation: op.IntList(0)}, in...),
		bad("list length", op.BadAttr, ConvAttrs{Stride: op.IntList(1, 1, 1, 1)}, in...),
		bad("groups", op.BadAttr, ConvAttrs{Groups: -1}, in...),
		bad("pad mode", op.BadAttr, ConvAttrs{PadMode: "full"}, in...),
		bad("same with stride", op.BadAttr, ConvAttrs{PadMode: "same", Stride: op.IntList(2)}, in...),
		bad("same with padding", op.BadAttr, ConvAttrs{PadMode: "same", Padding: op.IntList(1)}, in...),
		bad("types", op.DTypeMismatch, ConvAttrs{}, in[0], array.Cast(in[1], array.F64)),
		bad("integers", op.DTypeMismatch, ConvAttrs{}, castAll(array.I64, in)...),
	}
}

func convTransposeSamples(g *op.Gen, n int) []op.Sample {
	call := func(name string, a ConvTransposeAttrs, in []*array.Array) op.Sample {
		return op.Sample{Name: name, Attrs: a, In: in}
	}
	list := func(v ...int) op.Ints { return op.IntList(v[:n]...) }
	// convArgs' filters are the input channels here.
	args := func(batch, chans, perGroup, groups, k int) []*array.Array {
		in := convArgs(g, n, batch, chans, chans, perGroup, k)
		in[2] = g.Normal(perGroup * groups)
		return in
	}
	plain := args(2, 3, 4, 1, 3)
	unbatched := args(1, 3, 2, 1, 3)
	unbatched[0] = array.Select(unbatched[0], 0, 0)
	strided := args(2, 3, 2, 1, 2)
	strided[0], strided[1] = g.Strided(strided[0]), g.Strided(strided[1])
	return []op.Sample{
		call("plain", ConvTransposeAttrs{}, plain),
		call("no bias", ConvTransposeAttrs{}, plain[:2]),
		call("stride 2", ConvTransposeAttrs{Stride: op.IntList(2)}, plain),
		call("output padding", ConvTransposeAttrs{Stride: op.IntList(2), Padding: op.IntList(1), OutputPadding: op.IntList(1)}, plain),
		call("per dimension", ConvTransposeAttrs{Stride: list(2, 1, 3), Padding: list(0, 1, 2), Dilation: list(1, 2, 1)}, plain),
		call("groups", ConvTransposeAttrs{Groups: 2, Stride: op.IntList(2)}, args(2, 4, 3, 2, 3)),
		call("kernel 1", ConvTransposeAttrs{}, args(1, 3, 2, 1, 1)),
		call("unbatched", ConvTransposeAttrs{Stride: op.IntList(2)}, unbatched),
		call("strided", ConvTransposeAttrs{}, strided),
		call("empty batch", ConvTransposeAttrs{}, args(0, 3, 2, 1, 3)),
		call("f64", ConvTransposeAttrs{}, castAll(array.F64, args(1, 2, 2, 1, 2))),
		call("f16", ConvTransposeAttrs{}, castAll(array.F16, args(1, 1, 2, 1, 1))),
	}
}

func convTransposeBad(g *op.Gen, n int) []op.BadSample {
	in := convArgs(g, n, 2, 3, 3, 4, 3)
	in[2] = g.Normal(4)
	bad := func(name string, code diag.Code, a ConvTransposeAttrs, in ...*array.Array) op.BadSample {
		return op.BadSample{Name: name, Attrs: a, In: in, Code: code}
	}
	return []op.BadSample{
		bad("channels", op.SizeMismatch, ConvTransposeAttrs{}, convArgs(g, n, 2, 3, 4, 4, 3)[:2]...),
		bad("groups", op.SizeMismatch, ConvTransposeAttrs{Groups: 2}, in[0], in[1]),
		bad("bias", op.SizeMismatch, ConvTransposeAttrs{}, in[0], in[1], g.Normal(3)),
		bad("padding too large", op.SizeMismatch, ConvTransposeAttrs{Padding: op.IntList(5)}, in...),
		bad("empty kernel", op.SizeMismatch, ConvTransposeAttrs{}, convArgs(g, n, 2, 3, 3, 4, 0)...),
		bad("rank", op.RankMismatch, ConvTransposeAttrs{}, g.Normal(3), in[1]),
		bad("weight rank", op.RankMismatch, ConvTransposeAttrs{}, in[0], g.Normal(3, 3)),
		bad("output padding", op.BadAttr, ConvTransposeAttrs{Stride: op.IntList(2), OutputPadding: op.IntList(2)}, in...),
		bad("stride", op.BadAttr, ConvTransposeAttrs{Stride: op.IntList(0)}, in...),
		bad("negative groups", op.BadAttr, ConvTransposeAttrs{Groups: -2}, in...),
		bad("types", op.DTypeMismatch, ConvTransposeAttrs{}, in[0], array.Cast(in[1], array.F64)),
	}
}

// weightGradArgs makes x and the gradient of its convolution without padding by a kernel of
// size k, or with padding that keeps all windows.
func weightGradArgs(g *op.Gen, n, batch, chans, filters int, size ...int) []*array.Array {
	x := g.Normal(sized(n, []int{batch, chans}, 7, 6, 5)...)
	return []*array.Array{x, g.Normal(sized(n, []int{batch, filters}, size...)...)}
}

func convWeightGradSamples(g *op.Gen, n int) []op.Sample {
	call := func(name string, a ConvWeightGradAttrs, in []*array.Array) op.Sample {
		return op.Sample{Name: name, Attrs: a, In: in}
	}
	list := func(v ...int) op.Ints { return op.IntList(v[:n]...) }
	size := func(v ...int) shape.Dims { return shape.ConstDims(v[:n]...) }
	three := size(3, 3, 3)
	plain := weightGradArgs(g, n, 2, 3, 4, 5, 4, 3)
	strided := []*array.Array{g.Strided(plain[0]), g.Strided(plain[1])}
	kept := weightGradArgs(g, n, 2, 3, 4, 7, 6, 5)
	return []op.Sample{
		call("plain", ConvWeightGradAttrs{KernelSize: three}, plain),
		call("stride and padding", ConvWeightGradAttrs{KernelSize: three, Stride: op.IntList(2), Padding: op.IntList(1)}, weightGradArgs(g, n, 2, 3, 4, 4, 3, 3)),
		call("per dimension", ConvWeightGradAttrs{KernelSize: size(3, 2, 1), Stride: list(2, 1, 3), Padding: list(1, 2, 0), Dilation: list(1, 2, 1)}, weightGradArgs(g, n, 2, 3, 4, 4, 8, 2)),
		call("dilation", ConvWeightGradAttrs{KernelSize: three, Dilation: op.IntList(2), Padding: op.IntList(2)}, kept),
		call("groups", ConvWeightGradAttrs{KernelSize: three, Groups: 2, Padding: op.IntList(1)}, weightGradArgs(g, n, 2, 4, 6, 7, 6, 5)),
		call("depthwise", ConvWeightGradAttrs{KernelSize: three, Groups: 4, Padding: op.IntList(1)}, weightGradArgs(g, n, 2, 4, 8, 7, 6, 5)),
		call("pointwise", ConvWeightGradAttrs{KernelSize: size(1, 1, 1)}, weightGradArgs(g, n, 2, 3, 5, 7, 6, 5)),
		call("pointwise, stride 2", ConvWeightGradAttrs{KernelSize: size(1, 1, 1), Stride: op.IntList(2)}, weightGradArgs(g, n, 2, 3, 5, 4, 3, 3)),
		call("one size for all", ConvWeightGradAttrs{KernelSize: shape.ConstDims(3)}, plain),
		call("same, odd kernel", ConvWeightGradAttrs{KernelSize: three, PadMode: "same"}, kept),
		call("same, even kernel", ConvWeightGradAttrs{KernelSize: size(2, 2, 2), PadMode: "same"}, kept),
		call("windows beyond x", ConvWeightGradAttrs{KernelSize: three, Stride: op.IntList(2)}, weightGradArgs(g, n, 1, 2, 3, 5, 4, 3)),
		call("fewer windows", ConvWeightGradAttrs{KernelSize: size(2, 2, 2)}, weightGradArgs(g, n, 1, 2, 3, 3, 3, 2)),
		call("strided", ConvWeightGradAttrs{KernelSize: three}, strided),
		call("empty batch", ConvWeightGradAttrs{KernelSize: three}, weightGradArgs(g, n, 0, 3, 4, 5, 4, 3)),
		call("f64", ConvWeightGradAttrs{KernelSize: three}, castAll(array.F64, plain)),
		call("bf16", ConvWeightGradAttrs{KernelSize: three}, castAll(array.BF16, weightGradArgs(g, n, 1, 2, 2, 5, 4, 3))),
	}
}

func convWeightGradBad(g *op.Gen, n int) []op.BadSample {
	in := weightGradArgs(g, n, 2, 3, 4, 5, 4, 3)
	three := shape.ConstDims(3)
	bad := func(name string, code diag.Code, a ConvWeightGradAttrs, in ...*array.Array) op.BadSample {
		return op.BadSample{Name: name, Attrs: a, In: in, Code: code}
	}
	return []op.BadSample{
		bad("batch", op.SizeMismatch, ConvWeightGradAttrs{KernelSize: three}, in[0], g.Normal(sized(n, []int{3, 4}, 5, 4, 3)...)),
		bad("groups do not divide channels", op.SizeMismatch, ConvWeightGradAttrs{KernelSize: three, Groups: 2}, in...),
		bad("groups do not divide filters", op.SizeMismatch, ConvWeightGradAttrs{KernelSize: three, Groups: 3}, in...),
		bad("rank of x", op.RankMismatch, ConvWeightGradAttrs{KernelSize: three}, g.Normal(3), in[1]),
		bad("rank of grad", op.RankMismatch, ConvWeightGradAttrs{KernelSize: three}, in[0], g.Normal(4, 3, 2, 2, 2, 2)),
		bad("no kernel size", op.BadAttr, ConvWeightGradAttrs{}, in...),
		bad("kernel size", op.BadAttr, ConvWeightGradAttrs{KernelSize: shape.ConstDims(0)}, in...),
		bad("kernel sizes", op.BadAttr, ConvWeightGradAttrs{KernelSize: shape.ConstDims(3, 3, 3, 3)}, in...),
		bad("stride", op.BadAttr, ConvWeightGradAttrs{KernelSize: three, Stride: op.IntList(0)}, in...),
		bad("padding", op.BadAttr, ConvWeightGradAttrs{KernelSize: three, Padding: op.IntList(-1)}, in...),
		bad("dilation", op.BadAttr, ConvWeightGradAttrs{KernelSize: three, Dilation: op.IntList(0)}, in...),
		bad("groups", op.BadAttr, ConvWeightGradAttrs{KernelSize: three, Groups: -1}, in...),
		bad("pad mode", op.BadAttr, ConvWeightGradAttrs{KernelSize: three, PadMode: "full"}, in...),
		bad("same with stride", op.BadAttr, ConvWeightGradAttrs{KernelSize: three, PadMode: "same", Stride: op.IntList(2)}, in...),
		bad("same with padding", op.BadAttr, ConvWeightGradAttrs{KernelSize: three, PadMode: "same", Padding: op.IntList(1)}, in...),
		bad("types", op.DTypeMismatch, ConvWeightGradAttrs{KernelSize: three}, in[0], array.Cast(in[1], array.F64)),
		bad("integers", op.DTypeMismatch, ConvWeightGradAttrs{KernelSize: three}, castAll(array.I64, in)...),
	}
}
