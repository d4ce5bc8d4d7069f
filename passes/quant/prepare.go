package quant

import (
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes"
)

// Prepare returns the pass quant-prepare, which adds observers of the values that a
// configuration asks to be quantised statically and the backend grants. Observers
// are nodes that write buffers of the module: a prepared graph computes what it
// computed, prints, saves, loads and runs in every engine. Batch norms are to be
// folded and activations to be recognised before, so that observers see what will
// be computed; Calibrate and Convert come after.
func Prepare(c *Config, b *Backend) passes.Pass {
	return passes.Pass{
		Name: "quant-prepare", Doc: "Adds observers of the values that are to be quantised.",
		Whole: true, Order: []passes.Before{{First: "quant-prepare", Then: "quant-convert", Why: "conversion reads what observers have seen"}},
		Requires: []passes.Fact{passes.Functional, passes.Flat},
		Run: func(ctx *passes.Ctx, g *graph.Graph) (bool, error) {
			if err := unprepared(ctx.Module); err != nil {
				return false, err
			}
			r, err := resolve(ctx.Module, c, b, nil)
			if err != nil {
				return false, err
			}
			r.log(ctx)
			added := 0
			for _, q := range r.order {
				if r.observed(q) {
					observe(ctx.Module, q)
					ctx.Rewrote(q.node, nil, "observed: "+q.String())
					added++
				}
			}
			if added > 0 {
				countBatches(ctx.Module)
			}
			ctx.Note(r.plan.summary())
			return added > 0, nil
		},
	}
}

// summary returns the first line of the plan.
func (p *Plan) summary() string {
	granted, all := p.count()
	return "plan for " + p.Backend + ": " + strconv.Itoa(granted) + " of " + strconv.Itoa(all) + " operators quantised"
}

// log tells the report what was not granted.
func (r *resolution) log(ctx *passes.Ctx) {
	byName := map[string]*graph.Node{}
	for n := range r.g.Nodes() {
		byName[n.Name()] = n
	}
	for _, e := range r.plan.Refusals() {
		if n := byName[e.Node]; n != nil {
			ctx.Refuse(n, e.Part.String()+": "+whys(e.Why))
		}
	}
}

func unprepared(m *graph.Module) error {
	for n := range m.Graph.Nodes() {
		if observes(n) {
			return n.Error(NotPrepared, "the graph has observers already: "+n.Text()).WithHint("convert it, or prepare the graph that it was made from")
		}
	}
	for _, p := range m.Params() {
		if len(p.Path) > len(statePath) && p.Path[:len(statePath)+1] == statePath+"." {
			return diag.New(NotPrepared, "the module has a tensor "+strconv.Quote(p.Path)+", where observers keep their state").WithHint("name it otherwise")
		}
	}
	return nil
}

// observed reports whether a value needs an observer: its range is not fixed, and
// it is no view of another value of its group, of which it shows elements.
func (r *resolution) observed(q *ranged) bool {
	if q.fixed != nil {
		return false
	}
	base := r.values[q.node.Viewed()]
	if q.group == 0 {
		return true
	}
	return base == nil || base.group != q.group
}
