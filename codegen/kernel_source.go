package codegen

import (
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
)

// goFile is a file in the making.
type goFile struct {
	name  string
	doc   string // package comment
	body  strings.Builder
	lines int
}

// maxFileLines is where a new file is begun, at the next declaration.
const maxFileLines = 2500

// maxLines is the most lines of statements of one function.
const maxLines = 300

// goFiles is a run of files of which the next is begun when one is full.
type goFiles struct {
	base string // the first file is base.go, the next base_2.go
	list []*goFile
}

// next returns the file for the next declaration.
func (f *goFiles) next() *goFile {
	if n := len(f.list); n > 0 && f.list[n-1].lines < maxFileLines {
		return f.list[n-1]
	}
	name := f.base + ".go"
	if n := len(f.list); n > 0 {
		name = f.base + "_" + strconv.Itoa(n+1) + ".go"
	}
	s := &goFile{name: name}
	f.list = append(f.list, s)
	return s
}

// function prints a function of any number of lines as one of at most maxLines,
// which calls others for the rest. head returns the opening line of part i, call
// the statement that calls it.
func (f *goFiles) function(lines []string, head, call func(i int) string) {
	for i := 0; ; i++ {
		s := f.next()
		n := min(maxLines, len(lines))
		s.p(head(i))
		for _, l := range lines[:n] {
			s.p(l)
		}
		if lines = lines[n:]; len(lines) > 0 {
			s.p(call(i + 1))
		}
		s.p("}")
		s.p()
		if len(lines) == 0 {
			return
		}
	}
}

// numbered returns name for part 0, name2 for part 1 and so on.
func numbered(name string, i int) string {
	if i == 0 {
		return name
	}
	return name + strconv.Itoa(i+1)
}

// p writes a line made of the parts.
func (s *goFile) p(parts ...string) {
	for _, x := range parts {
		s.body.WriteString(x)
		s.lines += strings.Count(x, "\n")
	}
	s.body.WriteByte('\n')
	s.lines++
}

// knownImports are the packages that generated code may use, by their name in it.
var knownImports = map[string]string{
	"array": root + "array", "kernel": root + "kernel", "diag": root + "diag", "safetensors": root + "array/safetensors",
	"context": "context", "io": "io", "math": "math", "runtime": "runtime", "slices": "slices", "strconv": "strconv", "atomic": "sync/atomic", "bytes": "bytes",
}

// render adds package clauses and imports, drops helpers that nothing uses, and
// formats the files.
func render(out *Files, files []*goFile, pkg string, header bool) error {
	fset := token.NewFileSet()
	trees := make([]*ast.File, len(files))
	texts := make([]string, len(files))
	for i, f := range files {
		texts[i] = "package " + pkg + "\n" + f.body.String()
		tree, err := parser.ParseFile(fset, f.name, texts[i], parser.ParseComments)
		if err != nil {
			e := diag.Bug("the printed file does not parse")
			e.Err = err
			return e
		}
		trees[i] = tree
	}
	last := len(files) - 1
	drop := unused(trees, trees[last])
	for i, f := range files {
		text := texts[i]
		if i == last {
			text = without(text, trees[i], fset, drop)
			trees[i].Decls = slices.DeleteFunc(trees[i].Decls, func(d ast.Decl) bool { return drop[d] })
		}
		var b strings.Builder
		if header {
			b.WriteString("// " + Header + "\n\n")
		}
		b.WriteString(f.doc)
		b.WriteString("package " + pkg + "\n\n")
		writeImports(&b, trees[i], strings.Contains(text, "//go:embed "))
		b.WriteString(strings.TrimPrefix(text, "package "+pkg+"\n"))
		data, err := format.Source([]byte(b.String()))
		if err != nil {
			e := diag.Bug("the printed file cannot be formatted")
			e.Err = err
			return e
		}
		out.Add(f.name, data)
	}
	return nil
}

// writeImports writes the imports that the file's selectors need.
func writeImports(b *strings.Builder, f *ast.File, embed bool) {
	used := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && knownImports[x.Name] != "" {
				used[knownImports[x.Name]] = true
			}
		}
		return true
	})
	var std, own []string
	for path := range used {
		if strings.HasPrefix(path, root) {
			own = append(own, "\""+path+"\"")
		} else {
			std = append(std, "\""+path+"\"")
		}
	}
	if embed {
		std = append(std, "_ \"embed\"")
	}
	if len(std)+len(own) == 0 {
		return
	}
	slices.SortFunc(std, func(x, y string) int {
		return strings.Compare(strings.TrimPrefix(x, "_ "), strings.TrimPrefix(y, "_ "))
	})
	slices.Sort(own)
	b.WriteString("import (\n" + strings.Join(std, "\n") + "\n\n" + strings.Join(own, "\n") + "\n)\n\n")
}

// unused returns the functions of one file that are reached from none of the
// other files.
func unused(files []*ast.File, helpers *ast.File) map[ast.Decl]bool {
	name := func(d ast.Decl) string {
		if f, ok := d.(*ast.FuncDecl); ok {
			return f.Name.Name
		}
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE {
			return g.Specs[0].(*ast.TypeSpec).Name.Name
		}
		return ""
	}
	mentions := func(n ast.Node, self string, into map[string]bool) {
		ast.Inspect(n, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && id.Name != self {
				into[id.Name] = true
			}
			return true
		})
	}
	live := map[string]bool{}
	for _, f := range files {
		if f != helpers {
			mentions(f, "", live)
		}
	}
	drop := map[ast.Decl]bool{}
	for _, d := range helpers.Decls {
		drop[d] = true
	}
	for again := true; again; {
		again = false
		for _, d := range helpers.Decls {
			f, method := d.(*ast.FuncDecl)
			if !drop[d] || !live[name(d)] {
				continue
			}
			// A method is needed only with its type.
			if method && f.Recv != nil && !live[receiver(f)] {
				continue
			}
			delete(drop, d)
			mentions(d, name(d), live)
			again = true
		}
	}
	return drop
}

func receiver(f *ast.FuncDecl) string {
	t := f.Recv.List[0].Type
	if p, ok := t.(*ast.StarExpr); ok {
		t = p.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// without cuts declarations, with their comments, out of a file's text.
func without(text string, f *ast.File, fset *token.FileSet, drop map[ast.Decl]bool) string {
	var b strings.Builder
	at := 0
	for _, d := range f.Decls {
		if !drop[d] {
			continue
		}
		from := d.Pos()
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Doc != nil {
				from = d.Doc.Pos()
			}
		case *ast.GenDecl:
			if d.Doc != nil {
				from = d.Doc.Pos()
			}
		}
		b.WriteString(text[at:fset.Position(from).Offset])
		at = fset.Position(d.End()).Offset
	}
	b.WriteString(text[at:])
	return b.String()
}
