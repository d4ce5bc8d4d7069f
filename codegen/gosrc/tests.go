package gosrc

import (
	"bytes"
	"go/format"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/goname"
)

// Tests are the tests of a generated package: a file of samples, which package
// certificate reads, and an example.
type Tests struct {
	Samples []byte   // the file
	Doc     []string // information about the samples, any text
	// Sizes are those of the inputs of the example, which are zeros, and Results those
	// of its results; nil if the example is not to be run.
	Sizes, Results [][]int
}

// Calls say how code of the package itself makes and calls its model. The printers of
// the styles fill it in; everything in it is Go.
type Calls struct {
	Package string
	File    string // beginning of the files' names
	Name    string // of the model's type, or of the function
	Entry   string // the subject of the example: Model_Forward
	Eject   bool
	// Make makes the model m, "" where there is none, with the weights in the file
	// Weights, where that is not "": it reads the file, or takes a function that finds tensors by
	// their names and a number of threads if Find is true.
	Make, Weights string
	Find          bool
	Again         bool   // a model for each sample: calls change it
	State         string // the call that makes the state of the caller, "" for none
	Call          string // m.Forward
	Context       bool   // calls take a context, and return an error
	Inputs        []Argument
	Results       []string // names, of which Result says how arrays are reached
	Result        string   // name of the struct of results, "" for results of their own
	// Parts are the arrays in the results, in order: fc, or r.Value0[1]; nil where no
	// list of expressions reaches them, and there is no example then.
	Parts []string
}

// Argument is an input.
type Argument struct {
	Name  string
	Given string // from the array ARRAY
	Zeros string // zeros of the sizes SIZES
}

// file names one of the files of the tests: a package may have hand-written ones.
func (c *Calls) file(what string) string {
	if c.File == "model" {
		return what
	}
	return c.File + "_" + what
}

// Reserved are the names that the tests need besides those of their package.
var Reserved = []string{"certificate", "testing", "fmt", "os", "tensor", "t", "in", "m", "r", "err", "f", "info", "state", "ctx"}

// AddTo prints the test, the example and the samples.
func (t *Tests) AddTo(files *Files, c Calls) error {
	used := goname.NewSet(Reserved...)
	used.Reserve("array", "context", "kernel", "diag", "safetensors", "nn", "op")
	c.Inputs = slices.Clone(c.Inputs)
	for i := range c.Inputs {
		c.Inputs[i].Name = used.Unique(c.Inputs[i].Name)
	}
	c.Results = slices.Clone(c.Results)
	for i := range c.Results {
		c.Results[i] = used.Unique(c.Results[i])
	}
	if c.Result == "" && c.Parts != nil {
		c.Parts = c.Results
	}
	for _, x := range []struct{ name, text string }{{c.file("certificate_test.go"), testText}, {c.file("example_test.go"), exampleText}} {
		if x.text == exampleText && c.Parts == nil {
			continue
		}
		src, err := c.render(x.text, t)
		if err != nil {
			return err
		}
		files.Add(x.name, src)
	}
	files.Add(c.file("samples.safetensors"), t.Samples)
	return nil
}

// render fills in a file.
func (c *Calls) render(text string, t *Tests) ([]byte, error) {
	data := struct {
		*Calls
		Header, Samples string
		Doc             []string
		Root            string
		Tests           *Tests
	}{c, Header, c.file("samples.safetensors"), nil, Root, t}
	for _, line := range t.Doc {
		data.Doc = append(data.Doc, Paragraph(line)...)
	}
	var b bytes.Buffer
	if err := testTemplates.Lookup(text).Execute(&b, data); err != nil {
		return nil, diag.Bug(err.Error())
	}
	src, err := format.Source(b.Bytes())
	if err != nil {
		e := diag.Bug("the printed test cannot be formatted")
		e.Err = err
		return nil, e
	}
	return src, nil
}

const testText, exampleText = "test", "example"

var testTemplates = template.Must(template.New("").Funcs(template.FuncMap{
	"quote": strconv.Quote, "join": strings.Join, "given": givenArg, "zeros": zerosArg, "size": sizeText,
	"upper": goname.Upper,
}).Parse(`
{{- define "head"}}{{if not .Eject}}// {{.Header}}

{{end}}package {{.Package}}
{{end}}

{{- define "test"}}{{template "head" .}}
import (
	"testing"

	"{{.Root}}array"
	"{{.Root}}codegen/certificate"
{{- if not .Context}}
	"{{.Root}}tensor"
{{- end}}
)

// Test{{upper .Name}}Certificate computes the stored samples and compares the results.
{{- range $i, $line := .Doc}}{{if not $i}}
//{{end}}
//	{{$line}}
{{- end}}
func Test{{upper .Name}}Certificate(t *testing.T) {
	{{- if and .Make (not .Again)}}
	m, err := {{template "made" .}}
	if err != nil {
		t.Fatal(err)
	}
	{{- end}}
	{{- if or .Again .State}}
	certificate.CheckSteps(t, {{quote .Samples}}, func() (certificate.Call, error) {
		{{- if and .Make .Again}}
		m, err := {{template "made" .}}
		if err != nil {
			return nil, err
		}
		{{- end}}
		{{- if .State}}
		state, err := {{.State}}
		if err != nil {
			return nil, err
		}
		{{- end}}
		return func(in []*array.Array) (any, error) {
			{{template "call" .}}
		}, nil
	})
	{{- else}}
	certificate.Check(t, {{quote .Samples}}, func(in []*array.Array) (any, error) {
		{{template "call" .}}
	})
	{{- end}}
}
{{end}}

{{- define "call"}}{{if .Result}}r{{else}}{{join .Results ", "}}{{end}}{{if .Context}}, err{{end}} := {{.Call}}({{if .Context}}t.Context(){{end}}{{if .State}}, state{{end -}}
		{{range $i, $a := .Inputs}}{{if or $i $.Context}}, {{end}}{{given $a $i}}{{end}})
		return []any{ {{- if .Parts}}{{join .Parts ", "}}{{else}}{{join .Results ", "}}{{end -}} }, {{if .Context}}err{{else}}nil{{end}}
{{- end}}

{{- define "made"}}{{if .Weights}}certificate.{{if .Find}}Bind{{else}}Load{{end}}({{quote .Weights}}, {{.Make}}){{else}}{{.Make}}(){{end}}{{end}}

{{- define "example"}}{{template "head" .}}
import (
	{{- if .Context}}
	"context"
	{{- end}}
	"fmt"
	{{- if .Find}}
	"runtime"
	{{- else if .Weights}}
	"os"
	{{- end}}
	{{- if or .Inputs .Find}}{{"\n"}}{{end}}
	{{- if .Inputs}}
	"{{.Root}}array"
	{{- end}}
	{{- if .Find}}
	"{{.Root}}array/safetensors"
	{{- end}}
	{{- if and .Inputs (not .Context)}}
	"{{.Root}}tensor"
	{{- end}}
)

// A call with inputs that are zeros.
func Example{{.Entry}}() {
	{{- if .Find}}
	f, err := safetensors.ReadFile({{quote .Weights}})
	if err != nil {
		panic(err)
	}
	m, err := {{.Make}}(f.Get, runtime.GOMAXPROCS(0))
	if err != nil {
		panic(err)
	}
	{{- else if .Weights}}
	f, err := os.Open({{quote .Weights}})
	if err != nil {
		panic(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		panic(err)
	}
	m, err := {{.Make}}(f, info.Size())
	if err != nil {
		panic(err)
	}
	{{- else if .Make}}
	m, err := {{.Make}}()
	if err != nil {
		panic(err)
	}
	{{- end}}
	{{- if .State}}
	state, err := {{.State}}
	if err != nil {
		panic(err)
	}
	{{- end}}
	{{- range $i, $a := .Inputs}}
	{{$a.Name}} := {{zeros $a (index $.Tests.Sizes $i)}}
	{{- end}}
	{{if .Result}}r{{else}}{{join .Results ", "}}{{end}}{{if .Context}}, err{{end}} := {{.Call}}({{if .Context}}context.Background(){{end}}{{if .State}}, state{{end -}}
	{{range $i, $a := .Inputs}}{{if or $i $.Context}}, {{end}}{{$a.Name}}{{end}})
	{{- if .Context}}
	if err != nil {
		panic(err)
	}
	{{- end}}
	{{- range .Parts}}
	fmt.Println({{quote .}}, {{.}}.Shape())
	{{- end}}
	{{- if .Tests.Results}}
	// Output:
	{{- range $i, $p := .Parts}}
	// {{$p}} {{size (index $.Tests.Results $i)}}
	{{- end}}{{end}}
}
{{end}}`))

// givenArg is an argument that is element i of the arrays in.
func givenArg(a Argument, i int) string {
	return strings.ReplaceAll(a.Given, "ARRAY", "in["+strconv.Itoa(i)+"]")
}

// zerosArg is an argument of zeros.
func zerosArg(a Argument, dims []int) string {
	text := make([]string, len(dims))
	for i, d := range dims {
		text[i] = strconv.Itoa(d)
	}
	return strings.ReplaceAll(a.Zeros, "SIZES", strings.Join(text, ", "))
}

// sizeText is how fmt prints sizes.
func sizeText(dims []int) string {
	text := make([]string, len(dims))
	for i, d := range dims {
		text[i] = strconv.Itoa(d)
	}
	return "[" + strings.Join(text, " ") + "]"
}
