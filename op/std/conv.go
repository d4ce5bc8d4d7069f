package std

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// ConvAttrs are the attributes of conv1d, conv2d and conv3d. A list has one
// entry for each spatial dimension or one for all; empty means stride 1,
// padding 0, dilation 1. Groups 0 means 1. PadMode "same" pads so that the
// sizes stay (one more at the end when the padding is odd), with stride 1 and
// no Padding.
type ConvAttrs struct {
	Stride, Padding, Dilation op.Ints
	Groups                    int
	PadMode                   string `fx:",enum=valid|same"`
}

// ConvTransposeAttrs are the attributes of conv_transpose1d to 3d, with the
// defaults of ConvAttrs; OutputPadding adds to one end of the result's sizes.
type ConvTransposeAttrs struct {
	Stride, Padding, OutputPadding, Dilation op.Ints
	Groups                                   int
}

// The convolutions are those of torch.nn.functional: x is [N,C,spatial...] or
// [C,spatial...], the weight [M,C/groups,kernel...], the bias [M].
//
//	%y = call_function[conv2d](%x, %w, %b) {stride=[2,2], padding=[1]} : f32[N,64,112,112]
var (
	//gofx:torch F.conv1d(x, weight, bias, one(stride, 1), padded(padding, pad_mode), one(dilation, 1), groups or 1)
	Conv1d = convNd("conv1d", 1)
	//gofx:torch F.conv2d(x, weight, bias, one(stride, 1), padded(padding, pad_mode), one(dilation, 1), groups or 1)
	Conv2d = convNd("conv2d", 2)
	//gofx:torch F.conv3d(x, weight, bias, one(stride, 1), padded(padding, pad_mode), one(dilation, 1), groups or 1)
	Conv3d = convNd("conv3d", 3)
)

// The transposed convolutions are those of torch.nn.functional; the weight is
// [C,M/groups,kernel...].
var (
	//gofx:torch F.conv_transpose1d(x, weight, bias, one(stride, 1), one(padding, 0), one(output_padding, 0), groups or 1, one(dilation, 1))
	ConvTranspose1d = convTransposeNd("conv_transpose1d", 1)
	//gofx:torch F.conv_transpose2d(x, weight, bias, one(stride, 1), one(padding, 0), one(output_padding, 0), groups or 1, one(dilation, 1))
	ConvTranspose2d = convTransposeNd("conv_transpose2d", 2)
	//gofx:torch F.conv_transpose3d(x, weight, bias, one(stride, 1), one(padding, 0), one(output_padding, 0), groups or 1, one(dilation, 1))
	ConvTranspose3d = convTransposeNd("conv_transpose3d", 3)
)

func convNd(name string, n int) *op.Op {
	return op.Define(name, op.Spec[ConvAttrs]{
		Differs: []op.Difference[ConvAttrs]{refusesMixed[ConvAttrs](), refusesIntegers[ConvAttrs](), altersPadding[ConvAttrs](), extendsEmpty[ConvAttrs](), refusesNoKernel[ConvAttrs](n),
			departs[ConvAttrs](op.Alters, "sums without input channels are 0 or the bias, where PyTorch may return no channels", func(in []*array.Array) bool { return in[1].Rank() > 1 && in[1].Dim(1) == 0 })},
		Doc: name + " cross-correlates x [N,C,...] or [C,...] with the filters of weight [M,C/groups,...] over " + spatialText(n) + " and adds bias [M].",
		In:  op.Args("x", "weight", "bias?"), Class: op.Contraction, Quant: op.QuantWeighted,
		Infer: func(c *op.Infer, a ConvAttrs, in []shape.Type) (shape.Type, error) { return inferConv(c, n, a, in) },
		Kernel: func(a ConvAttrs, in []shape.Type) kernel.Step {
			s := &kernel.Conv{Stride: mustList(a.Stride, n, 1), Dilation: mustList(a.Dilation, n, 1), Groups: max(a.Groups, 1)}
			if a.PadMode == "same" {
				var sizes []op.FieldSize
				s.PadLo, s.PadHi, sizes = samePadding(s.Dilation, in[1])
				return op.WithSizes(s, sizes...)
			}
			s.PadLo = mustList(a.Padding, n, 0)
			s.PadHi = s.PadLo
			return s
		},
		Grad: convGrad(n),
		Flops: func(_ ConvAttrs, in []shape.Type, out shape.Type) shape.Dim {
			if in[1].Rank() != n+2 {
				return shape.Unknown
			}
			return twiceProduct(elementCount(out), in[1].Dims().Slice()[1:]...)
		},
		Samples: func(g *op.Gen) []op.Sample { return convSamples(g, n) },
		Bad:     func(g *op.Gen) []op.BadSample { return convBad(g, n) },
	})
}

func convTransposeNd(name string, n int) *op.Op {
	return op.Define(name, op.Spec[ConvTransposeAttrs]{
		Differs: []op.Difference[ConvTransposeAttrs]{refusesMixed[ConvTransposeAttrs](), refusesIntegers[ConvTransposeAttrs](), altersPadding[ConvTransposeAttrs](), extendsEmpty[ConvTransposeAttrs](), refusesNoKernel[ConvTransposeAttrs](n)},
		Doc:     name + " is the gradient of a convolution over " + spatialText(n) + " with respect to its input: x [N,C,...] or [C,...], weight [C,M/groups,...], bias [M].",
		In:      op.Args("x", "weight", "bias?"), Class: op.Contraction, Quant: op.QuantWeighted,
		Infer: func(c *op.Infer, a ConvTransposeAttrs, in []shape.Type) (shape.Type, error) {
			return inferConvTranspose(c, n, a, in)
		},
		Kernel: func(a ConvTransposeAttrs, _ []shape.Type) kernel.Step {
			return &kernel.ConvTranspose{Stride: mustList(a.Stride, n, 1), Padding: mustList(a.Padding, n, 0),
				OutputPadding: mustList(a.OutputPadding, n, 0), Dilation: mustList(a.Dilation, n, 1), Groups: max(a.Groups, 1)}
		},
		Grad: convTransposeGrad(n),
		Flops: func(_ ConvTransposeAttrs, in []shape.Type, _ shape.Type) shape.Dim {
			if in[1].Rank() != n+2 {
				return shape.Unknown
			}
			return twiceProduct(elementCount(in[0]), in[1].Dims().Slice()[1:]...)
		},
		Samples: func(g *op.Gen) []op.Sample { return convTransposeSamples(g, n) },
		Bad:     func(g *op.Gen) []op.BadSample { return convTransposeBad(g, n) },
	})
}

func spatialText(n int) string {
	if n == 1 {
		return "one spatial dimension"
	}
	return [...]string{"two", "three"}[n-2] + " spatial dimensions"
}

// window is what the type rules of convolutions and pools know of one spatial
// dimension; extent is the reach of the dilated kernel, dilation·(k-1)+1.
type window struct {
	extent         shape.Dim
	stride, lo, hi int
}

// windowCount returns how many windows fit a dimension of size n.
func windowCount(c *op.Infer, i int, n shape.Dim, w window) (shape.Dim, error) {
	padded := n.AddInt(w.lo + w.hi)
	out := padded.Sub(w.extent).FloorDivInt(w.stride).AddInt(1)
	err := c.AtLeast(padded, w.extent, op.SizeMismatch, func() string {
		return "the kernel spans " + w.extent.String() + " in spatial dimension " + strconv.Itoa(i) + ", x with its padding has " + padded.String()
	})
	return out, hinted(err, "use a smaller kernel or dilation, or more padding")
}

// hinted adds a hint to the error of a rule, where it is that of the rule.
func hinted(err error, hint string) error {
	if e, ok := err.(*diag.Error); ok && e.Hint == "" && e.Related == nil {
		return e.WithHint(hint)
	}
	return err
}

// notEmpty requires a dimension to have elements; name names it.
func notEmpty(c *op.Infer, n shape.Dim, name string) error {
	return c.AtLeast(n, shape.Const(1), op.SizeMismatch, func() string {
		return name + " has size " + n.String() + ", expected at least 1"
	})
}

// spatial names a spatial dimension of an operand.
func spatial(name string, t shape.Type, i int) string {
	return name + " " + t.String() + ", in spatial dimension " + strconv.Itoa(i) + ","
}

// groupsOf requires n to be a multiple of groups; what names it with its count.
func groupsOf(c *op.Infer, n shape.Dim, groups int, what, by string) error {
	return c.Multiple(n, shape.Const(groups), op.SizeMismatch, func() string {
		return what + ", expected a multiple of " + by + ", " + strconv.Itoa(groups)
	})
}

// extentOf returns dilation·(k-1)+1.
func extentOf(k shape.Dim, dilation int) shape.Dim { return k.AddInt(-1).MulInt(dilation).AddInt(1) }

// samePadding makes the padding that keeps sizes: what the kernel reaches beyond one
// element, half of it before and the larger half after.
func samePadding(dilation []int, weight shape.Type) (lo, hi []int, sizes []op.FieldSize) {
	lo, hi = make([]int, len(dilation)), make([]int, len(dilation))
	for i, d := range dilation {
		total := extentOf(weight.Dim(2+i), d).AddInt(-1)
		before := total.FloorDivInt(2)
		sizes = append(sizes, op.Size(&lo[i], before), op.Size(&hi[i], total.Sub(before)))
	}
	return lo, hi, sizes
}

// checkConv checks what all convolutions share and returns the element type.
func checkConv(c *op.Infer, n, groups int, in []shape.Type) (array.DType, error) {
	d, err := sameFloat([]string{"x", "weight", "bias"}, in)
	if err != nil {
		return d, err
	}
	if err := wantRank("x", in[0], n+1, n+2); err != nil {
		return d, err
	}
	if err := wantRank("weight", in[1], n+2, n+2); err != nil {
		return d, err
	}
	if groups < 0 {
		return d, badAttr("groups", strconv.Itoa(groups), "1 or more")
	}
	for i := range n {
		if err := notEmpty(c, in[1].Dim(2+i), spatial("weight", in[1], i)); err != nil {
			return d, err
		}
	}
	return d, nil
}

func inferConv(c *op.Infer, n int, a ConvAttrs, in []shape.Type) (shape.Type, error) {
	d, err := checkConv(c, n, a.Groups, in)
	if err != nil {
		return shape.Type{}, err
	}
	stride, err := listAttr("stride", a.Stride, n, 1, 1)
	if err != nil {
		return shape.Type{}, err
	}
	pad, err := listAttr("padding", a.Padding, n, 0, 0)
	if err != nil {
		return shape.Type{}, err
	}
	dilation, err := listAttr("dilation", a.Dilation, n, 1, 1)
	if err != nil {
		return shape.Type{}, err
	}
	if err := checkPadMode(a, stride); err != nil {
		return shape.Type{}, err
	}
	x, w := in[0], in[1]
	if err := convChannels(c, n, max(a.Groups, 1), in); err != nil {
		return shape.Type{}, err
	}
	if !x.Ranked() {
		return shape.Unranked(d), nil
	}
	dims := x.Dims().Slice()
	first := len(dims) - n
	dims[first-1] = w.Dim(0)
	for i := range n {
		if a.PadMode == "same" {
			continue
		}
		dims[first+i], err = windowCount(c, i, dims[first+i], window{extentOf(w.Dim(2+i), dilation[i]), stride[i], pad[i], pad[i]})
		if err != nil {
			return shape.Type{}, err
		}
	}
	return shape.TensorType(d, shape.Of(dims...)), nil
}

func checkPadMode(a ConvAttrs, stride []int) error {
	switch a.PadMode {
	case "":
		return nil
	case "valid", "same":
	default:
		return badAttr("pad_mode", strconv.Quote(a.PadMode), "valid or same")
	}
	for i := range a.Padding.Len() {
		if a.Padding.At(i) != 0 {
			return badAttr("padding", a.Padding.String(), "none with pad_mode "+strconv.Quote(a.PadMode))
		}
	}
	for _, s := range stride {
		if a.PadMode == "same" && s != 1 {
			return badAttr("stride", a.Stride.String(), "1 with pad_mode \"same\"")
		}
	}
	return nil
}

// convChannels checks the channels of x, the groups of the weight and the bias.
func convChannels(c *op.Infer, n, groups int, in []shape.Type) error {
	x, w := in[0], in[1]
	if err := groupsOf(c, w.Dim(0), groups, "weight has "+w.Dim(0).String()+" filters", "groups"); err != nil {
		return err
	}
	if err := wantVector(c, "bias", operandAt(in, 2), w.Dim(0), "weight"); err != nil {
		return err
	}
	if !x.Ranked() {
		return nil
	}
	chans, want := x.Dim(-n-1), w.Dim(1).MulInt(groups)
	_, err := c.Equal(chans, want, op.SizeMismatch, func() string {
		msg := "x has " + chans.String() + " channels, weight expects " + want.String()
		if groups > 1 {
			msg += " (" + strconv.Itoa(groups) + " groups of " + w.Dim(1).String() + ")"
		}
		return msg
	})
	return err
}

func inferConvTranspose(c *op.Infer, n int, a ConvTransposeAttrs, in []shape.Type) (shape.Type, error) {
	d, err := checkConv(c, n, a.Groups, in)
	if err != nil {
		return shape.Type{}, err
	}
	lists := [4][]int{}
	for i, l := range []struct {
		name       string
		v          op.Ints
		def, least int
	}{{"stride", a.Stride, 1, 1}, {"padding", a.Padding, 0, 0}, {"output_padding", a.OutputPadding, 0, 0}, {"dilation", a.Dilation, 1, 1}} {
		if lists[i], err = listAttr(l.name, l.v, n, l.def, l.least); err != nil {
			return shape.Type{}, err
		}
	}
	stride, pad, extra, dilation := lists[0], lists[1], lists[2], lists[3]
	for i := range n {
		if extra[i] >= stride[i] && extra[i] >= dilation[i] {
			return shape.Type{}, badAttr("output_padding", a.OutputPadding.String(), "less than the stride or the dilation")
		}
	}
	x, w, groups := in[0], in[1], max(a.Groups, 1)
	if err := convTransposeChannels(c, n, groups, in); err != nil {
		return shape.Type{}, err
	}
	if !x.Ranked() {
		return shape.Unranked(d), nil
	}
	dims := x.Dims().Slice()
	first := len(dims) - n
	dims[first-1] = w.Dim(1).MulInt(groups)
	for i := range n {
		size := dims[first+i].AddInt(-1).MulInt(stride[i]).AddInt(extra[i] - 2*pad[i]).Add(extentOf(w.Dim(2+i), dilation[i]))
		if err := notEmpty(c, size, "the result, in spatial dimension "+strconv.Itoa(i)+","); err != nil {
			return shape.Type{}, hinted(err, "use less padding")
		}
		dims[first+i] = size
	}
	return shape.TensorType(d, shape.Of(dims...)), nil
}

func convTransposeChannels(c *op.Infer, n, groups int, in []shape.Type) error {
	x, w := in[0], in[1]
	if err := groupsOf(c, w.Dim(0), groups, "weight has "+w.Dim(0).String()+" input channels", "groups"); err != nil {
		return err
	}
	if err := wantVector(c, "bias", operandAt(in, 2), w.Dim(1).MulInt(groups), "the result"); err != nil {
		return err
	}
	if !x.Ranked() {
		return nil
	}
	_, err := c.Equal(x.Dim(-n-1), w.Dim(0), op.SizeMismatch, func() string {
		return "x has " + x.Dim(-n-1).String() + " channels, weight expects " + w.Dim(0).String()
	})
	return err
}
