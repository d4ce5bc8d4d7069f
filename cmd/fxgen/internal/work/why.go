package work

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/textdiff"
	"github.com/gofx-dev/gofx/passes"
)

// whyJSON is the document of why -json.
type whyJSON struct {
	Model  string     `json:"model"`
	Passes []passJSON `json:"passes"`
	Made   []madeJSON `json:"made"` // the nodes that exist in the end and were not captured
}

type passJSON struct {
	Name      string       `json:"name"`
	Matches   int          `json:"matches"`
	Left      int          `json:"left"` // candidates that were left as they are
	Before    int          `json:"nodes_before"`
	After     int          `json:"nodes_after"`
	Ms        float64      `json:"ms"`
	Allocated uint64       `json:"allocated_bytes"`
	Notes     []string     `json:"notes,omitempty"`
	Events    []eventJSON  `json:"events"`
	Reasons   []reasonJSON `json:"reasons,omitempty"` // why rules did not match at the node that was asked for
	Diff      string       `json:"diff,omitempty"`    // of the graph's text, in the form of diff -u
}

// eventJSON is a change of a node, or the reason why it was not changed.
type eventJSON struct {
	Kind  string   `json:"kind"` // replaced, changed, erased, refused
	Node  string   `json:"node"`
	Pos   string   `json:"pos,omitempty"`
	By    string   `json:"by,omitempty"`
	Rule  string   `json:"rule,omitempty"`
	Why   string   `json:"why,omitempty"`
	At    string   `json:"at,omitempty"`    // where a match ended
	Nodes []string `json:"nodes,omitempty"` // nodes that a rule matched

	text string
}

type reasonJSON struct {
	Rule    string `json:"rule"`
	Matched int    `json:"matched"`
	Why     string `json:"why"` // "" where the rule matches
	At      string `json:"at,omitempty"`
}

type madeJSON struct {
	Node  string     `json:"node"`
	Pos   string     `json:"pos,omitempty"` // of the node that it replaces
	Pass  string     `json:"pass"`
	Match int        `json:"match"`
	Why   string     `json:"why,omitempty"`
	From  []fromJSON `json:"from,omitempty"`

	text string
}

// fromJSON is a node that was replaced, with the place in the model's source.
type fromJSON struct {
	Node string     `json:"node"`
	Pos  string     `json:"pos,omitempty"`
	Made []madeJSON `json:"made,omitempty"` // when a pass had made that
}

// why runs the pipeline and lists the rewrites that it made, and those that it did not
// make, of the node that the job names or of all.
func (c *captured) why(ctx context.Context, j *Job, own map[string]passes.Pass, res *Result) error {
	pipeline, err := Pipeline(j.Passes, own)
	if err != nil {
		return err
	}
	name := strings.TrimPrefix(j.Node, "%")
	w := whyJSON{Model: c.src.Name, Passes: []passJSON{}, Made: []madeJSON{}}
	var reasons [][]reasonJSON
	seen := false
	look := func(m *graph.Module) error {
		var list []reasonJSON
		for n := range m.All() {
			if name == "" || n.Name() != name {
				continue
			}
			seen = true
			if len(reasons) == len(pipeline) {
				break
			}
			found, err := pipeline[len(reasons)].Explain(n)
			if err != nil {
				return err
			}
			for _, r := range found {
				list = append(list, reasonJSON{r.Rule, r.Matched, r.Why, nameOf(r.At)})
			}
		}
		reasons = append(reasons, list)
		return nil
	}
	failed := look(c.gm)
	changes := differences{}
	if j.Diff {
		changes.text = graph.Print(c.gm, printed)
	}
	report, err := j.transform(ctx, c.gm, own, passes.Options{OnPass: func(p passes.PassReport, m *graph.Module) {
		if j.Diff {
			changes.add(p.Name, graph.Print(m, printed))
		}
		if failed == nil {
			failed = look(m)
		}
	}})
	if err == nil {
		err = failed
	}
	if err != nil {
		return err
	}
	for i, p := range report.Passes {
		w.Passes = append(w.Passes, passOf(p, name, reasons[i]))
		if j.Diff {
			w.Passes[i].Diff = changes.list[i]
		}
	}
	for n := range c.gm.All() {
		o, ok := passes.Made.Get(n)
		inPlace := ok && slices.ContainsFunc(o.From, func(s passes.Source) bool { return s.Name == n.Name() })
		if ok && (name == "" && !inPlace || n.Name() == name) {
			w.Made = append(w.Made, madeOf(n.Name(), n.Pos().String(), o))
		}
	}
	if name != "" && !seen {
		return diag.New(BadValue, "-node "+j.Node+": there is no such node, before the passes or after one").WithHint("fxgen print lists the nodes")
	}
	if j.JSON {
		return document(res, w)
	}
	res.Text = w.text(name)
	return nil
}

// differences are those of the text of a graph that passes change, one for each pass.
type differences struct {
	name, text string // of the last form
	list       []string
}

func (d *differences) add(name, text string) {
	before := d.name
	if before == "" {
		before = "captured"
	}
	d.list = append(d.list, textdiff.Unified(before, name, d.text, text))
	d.name, d.text = name, text
}

func nameOf(n *graph.Node) string {
	if n == nil {
		return ""
	}
	return n.Name()
}

// passOf keeps the events of a pass that are about a node, or all.
func passOf(p passes.PassReport, name string, reasons []reasonJSON) passJSON {
	out := passJSON{Name: p.Name, Matches: p.Matches, Left: len(p.Refused), Before: p.NodesBefore, After: p.NodesAfter,
		Ms: float64(p.Time.Microseconds()) / 1000, Allocated: p.Allocated, Notes: p.Notes, Events: []eventJSON{}, Reasons: reasons}
	for _, e := range slices.Concat(p.Log, p.Refused) {
		x := eventJSON{Kind: "refused", Node: e.Node.Name(), Pos: e.Pos().String(), By: nameOf(e.By), Rule: e.Rule, Why: e.Why, At: nameOf(e.At), text: e.String()}
		for _, n := range e.Nodes {
			x.Nodes = append(x.Nodes, n.Name())
		}
		switch {
		case e.Kind == passes.Erased:
			x.Kind = "erased"
		case e.Kind == passes.Replaced && e.By == nil:
			x.Kind = "changed"
		case e.Kind == passes.Replaced:
			x.Kind = "replaced"
		}
		if name == "" || x.Node == name || x.By == name || x.At == name || slices.Contains(x.Nodes, name) {
			out.Events = append(out.Events, x)
		}
	}
	return out
}

func madeOf(name, pos string, o *passes.Origin) madeJSON {
	m := madeJSON{Node: name, Pos: pos, Pass: o.Pass, Match: o.Match, Why: o.Why, text: o.String()}
	for _, s := range o.From {
		f := fromJSON{Node: s.Name, Pos: s.Pos.String()}
		if s.Made != nil {
			f.Made = append(f.Made, madeOf(s.Name, f.Pos, s.Made))
		}
		m.From = append(m.From, f)
	}
	return m
}

// text is the form for people: passes with their rewrites and refusals, then the nodes
// that they made.
func (w whyJSON) text(node string) string {
	var b strings.Builder
	for _, p := range w.Passes {
		reasons := slices.DeleteFunc(slices.Clone(p.Reasons), func(r reasonJSON) bool { return r.Matched == 0 })
		if node != "" && len(p.Events)+len(reasons) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s: %d matches, %d left as they are\n", p.Name, p.Matches, p.Left)
		for _, s := range p.Notes {
			fmt.Fprintf(&b, "  %s\n", s)
		}
		for _, e := range p.Events {
			fmt.Fprintf(&b, "  %s\n", e.text)
		}
		for _, r := range reasons {
			fmt.Fprintf(&b, "  rule %s at %%%s: %s\n", r.Rule, node, r.Why)
		}
		b.WriteString(p.Diff)
	}
	if len(w.Made) > 0 {
		b.WriteString("made:\n")
	}
	for _, m := range w.Made {
		m.write(&b, "  ")
	}
	if b.Len() == 0 && node != "" {
		fmt.Fprintf(&b, "%%%s was captured; no pass did anything to it, and no rule begins with it\n", node)
	}
	return b.String()
}

func (m madeJSON) write(b *strings.Builder, indent string) {
	at := ""
	if m.Pos != "" {
		at = " at " + m.Pos
	}
	fmt.Fprintf(b, "%s%%%s%s: %s\n", indent, m.Node, at, m.text)
	for _, f := range m.From {
		for _, before := range f.Made {
			before.write(b, indent+"  ")
		}
	}
}
