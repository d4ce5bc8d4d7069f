package work

import (
	"context"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/fusion"
	"github.com/gofx-dev/gofx/passes/simplify"
)

// Passes are those that -passes can name, in the order of the list that
// `fxgen passes` prints.
var Passes = []passes.Pass{
	fusion.ConvBN,
	fusion.LinearBN,
	simplify.Functionalize,
	simplify.ConstFold,
	simplify.CSE,
	simplify.DCE,
	simplify.Decompose,
	simplify.DropUnused,
}

// Optimise is the default pipeline of kernel-style code and of the engines that
// compile: what makes a captured network smaller and does not depend on a target.
var Optimise = []string{"conv-bn", "linear-bn", "functionalize", "const-fold", "cse", "dce", "drop-unused"}

// Pipeline looks names up.
func Pipeline(names []string) ([]passes.Pass, error) {
	var list []passes.Pass
	for _, name := range names {
		i := slices.IndexFunc(Passes, func(p passes.Pass) bool { return p.Name == name })
		if i < 0 {
			known := make([]string, len(Passes))
			for k, p := range Passes {
				known[k] = p.Name
			}
			return nil, diag.New(UnknownPass, "there is no pass "+name).WithHint("the passes are " + strings.Join(known, ", "))
		}
		list = append(list, Passes[i])
	}
	return list, passes.CheckOrder(list)
}

// transform runs the job's passes on a graph.
func (j *Job) transform(ctx context.Context, m *graph.Module) error {
	if j.After != "" && !slices.Contains(j.Passes, j.After) {
		return diag.New(UnknownPass, "-after "+j.After+": the pass is not in the pipeline").
			WithHint("the pipeline is " + strings.Join(j.Passes, ","))
	}
	pipeline, err := Pipeline(j.Passes)
	if err != nil || len(pipeline) == 0 {
		return err
	}
	_, err = passes.Run(ctx, m, pipeline, passes.Options{StopAfter: j.After})
	return err
}
