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

// Optimise returns the names of fx.Optimise, the default pipeline of kernel-style code
// and of the engines that compile.
func Optimise() []string {
	var names []string
	for _, p := range fx.Optimise() {
		names = append(names, p.Name)
	}
	return names
}

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
