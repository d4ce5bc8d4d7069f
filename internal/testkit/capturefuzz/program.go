package capturefuzz

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Program is one random Go program over tensors, kept as the statements that it
// is printed from.
type Program struct {
	Seed uint64
	ID   int
	// N is the size that symbolic axes have where a capture fixes them.
	N      int
	Inputs []Input
	Fields []Field // of the module
	Global []Field // package-level tensors
	Body   []*Stmt
	// Results are the values returned, Form how: tuple, slice, struct or map.
	Results []string
	Form    string
	Func    bool // a plain function, not a module
}

// Input is one parameter of the program.
type Input struct {
	Name, Spec string // type in the text form, such as f32[N,4]
}

// Field is a tensor, or a value that holds tensors, which outlives a call.
type Field struct {
	Name, Type, Tag string
	Make            string // statements that make it in the constructor
}

// Stmt is one statement; a compound one has a body between head and tail.
type Stmt struct {
	Kind string
	Head string
	Body []*Stmt
	Tail string
	Defs []string // identifiers that it declares
	// Return are the values of an early return of the program, after the head.
	Return []string
}

// Sizes are the sizes that symbolic axes take in runs, besides N.
var Sizes = []int{1, 2, 5, 7}

// text prints a statement.
func (p *Program) text(b *strings.Builder, s *Stmt, depth int) {
	tab := strings.Repeat("\t", depth)
	for line := range strings.SplitSeq(s.Head, "\n") {
		b.WriteString(tab + line + "\n")
	}
	for _, d := range s.Defs {
		if s.Tail == "" {
			b.WriteString(tab + "_ = " + d + "\n")
		}
	}
	for _, x := range s.Body {
		p.text(b, x, depth+1)
	}
	if s.Return != nil {
		b.WriteString(tab + "\t" + p.Return(s.Return) + "\n")
	}
	if s.Tail == "" {
		return
	}
	for line := range strings.SplitSeq(s.Tail, "\n") {
		b.WriteString(tab + line + "\n")
	}
	for _, d := range s.Defs {
		b.WriteString(tab + "_ = " + d + "\n")
	}
}

// Name is the name of the program's module type or function.
func (p *Program) Name() string {
	if p.Func {
		return "Func" + strconv.Itoa(p.ID)
	}
	return "Net" + strconv.Itoa(p.ID)
}

// File is the name of the program's source file.
func (p *Program) File() string { return fmt.Sprintf("p%05d.go", p.ID) }

// imports are the packages that programs may use, each with a mention that keeps
// the import in use.
const header = `package prog

import (
	"maps"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/capturefuzz/judge"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tensor"
)

var _, _, _, _, _ = array.F32, op.Int, nn.NewLinear, slices.Max[[]int], maps.Keys[map[string]int]

`

// Source prints the program as a file of package prog.
func (p *Program) Source() string {
	var b strings.Builder
	fmt.Fprintf(&b, "// Seed %d.\n", p.Seed)
	b.WriteString(header)
	p.declare(&b)
	var f strings.Builder
	p.function(&f)
	b.WriteString(movable(f.String()))
	fmt.Fprintf(&b, "func init() {\n\tjudge.Enter(judge.Entry{ID: %d, Seed: %d, N: %d, File: %q,\n\t\tInputs: []string{", p.ID, p.Seed, p.N, p.File())
	for _, in := range p.Inputs {
		fmt.Fprintf(&b, "%q, ", in.Spec)
	}
	fmt.Fprintf(&b, "},\n\t\tNew: new%d})\n}\n", p.ID)
	return b.String()
}

var (
	scalar = regexp.MustCompile(`\.(\w+Scalar(?:InPlace)?)\((-?[0-9.]+)\)`)
	place  = regexp.MustCompile(`\.(Select|Narrow)\(([^(),]+|\w+\.Rank\(\) ?- ?\d), (-?\d+)([,)])`)
	bounds = regexp.MustCompile(`\.Slice\(([^(),]+), (\d+), (\d+)([,)])`)
)

// movable has the judge say numbers and positions of calls, so that a program runs again with others.
func movable(text string) string {
	text = scalar.ReplaceAllString(text, ".$1(judge.Number($2))")
	text = place.ReplaceAllString(text, ".$1($2, judge.Position($3)$4")
	return bounds.ReplaceAllString(text, ".Slice($1, judge.Bound($2, $2), judge.Bound($2, $3)$4")
}

// Brief prints the essential part of the program, for people.
func (p *Program) Brief() string {
	var b strings.Builder
	fmt.Fprintf(&b, "// seed %d, N is %d\n", p.Seed, p.N)
	p.declare(&b)
	p.function(&b)
	var in []string
	for _, x := range p.Inputs {
		in = append(in, x.Name+" "+x.Spec)
	}
	return b.String() + "// inputs: " + strings.Join(in, ", ")
}

// declare prints the state and the code that makes it again.
func (p *Program) declare(b *strings.Builder) {
	if !p.Func {
		fmt.Fprintf(b, "type %s struct {\n", p.Name())
		for _, f := range p.Fields {
			fmt.Fprintf(b, "\t%s %s", f.Name, f.Type)
			if f.Tag != "" {
				fmt.Fprintf(b, " `fx:%q`", f.Tag)
			}
			b.WriteString("\n")
		}
		b.WriteString("}\n\n")
	}
	for _, f := range p.Global {
		fmt.Fprintf(b, "var %s %s\n\n", f.Name, f.Type)
	}
	fmt.Fprintf(b, "// new%d makes a new state.\nfunc new%d() judge.Instance {\n", p.ID, p.ID)
	for _, f := range p.Global {
		b.WriteString("\t" + f.Make + "\n")
	}
	target := p.Name()
	if !p.Func {
		fmt.Fprintf(b, "\tm := &%s{}\n", p.Name())
		for _, f := range p.Fields {
			b.WriteString("\t" + f.Make + "\n")
		}
		target = "m"
	}
	fmt.Fprintf(b, "\treturn judge.Instance{Target: %s, Globals: map[string]*tensor.Tensor{", target)
	for _, f := range p.Global {
		fmt.Fprintf(b, "%q: %s, ", f.Name, f.Name)
	}
	b.WriteString("}}\n}\n\n")
}

// function prints the captured function.
func (p *Program) function(b *strings.Builder) {
	var params []string
	for _, in := range p.Inputs {
		params = append(params, in.Name)
	}
	list := strings.Join(params, ", ") + " *tensor.Tensor"
	if p.Form == "struct" {
		fmt.Fprintf(b, "type Out%d struct {\n", p.ID)
		for i := range p.Results {
			fmt.Fprintf(b, "\tR%d *tensor.Tensor\n", i)
		}
		b.WriteString("}\n\n")
	}
	if p.Func {
		fmt.Fprintf(b, "func %s(%s) %s {\n", p.Name(), list, p.resultType())
	} else {
		fmt.Fprintf(b, "func (m *%s) Forward(%s) %s {\n", p.Name(), list, p.resultType())
	}
	for _, s := range p.Body {
		p.text(b, s, 1)
	}
	b.WriteString("\t" + p.Return(p.Results) + "\n}\n\n")
}

func (p *Program) resultType() string {
	switch p.Form {
	case "slice":
		return "[]*tensor.Tensor"
	case "map":
		return "map[string]*tensor.Tensor"
	case "struct":
		return fmt.Sprintf("Out%d", p.ID)
	}
	if len(p.Results) == 1 {
		return "*tensor.Tensor"
	}
	return "(" + strings.TrimSuffix(strings.Repeat("*tensor.Tensor, ", len(p.Results)), ", ") + ")"
}

// Return prints a return statement of the program's form.
func (p *Program) Return(results []string) string {
	switch p.Form {
	case "slice":
		return "return []*tensor.Tensor{" + strings.Join(results, ", ") + "}"
	case "struct", "map":
		var parts []string
		for i, r := range results {
			if p.Form == "map" {
				parts = append(parts, fmt.Sprintf("\"r%d\": %s", i, r))
			} else {
				parts = append(parts, fmt.Sprintf("R%d: %s", i, r))
			}
		}
		return "return " + p.resultType() + "{" + strings.Join(parts, ", ") + "}"
	}
	return "return " + strings.Join(results, ", ")
}

var ident = regexp.MustCompile(`\b[a-z]+[0-9]+\b`)

// uses lists the generated identifiers that a text mentions.
func uses(text string) []string { return ident.FindAllString(text, -1) }

// all returns the statements of a body and of the bodies inside it.
func all(body []*Stmt) []*Stmt {
	var list []*Stmt
	for _, s := range body {
		list = append(append(list, s), all(s.Body)...)
	}
	return list
}

// Kinds lists the kinds of statements that the program has, sorted, each once.
func (p *Program) Kinds() []string {
	var kinds []string
	for _, s := range all(p.Body) {
		kinds = append(kinds, s.Kind)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}
