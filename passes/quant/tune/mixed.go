package tune

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/internal/form"
)

// Sensitivities quantises each operator alone, and all but each one, and returns
// what became of the results, the most harmful operator first. It runs the graph
// twice for each quantised operator. cost may be nil.
func (t *Trials) Sensitivities(ctx context.Context, cost Cost) ([]Sensitivity, error) {
	units, err := quant.Units(t.prepared, t.excluding(nil), t.backend)
	if err != nil {
		return nil, err
	}
	list := make([]Sensitivity, len(units))
	for i, u := range units {
		s := &list[i]
		*s = Sensitivity{Node: u.Node.Name(), Op: form.OpName(u.Node), Scope: u.Node.Scope().Path}
		for _, n := range u.Members {
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
func (t *Trials) Mixed(ctx context.Context, o MixedOptions) (*quant.Config, error) {
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
