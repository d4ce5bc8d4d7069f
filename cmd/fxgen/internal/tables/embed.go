package tables

import (
	"bytes"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/compile/source"
)

// sourceVar is the variable of a package that stands for its code.
const sourceVar = "fxSource"

// The names of the files that embed code, and of those that do not.
const (
	embeds = "fx_source.go"
	none   = "fx_nosource.go"
)

var embedded = template.Must(template.New("").Parse(`// {{.Header}}
{{.Mark}}
{{if .Embeds}}
//go:build !fxnosource

package {{.Package}}

import (
	"embed"

	"` + sourcePath + `"
)

//go:embed *.go
var fxFiles embed.FS

// {{.Var}} is the package's code, with which compiled functions compare their tables.
var {{.Var}} = source.Register({{printf "%q" .Path}}, fxFiles)
{{else}}
//go:build fxnosource

package {{.Package}}

import "` + sourcePath + `"

// {{.Var}} says that the program does not have the package's code: fxgen check finds what is stale.
var {{.Var}} *source.Files
{{end}}`))

// embedding makes the files of a package that embed its code, or do not.
func embedding(dir, pkg, path string) (files []File) {
	type data struct {
		Header, Mark, Package, Path, Var string
		Embeds                           bool
	}
	for _, name := range []string{embeds, none} {
		var b bytes.Buffer
		if err := embedded.Execute(&b, data{gosrc.Header, source.Mark, pkg, path, sourceVar, name == embeds}); err != nil {
			panic(err) // the template is a constant
		}
		files = append(files, File{filepath.Join(dir, name), []byte(strings.TrimRight(b.String(), "\n") + "\n")})
	}
	return files
}
