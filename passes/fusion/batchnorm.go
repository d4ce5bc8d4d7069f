// Package fusion holds the passes that merge several operators into one. They
// come behind simplify and before quantisation and lowering; each says of every
// candidate that it leaves alone why it does.
package fusion

import (
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
	return passes.Pass{Name: name, Doc: doc, Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) {
		f := &folder{c: c, written: passes.Written(g), into: map[*op.Op]bool{}, readers: readers(g)}
		for _, o := range into {
			f.into[o] = true
		}
		for n := range g.All() {
			if n.Op() != std.BatchNorm && n.Op() != std.BatchNormInference {
				continue
			}
			before := n.Arg(0)
			if before == nil || before.Op() == nil || !f.into[before.Op()] {
				continue
			}
			if why := f.fold(before, n); why != "" {
				c.Refuse(n, why)
			}
		}
		if c.Matches() > 0 {
			c.Module.DropUnused()
		}
		return c.Matches() > 0, nil
	}}
}

type folder struct {
	c       *passes.Ctx
	written map[string]bool
	into    map[*op.Op]bool
	readers map[string]map[*graph.Node]bool
}

// fold rewrites conv, whose result bn normalises, and removes bn; or says why not.
func (f *folder) fold(conv, bn *graph.Node) string {
	if why := f.legal(conv, bn); why != "" {
		return why
	}
	norm, why := f.normalisation(bn)
	if why != "" {
		return why
	}
	weight, why := f.constant(conv, 1)
	if why == "" && weight.path == "" {
		why = "the weight of " + conv.String() + " is missing"
	}
	if why != "" {
		return why
	}
	bias, why := f.constant(conv, 2)
	if why != "" {
		return why
	}
	w, b, why := norm.into(conv, weight.value, bias.value)
	if why != "" {
		return why
	}
	biasPath := bias.path
	if biasPath == "" {
		biasPath = strings.TrimSuffix(weight.path, "weight") + "bias"
	}
	m := f.c.Module
	newWeight := m.FreshPath(weight.path + "_folded")
	m.SetParam(graph.Param{Path: newWeight, Value: w})
	newBias := m.FreshPath(biasPath + "_folded")
	m.SetParam(graph.Param{Path: newBias, Value: b})
	f.rewrite(conv, bn, newWeight, newBias)
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
