package passes

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
)

// Ctx is what a running pass works with: the caller's context, the module whose
// graph it transforms, and the log that explains what was done and what was not.
type Ctx struct {
	context.Context
	// Module holds the state; the graph that Run is given is its graph.
	Module *graph.Module

	log     []Event
	matches int
	refused []Event
	told    map[refusal]bool // those of refused
	skipped int
	notes   []string

	pass  string
	stop  int                  // the rewrite at which the pass ends, 0 for none
	known map[*graph.Node]bool // nodes that are not new; nil outside of the driver
	watch *watch               // lints after each rewrite, nil for none
}

// NewCtx returns a context for running a pass outside of the driver.
func NewCtx(ctx context.Context, m *graph.Module) *Ctx { return &Ctx{Context: ctx, Module: m} }

// EventKind tells what an Event reports.
type EventKind uint8

// The kinds of event.
const (
	Replaced EventKind = iota // Node was replaced by By, or changed when By is nil
	Erased                    // Node was removed
	Refused                   // Node was a candidate and was left as it is
)

// Event is one entry of the log. Nodes may be erased by now; they still know
// their name, operator and position.
type Event struct {
	Kind EventKind
	Node *graph.Node
	By   *graph.Node
	Why  string

	Rule  string        // that did it, or did not match; "" for passes without rules
	At    *graph.Node   // where a rule's match ended, nil where no node is to blame
	Nodes []*graph.Node // what a rule matched, in part where it did not
}

// Pos returns the user's line that the event is about.
func (e Event) Pos() diag.Pos { return e.Node.Pos() }

// String returns "model.go:41: %bn replaced by %conv: folded into the weights".
func (e Event) String() string {
	var out strings.Builder
	if p := e.Node.Pos().String(); p != "" {
		out.WriteString(p + ": ")
	}
	out.WriteString(e.Node.String())
	switch {
	case e.Kind == Erased:
		out.WriteString(" erased")
	case e.Kind == Refused:
		out.WriteString(" left as it is")
	case e.By != nil:
		fmt.Fprintf(&out, " replaced by %s", e.By)
	default:
		out.WriteString(" changed")
	}
	if e.Why != "" {
		out.WriteString(": " + e.Why)
	}
	return out.String()
}

// Rewrote records that old was replaced by, or changed into, what now gives its
// value, and counts a match; by may be nil for a node that was changed in place. It
// comes last in a rewrite: Options.StopAt ends the pass here.
func (c *Ctx) Rewrote(old, by *graph.Node, why string) {
	c.noteCapturedName(old, by)
	c.did(Event{Kind: Replaced, Node: old, By: by, Why: why}, []*graph.Node{old}, by)
}

// rewrote records what a rule did.
func (c *Ctx) rewrote(rule string, m *Match, out []*graph.Node) {
	e := Event{Kind: Replaced, Node: m.Roots[0], By: out[0], Why: "rule " + rule, Rule: rule, Nodes: m.Nodes}
	for i, n := range m.Roots {
		c.noteCapturedName(n, out[i])
	}
	c.did(e, m.Nodes, out...)
}

// did logs a rewrite, by which made came from what was there before.
func (c *Ctx) did(e Event, from []*graph.Node, made ...*graph.Node) {
	c.log = append(c.log, e)
	c.matches++
	if c.known != nil {
		o := &Origin{Pass: c.pass, Match: c.matches, Why: e.Why}
		if e.Kind != Replaced || e.By != nil {
			o.From = sources(from)
		} else {
			before, _ := Made.Get(e.Node)
			o.From = []Source{{Name: e.Node.Name(), Made: before}}
			Made.Set(e.Node, o)
			made = slices.Collect(e.Node.Inputs()) // those that are new
		}
		for _, n := range made {
			c.made(n, o)
		}
	}
	if err := c.watch.check(c, e); err != nil {
		panic(err)
	}
	if c.stop > 0 && c.matches >= c.stop {
		panic(stopped{})
	}
}

// stopped ends a pass at a rewrite.
type stopped struct{}

// Erase removes n, records it and counts a match. It refuses, as Graph.Erase
// does, while n is used.
func (c *Ctx) Erase(n *graph.Node, why string) error {
	if err := n.Graph().Erase(n); err != nil {
		return err
	}
	c.did(Event{Kind: Erased, Node: n, Why: why}, nil)
	return nil
}

// maxRefused bounds the log of candidates that were left as they are.
const maxRefused = 1000

// Refuse records why n, a candidate of the pass, was left as it is.
func (c *Ctx) Refuse(n *graph.Node, why string) { c.refuse(Event{Kind: Refused, Node: n, Why: why}) }

func (c *Ctx) refuse(e Event) {
	if c.told[refusal{e.Node, e.Why}] { // in a round before
		return
	}
	if len(c.refused) == maxRefused {
		c.skipped++
		return
	}
	c.refused = append(c.refused, e)
	if c.told == nil {
		c.told = map[refusal]bool{}
	}
	c.told[refusal{e.Node, e.Why}] = true
}

// refusal is what makes two refusals the same.
type refusal struct {
	n   *graph.Node
	why string
}

// Replace makes by take the place of old: all uses, symbols and side data; a
// type of old that says more is kept. old is erased and a match counted.
func (c *Ctx) Replace(old, by *graph.Node, why string) error {
	KeepType(by, old.Type())
	copyMeta(by, old)
	old.ReplaceUses(by, nil)
	if err := old.Graph().Erase(old); err != nil {
		return err
	}
	c.Rewrote(old, by, why)
	return nil
}

// Note adds a line about the whole graph to the report.
func (c *Ctx) Note(s string) { c.notes = append(c.notes, s) }

// Notes returns the lines about the whole graph.
func (c *Ctx) Notes() []string {
	if c.skipped == 0 {
		return c.notes
	}
	return append(c.notes[:len(c.notes):len(c.notes)], strconv.Itoa(c.skipped)+" more candidates were left as they are")
}

// Matches returns the number of rewrites and removals so far.
func (c *Ctx) Matches() int { return c.matches }

// Each calls visit for every node of g and of its regions, until one fails or the context ends.
// It reports whether that rewrote or removed anything, as the Run of a pass does.
func (c *Ctx) Each(g *graph.Graph, visit func(n *graph.Node) error) (changed bool, err error) {
	before := c.matches
	for n := range g.All() {
		if err = c.Err(); err == nil {
			err = visit(n)
		}
		if err != nil {
			break
		}
	}
	return c.matches > before, err
}

// Log returns the rewrites and removals so far.
func (c *Ctx) Log() []Event { return c.log }

// Refusals returns the candidates that were left as they are, with the reasons.
func (c *Ctx) Refusals() []Event { return c.refused }
