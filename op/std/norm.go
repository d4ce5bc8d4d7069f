package std

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// BatchNormAttrs are the attributes of batch_norm. PyTorch's Eps is 1e-5.
type BatchNormAttrs struct {
	Eps      float64 `fx:",arg"`
	Training bool
}

// EpsAttrs are the attributes of normalisations with nothing but an epsilon.
type EpsAttrs struct {
	Eps float64 `fx:",arg"`
}

// LayerNormAttrs are the attributes of layer_norm and rms_norm: the last sizes
// of the operand, over which it is normalised.
type LayerNormAttrs struct {
	NormalizedShape shape.Dims `fx:",arg"`
	Eps             float64    `fx:",arg"`
}

// GroupNormAttrs are the attributes of group_norm. NumGroups -1 stands for a
// group for each channel.
type GroupNormAttrs struct {
	NumGroups int     `fx:",arg"`
	Eps       float64 `fx:",arg"`
}

// InstanceNormAttrs are the attributes of instance_norm. UseRunningStats takes
// the running statistics instead of those of each instance.
type InstanceNormAttrs struct {
	Eps             float64 `fx:",arg"`
	UseRunningStats bool
}

// BatchNorm is torch.nn.functional.batch_norm without the update of the running
// statistics, which module code does with assign.
//
//	%y = call_function[batch_norm](%x, %mean, %var, %w, %b) {eps=1e-05} : f32[N,64,56,56]
//
//gofx:torch batch_norm(x, running_mean, running_var, weight, bias, training, eps)
var BatchNorm = op.Define("batch_norm", op.Spec[BatchNormAttrs]{
	Differs: []op.Difference[BatchNormAttrs]{
		unlikeEmpty[BatchNormAttrs](),
		{Kind: op.Extends, Text: "running statistics that are missing outside training, for which those of x stand", When: func(a BatchNormAttrs, in []*array.Array) bool {
			return !a.Training && (len(in) < 3 || in[1] == nil || in[2] == nil)
		}},
		refusesMixed[BatchNormAttrs](),
		extendsEmpty[BatchNormAttrs](),
		refusesEps(func(a BatchNormAttrs) float64 { return a.Eps }),
		altersZeroEps(func(a BatchNormAttrs) float64 { return a.Eps }),
		refusesScalars[BatchNormAttrs](),
		altersFactors[BatchNormAttrs](true),
		extendsParameters[BatchNormAttrs](),
	},
	Doc:      "batch_norm normalises each channel of x [N,C,...] with the running statistics, or with those of x in training or without running ones.",
	Ref:      "Ioffe and Szegedy, Batch Normalization, 2015, arXiv:1502.03167",
	In:       op.Args("x", "running_mean?", "running_var?", "weight?", "bias?"),
	Class:    op.Reduction,
	Training: func(a BatchNormAttrs) bool { return a.Training },
	Infer: func(c *op.Infer, a BatchNormAttrs, in []shape.Type) (shape.Type, error) {
		if err := checkTraining(c, a, in[0]); err != nil {
			return shape.Type{}, err
		}
		return inferChannelNorm(c, a.Eps, in, "running_mean", "running_var", "weight", "bias")
	},
	Decompose: func(b op.Builder, a BatchNormAttrs, in []op.Value) op.Value {
		mean, variance := valueAt(in, 1), valueAt(in, 2)
		if a.Training || mean == nil || variance == nil {
			stats := b.Call(BatchNormStats, op.None{}, in[0])
			mean, variance = b.Item(stats, 0), b.Item(stats, 1)
		}
		return b.Call(BatchNormInference, EpsAttrs{a.Eps}, in[0], mean, variance, valueAt(in, 3), valueAt(in, 4))
	},
	Samples: batchNormSamples,
	Bad:     batchNormBad,
})

// BatchNormInference is batch_norm with given statistics, none of them absent.
//
//gofx:torch F.batch_norm(x, mean, var, weight, bias, eps=eps)
var BatchNormInference = op.Define("batch_norm_inference", op.Spec[EpsAttrs]{
	Differs: []op.Difference[EpsAttrs]{
		unlikeEmpty[EpsAttrs](),
		refusesMixed[EpsAttrs](),
		extendsEmpty[EpsAttrs](),
		refusesEps(func(a EpsAttrs) float64 { return a.Eps }),
		altersFactors[EpsAttrs](true),
		extendsParameters[EpsAttrs](),
		refusesScalars[EpsAttrs](),
	},
	Doc:      "batch_norm_inference is (x-mean)/sqrt(var+eps)·weight + bias for each channel of x [N,C,...].",
	In:       op.Args("x", "mean", "var", "weight?", "bias?"),
	Training: func(EpsAttrs) bool { return false }, // statistics that are given are not those of a batch
	Infer: func(c *op.Infer, a EpsAttrs, in []shape.Type) (shape.Type, error) {
		return inferChannelNorm(c, a.Eps, in, "mean", "var", "weight", "bias")
	},
	Kernel:  func(a EpsAttrs, _ []shape.Type) kernel.Step { return &kernel.BatchNorm{Eps: a.Eps} },
	Grad:    batchInferenceGrad,
	Flops:   func(_ EpsAttrs, _ []shape.Type, out shape.Type) shape.Dim { return elementCount(out).MulInt(2) },
	Samples: batchNormInferenceSamples,
	Bad:     batchNormInferenceBad,
})

// BatchNormStats returns what batch_norm needs in training.
//
//gofx:torch batch_norm_stats(x)
var BatchNormStats = op.Define("batch_norm_stats", op.Spec[op.None]{
	Doc: "batch_norm_stats returns the mean and the biased variance of each channel of x [N,C,...], f32 for half types.",
	In:  op.Args("x"), Class: op.Reduction, Results: []string{"mean", "var"},
	Infer: func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) {
		d, err := sameFloat([]string{"x"}, in)
		if err != nil {
			return shape.Type{}, err
		}
		if err := wantRank("x", in[0], 2, anyRank); err != nil {
			return shape.Type{}, err
		}
		if d.Size() == 2 {
			d = array.F32
		}
		t := shape.TensorType(d, shape.Of(in[0].Dim(1)))
		return shape.TupleType(t, t), nil
	},
	Kernel:  func(op.None, []shape.Type) kernel.Step { return &kernel.BatchNormStats{} },
	Grad:    batchStatsGrad,
	Flops:   func(_ op.None, in []shape.Type, _ shape.Type) shape.Dim { return elementCount(in[0]).MulInt(3) },
	Samples: batchNormStatsSamples,
	Bad:     batchNormStatsBad,
})

// LayerNorm is torch.nn.functional.layer_norm.
//
//gofx:torch layer_norm(x, normalized_shape, weight, bias, eps)
var LayerNorm = op.Define("layer_norm", op.Spec[LayerNormAttrs]{
	Differs: []op.Difference[LayerNormAttrs]{
		unlikeFar[LayerNormAttrs](0, 1),
		refusesMixed[LayerNormAttrs](),
		refusesEps(func(a LayerNormAttrs) float64 { return a.Eps }),
		altersFactors[LayerNormAttrs](false),
		extendsParameters[LayerNormAttrs](),
	},
	Doc: "layer_norm normalises x over its last dimensions, normalized_shape, by their mean and biased variance.",
	Ref: "Ba, Kiros and Hinton, Layer Normalization, 2016, arXiv:1607.06450",
	In:  op.Args("x", "weight?", "bias?"), Class: op.Reduction,
	Infer: func(c *op.Infer, a LayerNormAttrs, in []shape.Type) (shape.Type, error) {
		return inferLayerNorm(c, a, in, "weight", "bias")
	},
	Kernel: func(a LayerNormAttrs, _ []shape.Type) kernel.Step {
		return &kernel.LayerNorm{Axes: a.NormalizedShape.Len(), Eps: a.Eps}
	},
	Grad:    lastNormGrad(true),
	Flops:   func(_ LayerNormAttrs, _ []shape.Type, out shape.Type) shape.Dim { return elementCount(out).MulInt(5) },
	Samples: layerNormOwnSamples,
	Bad:     layerNormOwnBad,
})

// RmsNorm is torch.nn.functional.rms_norm.
//
//gofx:torch rms_norm(x, weight, normalized_shape, eps)
var RmsNorm = op.Define("rms_norm", op.Spec[LayerNormAttrs]{
	Differs: []op.Difference[LayerNormAttrs]{
		refusesMixed[LayerNormAttrs](),
		refusesEps(func(a LayerNormAttrs) float64 { return a.Eps }),
		departs[LayerNormAttrs](op.Alters, "the result has the type of x, also with a wider weight", mixed),
	},
	Doc: "rms_norm divides x by the root mean square over its last dimensions, normalized_shape.",
	Ref: "Zhang and Sennrich, Root Mean Square Layer Normalization, 2019, arXiv:1910.07467",
	In:  op.Args("x", "weight?"), Class: op.Reduction,
	Infer: func(c *op.Infer, a LayerNormAttrs, in []shape.Type) (shape.Type, error) {
		return inferLayerNorm(c, a, in, "weight")
	},
	Kernel: func(a LayerNormAttrs, _ []shape.Type) kernel.Step {
		return &kernel.RMSNorm{Axes: a.NormalizedShape.Len(), Eps: a.Eps}
	},
	Grad:    lastNormGrad(false),
	Flops:   func(_ LayerNormAttrs, _ []shape.Type, out shape.Type) shape.Dim { return elementCount(out).MulInt(4) },
	Samples: rmsNormSamples,
	Bad:     rmsNormBad,
})

// GroupNorm is torch.nn.functional.group_norm.
//
//gofx:torch F.group_norm(x, num_groups, weight, bias, eps)
var GroupNorm = op.Define("group_norm", op.Spec[GroupNormAttrs]{
	Differs: []op.Difference[GroupNormAttrs]{
		departs[GroupNormAttrs](op.GradExtends, "a bias without a weight, at which PyTorch 1.13 fails", func(in []*array.Array) bool { return in[1] == nil && in[2] != nil }),
		refusesMixed[GroupNormAttrs](),
		refusesEps(func(a GroupNormAttrs) float64 { return a.Eps }),
		altersFactors[GroupNormAttrs](false),
		extendsEmpty[GroupNormAttrs](),
		{Kind: op.Extends, Text: "groups of one element, whose deviation is 0", When: func(a GroupNormAttrs, in []*array.Array) bool {
			groups := a.NumGroups
			if groups < 1 && in[0].Rank() > 1 {
				groups = in[0].Dim(1)
			}
			return in[0].Rank() > 1 && in[0].Len() == in[0].Dim(0)*groups
		}},
		{Kind: op.Extends, Text: "a num_groups of -1, one group for each channel", When: func(a GroupNormAttrs, _ []*array.Array) bool { return a.NumGroups == -1 }},
		extendsParameters[GroupNormAttrs](),
	},
	Doc: "group_norm normalises x [N,C,...] over groups of channels and all further dimensions; num_groups of -1 is a group for each channel.",
	Ref: "Wu and He, Group Normalization, 2018, arXiv:1803.08494",
	In:  op.Args("x", "weight?", "bias?"), Class: op.Reduction,
	Infer: func(c *op.Infer, a GroupNormAttrs, in []shape.Type) (shape.Type, error) {
		if a.NumGroups < 1 && a.NumGroups != -1 {
			return shape.Type{}, badAttr("num_groups", strconv.Itoa(a.NumGroups), "1 or more, or -1 for one for each channel")
		}
		if err := groupsOf(c, in[0].Dim(1), max(a.NumGroups, 1), "x has "+in[0].Dim(1).String()+" channels", "num_groups"); err != nil {
			return shape.Type{}, err
		}
		return inferChannelNorm(c, a.Eps, in, "weight", "bias")
	},
	Kernel: func(a GroupNormAttrs, _ []shape.Type) kernel.Step {
		return &kernel.GroupNorm{Groups: a.NumGroups, Eps: a.Eps}
	},
	Grad:    groupNormGrad,
	Flops:   func(_ GroupNormAttrs, _ []shape.Type, out shape.Type) shape.Dim { return elementCount(out).MulInt(5) },
	Samples: groupNormSamples,
	Bad:     groupNormBad,
})

// InstanceNorm is torch.nn.functional.instance_norm without the update of the
// running statistics.
//
//gofx:torch F.instance_norm(x, running_mean, running_var, weight, bias, not use_running_stats, eps=eps)
var InstanceNorm = op.Define("instance_norm", op.Spec[InstanceNormAttrs]{
	Differs: []op.Difference[InstanceNormAttrs]{
		unlikeFar[InstanceNormAttrs](0, 1, 2, 3),
		{Kind: op.Extends, Text: "running statistics that are missing though asked for, for which those of the instance stand", When: func(a InstanceNormAttrs, in []*array.Array) bool {
			return a.UseRunningStats && (len(in) < 3 || in[1] == nil || in[2] == nil)
		}},
		refusesMixed[InstanceNormAttrs](),
		departs[InstanceNormAttrs](op.Extends, "instances of one element, whose deviation is 0", func(in []*array.Array) bool {
			return in[0].Rank() > 2 && in[0].Len() == in[0].Dim(0)*in[0].Dim(1)
		}),
		departs[InstanceNormAttrs](op.Refuses, "an x of two dimensions", func(in []*array.Array) bool { return in[0].Rank() == 2 }),
		extendsEmpty[InstanceNormAttrs](),
		refusesEps(func(a InstanceNormAttrs) float64 { return a.Eps }),
		altersZeroEps(func(a InstanceNormAttrs) float64 { return a.Eps }),
		refusesScalars[InstanceNormAttrs](),
		altersFactors[InstanceNormAttrs](true),
		extendsParameters[InstanceNormAttrs](),
	},
	Doc: "instance_norm normalises each channel of each instance of x [N,C,...] by its own statistics, or by the running ones.",
	Ref: "Ulyanov, Vedaldi and Lempitsky, Instance Normalization, 2016, arXiv:1607.08022",
	In:  op.Args("x", "running_mean?", "running_var?", "weight?", "bias?"), Class: op.Reduction,
	Infer: func(c *op.Infer, a InstanceNormAttrs, in []shape.Type) (shape.Type, error) {
		if err := wantRank("x", in[0], 3, anyRank); err != nil {
			return shape.Type{}, err
		}
		return inferChannelNorm(c, a.Eps, in, "running_mean", "running_var", "weight", "bias")
	},
	Decompose: instanceNorm,
	Samples:   instanceNormSamples,
	Bad:       instanceNormBad,
})

// instanceNorm is batch_norm_inference with running statistics, else group_norm
// with a group for each channel.
func instanceNorm(b op.Builder, a InstanceNormAttrs, in []op.Value) op.Value {
	x, weight, bias := in[0], valueAt(in, 3), valueAt(in, 4)
	if mean, variance := valueAt(in, 1), valueAt(in, 2); a.UseRunningStats && mean != nil && variance != nil {
		return b.Call(BatchNormInference, EpsAttrs{a.Eps}, x, mean, variance, weight, bias)
	}
	return b.Call(GroupNorm, GroupNormAttrs{NumGroups: -1, Eps: a.Eps}, x, weight, bias)
}

// normDType checks the element types of a normalisation: all equal, or f32
// parameters for a half-precision x.
func normDType(in []shape.Type, names ...string) (array.DType, error) {
	d, err := sameFloat([]string{"x"}, in)
	if err != nil {
		return d, err
	}
	for i, name := range names {
		p := operandAt(in, 1+i).DType()
		if p == array.Invalid || d == array.Invalid || p == d || (d.Size() == 2 && p == array.F32) {
			continue
		}
		return d, diag.New(op.DTypeMismatch, name+" has element type "+p.String()+", expected that of x, "+d.String())
	}
	return d, nil
}

// checkTraining refuses statistics of one value. Of symbolic sizes it wants two,
// because no guard says "not one".
func checkTraining(c *op.Infer, a BatchNormAttrs, x shape.Type) error {
	n := batchCount(x)
	if !a.Training || n.Is(0) {
		return nil
	}
	return c.AtLeast(n, shape.Const(2), op.SizeMismatch, func() string {
		return "x " + x.String() + " has " + n.String() + " value per channel, training expects more"
	})
}

// batchCount returns the number of values per channel of x [N,C,...].
func batchCount(x shape.Type) shape.Dim {
	if x.Rank() < 2 {
		return shape.Unknown
	}
	return x.Dim(0).Mul(x.Dims().Sub(2, x.Rank()).Prod())
}

// inferChannelNorm is the type rule of normalisations of x [N,C,...] whose other
// operands, named, have one value per channel.
func inferChannelNorm(c *op.Infer, eps float64, in []shape.Type, names ...string) (shape.Type, error) {
	x := in[0]
	d, err := normDType(in, names...)
	if err != nil {
		return shape.Type{}, err
	}
	if err := checkEps(eps); err != nil {
		return shape.Type{}, err
	}
	if err := wantRank("x", x, 2, anyRank); err != nil {
		return shape.Type{}, err
	}
	for i, name := range names {
		p := operandAt(in, 1+i)
		if err := wantRank(name, p, 1, 1); err != nil {
			return shape.Type{}, err
		}
		if _, err := c.Equal(x.Dim(1), p.Dim(0), op.SizeMismatch, func() string {
			return "x has " + x.Dim(1).String() + " channels, " + name + " expects " + p.Dim(0).String()
		}); err != nil {
			return shape.Type{}, err
		}
	}
	return withShapeOf(x, d), nil
}

// withShapeOf returns the tensor type of element type d and x's shape.
func withShapeOf(x shape.Type, d array.DType) shape.Type {
	return typeOf(d, x.Ranked(), x.Dims().Slice()...)
}

func checkEps(eps float64) error {
	if eps >= 0 {
		return nil
	}
	return badAttr("eps", strconv.FormatFloat(eps, 'g', -1, 64), "0 or more")
}

func inferLayerNorm(c *op.Infer, a LayerNormAttrs, in []shape.Type, names ...string) (shape.Type, error) {
	x, want := in[0], a.NormalizedShape
	d, err := normDType(in, names...)
	if err != nil {
		return shape.Type{}, err
	}
	if err := checkEps(a.Eps); err != nil {
		return shape.Type{}, err
	}
	if want.Len() == 0 {
		return shape.Type{}, badAttr("normalized_shape", "[]", "at least one size")
	}
	for i, name := range names {
		if err := checkTail(c, name, operandAt(in, 1+i), want, want.Len()); err != nil {
			return shape.Type{}, err
		}
	}
	if err := checkTail(c, "x", x, want, anyRank); err != nil {
		return shape.Type{}, err
	}
	return withShapeOf(x, d), nil
}

// checkTail requires the last dimensions of t to be want, and at most maxRank.
func checkTail(c *op.Infer, name string, t shape.Type, want shape.Dims, maxRank int) error {
	if !t.Ranked() {
		return nil
	}
	if err := wantRank(name, t, want.Len(), maxRank); err != nil {
		return err
	}
	for i := 1; i <= want.Len(); i++ {
		if _, err := c.Equal(t.Dim(-i), want.At(-i), op.SizeMismatch, func() string {
			return name + " has the shape " + t.Dims().String() + ", normalized_shape is " + want.String()
		}); err != nil {
			return err
		}
	}
	return nil
}

// unlikeEmpty is of normalisations.
func unlikeEmpty[A any]() op.Difference[A] {
	return departs[A](op.GradAlters, "that by factors and statistics that are not finite is NaN for an empty batch; PyTorch's is 0", empty)
}
