package codegen

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/diag"
)

// goFile is a file in the making.
type goFile struct {
	*jen.File
	name  string
	lines int // about as many as are printed
}

// maxFileLines is where a new file is begun, at the next declaration.
const maxFileLines = 2500

// maxLines is the most lines of statements of one function.
const maxLines = 300

// newFile begins a file of the package that is printed.
func (g *kernelGen) newFile(name string) *goFile {
	s := &goFile{name: name, File: jen.NewFilePathName("", g.o.Package)}
	if !g.o.Eject {
		s.HeaderComment("// " + Header)
	}
	for _, path := range []string{"array", "array/safetensors", "diag", "kernel"} {
		s.ImportName(root+path, path[strings.LastIndexByte(path, '/')+1:])
	}
	return s
}

// declare prints a declaration of about so many lines behind its comment, of which
// every line stands for one.
func (s *goFile) declare(doc string, lines int, code ...jen.Code) {
	s.Line()
	for _, line := range strings.Split(doc, "\n") {
		s.Comment("// " + line)
	}
	s.Add(code...)
	s.lines += lines + strings.Count(doc, "\n") + 2
}

// goFiles is a run of files of which the next is begun when one is full.
type goFiles struct {
	g    *kernelGen
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
	s := f.g.newFile(name)
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

// render adds the files to out.
func render(out *Files, files []*goFile) error {
	for _, f := range files {
		var b bytes.Buffer
		if err := f.Render(&b); err != nil {
			e := diag.Bug("the printed file cannot be formatted")
			e.Err = err
			return e
		}
		out.Add(f.name, b.Bytes())
	}
	return nil
}

// fromArray names something of package array, and so on.
func fromArray(name string) *jen.Statement       { return jen.Qual(root+"array", name) }
func fromKernel(name string) *jen.Statement      { return jen.Qual(root+"kernel", name) }
func fromSafetensors(name string) *jen.Statement { return jen.Qual(root+"array/safetensors", name) }

func arrayPointer() *jen.Statement { return jen.Op("*").Add(fromArray("Array")) }

// quoted is a string literal that holds ASCII alone.
func quoted(s string) *jen.Statement { return jen.Op(strconv.QuoteToASCII(s)) }

// ifErr returns results when err is not nil.
func ifErr(results ...jen.Code) *jen.Statement {
	return jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(results...))
}

// ifErrOf returns results when call returns an error.
func ifErrOf(call jen.Code, results ...jen.Code) *jen.Statement {
	return jen.If(jen.Err().Op(":=").Add(call), jen.Err().Op("!=").Nil()).Block(jen.Return(results...))
}

// ids are identifiers as expressions.
func ids(names []string) []jen.Code {
	list := make([]jen.Code, len(names))
	for i, n := range names {
		list[i] = jen.Id(n)
	}
	return list
}

// structFields are fields of one type, several on a line.
func structFields(fields []string, typ jen.Code) []jen.Code {
	var lines []jen.Code
	for len(fields) > 0 {
		n, width := 1, len(fields[0])
		for n < len(fields) && width+len(fields[n]) < 90 {
			width += len(fields[n]) + 2
			n++
		}
		lines = append(lines, jen.List(ids(fields[:n])...).Add(typ))
		fields = fields[n:]
	}
	return lines
}
