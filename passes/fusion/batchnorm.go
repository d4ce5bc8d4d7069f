package fusion

import (
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
)

// ConvBN folds batch normalisations into the convolutions, transposed ones
// included, whose results they normalise. It works on calls of modules and on
// functions that read parameters; the new weights get paths of their own, one for each
// weight and normalisation, which all calls of the two share. A weight that is called
// with two normalisations is copied for each, and stays for calls without one.
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
	return passes.Pass{Name: name, Doc: doc, Order: order, Module: true, Run: func(ctx *passes.Ctx, g *graph.Graph) (bool, error) {
		f := &folder{c: ctx, done: map[pair]*folded{}}
		graphs := []*graph.Graph{g}
		if g == ctx.Module.Graph {
			graphs = append(graphs, ctx.Module.Subs()...)
		}
		for _, g := range graphs {
			f.graph(g, into)
		}
		if ctx.Matches() > 0 {
			ctx.Module.DropUnused()
		}
		return ctx.Matches() > 0, nil
	}}
}

// folder folds the norms of one module.
type folder struct {
	c      *passes.Ctx
	params *passes.Params
	done   map[pair]*folded
}

// pair is all that new parameters follow from. Calls that agree in it, such as those of the
// branches of a Siamese network, read the same ones.
type pair struct {
	weight, bias string
	norm         [4]string // mean, variance, weight, bias
	eps          float64
	layout       [3]int
}

// folded is where the parameters of a pair are, and the modules that are bound to them
// instead of others.
type folded struct {
	weight, bias string
	modules      map[string]string
}

// graph folds the norms of one graph of the module.
func (f *folder) graph(g *graph.Graph, into []*op.Op) {
	f.params = passes.NewParams(f.c.Module, g)
	for n := range g.All() {
		if n.Op() != std.BatchNorm && n.Op() != std.BatchNormInference {
			continue
		}
		before := n.Arg(0)
		if before == nil || before.Op() == nil || !slices.Contains(into, before.Op()) {
			continue
		}
		if why := f.fold(before, n); why != "" {
			f.c.Refuse(n, why)
		}
	}
}

// fold rewrites conv, whose result bn normalises, and removes bn; or says why not.
func (f *folder) fold(conv, bn *graph.Node) string {
	path, weight, why := f.params.Constant(conv, 1)
	biasPath, bias, whyBias := f.params.Constant(conv, 2)
	for _, w := range []string{legal(conv, bn), why, whyBias} {
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
	key := pair{weight: path, bias: biasPath, eps: epsilon(bn)}
	for i := range key.norm {
		key.norm[i] = f.params.Path(bn, i+1)
	}
	key.layout[0], key.layout[1], key.layout[2] = layout(conv, weight)
	to := f.done[key]
	if to == nil {
		w, b, why := norm.into(conv, weight, bias)
		if why != "" {
			return why
		}
		to = f.store(path, biasPath, w, b)
		f.done[key] = to
	}
	f.rewrite(conv, bn, to)
	return ""
}

// store gives new parameters paths next to those of the old ones.
func (f *folder) store(path, biasPath string, weight, bias *array.Array) *folded {
	if biasPath == "" {
		biasPath = strings.TrimSuffix(path, "weight") + "bias"
	}
	m := f.c.Module
	to := &folded{weight: m.FreshPath(path + "_folded"), modules: map[string]string{}}
	m.SetParam(graph.Param{Path: to.weight, Value: weight})
	to.bias = m.FreshPath(biasPath + "_folded")
	m.SetParam(graph.Param{Path: to.bias, Value: bias})
	return to
}

// legal says why bn must not be folded into conv, "" when it may.
func legal(conv, bn *graph.Node) string {
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
	return ""
}

// rewrite lets conv read the new parameters and stand for bn.
func (f *folder) rewrite(conv, bn *graph.Node, to *folded) {
	m, old := f.c.Module, append(conv.Args(), bn.Args()...)
	if b := conv.Bound(); b != nil && conv.NumArgs() == 1 {
		path, has := to.modules[conv.Target()]
		if !has {
			path = freshModule(m, conv.Target()+"_folded")
			m.SetBound(path, graph.Bound{Op: b.Op, Attrs: b.Attrs, Params: []string{to.weight, to.bias}, Names: []string{"weight", "bias"}})
			to.modules[conv.Target()] = path
		}
		conv.SetModule(path)
	} else {
		at := conv.Graph().Before(conv)
		conv.SetArgs(conv.Arg(0), at.GetAttr(to.weight), at.GetAttr(to.bias))
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
