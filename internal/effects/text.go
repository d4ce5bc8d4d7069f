package effects

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Explain prints what a function reads and writes, and what keeps it from being replayed, with
// the lines of the code.
func (s *Summary) Explain(out io.Writer) error {
	t := &table{}
	t.title = Short(s.Func)
	t.row("", "", "")
	t.fields(s, fmt.Sprintf("reads %d fields", s.Reads()), Load)
	t.fields(s, "writes fields", Store)
	t.title = "uses elements"
	for _, e := range s.Elems {
		t.row(e.Line, Short(e.Type), e.Access.String())
	}
	t.title = "uses variables"
	for _, g := range s.Globals {
		t.row(g.Line, Short(g.Name), g.Access.String())
	}
	t.title = "may become inputs"
	for _, n := range s.Numbers {
		t.row("", n.text(), "")
	}
	t.title = "loops that roll"
	for _, l := range s.Loops {
		t.row(l.File+":"+strconv.Itoa(l.Line), "for", "")
	}
	t.places("loops that unroll", s.Unrolled)
	t.places("functions that run as Go code", s.Flows)
	t.places("writes tensors", s.InPlace)
	t.title = "is made again"
	for _, p := range s.Tells {
		t.row(p.Line, Short(p.What), "")
	}
	t.title = "interfaces may hold"
	for _, d := range s.Dynamic {
		t.row("", Short(d), "")
	}
	t.title = "function values may be"
	for _, b := range s.Bodies {
		t.row("", fmt.Sprintf("%s:%d", b.File, b.Line), "")
	}
	t.places("breaks", slices.Concat(s.Opaque, s.Observes))
	return t.print(out)
}

// table is what Explain prints: rows of three cells under titles.
type table struct {
	title string // of the rows to come
	rows  [][3]string
	wide  [2]int
}

func (t *table) row(line, what, more string) {
	if t.title != "" {
		t.rows = append(t.rows, [3]string{0: t.title})
		t.title = ""
	}
	if what != "" {
		t.rows = append(t.rows, [3]string{line, what, more})
		t.wide[0], t.wide[1] = max(t.wide[0], len(line)), max(t.wide[1], len(what))
	}
}

func (t *table) fields(s *Summary, title string, a Access) {
	t.title = title
	for _, f := range s.Fields {
		if f.Access&a != 0 {
			more := ""
			if f.Access&Adds != 0 {
				more = "only added to"
			}
			t.row(f.Line, Short(f.Type)+"."+f.Name, more)
		}
	}
}

func (t *table) places(title string, list []Place) {
	t.title = title
	for _, p := range list {
		why := p.Why
		if p.When != nil {
			why = "where " + Short(p.text()) + ": " + why
		}
		t.row(p.Line, Short(p.What), why)
	}
}

func (t *table) print(w io.Writer) error {
	for i, r := range t.rows {
		text := "  " + r[0]
		switch {
		case i == 0:
			text = r[0]
		case r[0] == "":
			text = strings.Repeat(" ", 4) + r[1]
		case r[1] != "":
			text = fmt.Sprintf("    %-*s  %-*s  %s", t.wide[0], r[0], min(t.wide[1], 50), r[1], r[2])
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(text, " ")); err != nil {
			return err
		}
	}
	return nil
}

var folders = regexp.MustCompile(`[\w.~-]+/`)

// Short leaves the folders of import paths out of a name.
func Short(name string) string { return folders.ReplaceAllString(name, "") }
