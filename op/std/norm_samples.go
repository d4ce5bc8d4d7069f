package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// channelInputs makes operands x, mean, var, weight and bias for the
// normalisations of channels, without attributes.
func channelInputs(g *op.Gen) []op.Sample {
	call := func(name string, in []*array.Array) op.Sample { return op.Sample{Name: name, In: in} }
	args := func(dims ...int) []*array.Array {
		c := dims[1]
		return []*array.Array{g.Normal(dims...), g.Normal(c), g.Uniform(0.5, 2, c), g.Normal(c), g.Normal(c)}
	}
	strided := args(2, 4, 3, 5)
	strided[0] = g.Strided(strided[0])
	half := args(2, 4, 3)
	half[0] = array.Cast(half[0], array.F16)
	special := args(5, 2, 3)
	array.SetFloat64At(special[0], 4, array.Float64At(g.Special(), 0))
	array.SetFloat64At(special[0], 9, array.Float64At(g.Special(), 1))
	return []op.Sample{
		call("image", args(2, 4, 5, 3)),
		call("matrix", args(5, 4)),
		call("sequence", args(3, 2, 7)),
		call("volume", args(2, 2, 3, 2, 4)),
		call("strided", strided),
		call("empty batch", args(0, 4, 3)),
		call("f64", castAll(array.F64, args(3, 4, 5))),
		call("f16 with f32 parameters", half),
		call("bf16", castAll(array.BF16, args(3, 4, 5))),
		call("special", special),
	}
}

func batchNormSamples(g *op.Gen) []op.Sample {
	var out []op.Sample
	for _, s := range channelInputs(g) {
		in := s.In
		out = append(out, op.Sample{Name: s.Name, Attrs: BatchNormAttrs{Eps: 1e-5}, In: in})
		if s.Name != "empty batch" {
			out = append(out, op.Sample{Name: s.Name + ", training", Attrs: BatchNormAttrs{Eps: 1e-3, Training: true}, In: in})
		}
	}
	in := out[0].In
	return append(out,
		op.Sample{Name: "no affine", Attrs: BatchNormAttrs{Eps: 1e-5}, In: in[:3]},
		op.Sample{Name: "bias only", Attrs: BatchNormAttrs{Eps: 1e-5}, In: []*array.Array{in[0], in[1], in[2], nil, in[4]}},
		op.Sample{Name: "no running statistics", Attrs: BatchNormAttrs{Eps: 1e-5}, In: []*array.Array{in[0], nil, nil, in[3], in[4]}},
		op.Sample{Name: "x alone", Attrs: BatchNormAttrs{Eps: 1e-5}, In: in[:1]})
}

func batchNormBad(g *op.Gen) []op.BadSample {
	in := channelInputs(g)[0].In
	bad := channelBad(g, in, 1, func(eps float64) any { return BatchNormAttrs{Eps: eps} })
	return append(bad, op.BadSample{Name: "one value in training", Attrs: BatchNormAttrs{Eps: 1e-5, Training: true},
		In: []*array.Array{g.Normal(1, 4)}, Code: op.SizeMismatch})
}

// channelBad makes the mistakes common to normalisations of channels; in is a
// right call, at the position of an operand with one value per channel.
func channelBad(g *op.Gen, in []*array.Array, at int, attrs func(eps float64) any) []op.BadSample {
	bad := func(name string, code diag.Code, x, p *array.Array) op.BadSample {
		call := append([]*array.Array(nil), in...)
		call[0], call[at] = x, p
		return op.BadSample{Name: name, Attrs: attrs(1e-5), In: call, Code: code}
	}
	x, p := in[0], in[at]
	negative := bad("eps", op.BadAttr, x, p)
	negative.Attrs = attrs(-1)
	return []op.BadSample{
		bad("channels", op.SizeMismatch, x, g.Normal(p.Dim(0)+1)),
		bad("rank of a parameter", op.RankMismatch, x, g.Normal(1, p.Dim(0))),
		bad("rank of x", op.RankMismatch, g.Normal(4), p),
		bad("integers", op.DTypeMismatch, array.Cast(x, array.I64), p),
		bad("parameter type", op.DTypeMismatch, x, array.Cast(p, array.F64)),
		negative,
	}
}

func batchNormInferenceSamples(g *op.Gen) []op.Sample {
	out := channelInputs(g)
	for i := range out {
		out[i].Attrs = EpsAttrs{1e-5}
	}
	in := out[0].In
	return append(out, op.Sample{Name: "no affine", Attrs: EpsAttrs{1e-5}, In: in[:3]},
		op.Sample{Name: "weight only", Attrs: EpsAttrs{1e-3}, In: in[:4]})
}

func batchNormInferenceBad(g *op.Gen) []op.BadSample {
	in := channelInputs(g)[0].In
	bad := channelBad(g, in, 2, func(eps float64) any { return EpsAttrs{eps} })
	return append(bad, op.BadSample{Name: "no statistics", Attrs: EpsAttrs{1e-5}, In: in[:1], Code: op.OperandCount})
}

func groupNormSamples(g *op.Gen) []op.Sample {
	var out []op.Sample
	for _, s := range channelInputs(g) {
		in := []*array.Array{s.In[0], s.In[3], s.In[4]}
		out = append(out, op.Sample{Name: s.Name, Attrs: GroupNormAttrs{NumGroups: 2, Eps: 1e-5}, In: in})
	}
	in := out[0].In
	return append(out,
		op.Sample{Name: "one group", Attrs: GroupNormAttrs{NumGroups: 1, Eps: 1e-5}, In: in},
		op.Sample{Name: "a group a channel", Attrs: GroupNormAttrs{NumGroups: 4, Eps: 1e-3}, In: in},
		op.Sample{Name: "no affine", Attrs: GroupNormAttrs{NumGroups: 2, Eps: 1e-5}, In: in[:1]},
		op.Sample{Name: "bias only", Attrs: GroupNormAttrs{NumGroups: 2, Eps: 1e-5}, In: []*array.Array{in[0], nil, in[2]}})
}

func groupNormBad(g *op.Gen) []op.BadSample {
	in := groupNormSamples(g)[0].In
	bad := channelBad(g, in, 1, func(eps float64) any { return GroupNormAttrs{NumGroups: 2, Eps: eps} })
	return append(bad,
		op.BadSample{Name: "negative groups", Attrs: GroupNormAttrs{NumGroups: -2, Eps: 1e-5}, In: in, Code: op.BadAttr},
		op.BadSample{Name: "groups", Attrs: GroupNormAttrs{NumGroups: 3, Eps: 1e-5}, In: in, Code: op.SizeMismatch})
}

func instanceNormSamples(g *op.Gen) []op.Sample {
	var out []op.Sample
	for _, s := range channelInputs(g) {
		if s.In[0].Rank() > 2 {
			out = append(out, op.Sample{Name: s.Name, Attrs: InstanceNormAttrs{Eps: 1e-5}, In: s.In})
		}
	}
	in := out[0].In
	return append(out,
		op.Sample{Name: "x alone", Attrs: InstanceNormAttrs{Eps: 1e-5}, In: in[:1]},
		op.Sample{Name: "affine", Attrs: InstanceNormAttrs{Eps: 1e-3}, In: []*array.Array{in[0], nil, nil, in[3], in[4]}},
		op.Sample{Name: "running statistics", Attrs: InstanceNormAttrs{Eps: 1e-5, UseRunningStats: true}, In: in})
}

func instanceNormBad(g *op.Gen) []op.BadSample {
	in := channelInputs(g)[0].In
	return append(channelBad(g, in, 1, func(eps float64) any { return InstanceNormAttrs{Eps: eps} }),
		op.BadSample{Name: "no space", Attrs: InstanceNormAttrs{Eps: 1e-5}, In: []*array.Array{g.Normal(3, 4)}, Code: op.RankMismatch})
}

// layerNormSamples makes calls of layer_norm, or of rms_norm without the bias.
func layerNormSamples(g *op.Gen, bias bool) []op.Sample {
	call := func(name string, axes int, dims ...int) op.Sample {
		tail := dims[len(dims)-axes:]
		in := []*array.Array{g.Normal(dims...), g.Normal(tail...)}
		if bias {
			in = append(in, g.Normal(tail...))
		}
		return op.Sample{Name: name, Attrs: LayerNormAttrs{NormalizedShape: shape.ConstDims(tail...), Eps: 1e-5}, In: in}
	}
	with := func(s op.Sample, name string, f func(in []*array.Array) []*array.Array) op.Sample {
		s.Name, s.In = name, f(append([]*array.Array(nil), s.In...))
		return s
	}
	plain := call("last dimension", 1, 3, 4, 6)
	out := []op.Sample{
		plain,
		call("two dimensions", 2, 3, 4, 6),
		call("all dimensions", 2, 4, 6),
		call("vector", 1, 7),
		call("empty batch", 1, 0, 5),
		with(plain, "no weight", func(in []*array.Array) []*array.Array { return in[:1] }),
		with(plain, "strided", func(in []*array.Array) []*array.Array { in[0] = g.Strided(in[0]); return in }),
		with(plain, "f64", func(in []*array.Array) []*array.Array { return castAll(array.F64, in) }),
		with(plain, "f16 with f32 weight", func(in []*array.Array) []*array.Array { in[0] = array.Cast(in[0], array.F16); return in }),
		with(plain, "special", func(in []*array.Array) []*array.Array {
			in[0] = array.Clone(in[0])
			array.SetFloat64At(in[0], 1, array.Float64At(g.Special(), 0))
			array.SetFloat64At(in[0], 13, array.Float64At(g.Special(), 1))
			return in
		}),
	}
	if bias {
		out = append(out, with(plain, "bias only", func(in []*array.Array) []*array.Array { in[1] = nil; return in }))
	}
	return out
}

func layerNormBad(g *op.Gen, bias bool) []op.BadSample {
	bad := func(name string, code diag.Code, a LayerNormAttrs, in ...*array.Array) op.BadSample {
		return op.BadSample{Name: name, Attrs: a, In: in, Code: code}
	}
	six := LayerNormAttrs{NormalizedShape: shape.ConstDims(6), Eps: 1e-5}
	out := []op.BadSample{
		bad("size", op.SizeMismatch, six, g.Normal(3, 5)),
		bad("weight size", op.SizeMismatch, six, g.Normal(3, 6), g.Normal(5)),
		bad("weight rank", op.RankMismatch, six, g.Normal(3, 6), g.Normal(1, 6)),
		bad("rank", op.RankMismatch, LayerNormAttrs{NormalizedShape: shape.ConstDims(3, 6), Eps: 1e-5}, g.Normal(6)),
		bad("no shape", op.BadAttr, LayerNormAttrs{Eps: 1e-5}, g.Normal(3, 6)),
		bad("eps", op.BadAttr, LayerNormAttrs{NormalizedShape: shape.ConstDims(6), Eps: -1}, g.Normal(3, 6)),
		bad("integers", op.DTypeMismatch, six, g.Int(9, 3, 6)),
		bad("weight type", op.DTypeMismatch, six, g.Normal(3, 6), array.Cast(g.Normal(6), array.F64)),
	}
	if bias {
		out = append(out, bad("bias size", op.SizeMismatch, six, g.Normal(3, 6), nil, g.Normal(7)))
	}
	return out
}

func batchNormStatsSamples(g *op.Gen) []op.Sample {
	var out []op.Sample
	for _, s := range channelInputs(g) {
		out = append(out, op.Sample{Name: s.Name, Attrs: op.None{}, In: s.In[:1]})
	}
	return out
}

func batchNormStatsBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		{Name: "rank", Attrs: op.None{}, In: []*array.Array{g.Normal(3)}, Code: op.RankMismatch},
		{Name: "integers", Attrs: op.None{}, In: []*array.Array{g.Int(9, 3, 2)}, Code: op.DTypeMismatch},
	}
}

func layerNormOwnSamples(g *op.Gen) []op.Sample { return layerNormSamples(g, true) }

func layerNormOwnBad(g *op.Gen) []op.BadSample { return layerNormBad(g, true) }

func rmsNormSamples(g *op.Gen) []op.Sample { return layerNormSamples(g, false) }

func rmsNormBad(g *op.Gen) []op.BadSample { return layerNormBad(g, false) }
