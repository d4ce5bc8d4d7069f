package fusion

import (
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
)

// ConvBN folds batch normalisations into the convolutions, transposed ones
// included, whose results they normalise. It works on calls of modules and on
// functions that read parameters; the new weights get paths of their own.
// Ref: Jacob et al., Quantization and Training of Neural Networks for Efficient
// Integer-Arithmetic-Only Inference, CVPR 2018, section 3.2 (the folding).
var ConvBN = foldBatchNorm("conv-bn", "Folds batch normalisation into the weights of the convolution before it.",
	std.Conv1d, std.Conv2d, std.Conv3d, std.ConvTranspose1d, std.ConvTranspose2d, std.ConvTranspose3d)

// LinearBN folds batch normalisations into the linear layers, of rank 2, whose
// results they normalise.
var LinearBN = foldBatchNorm("linear-bn", "Folds batch normalisation into the weights of the linear layer before it.", std.Linear)

func foldBatchNorm(name, doc string, into ...*op.Op) passes.Pass {
	order := []passes.Before{
		{First: name, Then: "decompose", Why: "batch_norm is composite, its decomposition is not recognised"},
		{First: name, Then: "bn-affine", Why: "what can be folded into a layer is not taken apart"},
		{First: name, Then: "quant-prepare", Why: "observers must see folded weights"},
		{First: name, Then: "quant-convert", Why: "weights are folded before they are quantised"},
		{First: name, Then: "quant-equalise", Why: "ranges are those of folded weights"},
	}
	return passes.Pass{Name: name, Doc: doc, Order: order, Run: func(ctx *passes.Ctx, g *graph.Graph) (bool, error) {
		f := &folder{c: ctx, params: passes.NewParams(ctx.Module, g)}
		for n := range g.All() {
			if n.Op() != std.BatchNorm && n.Op() != std.BatchNormInference {
				continue
			}
			before := n.Arg(0)
			if before == nil || before.Op() == nil || !slices.Contains(into, before.Op()) {
				continue
			}
			if why := f.fold(before, n); why != "" {
				ctx.Refuse(n, why)
			}
		}
		if ctx.Matches() > 0 {
			ctx.Module.DropUnused()
		}
		return ctx.Matches() > 0, nil
	}}
}

type folder struct {
	c      *passes.Ctx
	params *passes.Params
}

// fold rewrites conv, whose result bn normalises, and removes bn; or says why not.
func (f *folder) fold(conv, bn *graph.Node) string {
	path, weight, why := f.params.Constant(conv, 1)
	biasPath, bias, whyBias := f.params.Constant(conv, 2)
	for _, w := range []string{f.legal(conv, bn, path), why, whyBias} {
		if w != "" {
			return w
		}
	}
	switch {
	case path == "":
		return "the weight of " + conv.String() + " is missing"
	case conv.Type().Rank() != max(weight.Rank(), 2):
		return "the channels of " + conv.String() + " are not known to be axis 1: its type is " + conv.Type().String()
	}
	norm, why := f.normalisation(bn)
	if why != "" {
		return why
	}
	w, b, why := norm.into(conv, weight, bias)
	if why != "" {
		return why
	}
	if biasPath == "" {
		biasPath = strings.TrimSuffix(path, "weight") + "bias"
	}
	m := f.c.Module
	newWeight := m.FreshPath(path + "_folded")
	m.SetParam(graph.Param{Path: newWeight, Value: w})
	newBias := m.FreshPath(biasPath + "_folded")
	m.SetParam(graph.Param{Path: newBias, Value: b})
	f.rewrite(conv, bn, newWeight, newBias)
	return ""
}

// legal says why bn must not be folded into conv, "" when it may.
func (f *folder) legal(conv, bn *graph.Node, weight string) string {
	if passes.Training(bn) {
		return "it is in training mode and normalises by the batch"
	}
	for u := range conv.Users() {
		if u != bn {
			return "the result of " + conv.String() + " is also used by " + passes.Where(u)
		}
	}
	if conv.Opcode() == graph.CallModule && conv.NumArgs() != 1 {
		return conv.String() + " has operands besides its input"
	}
	// A weight that others read is copied, but not for a normalisation that others
	// use too: that would make a copy for each use.
	if other := f.params.Reader(weight, conv); other != nil {
		for i := 1; i <= 4; i++ {
			if o := f.params.Reader(f.params.Path(bn, i), bn); o != nil {
				return "the weight " + weight + " is shared with " + other.String() + " and the normalisation with " + o.String()
			}
		}
	}
	return ""
}

// rewrite lets conv read the new parameters and stand for bn.
func (f *folder) rewrite(conv, bn *graph.Node, weight, bias string) {
	m, old := f.c.Module, append(conv.Args(), bn.Args()...)
	if b := conv.Bound(); b != nil && conv.NumArgs() == 1 {
		path := freshModule(m, conv.Target()+"_folded")
		m.SetBound(path, graph.Bound{Op: b.Op, Attrs: b.Attrs, Params: []string{weight, bias}, Names: []string{"weight", "bias"}})
		conv.SetModule(path)
	} else {
		at := conv.Graph().Before(conv)
		conv.SetArgs(conv.Arg(0), at.GetAttr(weight), at.GetAttr(bias))
	}
	why := "folded into the weights of " + conv.String()
	if err := f.c.Replace(bn, conv, why); err != nil {
		panic(err)
	}
	for _, n := range old {
		if n != nil && n.Opcode() == graph.GetAttr && !n.Erased() && n.NumUses() == 0 {
			_ = n.Graph().Erase(n) // one that defines a symbol stays
		}
	}
}

func freshModule(m *graph.Module, hint string) string {
	path := hint
	for m.Bound(path) != nil {
		path += "_"
	}
	return path
}
