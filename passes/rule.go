package passes

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tracer"
)

// Rewrite is a rule: what to look for and what to put in its place, both written
// as functions of tensors that are traced once. The parameters of the pattern
// stand for any value; everything else must be there: the same operators on the
// same operands, however the calls are spelt, with equal attributes, and equal
// constants, compared by value. Sizes taken with x.Size(i) stand for the size
// that the matched value has. Values inside the match must have no other use.
// Markers (AnyOf, Optional, Any, Rest, Repeat, Commute, Loose, Number, Constant, If)
// let one pattern stand for several spellings; Named gives values names.
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
	Order    []Before
}

// Match is one place where a pattern fits.
type Match struct {
	Inputs  []*graph.Node   // what the parameters stand for, nil for nothing
	Nodes   []*graph.Node   // the matched calls and constants in the order of the pattern
	Roots   []*graph.Node   // the results
	Numbers []float64       // what Number(i) stands for, NaN for nothing
	Rests   [][]*graph.Node // what Rest(i) stands for
	Data    any             // what Where found out, for Build

	named   map[string]*graph.Node
	outside []*graph.Node // what the match is made from
}

// Node returns what is Named so in the pattern, nil for a spelling that is not there.
func (m *Match) Node(name string) *graph.Node { return m.named[name] }

// Attr returns an attribute, by its name in the text form, of the call that is Named so
// in the pattern; nil when there is none.
func (m *Match) Attr(name, attr string) any {
	n := m.named[name]
	if n == nil || n.Op() == nil {
		return nil
	}
	for _, f := range n.Op().Codec().Fields(n.Attrs()) {
		if f.Name == attr {
			return f.Value
		}
	}
	return nil
}

// rule is a rewrite that is compiled once.
type rule struct{ compile func() (*compiled, error) }

// Rule makes a pass of a rewrite. Mistakes in the rule are reported when it runs.
func Rule(r Rewrite) Pass {
	rules := []*rule{{sync.OnceValues(r.compile)}}
	return Pass{Name: r.Name, Doc: r.Doc, Requires: r.Requires, Breaks: r.Breaks, Order: r.Order, Run: runRules(rules), rules: rules}
}

// Explain says why a rule does not match with n as its (first) result: what was
// matched, where it ended and why. It is empty when the rule matches.
func Explain(r Rewrite, n *graph.Node) (string, error) {
	k, err := r.compile()
	if err != nil {
		return "", err
	}
	return k.explain(n).Why, nil
}

// Reason says how far a rule came at a node.
type Reason struct {
	Rule    string
	Why     string        // "" where the rule matches
	At      *graph.Node   // where it ended, nil where no node is to blame
	Nodes   []*graph.Node // what had matched, of long matches nothing
	Matched int           // calls and constants
}

// Explain says, for each rule that the pass is made of, why it does not match with n
// as its (first) result. There is none for a pass that is made otherwise.
func (p Pass) Explain(n *graph.Node) ([]Reason, error) {
	var list []Reason
	for _, r := range p.rules {
		k, err := r.compile()
		if err != nil {
			return nil, err
		}
		list = append(list, k.explain(n))
	}
	return list, nil
}

func (k *compiled) explain(n *graph.Node) Reason {
	best, seen := miss{}, newSeen(n.Graph())
	for _, p := range k.patterns {
		m, miss := k.match(p, n, seen)
		if m != nil {
			return Reason{Rule: k.Name}
		}
		if miss.matched >= best.matched {
			best = miss
		}
	}
	return Reason{k.Name, best.String(), best.at, best.nodes, best.matched}
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
		if !slices.ContainsFunc(k.patterns, func(p *pattern) bool { return p.inputs[i].node.NumUses() > 0 }) {
			return nil, diag.New(BadRule, "parameter "+in.node.Target()+" of the pattern is not used, so that nothing says what it stands for")
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
		mark := markerOf(n.Op())
		if mark != nil && mark.kind == rest && mark.index < k.patterns[0].rests && len(k.patterns) == 1 {
			continue
		}
		if mark != nil || numbersOf(n) > 0 {
			return nil, n.Error(BadRule, "the replacement leaves something open, as only patterns do").WithHint("use Build")
		}
		if len(n.Bodies()) > 0 {
			return nil, n.Error(BadRule, "the replacement has control flow, or calls a graph").WithHint("use Build, with the cursor's Region or GraphCopy")
		}
	}
	k.replacement = m
	return k, nil
}

func (r Rewrite) trace(what string, f any) (*graph.Module, error) {
	// Layers of package nn are their operators here: a rule has no module that could
	// hold them, their tensors are constants of the rule.
	t := tracer.Tracer{Name: r.Name, Frames: -1, IsLeaf: func(any, string, bool) bool { return false }}
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
