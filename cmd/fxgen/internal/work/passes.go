package work

import (
	"context"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes"
)

// Optimise is the default pipeline of kernel-style code and of the engines that
// compile: what makes a captured network smaller and does not depend on a target.
var Optimise = []string{"functionalize", "conv-bn", "linear-bn", "const-fold", "cse", "dce", "drop-unused"}

// Pipeline looks passes up by name.
func Pipeline(names []string) ([]passes.Pass, error) { return fx.Pipeline(strings.Join(names, ",")) }

// transform runs the job's passes on a graph.
func (j *Job) transform(ctx context.Context, m *graph.Module) error {
	if j.After != "" && !slices.Contains(j.Passes, j.After) {
		return diag.New(BadValue, "-after "+j.After+": the pass is not in the pipeline").
			WithHint("the pipeline is " + strings.Join(j.Passes, ","))
	}
	pipeline, err := Pipeline(j.Passes)
	if err != nil || len(pipeline) == 0 {
		return err
	}
	_, err = passes.Run(ctx, m, pipeline, passes.Options{StopAfter: j.After})
	return err
}
