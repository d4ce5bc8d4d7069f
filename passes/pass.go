package passes

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
)

// Pass is one named graph transformation.
type Pass struct {
	Name string // "conv-bn": command-line flag, testdata folder, error context
	Doc  string // the first sentence is the help line
	// Requires are checked before the pass runs, on the graph itself.
	Requires []Fact
	// Breaks are facts that may be no longer true afterwards. The driver checks
	// that all others still are.
	Breaks []Fact
	// Order says what must not run after what, in pipelines that have this pass.
	Order []Before
	// Whole tells that the rewrites belong together: Options.StopAt ends the pass
	// before the first one or after the last one.
	Whole bool
	// Module says that Run sees to the sub-graphs of the module itself. Without it the
	// driver runs the pass on the module's graph and then on each sub-graph.
	Module bool
	// Run transforms g, which is c.Module.Graph or a sub-graph of the module, and
	// tells whether it changed anything. It may panic with *diag.Error, as a Cursor
	// does.
	Run func(c *Ctx, g *graph.Graph) (changed bool, err error)

	rules []*rule // that the pass is made of, for Explain and Rules
}

// runOnAll runs the pass on g: where that is the module's graph, on the sub-graphs
// too.
func (p Pass) runOnAll(c *Ctx, g *graph.Graph) (changed bool, err error) {
	main := g == c.Module.Graph
	if changed, err = p.Run(c, g); err != nil || p.Module || !main {
		return changed, err
	}
	for _, sub := range slices.Clone(c.Module.Subs()) {
		did, err := p.Run(c, sub)
		if changed = changed || did; err != nil {
			return changed, err
		}
	}
	return changed, nil
}

// then returns the graph to go on with after a pass on g, which may have put another
// graph in the place of the module's.
func then(c *Ctx, g *graph.Graph, main bool) *graph.Graph {
	if main {
		return c.Module.Graph
	}
	return g
}

// EachNode makes a pass that calls f for every node, those of regions included,
// in execution order. f may erase the node and insert others; a count of
// c.Rewrote calls above zero tells that the graph changed.
func EachNode(name, doc string, f func(c *Ctx, n *graph.Node) error) Pass {
	return Pass{Name: name, Doc: doc, Run: func(c *Ctx, g *graph.Graph) (bool, error) {
		return c.Each(g, func(n *graph.Node) error {
			if err := f(c, n); err != nil {
				return at(n, err)
			}
			return nil
		})
	}}
}

// at gives an error of user code the node's position, where it has none.
func at(n *graph.Node, err error) error {
	var l diag.List
	l.Add(err)
	for i, e := range l {
		if e.Node == "" {
			e2 := *e
			e2.Node = n.Name()
			l[i] = e2.At(n.Pos())
		}
	}
	if len(l) == 1 {
		return l[0]
	}
	return l
}

// Fixpoint makes a pass that repeats p until it changes nothing; it is an error
// when that takes more than max rounds.
func Fixpoint(p Pass, max int) Pass {
	once := p
	p.Module = true
	p.Run = func(c *Ctx, g *graph.Graph) (bool, error) {
		main := g == c.Module.Graph
		for i := range max {
			changed, err := once.runOnAll(c, g)
			if err != nil || !changed {
				return i > 0, err
			}
			g = then(c, g, main)
		}
		return true, diag.New(NoFixpoint, "still changing the graph after "+strconv.Itoa(max)+" rounds").
			WithHint("a rule may match what it makes; filter it, or allow more rounds")
	}
	return p
}

// Rules makes a pass that applies several passes in turn, again and again, until
// none of them changes anything; it is an error when that takes more than max rounds.
// Rules that follow each other are applied together: a round looks at each node once,
// and tries there, in the given order, the rules whose patterns begin with its operator.
// A pattern that must come before another one everywhere belongs into Rewrite.Or, or
// into a pass before.
func Rules(name, doc string, max int, list ...Pass) Pass {
	var merged []Pass
	for _, p := range list {
		last := len(merged) - 1
		if last < 0 || !p.plainRule() || !merged[last].plainRule() {
			merged = append(merged, p)
			continue
		}
		both := Concat(name, doc, merged[last], p)
		both.Run, both.Module = runRules(both.rules), false // each graph has its own walk
		merged[last] = both
	}
	return Fixpoint(Concat(name, doc, merged...), max)
}

// runRules returns the Run of passes that are rules and nothing else.
//
//go:noinline
func runRules(rules []*rule) func(c *Ctx, g *graph.Graph) (bool, error) {
	return func(c *Ctx, g *graph.Graph) (bool, error) { return apply(c, g, rules) }
}

// plainRule reports whether the pass still has the Run that runRules returns: one that
// somebody put around it is not to be passed by. All functions that it returns have one
// entry point, because it is not inlined.
func (p Pass) plainRule() bool {
	return len(p.rules) > 0 && !p.Module && reflect.ValueOf(p.Run).Pointer() == reflect.ValueOf(runRules(nil)).Pointer()
}

// Concat makes one pass of several that run one after the other. It requires
// what the first ones require that is not broken before, and breaks what any
// breaks.
func Concat(name, doc string, list ...Pass) Pass {
	pass := Pass{Name: name, Doc: doc, Module: true}
	for _, q := range list {
		pass.rules = append(pass.rules, q.rules...)
		pass.Whole = pass.Whole || q.Whole
		for _, f := range q.Requires {
			if !hasFact(pass.Breaks, f) && !hasFact(pass.Requires, f) {
				pass.Requires = append(pass.Requires, f)
			}
		}
		for _, f := range q.Breaks {
			if !hasFact(pass.Breaks, f) {
				pass.Breaks = append(pass.Breaks, f)
			}
		}
	}
	pass.Run = func(c *Ctx, g *graph.Graph) (bool, error) {
		changed, main := false, g == c.Module.Graph
		for _, q := range list {
			if err := c.Err(); err != nil {
				return changed, err
			}
			did, err := q.runOnAll(c, g)
			changed = changed || did
			if err != nil {
				return changed, err
			}
			g = then(c, g, main)
		}
		return changed, nil
	}
	return pass
}
