package recipes

import (
	"slices"
	"time"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
)

// Profile adds up the time of each module of a network, over the runs, one at a time, of
// a graph that Insert has changed: in the interpreter or in a plan.
type Profile struct {
	Spent map[string]time.Duration // by path, "" for code outside of modules
	Clock func() time.Time         // nil: time.Now
	last  time.Time
}

// Insert makes the pass: calls of Go code before the first call and after each one. They
// have effects, so that nothing moves or removes them.
func (p *Profile) Insert() passes.Pass {
	p.Spent = map[string]time.Duration{}
	return passes.Pass{Name: "profile", Doc: "Measures the time of modules.", Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) {
		started := g != c.Module.Graph // a sub-graph begins where its caller is
		for _, n := range slices.Collect(g.Nodes()) {
			if !n.Opcode().IsCall() || n.Type().Kind() == shape.Tuple { // its parts are measured
				continue
			}
			if !started {
				g.Before(n).Function(p.tick("start", func(time.Duration) {}), op.None{})
				started = true
			}
			path := n.Scope().Path
			g.After(n).Function(p.tick("tick", func(d time.Duration) { p.Spent[path] += d }), op.None{}, n)
			c.Rewrote(n, nil, "measured")
		}
		return c.Matches() > 0, nil
	}}
}

// tick is an operator without results that takes the time when its operand is computed.
func (p *Profile) tick(name string, add func(since time.Duration)) *op.Op {
	return op.NewAdHoc("example.com/recipes", name, op.Args("x?"), false, false, func([]*array.Array) ([]*array.Array, error) {
		now := time.Now
		if p.Clock != nil {
			now = p.Clock
		}
		t := now()
		add(t.Sub(p.last))
		p.last = t
		return nil, nil
	}, op.Declared{Results: []string{}, Infer: func(*op.Infer, []shape.Type) ([]shape.Type, error) { return nil, nil }})
}
