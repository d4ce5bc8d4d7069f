package std

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// ConvWeightGradAttrs are the attributes of conv1d_weight_grad to conv3d_weight_grad: the
// spatial sizes of the weight, and those of the convolution, with the defaults of ConvAttrs.
type ConvWeightGradAttrs struct {
	KernelSize                shape.Dims `fx:",arg"`
	Stride, Padding, Dilation op.Ints
	Groups                    int
	PadMode                   string `fx:",enum=valid|same"`
}

// conv returns the attributes of the convolution.
func (a ConvWeightGradAttrs) conv() ConvAttrs {
	return ConvAttrs{Stride: a.Stride, Padding: a.Padding, Dilation: a.Dilation, Groups: a.Groups, PadMode: a.PadMode}
}

// The gradients of convolutions by their weight take what was convolved, x [N,C,spatial...],
// and the gradient of the result, grad [N,M,spatial...].
//
//	%w = call_function[conv2d_weight_grad](%x, %grad) {kernel_size=[3,3], padding=[1]} : f32[64,32,3,3]
var (
	//gofx:torch conv_weight_grad(1, x, grad, kernel_size, stride, padding, dilation, groups, pad_mode)
	Conv1dWeightGrad = convWeightGradNd("conv1d_weight_grad", 1)
	//gofx:torch conv_weight_grad(2, x, grad, kernel_size, stride, padding, dilation, groups, pad_mode)
	Conv2dWeightGrad = convWeightGradNd("conv2d_weight_grad", 2)
	//gofx:torch conv_weight_grad(3, x, grad, kernel_size, stride, padding, dilation, groups, pad_mode)
	Conv3dWeightGrad = convWeightGradNd("conv3d_weight_grad", 3)
)

func convWeightGradNd(name string, n int) *op.Op {
	return op.Define(name, op.Spec[ConvWeightGradAttrs]{
		Differs: []op.Difference[ConvWeightGradAttrs]{refusesMixed[ConvWeightGradAttrs](), refusesIntegers[ConvWeightGradAttrs](), altersPadding[ConvWeightGradAttrs]()},
		Doc: name + " is the gradient of a convolution over " + spatialText(n) + " with respect to its weight: from x [N,C,...] and the gradient grad [N,M,...] of the result, [M,C/groups,kernel...]. " +
			"Windows may reach beyond x, where it is 0.",
		In: op.Args("x", "grad"), Class: op.Contraction, Quant: op.QuantNever,
		Infer: func(c *op.Infer, a ConvWeightGradAttrs, in []shape.Type) (shape.Type, error) {
			return inferConvWeightGrad(c, n, a, in)
		},
		Kernel: func(a ConvWeightGradAttrs, in []shape.Type) kernel.Step {
			s := &kernel.ConvWeightGrad{Stride: mustList(a.Stride, n, 1), Dilation: mustList(a.Dilation, n, 1), Groups: max(a.Groups, 1)}
			if a.PadMode == "same" {
				one := shape.Const(1)
				weight := shape.TensorType(array.F32, shape.Of(append([]shape.Dim{one, one}, kernelSize(a, n)...)...))
				var sizes []op.FieldSize
				s.PadLo, _, sizes = samePadding(s.Dilation, weight)
				low := sizes[:0]
				for i := range n {
					low = append(low, sizes[2*i])
				}
				return op.WithSizes(s, low...)
			}
			s.PadLo = mustList(a.Padding, n, 0)
			return s
		},
		Grad: convWeightGradGrad(n),
		Flops: func(a ConvWeightGradAttrs, in []shape.Type, out shape.Type) shape.Dim {
			if in[1].Rank() != n+2 {
				return shape.Unknown
			}
			return twiceProduct(elementCount(out), append([]shape.Dim{in[1].Dim(0)}, in[1].Dims().Slice()[2:]...)...)
		},
		Samples: func(g *op.Gen) []op.Sample { return convWeightGradSamples(g, n) },
		Bad:     func(g *op.Gen) []op.BadSample { return convWeightGradBad(g, n) },
	})
}

// kernelSize returns n sizes: those of the attribute, or its one for all.
func kernelSize(a ConvWeightGradAttrs, n int) []shape.Dim {
	k := a.KernelSize.Slice()
	for len(k) == 1 && len(k) < n {
		k = append(k, k[0])
		for len(k) < n {
			k = append(k, k[0])
		}
	}
	return k
}

func inferConvWeightGrad(c *op.Infer, n int, a ConvWeightGradAttrs, in []shape.Type) (shape.Type, error) {
	d, err := sameFloat([]string{"x", "grad"}, in)
	if err != nil {
		return shape.Type{}, err
	}
	for i, name := range []string{"x", "grad"} {
		if err := wantRank(name, in[i], n+2, n+2); err != nil {
			return shape.Type{}, err
		}
	}
	if err := checkWeightGradAttrs(c, n, a); err != nil {
		return shape.Type{}, err
	}
	x, grad, groups := in[0], in[1], max(a.Groups, 1)
	perGroup, filters := shape.Unknown, shape.Unknown
	if x.Ranked() {
		if err := groupsOf(c, x.Dim(1), groups, "x has "+x.Dim(1).String()+" channels", "groups"); err != nil {
			return shape.Type{}, err
		}
		perGroup = x.Dim(1).FloorDivInt(groups)
	}
	if grad.Ranked() {
		filters = grad.Dim(1)
		if err := groupsOf(c, filters, groups, "grad has "+filters.String()+" channels", "groups"); err != nil {
			return shape.Type{}, err
		}
	}
	if x.Ranked() && grad.Ranked() {
		if _, err := c.Equal(x.Dim(0), grad.Dim(0), op.SizeMismatch, func() string {
			return "x is a batch of " + x.Dim(0).String() + ", grad of " + grad.Dim(0).String()
		}); err != nil {
			return shape.Type{}, err
		}
	}
	return shape.TensorType(d, shape.Of(append([]shape.Dim{filters, perGroup}, kernelSize(a, n)...)...)), nil
}

func checkWeightGradAttrs(c *op.Infer, n int, a ConvWeightGradAttrs) error {
	k := kernelSize(a, n)
	if len(k) != n {
		return badAttr("kernel_size", a.KernelSize.String(), oneOr(n)+" elements")
	}
	for i, size := range k {
		if v, ok := size.Int(); size.IsUnknown() || ok && (v < 1 || v > maxListAttr) {
			return badAttr("kernel_size", a.KernelSize.String(), "numbers from 1 to "+strconv.Itoa(maxListAttr))
		}
		if err := notEmpty(c, size, "kernel_size "+a.KernelSize.String()+", in spatial dimension "+strconv.Itoa(i)+","); err != nil {
			return err
		}
	}
	stride, err := listAttr("stride", a.Stride, n, 1, 1)
	if err != nil {
		return err
	}
	if _, err := listAttr("padding", a.Padding, n, 0, 0); err != nil {
		return err
	}
	if _, err := listAttr("dilation", a.Dilation, n, 1, 1); err != nil {
		return err
	}
	if a.Groups < 0 {
		return badAttr("groups", strconv.Itoa(a.Groups), "1 or more")
	}
	return checkPadMode(a.conv(), stride)
}
