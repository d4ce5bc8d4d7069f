package gosrc

import (
	"regexp"
	"strings"

	"github.com/dave/jennifer/jen"
)

// packages are the imports that templates may name.
var packages = map[string]string{
	"array": Root + "array", "safetensors": Root + "array/safetensors", "diag": Root + "diag", "kernel": Root + "kernel", "nn": Root + "nn", "tensor": Root + "tensor",
	"atomic": "sync/atomic", "context": "context", "io": "io", "runtime": "runtime",
}

// word matches what a template may replace: a name of a package, or an identifier
// that stands behind no point.
var word = regexp.MustCompile(`\.\w+|\b([a-z]+)\.([A-Z]\w*)|\b[A-Za-z]\w*`)

// Template turns Go source into jennifer code. Identifiers in with, which stand for
// others (strings) or for code (jen.Code, lists of statements), are replaced, in
// comments too; those behind a point stay as they are. Names of packages import
// them.
func Template(source string, with map[string]any) *jen.Statement {
	out := jen.Null()
	var text strings.Builder // that stands behind out
	put := func(code jen.Code) {
		out.Op(text.String()).Add(code)
		text.Reset()
	}
	done := 0
	for _, m := range word.FindAllStringSubmatchIndex(source, -1) {
		text.WriteString(source[done:m[0]])
		done = m[1]
		if m[2] >= 0 {
			if path, ok := packages[source[m[2]:m[3]]]; ok {
				put(jen.Qual(path, source[m[4]:m[5]]))
				continue
			}
			done = m[3] // a selector of a value, which may be one to replace
		}
		switch x := with[source[m[0]:done]].(type) {
		case string:
			text.WriteString(x)
		case []jen.Code:
			if len(x) == 0 { // no line at all
				line := strings.TrimRight(text.String(), " \t\n")
				text.Reset()
				text.WriteString(line)
			}
			put(Lines(x))
		case jen.Code:
			put(x)
		default:
			text.WriteString(source[m[0]:done])
		}
	}
	return out.Op(text.String() + source[done:])
}

// Lines are statements as one piece of code.
func Lines(list []jen.Code) jen.Code { return jen.Custom(jen.Options{Separator: "\n"}, list...) }
