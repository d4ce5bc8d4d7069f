package kernelstyle

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/diag"
)

// maxFileLines is where a new file is begun, at the next declaration.
const maxFileLines = 2500

// maxLines is the most lines of statements of one function.
const maxLines = 300

// mostParts is more than the number of functions that any list of statements about
// the plan is cut into.
func mostParts(m *model) int { return (4*len(m.Buffers)+4*len(m.Steps))/maxLines + 2 }

// goFile is a file in the making.
type goFile struct {
	*jen.File
	name  string
	lines int // about as many as are printed
}

// newFile begins a file of the package that is printed.
func newFile(o *Options, name string) *goFile {
	s := &goFile{name: name, File: jen.NewFilePathName("", o.Package)}
	if !o.Eject {
		s.HeaderComment("// " + gosrc.Header)
	}
	for _, path := range []string{"array", "array/safetensors", "kernel"} {
		s.ImportName(gosrc.Root+path, path[strings.LastIndexByte(path, '/')+1:])
	}
	return s
}

// declare prints a declaration of about so many lines after its comment; every
// line of the comment counts as one.
func (s *goFile) declare(doc string, lines int, code ...jen.Code) {
	s.Line()
	for _, line := range strings.Split(doc, "\n") {
		s.Comment("// " + line)
	}
	s.Add(code...)
	s.lines += lines + strings.Count(doc, "\n") + 2
}

// template prints declarations that are Go source with some names replaced; see
// gosrc.Template.
func (s *goFile) template(source string, with map[string]any) {
	s.Line()
	s.Add(gosrc.Template(strings.TrimSpace(source), with))
}

// goFiles is a run of files of which the next is begun when one is full.
type goFiles struct {
	opts *Options
	base string // the first file is base.go, the next base_2.go
	list []*goFile
}

// next returns the file for the next declaration.
func (f *goFiles) next() *goFile {
	n := len(f.list)
	if n > 0 && f.list[n-1].lines < maxFileLines {
		return f.list[n-1]
	}
	name := f.base + ".go"
	if n > 0 {
		name = f.base + "_" + strconv.Itoa(n+1) + ".go"
	}
	s := newFile(f.opts, name)
	f.list = append(f.list, s)
	return s
}

// declare prints a declaration into the next file.
func (f *goFiles) declare(doc string, lines int, code ...jen.Code) {
	f.next().declare(doc, lines, code...)
}

// function prints a function of any number of lines as one of at most maxLines,
// which calls others for the rest. head returns comment and opening of part i,
// call the statement that calls it.
func (f *goFiles) function(lines []jen.Code, head func(i int) (doc string, open *jen.Statement), call func(i int) jen.Code) {
	for i := 0; ; i++ {
		n := min(maxLines, len(lines))
		body := append([]jen.Code(nil), lines[:n]...)
		if lines = lines[n:]; len(lines) > 0 {
			body = append(body, call(i+1))
		}
		doc, open := head(i)
		f.declare(doc, len(body)+2, open.Block(body...))
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

// render formats the files.
func render(files []*goFile) (*gosrc.Files, error) {
	out := &gosrc.Files{}
	for _, f := range files {
		var b bytes.Buffer
		if err := f.Render(&b); err != nil {
			e := diag.Bug("the printed file cannot be formatted")
			e.Err = err
			return nil, e
		}
		out.Add(f.name, gosrc.GroupImports(b.Bytes()))
	}
	return out, nil
}

// fromArray names something of package array, and so on.
func fromArray(name string) *jen.Statement  { return gosrc.From("array", name) }
func fromKernel(name string) *jen.Statement { return gosrc.From("kernel", name) }

func arrayPointer() *jen.Statement { return jen.Op("*").Add(fromArray("Array")) }

// ids are identifiers as expressions.
func ids(names []string) []jen.Code { return gosrc.IDs(names) }
