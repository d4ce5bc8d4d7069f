package lazy

import (
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"strconv"
	"strings"
	"unicode"
)

// String describes the graphs one after the other, with files by their base names.
func (e *Explanation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s of %s\n", amount(len(e.Graphs), "graph"), amount(total(e.Flushes), "flush"), amount(e.Stats.Runs, "call"))
	for _, g := range e.Graphs {
		g.tell(&b)
	}
	tellFlushes(&b, "flushes", e.Flushes)
	tellFlushes(&b, "copies of weights", e.Copies)
	for _, d := range e.Dropped {
		fmt.Fprintf(&b, "dropped: graph %d of %s after %s\n", d.Graph, amount(d.Calls, "call"), amount(d.Runs, "run"))
	}
	return b.String()
}

func (g *Graph) tell(b *strings.Builder) {
	fmt.Fprintf(b, "graph %d: %s, %s, %s: %d call by call, %d compiled; %s\n", g.Number, amount(g.Calls, "call"), amount(g.Outputs, "output"),
		amount(g.Runs, "run"), g.Interpreted, g.Compiled, g.State)
	if g.Refusal != "" {
		fmt.Fprintf(b, "  refused: %s\n", g.Refusal)
	}
	if g.Missed > 0 {
		fmt.Fprintf(b, "  not in Options.Generated: %s\n", amount(g.Missed, "run"))
	}
	if len(g.Reads) > 0 {
		fmt.Fprintf(b, "  reads %s\n", strings.Join(g.Reads, ", "))
	}
	for _, y := range g.Symbols {
		fmt.Fprintf(b, "  open: %s\n", y)
	}
	if len(g.Sizes) > 0 {
		fmt.Fprintf(b, "  sizes that follow: %s\n", strings.Join(g.Sizes, ", "))
	}
	if d := g.Differs; d != nil {
		for line := range strings.Lines(d.String()) {
			b.WriteString("  " + line)
		}
	}
	for _, f := range g.Flushes {
		fmt.Fprintf(b, "  flush %s\n", f)
	}
	for _, n := range g.Next {
		to := "graph " + strconv.Itoa(n.Graph)
		if n.Graph == 0 {
			to = "other graphs"
		}
		fmt.Fprintf(b, "  then %s, %s\n", to, amount(n.Count, "time"))
	}
}

// String has a line that says where the graphs differ, and one for each of them.
func (d *Difference) String() string {
	var b strings.Builder
	where := "in its inputs and weights"
	switch {
	case d.Call > 0:
		where = "at call " + strconv.Itoa(d.Call)
	case d.Here.Text != "":
		where = "in its outputs"
	}
	fmt.Fprintf(&b, "differs from graph %d %s\n", d.From, where)
	if d.Here.Text+d.There.Text != "" {
		fmt.Fprintf(&b, "  %-5s %s\n  %-5s %s\n", "this:", d.Here, strconv.Itoa(d.From)+":", d.There)
	}
	if d.Read != d.Other {
		fmt.Fprintf(&b, "  reads %s, there %s\n", orNothing(d.Read), orNothing(d.Other))
	}
	return b.String()
}

func orNothing(s string) string { return or(s, "nothing") }

// String returns the line with its place in the program.
func (l Line) String() string {
	if l.At == "" {
		return or(l.Text, "no call")
	}
	return l.Text + "  # " + path.Base(l.At)
}

// String returns "item at model.go:7, 3 times".
func (f Flush) String() string {
	at := "at more lines"
	if f.At != "" {
		at = "at " + path.Base(f.At)
	}
	return string(f.Reason) + " " + at + ", " + amount(f.Count, "time")
}

func tellFlushes(b *strings.Builder, title string, list []Flush) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "%s\n", title)
	for _, f := range list {
		fmt.Fprintf(b, "  %s\n", f)
	}
}

func total(list []Flush) (n int) {
	for _, f := range list {
		n += f.Count
	}
	return n
}

// amount writes a count with its noun.
func amount(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "sh"):
		return strconv.Itoa(n) + " " + what + "es"
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// fills are the colours of states in DOT, which differ in lightness as well.
var fills = map[State]string{Interpreted: "#f9fafb", Compiling: "#fde047", Compiled: "#dcfce7", Generated: "#a7f3d0", Refused: "#fdba74"}

// DOT returns the succession of the graphs as a drawing in the language of Graphviz: a vertex
// for each graph, an edge for each pair that ran one after the other, with how often.
func (e *Explanation) DOT() string {
	var b strings.Builder
	b.WriteString("digraph \"session\" {\n" +
		"  node [fontname=\"Helvetica\", fontsize=11, shape=box];\n" +
		"  edge [fontname=\"Helvetica\", fontsize=9];\n")
	known := map[int]bool{}
	for _, g := range e.Graphs {
		known[g.Number] = true
		look := "filled,rounded"
		fmt.Fprintf(&b, "  g%d [label=\"graph %d\\n%s, %s\\n%s\", style=%q, fillcolor=%q];\n", g.Number, g.Number,
			amount(g.Calls, "call"), amount(g.Runs, "run"), g.State, look, fills[g.State])
	}
	for _, g := range e.Graphs {
		others := 0
		for _, n := range g.Next {
			if !known[n.Graph] {
				others += n.Count
				continue
			}
			fmt.Fprintf(&b, "  g%d -> g%d [label=\"%d\"];\n", g.Number, n.Graph, n.Count)
		}
		if others > 0 {
			fmt.Fprintf(&b, "  g%d -> others [label=\"%d\", style=dashed];\n", g.Number, others)
		}
	}
	b.WriteString("}\n")
	return b.String()
}

// MarshalJSON writes all counts, also those that are zero, with small letters: "at_once".
func (s Stats) MarshalJSON() ([]byte, error) {
	v := reflect.ValueOf(s)
	m := map[string]any{}
	for i := range v.NumField() {
		m[lower(v.Type().Field(i).Name)] = v.Field(i).Interface()
	}
	return json.Marshal(m)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Stats) UnmarshalJSON(text []byte) error {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(text, &m); err != nil {
		return err
	}
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		if raw, ok := m[lower(v.Type().Field(i).Name)]; ok {
			if err := json.Unmarshal(raw, v.Field(i).Addr().Interface()); err != nil {
				return err
			}
		}
	}
	return nil
}

// lower writes AtOnce as at_once.
func lower(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) {
			if i > 0 {
				b.WriteByte('_')
			}
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}
