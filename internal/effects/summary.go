package effects

import (
	"cmp"
	"fmt"
	"go/types"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Access says what is done with a piece of memory. The values are bits.
type Access uint8

// The accesses. A piece that is struct or array has the access Load where code goes through
// it; its own fields or elements are entries of their own.
const (
	Load Access = 1 << iota
	Store
	Len  // of a slice or map
	Cap  // of a slice
	Adds // an integer of which every use is x += e, where e does not depend on x
)

// MarshalText is String.
func (a Access) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// String lists the bits.
func (a Access) String() string {
	var list []string
	for i, name := range []string{"load", "store", "len", "cap", "adds"} {
		if a&(1<<i) != 0 {
			list = append(list, name)
		}
	}
	return strings.Join(list, " ")
}

// Field is a field of a struct type.
type Field struct {
	Type, Name, FieldType string
	Access                Access
	Line                  string // "file.go:12" of the first access
}

// Elem are the elements of a slice, array or map type, or that which a pointer type points to.
type Elem struct {
	Type   string
	Access Access
	Line   string
}

// Global is a package-level variable, or one that a function literal has captured.
type Global struct {
	Name, Type string
	Access     Access
	Line       string
	Var        *types.Var `json:"-"`
	Captured   bool       // it is a variable that the function literal has captured
}

// Body is a function value whose code was analysed: the place where its code begins.
type Body struct {
	Package string // its path, main for a program's
	File    string // without folders
	Line    int
}

// Place is a call, or another operation, that keeps a function from being replayed.
type Place struct {
	Line, What, Why string
	When            []Cond // all of which hold where it is reached, as far as that is known
	Maybe           bool   // there are calls that do not reach it
	Lazy            bool   // it is given no tensor, gives none, and waits for no other goroutine
}

// Sure reports whether all calls reach a place.
func (p Place) Sure() bool { return !p.Maybe }

// unconditional reports whether no words tell that a call does not reach a place.
func (p Place) unconditional() bool { return p.When == nil }

func (p Place) equal(o Place) bool {
	return p.Line == o.Line && p.What == o.What && p.Why == o.Why && p.Maybe == o.Maybe && p.Lazy == o.Lazy && slices.Equal(p.When, o.When)
}

// text is the conditions of a place.
func (p Place) text() string {
	list := make([]string, len(p.When))
	for i, c := range p.When {
		list[i] = c.String()
	}
	return strings.Join(list, " && ")
}

// Summary is what a function may do.
type Summary struct {
	Func     string
	Fields   []Field
	Elems    []Elem
	Globals  []Global
	Dynamic  []string // concrete types that interfaces may hold on the way
	Bodies   []Body
	Opaque   []Place               // operations of which nothing is known
	Numbers  []Number              // that nothing but numbers of operators depends on
	Observes []Place               // reads of a tensor's data
	InPlace  []Place               // writes of a tensor's data
	Tells    []Tell                // calls that are made again, in their order
	Sizes    []Place               // looks at sizes of tensors
	Counted  bool                  // code is told no size, but the number of rounds of Loops
	Regions  bool                  // there are calls of Cond, While or Scan, and a record may have all of them
	Flows    []Place               // what keeps records from having them
	Loops    []Loop                // that roll
	Unrolled []Place               // loops of tensors that do not, with the reason
	Ints     Ints                  // sizes that code is told as ints
	Pinned   []Place               // sizes that it is told as ints, and does more with
	Counts   []Number              // of which nothing but the rounds of Loops depends
	Maps     []*types.Map          `json:"-"`
	Packages []string              // whose code was looked at, or whose types are met
	Types    map[string]types.Type `json:"-"` // of Fields, Elems and Dynamic, by name
}

// Reads counts the fields that are loaded.
func (s *Summary) Reads() (n int) {
	for _, f := range s.Fields {
		if f.Access&Load != 0 {
			n++
		}
	}
	return n
}

func (s *Summary) sort() {
	slices.SortFunc(s.Fields, func(a, b Field) int {
		return strings.Compare(a.Type+"\x00"+a.Name, b.Type+"\x00"+b.Name)
	})
	slices.SortFunc(s.Elems, func(a, b Elem) int { return strings.Compare(a.Type, b.Type) })
	slices.SortFunc(s.Globals, func(a, b Global) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(s.Bodies, func(a, b Body) int {
		return cmp.Or(strings.Compare(a.Package, b.Package), strings.Compare(a.File, b.File), a.Line-b.Line)
	})
	s.Bodies = slices.Compact(s.Bodies)
	slices.Sort(s.Dynamic)
	s.Dynamic = slices.Compact(s.Dynamic)
	for _, list := range [][]Number{s.Numbers, s.Counts} {
		slices.SortFunc(list, func(a, b Number) int {
			return cmp.Or(strings.Compare(a.Type+"\x00"+a.Name, b.Type+"\x00"+b.Name), a.Param-b.Param)
		})
	}
	slices.Sort(s.Packages)
	slices.SortFunc(s.Maps, func(a, b *types.Map) int { return strings.Compare(TypeName(a), TypeName(b)) })
	s.Maps = slices.CompactFunc(s.Maps, func(a, b *types.Map) bool { return types.Identical(a, b) })
	slices.SortFunc(s.Loops, func(a, b Loop) int {
		return cmp.Or(strings.Compare(a.Package+"\x00"+a.File, b.Package+"\x00"+b.File), a.Line-b.Line)
	})
	for _, list := range []*[]Place{&s.Opaque, &s.Observes, &s.InPlace, &s.Sizes, &s.Flows, &s.Unrolled, &s.Pinned} {
		slices.SortFunc(*list, func(a, b Place) int {
			return strings.Compare(a.Line+"\x00"+a.What+"\x00"+a.Why+"\x00"+a.text(), b.Line+"\x00"+b.What+"\x00"+b.Why+"\x00"+b.text())
		})
		*list = slices.CompactFunc(*list, Place.equal)
	}
}

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
	t.title = "sizes that it is told as ints, and compares or gives to operators"
	for _, a := range s.Ints.Asks {
		t.row(a.File+":"+strconv.Itoa(a.Line), "Dim", "")
	}
	t.places("sizes that stay compared", s.Pinned)
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
