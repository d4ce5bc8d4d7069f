package work

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/near"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/grad"
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

// OwnPass reports whether an entry of a pipeline, ./pkg#Var, is a pass of the user's.
func OwnPass(entry string) bool { return strings.Contains(entry, "#") }

// Pipeline looks passes up by name, those of the user among own.
func Pipeline(names []string, own map[string]passes.Pass) (list []passes.Pass, err error) {
	for _, name := range names {
		if p, ok := own[name]; ok {
			list = append(list, p)
			continue
		}
		found, err := fx.Pipeline(name)
		if err != nil {
			var e *diag.Error
			if errors.As(err, &e) && strings.ContainsAny(name, "./") {
				e.Hint = "a pass of your own is ./pkg#Var: the folder of its package and the variable"
			}
			return nil, err
		}
		list = append(list, found...)
	}
	return list, passes.CheckOrder(list)
}

// keepsResults reports whether no pass of a pipeline changes results by more than the
// order of sums.
func keepsResults(names []string) bool {
	kept := fx.Passes()
	return !slices.ContainsFunc(names, func(name string) bool {
		return !slices.ContainsFunc(kept, func(p passes.Pass) bool { return p.Name == name })
	})
}

// Known checks the passes of a pipeline that are built in.
func Known(names []string) error {
	names = slices.DeleteFunc(slices.Clone(names), OwnPass)
	_, err := Pipeline(names, nil)
	return err
}

// transform runs the job's passes on a graph.
func (j *Job) transform(ctx context.Context, m *graph.Module, own map[string]passes.Pass, o passes.Options) (*passes.Report, error) {
	if j.After != "" && !slices.Contains(j.Passes, j.After) {
		return nil, diag.New(BadValue, "-after "+j.After+": the pass is not in the pipeline").
			WithHint(near.Hint(j.After, j.Passes, "the pipeline is "+strings.Join(j.Passes, ",")))
	}
	pipeline, err := Pipeline(j.Passes, own)
	if err != nil || len(pipeline) == 0 {
		return &passes.Report{}, err
	}
	if o.StopAfter = j.After; o.StopAfter != "" {
		if p, ok := own[j.After]; ok {
			o.StopAfter = p.Name
		}
	}
	if o.StopAt, err = j.stopAt(own); err != nil {
		return nil, err
	}
	return passes.Run(ctx, m, pipeline, o)
}

// stopAt reads the rewrite that the pipeline ends with.
func (j *Job) stopAt(own map[string]passes.Pass) (s passes.StopAt, err error) {
	if j.StopAt.Name == "" {
		return s, nil
	}
	n, err := strconv.Atoi(j.StopAt.Value)
	if err != nil || n < 0 {
		return s, diag.New(BadValue, "-stop-at "+j.StopAt.Name+":"+j.StopAt.Value+": expected the number of a rewrite, 0 for none").WithHint("fxgen why counts the rewrites of passes")
	}
	s = passes.StopAt{Pass: j.StopAt.Name, Match: n}
	if p, ok := own[j.StopAt.Name]; ok {
		s.Pass = p.Name
	}
	return s, nil
}

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

// Item is a line of a list.
type Item struct {
	Name string `json:"name"`
	Doc  string `json:"doc"`
}

// Models lists the built-in networks.
func Models() (l []Item) {
	for _, m := range models.All() {
		l = append(l, Item{m.Name, m.Doc})
	}
	return l
}

// Passes lists the built-in passes.
func Passes() (l []Item) {
	for _, p := range fx.AllPasses() {
		l = append(l, Item{p.Name, Sentence(p.Doc)})
	}
	return l
}

// Sentence returns the first sentence of a doc text, on one line.
func Sentence(doc string) string {
	doc = strings.Join(strings.Fields(doc), " ")
	if i := strings.Index(doc, ". "); i >= 0 {
		doc = doc[:i+1]
	}
	return doc
}
