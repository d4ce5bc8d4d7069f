package passes

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tracer"
)

// Rewrite is a rule: what to look for and what to put in its place, both written
// as functions of tensors that are traced once. The parameters of the pattern
// stand for any value; everything else must be there: the same operators on the
// same operands, however the calls are spelt, with equal attributes, and equal
// constants, compared by value. Sizes taken with x.Size(i) stand for the size
// that the matched value has. Values inside the match must have no other use.
// AnyOf, Loose and Number let one pattern stand for several spellings.
//
//	passes.Rule(passes.Rewrite{
//		Name:        "double-neg",
//		Doc:         "Removes negation of a negation.",
//		Pattern:     func(x *tensor.Tensor) *tensor.Tensor { return x.Neg().Neg() },
//		Replacement: func(x *tensor.Tensor) *tensor.Tensor { return x },
//	})
type Rewrite struct {
	Name, Doc string
	Pattern   any // func(x, w, ... *tensor.Tensor) one or more *tensor.Tensor; variadic options stay empty
	// Or are other patterns with the same parameters and results: each is tried
	// everywhere before the next one. They may leave out parameters.
	Or []any
	// Replacement has the pattern's parameters and results. Build is the
	// alternative for what depends on the match: it makes nodes at the cursor and
	// returns one value for each result.
	Replacement any
	Build       func(c *graph.Cursor, m *Match) []*graph.Node
	// Where decides about a match: "" accepts it, anything else is the reason why not.
	Where func(m *Match) string
	// Types are types of the parameters, as in "f32[N,C]", for patterns that
	// cannot be traced without; element type, rank and numbers must then agree.
	Types    []string
	Requires []Fact
	Breaks   []Fact
}

// Match is one place where a pattern fits.
type Match struct {
	Inputs  []*graph.Node // what the parameters stand for, nil for nothing
	Nodes   []*graph.Node // the matched calls in the order of the pattern
	Roots   []*graph.Node // the results
	Numbers []float64     // what Number(i) stands for, NaN for nothing
	Data    any           // what Where found out, for Build
}

// Rule makes a pass of a rewrite. Mistakes in the rule are reported when it runs.
func Rule(r Rewrite) Pass {
	compile := sync.OnceValues(func() (*compiled, error) { return r.compile() })
	return Pass{Name: r.Name, Doc: r.Doc, Requires: r.Requires, Breaks: r.Breaks,
		Run: func(c *Ctx, g *graph.Graph) (bool, error) {
			k, err := compile()
			if err != nil {
				return false, err
			}
			run := &ruleRun{c: c, k: k, written: Written(g), constants: map[*graph.Node]string{}, at: map[*graph.Node]int{}}
			before := c.matches
			for _, p := range k.patterns {
				if err = run.graph(p, g); err != nil {
					break
				}
			}
			run.reportMisses()
			return c.matches > before, err
		}}
}

// Explain says why a rule does not match with n as its (first) result: what was
// matched, where it ended and why. It is empty when the rule matches.
func Explain(r Rewrite, n *graph.Node) (string, error) {
	k, err := r.compile()
	if err != nil {
		return "", err
	}
	best := miss{}
	for _, p := range k.patterns {
		m, miss := k.match(p, n, Written(n.Graph()))
		if m != nil {
			return "", nil
		}
		if miss.matched >= best.matched {
			best = miss
		}
	}
	return best.String(), nil
}

// compiled is a rule whose functions have been traced.
type compiled struct {
	Rewrite
	patterns    []*pattern
	replacement *graph.Module
}

func (r Rewrite) compile() (*compiled, error) {
	k := &compiled{Rewrite: r}
	for _, f := range append([]any{r.Pattern}, r.Or...) {
		m, err := r.trace("pattern", f)
		if err != nil {
			return nil, err
		}
		p, err := newPattern(m)
		if err != nil {
			return nil, err
		}
		if first := k.patterns; len(first) > 0 && (len(first[0].inputs) != len(p.inputs) || len(first[0].roots) != len(p.roots)) {
			return nil, diag.New(BadRule, "the patterns have different numbers of parameters or results")
		}
		k.patterns = append(k.patterns, p)
	}
	for i, in := range k.patterns[0].inputs {
		if !slices.ContainsFunc(k.patterns, func(p *pattern) bool { return p.inputs[i].NumUses() > 0 }) {
			return nil, diag.New(BadRule, "parameter "+in.Target()+" of the pattern is not used, so that nothing says what it stands for")
		}
	}
	if (r.Build == nil) == (r.Replacement == nil) {
		return nil, diag.New(BadRule, "a rule needs either Replacement or Build")
	}
	if r.Replacement == nil {
		return k, nil
	}
	m, err := r.trace("replacement", r.Replacement)
	if err != nil {
		return nil, err
	}
	in, out := len(m.Graph.Inputs()), m.Graph.Output().NumArgs()
	if p := k.patterns[0]; in != len(p.inputs) || out != len(p.roots) {
		return nil, diag.New(BadRule, "the replacement has "+strconv.Itoa(in)+" parameters and "+strconv.Itoa(out)+" results, the pattern has "+
			strconv.Itoa(len(p.inputs))+" and "+strconv.Itoa(len(p.roots)))
	}
	for n := range m.Graph.Nodes() {
		if n.Op() == anyOf || n.Op() == loose || numbersOf(n) > 0 {
			return nil, n.Error(BadRule, "the replacement leaves something open, as only patterns do").WithHint("use Build")
		}
	}
	k.replacement = m
	return k, nil
}

func (r Rewrite) trace(what string, f any) (*graph.Module, error) {
	t := tracer.Tracer{Name: r.Name, Frames: -1}
	for _, s := range r.Types {
		ty, err := shape.ParseType(s)
		if err != nil {
			return nil, err
		}
		t.Inputs = append(t.Inputs, tracer.Input{Type: ty})
	}
	m, err := t.Trace(context.Background(), f)
	if err != nil {
		return nil, &diag.Error{Code: BadRule, Msg: "the " + what + " cannot be traced", Err: err,
			Hint: "write it as a function of tensors; give Types when it asks for ranks or sizes"}
	}
	return m, nil
}

// ruleRun is one run of a rule.
type ruleRun struct {
	c         *Ctx
	k         *compiled
	written   map[string]bool
	constants map[*graph.Node]string // paths of the replacement's constants
	misses    []located
	at        map[*graph.Node]int // which of misses is at a node
}

type located struct {
	miss
	n *graph.Node
}

// graph applies one pattern to a graph and its regions.
func (r *ruleRun) graph(p *pattern, g *graph.Graph) error {
	for n := range g.Nodes() {
		if err := r.c.Err(); err != nil {
			return err
		}
		for _, sub := range n.Regions() {
			if err := r.graph(p, sub); err != nil {
				return err
			}
		}
		if n.Op() == nil || !p.begins(p.roots[0], n.Op()) {
			continue
		}
		m, why := r.k.match(p, n, r.written)
		if m == nil {
			if why.matched > 0 {
				r.missed(n, why)
			}
			continue
		}
		if err := r.rewrite(m); err != nil {
			return err
		}
	}
	return nil
}

// missed keeps the best miss at a node, the last one of equals.
func (r *ruleRun) missed(n *graph.Node, why miss) {
	i, again := r.at[n]
	switch {
	case !again:
		r.at[n] = len(r.misses)
		r.misses = append(r.misses, located{why, n})
	case why.matched >= r.misses[i].matched:
		r.misses[i].miss = why
	}
}

// reportMisses records the matches that failed late, the best one first.
func (r *ruleRun) reportMisses() {
	best := -1
	for i, m := range r.misses {
		if !m.n.Erased() && (best < 0 || m.matched > r.misses[best].matched) {
			best = i
		}
	}
	if best < 0 {
		return
	}
	r.c.Refuse(r.misses[best].n, r.misses[best].String())
	for i, m := range r.misses {
		if i != best && m.matched > 1 && !m.n.Erased() {
			r.c.Refuse(m.n, m.String())
		}
	}
}

// rewrite puts the replacement in the place of a match.
func (r *ruleRun) rewrite(m *Match) error {
	last := m.Roots[0]
	for _, n := range m.Roots {
		if last.Precedes(n) {
			last = n
		}
	}
	c := last.Graph().Before(last)
	var out []*graph.Node
	if r.k.Build != nil {
		out = r.k.Build(c, m)
		if len(out) != len(m.Roots) {
			return last.Error(BadRule, "Build returned "+strconv.Itoa(len(out))+" values, the pattern has "+strconv.Itoa(len(m.Roots))+" results")
		}
	} else {
		out = r.splice(c, m)
	}
	for i, n := range m.Roots {
		if msg := Conflict(out[i].Type(), n.Type()); msg != "" {
			return n.Error(BadRule, "the replacement gives "+msg)
		}
	}
	inputs := map[*graph.Node]bool{}
	for _, n := range m.Inputs {
		inputs[n] = true
	}
	for i, n := range m.Roots {
		KeepType(out[i], n.Type())
		if !inputs[out[i]] {
			graph.CopyMeta(out[i], n)
		}
		n.ReplaceUses(out[i], nil)
	}
	r.c.Rewrote(m.Roots[0], out[0], "rule "+r.k.Name)
	for i := len(m.Nodes) - 1; i >= 0; i-- {
		if n := m.Nodes[i]; !n.Erased() && n.NumUses() == 0 {
			_ = n.Graph().Erase(n) // one that defines a symbol stays
		}
	}
	sweep(m.Inputs)
	return nil
}

// sweep removes values that only the match used.
func sweep(nodes []*graph.Node) {
	for _, n := range nodes {
		if n == nil || n.Erased() || n.NumUses() > 0 || n.Opcode() != graph.GetAttr && (!n.Opcode().IsCall() || Effect(n) != op.Pure) {
			continue
		}
		args := n.Args()
		if n.Graph().Erase(n) == nil {
			sweep(args)
		}
	}
}

// splice copies the replacement to the cursor.
func (r *ruleRun) splice(c *graph.Cursor, m *Match) []*graph.Node {
	to := map[*graph.Node]*graph.Node{}
	next := 0
	g := r.k.replacement.Graph
	env := func(name string) shape.Dim {
		if s, ok := g.Symbol(name); ok && to[s.Node] != nil {
			return sizeOf(to[s.Node], s.Axis, true)
		}
		return shape.Sym(name)
	}
	for n := range g.Nodes() {
		args := make([]*graph.Node, n.NumArgs())
		for i, a := range n.Args() {
			args[i] = to[a]
		}
		switch n.Opcode() {
		case graph.Placeholder:
			to[n] = m.Inputs[next]
			next++
		case graph.GetAttr:
			to[n] = c.GetAttr(r.constant(n))
		case graph.Output:
			return args
		default: // a function call in any case, so that a functional graph stays one
			to[n] = c.Function(n.Op(), n.Op().Codec().Bind(n.Attrs(), env), args...)
		}
	}
	return nil
}

// constant enters a constant of the replacement into the module, once a run.
func (r *ruleRun) constant(n *graph.Node) string {
	path, ok := r.constants[n]
	if !ok {
		m := r.c.Module
		path = m.FreshPath("_" + fileName(r.k.Name) + "_constant")
		p := *r.k.replacement.Param(n.Target())
		p.Path, p.Selector = path, ""
		m.SetParam(p)
		r.constants[n] = path
	}
	return path
}

// sizeOf returns one size of a value: from its type, as the symbol that names
// it, or, when make is set, as a new symbol.
func sizeOf(n *graph.Node, axis int, make bool) shape.Dim {
	if d := n.Type().Dim(axis); !d.IsUnknown() {
		return d
	}
	for _, s := range n.Graph().SymbolsOf(n) {
		if s.Axis == axis {
			return shape.Sym(s.Name)
		}
	}
	if make {
		return n.Graph().NewSymbol(n, axis)
	}
	return shape.Unknown
}
