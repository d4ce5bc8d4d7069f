package lazy

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
)

// Counts say how often values were computed, by reason.
type Counts = map[Reason]int

// Explanation tells what a session did: for people (String), for programs (it is encoded as
// JSON), and as a picture of the graphs (DOT).
type Explanation struct {
	Stats   Stats     `json:"stats"`
	Graphs  []Graph   `json:"graphs"`            // those that are kept, in the order in which they came
	Flushes []Flush   `json:"flushes"`           // of the session, the most frequent first
	Copies  []Flush   `json:"copies"`            // lines that made the session copy values of models
	Dropped []Dropped `json:"dropped,omitempty"` // the last graphs that were dropped
	Single  *Line     `json:"single,omitempty"`  // the operator and place of the last call of Options.OneByOne
}

// Graph is a graph of a session.
type Graph struct {
	Number      int         `json:"number"` // from 1, in the order in which graphs came
	Calls       int         `json:"calls"`
	Runs        int         `json:"runs"`
	Interpreted int         `json:"interpreted"` // runs call by call
	Compiled    int         `json:"compiled"`    // runs as a plan
	State       State       `json:"state"`
	Refusal     string      `json:"refusal,omitempty"`   // why the target refuses the graph
	Builds      int         `json:"builds"`              // how often it was given to the target
	Generated   string      `json:"generated,omitempty"` // the type of Options.Generated that runs it
	Missed      int         `json:"missed,omitempty"`    // runs for which Options.Generated has no graph
	Reads       []string    `json:"reads,omitempty"`     // inputs and weights with their types
	Symbols     []Symbol    `json:"symbols,omitempty"`   // sizes that it leaves open; the others are those of its first run
	Sizes       []string    `json:"sizes,omitempty"`     // of calls, that follow from Symbols
	Outputs     int         `json:"outputs"`             // values that were asked for when it came
	Flushes     []Flush     `json:"flushes"`
	Next        []Next      `json:"next,omitempty"`    // graphs that ran after it
	Differs     *Difference `json:"differs,omitempty"` // from the graph before that is most like it
	Text        string      `json:"text,omitempty"`    // the text form, "" where graphs have too many calls for all to be kept
	Lines       []Line      `json:"lines,omitempty"`   // its calls
}

// State says how the next run of a graph would be.
type State string

// The states.
const (
	Interpreted State = "interpreted" // it has not come often enough
	Compiling   State = "compiling"   // it runs call by call until the compiler is ready
	Compiled    State = "compiled"
	Generated   State = "generated" // it runs as the code of Options.Generated
	Refused     State = "refused"   // it runs call by call because the target refuses it
)

// Flush is a line that had values computed, and why.
type Flush struct {
	Reason Reason `json:"reason"`
	At     string `json:"at"` // file:line; "" where too many lines did
	Count  int    `json:"count"`
}

// Next is a graph that ran after another one; number 0 stands for all that are not counted
// one by one.
type Next struct {
	Graph int `json:"graph"`
	Count int `json:"count"`
}

// Dropped is a graph that was dropped for another one.
type Dropped struct {
	Graph int `json:"graph"`
	Calls int `json:"calls"`
	Runs  int `json:"runs"`
}

// Difference is the first one between two graphs.
type Difference struct {
	From  int    `json:"from"`           // the number of the other graph
	Call  int    `json:"call,omitempty"` // from 1; 0 where all calls are alike
	Here  Line   `json:"here"`           // the call, else the results
	There Line   `json:"there"`          // the same in the other graph
	Read  string `json:"read,omitempty"` // the first input or weight that differs, with its type
	Other string `json:"other,omitempty"`
}

// Line is a line of the text form. It is empty where a graph has ended.
type Line struct {
	Text string `json:"text"`
	At   string `json:"at,omitempty"` // file:line of the program
}

// Explain tells what the session did so far, graph by graph.
func (s *Session) Explain() *Explanation {
	defer s.enter("Explain")()
	e := &Explanation{Stats: s.counted(), Graphs: []Graph{}, Flushes: flushes(s.log.sites), Copies: flushes(s.log.copies), Dropped: slices.Clone(s.log.dropped)}
	if s.log.single != (Line{}) {
		single := s.log.single
		e.Single = &single
	}
	var told []*outline
	for _, p := range s.cache.inOrder() {
		g, o := s.cache.explain(p)
		if o != nil {
			g.Differs = o.nearest(told)
			told = append(told, o)
		}
		e.Graphs = append(e.Graphs, g)
	}
	return e
}

// inOrder are the programs in the order in which they came.
func (c *cache) inOrder() (all []*program) {
	for x := c.order.Front(); x != nil; x = x.Next() {
		all = append(all, x.Value.(*program))
	}
	slices.SortFunc(all, func(a, b *program) int { return cmp.Compare(a.story.number, b.story.number) })
	return all
}

// explain tells of one graph.
func (c *cache) explain(p *program) (Graph, *outline) {
	t := &p.story
	g := Graph{Number: t.number, Calls: t.calls, Outputs: t.outputs, Runs: t.runs, Interpreted: t.interpreted, Compiled: t.compiled,
		Missed: t.missed, Builds: p.built, Flushes: flushes(t.asked), State: Interpreted}
	for _, n := range slices.Sorted(maps.Keys(t.next)) {
		g.Next = append(g.Next, Next{n, t.next[n]})
	}
	p.mu.Lock()
	switch {
	case p.bad != nil:
		g.State, g.Refusal = Refused, p.bad.Error()
	case p.ready.runs:
		g.State, g.Generated = Generated, p.ready.graph.Name
	case p.exe != nil:
		g.State = Compiled
	case p.queue:
		g.State = Compiling
	}
	p.mu.Unlock()
	if p.open != nil {
		g.Symbols, g.Sizes = p.open.symbols, p.open.derived()
	}
	if t.sketch == nil {
		return g, nil
	}
	_, m, _ := c.build(&program{}, t.sketch)
	o := outlineOf(t.number, m.Graph)
	g.Reads, g.Lines, g.Text = o.reads, o.calls, m.Graph.String()
	return g, o
}

// flushes lists lines, the most frequent first.
func flushes(m map[site]int) []Flush {
	list := []Flush{}
	for k, n := range m {
		f := Flush{Reason: k.why, Count: n}
		if k.pc != 0 {
			f.At = diag.Resolve(k.pc).String()
		}
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b Flush) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(string(a.Reason), string(b.Reason)), strings.Compare(a.At, b.At))
	})
	return list
}

// outline is a graph as lines.
type outline struct {
	number int
	reads  []string
	calls  []Line
	out    string
}

func outlineOf(number int, g *graph.Graph) *outline {
	o := &outline{number: number}
	for n := range g.Nodes() {
		switch n.Opcode() {
		case graph.Placeholder:
			o.reads = append(o.reads, n.Name()+" "+n.Type().String())
		case graph.GetAttr:
			o.reads = append(o.reads, n.Name()+" "+n.Type().String()+" weight")
		case graph.Output:
			o.out = n.Text()
		default:
			o.calls = append(o.calls, Line{Text: n.Text(), At: n.Pos().String()})
		}
	}
	return o
}

// near is how many graphs a new one is compared with, the last ones.
const near = 64

// nearest compares with the graph of a list that has the most first calls in common.
func (o *outline) nearest(list []*outline) *Difference {
	best, most := (*outline)(nil), -1
	for _, x := range list[max(0, len(list)-near):] {
		if n := o.common(x); n > most {
			best, most = x, n
		}
	}
	if best == nil {
		return nil
	}
	d := &Difference{From: best.number}
	if most < max(len(o.calls), len(best.calls)) {
		d.Call, d.Here, d.There = most+1, o.at(most), best.at(most)
	} else if o.out != best.out {
		d.Here.Text, d.There.Text = o.out, best.out
	}
	for i := range max(len(o.reads), len(best.reads)) {
		if a, b := element(o.reads, i), element(best.reads, i); a != b {
			d.Read, d.Other = a, b
			break
		}
	}
	return d
}

// common counts the first calls that are alike.
func (o *outline) common(x *outline) (n int) {
	for n < len(o.calls) && n < len(x.calls) && o.calls[n].Text == x.calls[n].Text {
		n++
	}
	return n
}

func (o *outline) at(i int) Line { return element(o.calls, i) }

func element[T any](list []T, i int) (v T) {
	if i < len(list) {
		v = list[i]
	}
	return v
}
