package std

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// MaxPoolAttrs are the attributes of max_pool1d to 3d. A list has one entry for
// each spatial dimension or one for all; an empty Stride is KernelSize, padding
// is at most half the kernel. CeilMode adds a last window that starts inside the
// input or the padding before it but reaches over the end.
type MaxPoolAttrs struct {
	KernelSize                op.Ints `fx:",arg,each"`
	Stride, Padding, Dilation op.Ints
	CeilMode                  bool
}

// AvgPoolAttrs are the attributes of avg_pool1d to 3d; lists and CeilMode as in
// MaxPoolAttrs. Padding counts as zeros unless CountExcludePad is set; a
// DivisorOverride other than 0 replaces the window's size.
type AvgPoolAttrs struct {
	KernelSize      op.Ints `fx:",arg,each"`
	Stride, Padding op.Ints
	CeilMode        bool
	CountExcludePad bool
	DivisorOverride int
}

// AdaptivePoolAttrs are the attributes of the adaptive pools. OutputSize has one
// entry for each spatial dimension or one for all; 0 or -1 keeps the size.
type AdaptivePoolAttrs struct {
	OutputSize op.Ints `fx:",arg"`
}

// LpPoolAttrs are the attributes of lp_pool1d and lp_pool2d.
type LpPoolAttrs struct {
	NormType   float64 `fx:",arg"`
	KernelSize op.Ints `fx:",arg,each"`
	Stride     op.Ints
	CeilMode   bool
}

// The pools are those of torch.nn.functional; x is [N,C,spatial...] or
// [C,spatial...]. The variants with indices also return the position of each
// maximum within its input plane.
var (
	//gofx:torch F.max_pool1d(x, one(kernel_size), one(stride), one(padding, 0), one(dilation, 1), ceil_mode)
	MaxPool1d = maxPoolNd("max_pool1d", 1, false)
	//gofx:torch F.max_pool2d(x, one(kernel_size), one(stride), one(padding, 0), one(dilation, 1), ceil_mode)
	MaxPool2d = maxPoolNd("max_pool2d", 2, false)
	//gofx:torch F.max_pool3d(x, one(kernel_size), one(stride), one(padding, 0), one(dilation, 1), ceil_mode)
	MaxPool3d = maxPoolNd("max_pool3d", 3, false)
	//gofx:torch F.max_pool1d(x, one(kernel_size), one(stride), one(padding, 0), one(dilation, 1), ceil_mode, True)
	MaxPool1dWithIndices = maxPoolNd("max_pool1d_with_indices", 1, true)
	//gofx:torch F.max_pool2d(x, one(kernel_size), one(stride), one(padding, 0), one(dilation, 1), ceil_mode, True)
	MaxPool2dWithIndices = maxPoolNd("max_pool2d_with_indices", 2, true)
	//gofx:torch F.max_pool3d(x, one(kernel_size), one(stride), one(padding, 0), one(dilation, 1), ceil_mode, True)
	MaxPool3dWithIndices = maxPoolNd("max_pool3d_with_indices", 3, true)

	//gofx:torch avg_pool1d(x, kernel_size, stride, padding, ceil_mode, count_exclude_pad, divisor_override)
	AvgPool1d = avgPoolNd("avg_pool1d", 1)
	//gofx:torch F.avg_pool2d(x, one(kernel_size), one(stride), one(padding, 0), ceil_mode, not count_exclude_pad, divisor_override or None)
	AvgPool2d = avgPoolNd("avg_pool2d", 2)
	//gofx:torch F.avg_pool3d(x, one(kernel_size), one(stride), one(padding, 0), ceil_mode, not count_exclude_pad, divisor_override or None)
	AvgPool3d = avgPoolNd("avg_pool3d", 3)

	//gofx:torch F.adaptive_avg_pool1d(x, kept(output_size, 1, x))
	AdaptiveAvgPool1d = adaptivePoolNd("adaptive_avg_pool1d", 1, false, false)
	//gofx:torch F.adaptive_avg_pool2d(x, kept(output_size, 2, x))
	AdaptiveAvgPool2d = adaptivePoolNd("adaptive_avg_pool2d", 2, false, false)
	//gofx:torch F.adaptive_avg_pool3d(x, kept(output_size, 3, x))
	AdaptiveAvgPool3d = adaptivePoolNd("adaptive_avg_pool3d", 3, false, false)

	//gofx:torch F.adaptive_max_pool1d(x, kept(output_size, 1, x))
	AdaptiveMaxPool1d = adaptivePoolNd("adaptive_max_pool1d", 1, true, false)
	//gofx:torch F.adaptive_max_pool2d(x, kept(output_size, 2, x))
	AdaptiveMaxPool2d = adaptivePoolNd("adaptive_max_pool2d", 2, true, false)
	//gofx:torch F.adaptive_max_pool3d(x, kept(output_size, 3, x))
	AdaptiveMaxPool3d = adaptivePoolNd("adaptive_max_pool3d", 3, true, false)
	//gofx:torch F.adaptive_max_pool1d(x, kept(output_size, 1, x), True)
	AdaptiveMaxPool1dWithIndices = adaptivePoolNd("adaptive_max_pool1d_with_indices", 1, true, true)
	//gofx:torch F.adaptive_max_pool2d(x, kept(output_size, 2, x), True)
	AdaptiveMaxPool2dWithIndices = adaptivePoolNd("adaptive_max_pool2d_with_indices", 2, true, true)
	//gofx:torch F.adaptive_max_pool3d(x, kept(output_size, 3, x), True)
	AdaptiveMaxPool3dWithIndices = adaptivePoolNd("adaptive_max_pool3d_with_indices", 3, true, true)
)

func maxPoolNd(name string, n int, withIndices bool) *op.Op {
	s := op.Spec[MaxPoolAttrs]{
		Differs: []op.Difference[MaxPoolAttrs]{extendsIntegers[MaxPoolAttrs](), extendsEmpty[MaxPoolAttrs](),
			{Kind: op.GradAlters, Text: "windows that lie in the padding alone have no part; in PyTorch an element outside of them gets theirs", When: func(a MaxPoolAttrs, _ []*array.Array) bool { return dilated(a, n) }},
			{Kind: op.Refuses, Text: "an x smaller than the kernel, of which PyTorch's max_pool1d makes no windows", When: func(MaxPoolAttrs, []*array.Array) bool { return n == 1 && !withIndices }},
			{Kind: op.Extends, Text: "a padding up to half of the kernel with its dilation, as PyTorch does since 2.1", When: func(a MaxPoolAttrs, _ []*array.Array) bool { return a.Dilation.Len() > 0 }}},
		Doc: name + " takes the maximum of every window over " + spatialText(n) + ".",
		In:  op.Args("x"), Class: op.Reduction, Quant: op.QuantShared,
		Infer: func(c *op.Infer, a MaxPoolAttrs, in []shape.Type) (shape.Type, error) {
			d, err := sameNumber([]string{"x"}, in)
			if err != nil {
				return shape.Type{}, err
			}
			p := poolAttrs{a.KernelSize, a.Stride, a.Padding, a.Dilation, a.CeilMode}
			t, err := p.infer(c, n, d, in[0])
			return poolResult(t, err, withIndices)
		},
		Kernel: func(a MaxPoolAttrs, _ []shape.Type) kernel.Step {
			pad := mustList(a.Padding, n, 0)
			return &kernel.MaxPool{Kernel: mustList(a.KernelSize, n, 1), Stride: strideList(a.Stride, a.KernelSize, n),
				PadLo: pad, PadHi: pad, Dilation: mustList(a.Dilation, n, 1)}
		},
		Grad:    maxPoolGrad(n, finder(name, withIndices), func(a MaxPoolAttrs) bool { return dilated(a, n) }),
		Samples: func(g *op.Gen) []op.Sample { return maxPoolSamples(g, n) },
		Bad:     func(g *op.Gen) []op.BadSample { return maxPoolBad(g, n) },
	}
	if withIndices {
		s.Results, s.Quant = valuesAndIndices, op.QuantReference
	}
	return op.Define(name, s)
}

var valuesAndIndices = []string{"values", "indices"}

func avgPoolNd(name string, n int) *op.Op {
	return op.Define(name, op.Spec[AvgPoolAttrs]{
		Differs: avgPoolDiffers(n),
		Doc:     name + " takes the mean of every window over " + spatialText(n) + ".",
		In:      op.Args("x"), Class: op.Reduction, Quant: op.QuantShared,
		Infer: func(c *op.Infer, a AvgPoolAttrs, in []shape.Type) (shape.Type, error) {
			if d := in[0].DType(); d != array.Invalid && d != array.I64 && !d.IsFloat() {
				return shape.Type{}, notFloat("x", d)
			}
			if a.DivisorOverride < 0 {
				return shape.Type{}, badAttr("divisor_override", strconv.Itoa(a.DivisorOverride), "0 or more")
			}
			p := poolAttrs{a.KernelSize, a.Stride, a.Padding, op.Ints{}, a.CeilMode}
			return p.infer(c, n, in[0].DType(), in[0])
		},
		Kernel: func(a AvgPoolAttrs, _ []shape.Type) kernel.Step {
			pad := mustList(a.Padding, n, 0)
			return &kernel.AvgPool{Kernel: mustList(a.KernelSize, n, 1), Stride: strideList(a.Stride, a.KernelSize, n),
				PadLo: pad, PadHi: pad, CountIncludePad: !a.CountExcludePad, DivisorOverride: a.DivisorOverride}
		},
		Grad:    avgPoolGrad(name, n),
		Samples: func(g *op.Gen) []op.Sample { return avgPoolSamples(g, n) },
		Bad:     func(g *op.Gen) []op.BadSample { return avgPoolBad(g, n) },
	})
}

func adaptivePoolNd(name string, n int, greatest, withIndices bool) *op.Op {
	what := "mean"
	if greatest {
		what = "maximum"
	}
	s := op.Spec[AdaptivePoolAttrs]{
		Differs: adaptivePoolDiffers(n),
		Doc:     name + " takes the " + what + " of windows chosen so that the result has output_size over " + spatialText(n) + ".",
		In:      op.Args("x"), Class: op.Reduction, Quant: op.QuantShared,
		Infer: func(c *op.Infer, a AdaptivePoolAttrs, in []shape.Type) (shape.Type, error) {
			t, err := inferAdaptive(c, n, a, in)
			return poolResult(t, err, withIndices)
		},
		Kernel: func(AdaptivePoolAttrs, []shape.Type) kernel.Step {
			if greatest {
				return &kernel.AdaptiveMaxPool{Spatial: n}
			}
			return &kernel.AdaptiveAvgPool{Spatial: n}
		},
		Samples: func(g *op.Gen) []op.Sample { return adaptivePoolSamples(g, n) },
		Bad:     func(g *op.Gen) []op.BadSample { return adaptivePoolBad(g, n) },
	}
	if greatest {
		s.Grad = maxPoolGrad(n, finder(name, withIndices), func(AdaptivePoolAttrs) bool { return false })
	}
	if withIndices {
		s.Results, s.Quant = valuesAndIndices, op.QuantReference
	}
	return op.Define(name, s)
}

// finder is the operator that says where the maxima of a pool are; "" for one that does so.
func finder(pool string, withIndices bool) string {
	if withIndices {
		return ""
	}
	return pool + "_with_indices"
}

// poolResult adds the type of the indices where there are any.
func poolResult(t shape.Type, err error, withIndices bool) (shape.Type, error) {
	if err != nil || !withIndices {
		return t, err
	}
	return shape.TupleType(t, t.WithDType(array.I64)), nil
}

func strideList(stride, kernelSize op.Ints, n int) []int {
	if stride.Len() == 0 {
		stride = kernelSize
	}
	return mustList(stride, n, 1)
}

// poolAttrs is what all pools with fixed windows share.
type poolAttrs struct {
	kernel, stride, pad, dilation op.Ints
	ceil                          bool
}

func (p poolAttrs) windows(n int) ([]window, error) {
	if p.kernel.Len() == 0 {
		return nil, badAttr("kernel_size", "[]", oneOr(n)+" elements")
	}
	k, err := listAttr("kernel_size", p.kernel, n, 1, 1)
	if err != nil {
		return nil, err
	}
	if p.stride.Len() == 0 {
		p.stride = p.kernel
	}
	stride, err := listAttr("stride", p.stride, n, 1, 1)
	if err != nil {
		return nil, err
	}
	pad, err := listAttr("padding", p.pad, n, 0, 0)
	if err != nil {
		return nil, err
	}
	dilation, err := listAttr("dilation", p.dilation, n, 1, 1)
	if err != nil {
		return nil, err
	}
	out := make([]window, n)
	for i := range out {
		if (k[i]-1)*dilation[i]+1 < 2*pad[i] {
			return nil, badAttr("padding", p.pad.String(), "at most half of kernel_size "+p.kernel.String())
		}
		out[i] = window{extentOf(shape.Const(k[i]), dilation[i]), stride[i], pad[i], pad[i]}
	}
	return out, nil
}

func (p poolAttrs) infer(c *op.Infer, n int, d array.DType, x shape.Type) (shape.Type, error) {
	windows, err := p.windows(n)
	if err != nil {
		return shape.Type{}, err
	}
	return pooled(c, n, d, x, func(i int, size shape.Dim) (shape.Dim, error) {
		if p.ceil {
			return ceilCount(c, i, size, windows[i])
		}
		return windowCount(c, i, size, windows[i])
	})
}

// pooled is x of type d with the last n dimensions, which must not be empty, of
// other sizes.
func pooled(c *op.Infer, n int, d array.DType, x shape.Type, resize func(i int, size shape.Dim) (shape.Dim, error)) (shape.Type, error) {
	if err := wantRank("x", x, n+1, n+2); err != nil {
		return shape.Type{}, err
	}
	if !x.Ranked() {
		return shape.Unranked(d), nil
	}
	dims := x.Dims().Slice()
	for i := range n {
		at := len(dims) - n + i
		if err := notEmpty(c, dims[at], spatial("x", x, i)); err != nil {
			return shape.Type{}, err
		}
		var err error
		if dims[at], err = resize(i, dims[at]); err != nil {
			return shape.Type{}, err
		}
	}
	return shape.TensorType(d, shape.Of(dims...)), nil
}

// ceilCount is windowCount rounded up, without a window that would start in the
// padding after the input.
func ceilCount(c *op.Infer, i int, n shape.Dim, w window) (shape.Dim, error) {
	reach := w
	reach.hi += w.stride - 1
	out, err := windowCount(c, i, n, reach)
	if err != nil {
		return out, err
	}
	if extent, _ := w.extent.Int(); w.hi+w.stride <= extent {
		return out, nil // the last window starts before (n+lo+hi-extent+stride-1)+1 <= n+lo
	}
	// Windows start at the multiples of the stride below n+lo: the last of these would
	// reach over the end with less than a stride.
	return n.AddInt(w.lo + w.stride - 1).FloorDivInt(w.stride), nil
}

func inferAdaptive(c *op.Infer, n int, a AdaptivePoolAttrs, in []shape.Type) (shape.Type, error) {
	x := in[0]
	d, err := sameFloat([]string{"x"}, in)
	if err != nil {
		return shape.Type{}, err
	}
	if a.OutputSize.Len() == 0 {
		return shape.Type{}, badAttr("output_size", "[]", oneOr(n)+" elements")
	}
	size, err := listAttr("output_size", a.OutputSize, n, 0, -1)
	if err != nil {
		return shape.Type{}, err
	}
	return pooled(c, n, d, x, func(i int, old shape.Dim) (shape.Dim, error) {
		if size[i] > 0 {
			return shape.Const(size[i]), nil
		}
		return old, nil
	})
}
