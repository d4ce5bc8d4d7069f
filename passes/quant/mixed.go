package quant

import (
	"cmp"
	"context"
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/debug"
)

// Sensitivity tells what one quantised operator costs and gains.
type Sensitivity struct {
	Node  string `json:"node"`
	Op    string `json:"op"`
	Scope string `json:"scope,omitempty"`
	// Alone is the quality of the results where only this operator is quantised,
	// Without that where only this one is not.
	Alone   Decibels `json:"alone_db"`
	Without Decibels `json:"without_db"`
	// Work is what quantising the operator saves, by the cost that was given; without
	// one it is an estimate of what the operator takes in float.
	Work float64 `json:"work"`

	members []string // the nodes of the operator and of what is fused with it
}

// Trials measures configurations of one calibrated graph next to its float results.
// The graph and what was calibrated are not changed.
type Trials struct {
	prepared *graph.Module
	config   *Config
	backend  *Backend
	engine   EngineFor
	in, want [][]*array.Array
}

// NewTrials runs the float graph of a prepared and calibrated one on all batches,
// which it keeps.
func NewTrials(ctx context.Context, prepared *graph.Module, c *Config, b *Backend, batches iter.Seq2[[]*array.Array, error], engine EngineFor) (*Trials, error) {
	t := &Trials{prepared: prepared, config: c, backend: b, engine: engine}
	float := graph.Clone(prepared)
	if _, err := strip(float); err != nil {
		return nil, err
	}
	float.DropUnused()
	e, err := engine.engine(float)
	if err != nil {
		return nil, err
	}
	for in, err := range batches {
		if err != nil {
			return nil, err
		}
		out, err := e.Run(ctx, in)
		if err != nil {
			return nil, err
		}
		for i, a := range out {
			out[i] = array.Clone(a)
		}
		t.in, t.want = append(t.in, in), append(t.want, out)
	}
	if len(t.in) == 0 {
		return nil, diag.New(NoBatches, "there are no batches to compare with").WithHint("give inputs that are like those of use")
	}
	return t, nil
}

// Convert returns the quantised form of the graph with the operators of some nodes
// left in float.
func (t *Trials) Convert(ctx context.Context, float ...string) (*graph.Module, error) {
	m := graph.Clone(t.prepared)
	_, err := passes.Run(ctx, m, []passes.Pass{Convert(t.excluding(float), t.backend)}, passes.Options{})
	return m, err
}

// excluding returns the configuration with more nodes that stay in float.
func (t *Trials) excluding(names []string) *Config {
	c := *t.config
	c.Strict = false
	c.Exclude = slices.Clone(c.Exclude)
	for _, n := range names {
		c.Exclude = append(c.Exclude, Selector{Name: n})
	}
	return &c
}

// Quality returns the signal over the noise of all f32 results of a quantised form.
func (t *Trials) Quality(ctx context.Context, m *graph.Module) (Decibels, error) {
	e, err := t.engine.engine(m)
	if err != nil {
		return 0, err
	}
	var d debug.Distance
	for i, in := range t.in {
		out, err := e.Run(ctx, in)
		if err != nil {
			return 0, err
		}
		if e := sameShapes(t.want[i], out, func(k int) string { return "result " + strconv.Itoa(k) }); e != nil {
			return 0, e
		}
		for k, a := range out {
			if a.DType() == array.F32 && t.want[i][k].DType() == array.F32 {
				d.Add(t.want[i][k], a)
			}
		}
	}
	return d.SQNR(), nil
}

// without measures the form in which some nodes stay in float.
func (t *Trials) without(ctx context.Context, names []string) (Decibels, error) {
	m, err := t.Convert(ctx, names...)
	if err != nil {
		return 0, err
	}
	return t.Quality(ctx, m)
}

// Sensitivities quantises each operator alone, and all but each one, and returns
// what became of the results, the most harmful operator first. It runs the graph
// twice for each quantised operator. cost may be nil.
func (t *Trials) Sensitivities(ctx context.Context, cost Cost) ([]Sensitivity, error) {
	m := graph.Clone(t.prepared)
	seen, err := strip(m)
	if err != nil {
		return nil, err
	}
	r, err := resolve(m, t.excluding(nil), t.backend, seen)
	if err != nil {
		return nil, err
	}
	list := make([]Sensitivity, len(r.units))
	for i, u := range r.units {
		s := &list[i]
		*s = Sensitivity{Node: u.head.Name(), Op: opName(u.head), Scope: u.head.Scope().Path}
		for _, n := range u.members {
			s.members = append(s.members, n.Name())
		}
	}
	if err := t.weigh(ctx, list, cost); err != nil {
		return nil, err
	}
	for i := range list {
		if err := ctx.Err(); err != nil {
			return nil, diag.Stop(err)
		}
		if list[i].Without, err = t.without(ctx, list[i].members); err != nil {
			return nil, err
		}
		var others []string
		for k := range list {
			if k != i {
				others = append(others, list[k].members...)
			}
		}
		if list[i].Alone, err = t.without(ctx, others); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(list, func(a, b Sensitivity) int { return cmp.Compare(a.Alone, b.Alone) })
	return list, nil
}

// MixedOptions are the choices of Mixed.
type MixedOptions struct {
	// Budget is the least signal over noise of the results. It is not looked at
	// where Accept is set.
	Budget Decibels
	// Accept says whether a quantised form is good enough, by its accuracy on
	// labelled data for instance.
	Accept func(m *graph.Module) (bool, error)
	// Cost measures what forms take. Without it, operations and bytes are counted.
	Cost Cost
}

// Mixed returns the configuration, with more nodes excluded, of a graph that meets a
// budget with as much work quantised as can be: operators that harm the results most
// for the work they save are left in float first, until the budget is met, then each
// of them is quantised again, the largest first, where the budget allows. With a cost,
// operators that take longer quantised are left in float, too, where the whole becomes
// faster and the budget allows. The quality of every form is measured, none is predicted.
func (t *Trials) Mixed(ctx context.Context, o MixedOptions) (*Config, error) {
	accept := o.Accept
	if accept == nil {
		accept = func(m *graph.Module) (bool, error) {
			q, err := t.Quality(ctx, m)
			return q >= o.Budget, err
		}
	}
	list, err := t.Sensitivities(ctx, o.Cost)
	if err != nil {
		return nil, err
	}
	// What saves nothing, or less than measurements are sure of, saves a little.
	least := 0.0
	for _, s := range list {
		least += math.Abs(s.Work) / (100 * float64(len(list)))
	}
	harm := func(s Sensitivity) float64 { return math.Pow(10, -float64(s.Alone)/10) / max(s.Work, least) }
	slices.SortStableFunc(list, func(a, b Sensitivity) int { return cmp.Compare(harm(b), harm(a)) })
	good := func(float []Sensitivity) (bool, error) {
		m, err := t.Convert(ctx, nodesOf(float)...)
		if err != nil {
			return false, err
		}
		return accept(m)
	}
	float, err := fewest(list, good)
	if err == nil && o.Cost != nil {
		float, err = t.faster(ctx, list, float, good, o.Cost)
	}
	if err != nil {
		return nil, err
	}
	return t.excluding(nodesOf(float)), nil
}

// faster leaves operators in float that take longer quantised, half of them less each
// time, where that makes the form faster as a whole: conversions cost, too. All in float is
// a form as well.
func (t *Trials) faster(ctx context.Context, list, float []Sensitivity, good func([]Sensitivity) (bool, error), cost Cost) ([]Sensitivity, error) {
	best, err := t.total(ctx, float, cost)
	if err != nil {
		return nil, err
	}
	forms := [][]Sensitivity{list}
	losing := slices.DeleteFunc(slices.Clone(list), func(s Sensitivity) bool {
		return s.Work >= 0 || slices.ContainsFunc(float, func(f Sensitivity) bool { return f.Node == s.Node })
	})
	slices.SortStableFunc(losing, func(a, b Sensitivity) int { return cmp.Compare(a.Work, b.Work) })
	for i := len(losing); i > 0; i /= 2 {
		forms = append(forms, append(slices.Clone(float), losing[:i]...))
	}
	for _, form := range forms {
		took, err := t.total(ctx, form, cost)
		if err != nil {
			return nil, err
		}
		if took >= best {
			continue
		}
		if ok, err := good(form); err != nil {
			return nil, err
		} else if ok {
			best, float = took, form
		}
	}
	return float, nil
}

// nodesOf lists the names of all nodes of some operators.
func nodesOf(list []Sensitivity) (all []string) {
	for _, s := range list {
		all = append(all, s.members...)
	}
	return all
}

// fewest returns a short list of operators to leave in float for which good holds.
func fewest(list []Sensitivity, good func([]Sensitivity) (bool, error)) ([]Sensitivity, error) {
	lo, hi := 0, len(list)
	if ok, err := good(list); err != nil {
		return nil, err
	} else if !ok {
		return nil, diag.New(BudgetMissed, "the budget is not met with all "+strconv.Itoa(len(list))+" operators in float").
			WithHint("ask for less, or look at what else differs from the reference")
	}
	for lo < hi {
		mid := (lo + hi) / 2
		ok, err := good(list[:mid])
		if err != nil {
			return nil, err
		}
		if ok {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	float := slices.Clone(list[:hi])
	order := slices.Clone(float)
	slices.SortStableFunc(order, func(a, b Sensitivity) int { return cmp.Compare(b.Work, a.Work) })
	for _, s := range order {
		if s.Work <= 0 {
			break // quantised, it saves nothing
		}
		rest := slices.DeleteFunc(slices.Clone(float), func(f Sensitivity) bool { return f.Node == s.Node })
		ok, err := good(rest)
		if err != nil {
			return nil, err
		}
		if ok {
			float = rest
		}
	}
	return float, nil
}
