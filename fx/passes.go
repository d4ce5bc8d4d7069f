package fx

import (
	"context"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/near"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/arrange"
	"github.com/gofx-dev/gofx/passes/fusion"
	"github.com/gofx-dev/gofx/passes/partition"
	"github.com/gofx-dev/gofx/passes/quant/integer"
	"github.com/gofx-dev/gofx/passes/recompute"
	"github.com/gofx-dev/gofx/passes/shapeprop"
	"github.com/gofx-dev/gofx/passes/simplify"
)

// The types of transformation; see package passes.
type (
	// Pass is one named graph transformation.
	Pass = passes.Pass
	// PassOptions says what Apply checks, dumps and demands around the passes.
	PassOptions = passes.Options
	// PassReport lists the work of the passes of one Apply.
	PassReport = passes.Report
	// Rewrite is a rule: a pattern and its replacement. passes.Rule makes it a Pass.
	Rewrite = passes.Rewrite
	// RecomputePolicy says which values a backward half computes again. The zero value has
	// cheap calls computed again.
	RecomputePolicy = recompute.Policy
)

// Expect demands that a pass of a pipeline matches exactly n times.
func Expect(pass string, n int) passes.Expectation { return passes.Expect(pass, n) }

// ExpectAtLeast demands that a pass of a pipeline matches n times or more.
func ExpectAtLeast(pass string, n int) passes.Expectation { return passes.ExpectAtLeast(pass, n) }

// AllPasses returns all built-in passes, to list them or to look one up: those of Passes,
// and those that compute in fewer bits. It is no pipeline: Optimise is the one to run, and
// Pipeline makes one from names.
func AllPasses() []Pass { return append(Passes(), arrange.Half, arrange.Bfloat) }

// Passes returns the built-in passes that change results by no more than the order of
// sums, in an order in which they can run, to test a model or an operator with all of them;
// the last one takes back what the one before it does. Optimise is the pipeline to use.
func Passes() []Pass {
	list := append([]Pass{shapeprop.Infer(nil), shapeprop.Check, simplify.Normalise}, shrinking()...)
	return append(list, fusion.MergeLinear, fusion.MergeMatmul, integer.Lower, simplify.Decompose, simplify.DropUnused, partition.Reroll, simplify.Inline)
}

// Optimise returns the default pipeline, the one to run unless passes are chosen by hand:
// what makes a captured network smaller and does not depend on a target. Kernel-style code
// and the engines that compile use it.
// The recognisers of operators come last: folding and merging turn several spellings
// into one, and an unused result would hide what it is made from.
func Optimise() []Pass {
	return append(shrinking(), simplify.DropUnused)
}

// shrinking is the common part of Passes and Optimise.
func shrinking() []Pass {
	list := []Pass{
		simplify.Functionalize,
		simplify.Identity,
		simplify.Algebra,
		fusion.Linear,
		fusion.ConvBN,
		fusion.LinearBN,
		fusion.BNAffine,
		simplify.ConstFold,
		simplify.CSE,
		simplify.DCE,
	}
	return append(append(list, fusion.Recognisers()...), fusion.ScatterAdd, arrange.Moves)
}

// Pipeline returns built-in passes by name, "conv-bn,dce", in the given order, as a flag
// or a file of settings gives them. In Go code write the passes themselves:
// []fx.Pass{fusion.ConvBN, simplify.DCE}. An
// unknown name is an error (FX3020) that lists the names, and so is an order that
// one of them forbids.
func Pipeline(names string) ([]Pass, error) {
	var known []string
	byName := map[string]Pass{}
	for _, p := range AllPasses() {
		known = append(known, p.Name)
		byName[p.Name] = p
	}
	var list []Pass
	for name := range strings.SplitSeq(names, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		p, ok := byName[name]
		if !ok {
			return nil, diag.New(passes.BadPipeline, "unknown pass "+strconv.Quote(name)).WithHint(near.Hint(name, known, "passes are "+strings.Join(known, ", ")))
		}
		list = append(list, p)
	}
	return list, passes.CheckOrder(list)
}

// Recompute makes a pass for the result of ValueAndGrad, before Optimise: what the gradients
// need of the forward half is computed again just before it is needed, instead of being kept, as
// torch.utils.checkpoint does. Results stay the same bit for bit. See package passes/recompute.
func Recompute(p RecomputePolicy) Pass { return recompute.Pass(p) }

// Replace makes a pass that puts replacement wherever pattern occurs; both are
// functions of as many tensors; options that they take, as tensor.Gelu does, are
// left out. Rewrite has more choices.
func Replace(name string, pattern, replacement any) Pass {
	return passes.Rule(Rewrite{Name: name, Doc: "Replaces a pattern.", Pattern: pattern, Replacement: replacement})
}

// Apply runs passes on the module. When one fails, the module is as it was.
func (g *GraphModule) Apply(ctx context.Context, pipeline []Pass, o PassOptions) (*PassReport, error) {
	return passes.Run(ctx, g.Module, pipeline, o)
}
