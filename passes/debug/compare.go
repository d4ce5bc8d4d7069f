package debug

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
)

// Row compares a value of one form of a model with its counterpart in the other.
type Row struct {
	Node, Other string // in the first form and in the second one
	Op, Scope   string
	Pos         diag.Pos
	Result      int // 0 for a value within the graph, else the number of the result from 1
	Distance
	Differs string // how they differ beyond the bounds, "" where they do not
	// Unlike tells of values of different types, between which there is no distance.
	Unlike bool
	// Alone tells of a difference that is there only while no other value is observed:
	// of what the engine computes in one with others.
	Alone bool
}

// Comparison says where two forms of a model differ.
type Comparison struct {
	// Rows are the values that both have: those that differ in the order in which the
	// first form computes them, then the others. Errors of a value include those of
	// everything before it, so that the first row is where to look.
	Rows    []Row
	Results []Row
	// OnlyFirst and OnlySecond are calls without a counterpart, "%gelu = gelu".
	OnlyFirst, OnlySecond []string
}

// First returns the first value that differs, nil for none.
func (c *Comparison) First() *Row {
	for _, list := range [][]Row{c.Rows, c.Results} {
		for i := range list {
			if list[i].Differs != "" {
				return &list[i]
			}
		}
	}
	return nil
}

// CompareOptions are the choices of Compare; the zero value interprets both forms.
type CompareOptions struct {
	First, Second EngineFor
	// Rel and Abs bound the differences, as passes.Numeric says.
	Rel, Abs float64
}

// Compare runs two forms of a model on the same inputs and measures how far their values
// are apart. Values correspond by the captured value that they give (passes.CapturedName), by
// name, or, where the forms were not made of one capture, as the values of an operator
// in a module. Where results differ and no value that is observed does, because engines
// compute other things while it is, values are tried one at a time from there upwards.
func Compare(ctx context.Context, first, second *graph.Module, in []*array.Array, o CompareOptions) (*Comparison, error) {
	a, err := Values(ctx, first, in, o.First)
	if err != nil {
		return nil, err
	}
	b, err := Values(ctx, second, in, o.Second)
	if err != nil {
		return nil, err
	}
	var alone Alone
	if o.First != nil || o.Second != nil {
		alone = func(v, w string) (x, y *array.Array, err error) {
			if x, err = Observe(ctx, first, in, o.First, v); err == nil {
				y, err = Observe(ctx, second, in, o.Second, w)
			}
			return x, y, err
		}
	}
	return CompareValues(a, b, o, alone)
}

// Alone computes a value of each form, by the names of the nodes, while no other value
// is observed.
type Alone func(first, second string) (a, b *array.Array, err error)

// enter puts a row in the front, in the place of that of the same node.
func (c *Comparison) enter(row Row) {
	c.Rows = slices.DeleteFunc(c.Rows, func(r Row) bool { return r.Node == row.Node })
	c.Rows = slices.Insert(c.Rows, 0, row)
}

// CompareValues compares what Values has given of two forms; alone may be nil.
func CompareValues(first, second []Observation, o CompareOptions, alone Alone) (*Comparison, error) {
	c, other := &Comparison{}, counterparts(first, second)
	taken := make([]bool, len(second))
	var agree []Row
	for i, v := range first {
		k := other[i]
		if k < 0 {
			if v.Result == 0 {
				c.OnlyFirst = append(c.OnlyFirst, v.call())
			}
			continue
		}
		taken[k] = true
		switch r := o.row(v, second[k]); {
		case v.Array == nil && second[k].Array == nil:
		case v.Result > 0:
			c.Results = append(c.Results, r)
		case r.Differs != "":
			c.Rows = append(c.Rows, r)
		default:
			agree = append(agree, r)
		}
	}
	c.Rows = append(c.Rows, agree...)
	for i, v := range second {
		if !taken[i] && v.Result == 0 {
			c.OnlySecond = append(c.OnlySecond, v.call())
		}
	}
	if len(c.Rows)+len(c.Results) == 0 {
		return nil, diag.New(NotComparable, "no value of the one has a counterpart in the other")
	}
	if d := c.First(); d != nil && d.Result > 0 && alone != nil {
		w := walk{first: map[string]*Observation{}, second: map[string]*Observation{}, o: o, alone: alone, seen: map[string]bool{}}
		for i, k := range other {
			name := first[i].Name
			if first[i].Result > 0 && w.first[name] != nil {
				continue // the call itself is there
			}
			if w.first[name] = &first[i]; k >= 0 {
				w.second[name] = &second[k]
			}
		}
		row, err := w.up(*d)
		if err != nil {
			return nil, err
		}
		row.Result, row.Alone = 0, true
		c.enter(row)
	}
	return c, nil
}

func (v *Observation) call() string {
	return "%" + v.Name + " = " + v.Text + "(" + strings.Join(v.Args, ", ") + ")"
}

// row compares two values.
func (o CompareOptions) row(v, w Observation) Row {
	r := Row{Node: v.Name, Other: w.Name, Op: v.Op, Scope: v.Scope, Pos: v.Pos, Result: v.Result}
	r.Differs = passes.Numeric{Rel: o.Rel, Abs: o.Abs}.Differ(w.Array, v.Array)
	if v.Array == nil || w.Array == nil {
		return r
	}
	if a, b := shape.TypeOf(v.Array), shape.TypeOf(w.Array); !a.Same(b) {
		r.Unlike, r.Differs = true, "the first form gives "+a.String()+", the second form "+b.String()
		return r
	}
	r.Add(v.Array, w.Array)
	return r
}

// counterparts returns, for each value of the first list, which one of the second list
// corresponds to it, -1 for none. A value that a rewrite put in the place of another is
// the same; one that has only the name of another may have taken over another value.
func counterparts(first, second []Observation) []int {
	p := pairing{first, second, make([]int, len(first)), make([]bool, len(second))}
	for i := range p.other {
		p.other[i] = -1
	}
	p.by(false, func(v *Observation) string {
		if v.Result > 0 {
			return "result " + strconv.Itoa(v.Result)
		}
		return ""
	})
	p.by(false, func(v *Observation) string {
		if v.Gives == "" || v.Result > 0 {
			return ""
		}
		return v.Gives
	})
	p.by(true, func(v *Observation) string { // a call that is as it was may stand for another value besides
		if v.Result > 0 {
			return ""
		}
		return v.call() + "\n" + v.Made
	})
	if first, second := p.captured(); first && second {
		p.alike()
	}
	return p.other
}

// pairing finds counterparts.
type pairing struct {
	first, second []Observation
	other         []int
	taken         []bool
}

// by pairs what has the same key, which is "" for what is to be left out. Of several
// values with one key the last ones correspond: the first ones are on the way to it.
func (p *pairing) by(shared bool, key func(v *Observation) string) {
	at := map[string]int{}
	for i := range p.second {
		if k := key(&p.second[i]); k != "" && (shared || !p.taken[i]) {
			at[k] = i
		}
	}
	for i := len(p.first) - 1; i >= 0; i-- {
		k := key(&p.first[i])
		if p.other[i] >= 0 || k == "" {
			continue
		}
		if j, ok := at[k]; ok && related(p.first[i].Scope, p.second[j].Scope) {
			p.other[i], p.taken[j] = j, true
			delete(at, k)
		}
	}
}

// related reports whether values can be in two modules and be the same: a call of a
// module is one in the module once it is a call of a function.
func related(a, b string) bool {
	return a == b || a == "" || b == "" || strings.HasPrefix(a, b+".") || strings.HasPrefix(b, a+".")
}

// captured reports of both lists whether no rewrite made any of their values.
func (p *pairing) captured() (first, second bool) {
	made := func(v Observation) bool { return v.Made != "" || v.Gives != v.Name }
	return !slices.ContainsFunc(p.first, made), !slices.ContainsFunc(p.second, made)
}

// alike pairs the calls of an operator in a module, in their order, where both forms
// have as many of them left, of the same types.
func (p *pairing) alike() {
	key := func(v *Observation) string {
		if v.Result > 0 || v.Scope == "" || v.Array == nil {
			return ""
		}
		return v.Scope + "\n" + v.Op + "\n" + shape.TypeOf(v.Array).String()
	}
	groups := map[string][2][]int{}
	for side, list := range [][]Observation{p.first, p.second} {
		for i := range list {
			k := key(&list[i])
			if k == "" || side == 0 && p.other[i] >= 0 || side == 1 && p.taken[i] {
				continue
			}
			g := groups[k]
			g[side] = append(g[side], i)
			groups[k] = g
		}
	}
	for _, g := range groups {
		if len(g[0]) != len(g[1]) {
			continue
		}
		for k, i := range g[0] {
			p.other[i], p.taken[g[1][k]] = g[1][k], true
		}
	}
}

// walk looks for the first value that differs while it alone is observed.
type walk struct {
	first, second map[string]*Observation // by the names in the first form
	o             CompareOptions
	alone         Alone
	seen          map[string]bool
}

// up goes from a value that differs to what it is computed from, as long as something
// there differs too, and returns the row of the last one.
func (w *walk) up(r Row) (Row, error) {
	for {
		next, err := w.above(r.Node)
		if err != nil || next == nil {
			return r, err
		}
		r = *next
	}
}

// above returns the row of a value that a node is computed from and that differs, nil
// for none. What has no counterpart, and tuples, are passed over.
func (w *walk) above(name string) (*Row, error) {
	for _, a := range w.first[name].Args {
		v := w.first[a]
		if v == nil || v.Result > 0 || w.seen[a] {
			continue
		}
		w.seen[a] = true
		u := w.second[a]
		if u == nil || v.Array == nil {
			if r, err := w.above(a); r != nil || err != nil {
				return r, err
			}
			continue
		}
		x, y := *v, *u
		var err error
		if x.Array, y.Array, err = w.alone(v.Name, u.Name); err != nil {
			return nil, err
		}
		if r := w.o.row(x, y); r.Differs != "" {
			return &r, nil
		}
	}
	return nil, nil
}

// String returns the first difference, then a table with a line for each value, then
// what only one form has.
func (c *Comparison) String() string {
	var b strings.Builder
	if d := c.First(); d == nil {
		b.WriteString("all values agree\n")
	} else {
		b.WriteString("first difference: " + d.place() + ": " + d.Differs + "\n")
	}
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	for _, r := range slices.Concat(c.Rows, c.Results) {
		mark := ""
		if r.Differs != "" {
			mark = "differs"
		}
		if r.Alone {
			mark = "differs while alone"
		}
		far := "\tlargest " + strconv.FormatFloat(r.Largest, 'g', 4, 64) + "\tulp " + strconv.FormatFloat(r.ULPs, 'g', 4, 64) + "\t" + r.SQNR().String()
		if r.Unlike {
			far, mark = "\tanother type\t\t", "differs"
		}
		_, _ = w.Write([]byte(r.name() + "\t" + r.Op + far + "\t" + mark + "\t" + r.Scope + "\n")) // a Builder does not fail
	}
	_ = w.Flush()
	for line := range strings.Lines(table.String()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	for _, only := range []struct {
		what string
		list []string
	}{{"only in the first form", c.OnlyFirst}, {"only in the second form", c.OnlySecond}} {
		if len(only.list) > 0 {
			b.WriteString(only.what + ":\n  " + strings.Join(only.list, "\n  ") + "\n")
		}
	}
	return b.String()
}

// name returns "%a", "%a = %b" where the other form has another name, or "result 0 %a".
func (r *Row) name() string {
	s := "%" + r.Node
	if r.Other != r.Node {
		s += " = %" + r.Other
	}
	if r.Result > 0 {
		s = "result " + strconv.Itoa(r.Result-1) + " " + s
	}
	return s
}

func (r *Row) place() string {
	s := r.name() + " (" + r.Op
	if r.Scope != "" {
		s += " in " + r.Scope
	}
	if p := r.Pos.String(); p != "" {
		s += " at " + p
	}
	return s + ")"
}
