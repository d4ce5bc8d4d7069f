package work

import (
	"context"
	"slices"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/near"
	"github.com/gofx-dev/gofx/passes/grad"
)

// Gradient says of what and by what a graph is differentiated.
type Gradient struct {
	Wrt        []string // names and patterns; nil for the trained parameters
	Loss       string   // the name of the result, "" for the first
	Seeds      bool     // are inputs, in place of a loss
	Unused     bool     // zeros for what the loss does not depend on
	Evaluation bool     // calls in evaluation mode are differentiated as they are
}

// differentiate puts the graph of results and gradients in the place of the graph.
func (c *captured) differentiate(ctx context.Context, j *Job) error {
	q := j.Grad
	o := grad.Options{Wrt: q.Wrt, AllowUnused: q.Unused, AllowEvaluation: q.Evaluation}
	if names := c.outputNames(); q.Loss != "" {
		if o.Loss = slices.Index(names, q.Loss); o.Loss < 0 {
			return diag.New(BadValue, "-loss "+q.Loss+": there is no output of this name").
				WithHint(near.Hint(q.Loss, names, "the outputs are "+namesText(names)))
		}
	}
	run := grad.ValueAndGrad
	if q.Seeds {
		run = grad.VJP
	}
	m, err := run(ctx, c.gm, o)
	if err != nil {
		return c.cured(err)
	}
	c.gm = m
	return nil
}

// cured gives mistakes of gradients, whose cures are fields in Go, the flags that do the same.
func (c *captured) cured(err error) error {
	cures := map[diag.Code]string{
		grad.Unreached:      "leave it out of -wrt, or give -unused for a gradient of zeros",
		grad.NotScalar:      "name another result with -loss, end the model with sum or mean, or give -vjp, which takes the derivative by each result as an input",
		grad.EvaluationMode: "give -evaluation to differentiate it as it is",
	}
	if c.module != nil {
		cures[grad.EvaluationMode] = "give -training to capture the model in training mode, or -evaluation to differentiate it as it is"
	}
	var list diag.List
	list.Add(err)
	for i, e := range list {
		if hint := cures[e.Code]; hint != "" {
			cured := *e
			list[i] = cured.WithHint(hint)
		}
	}
	return list
}
