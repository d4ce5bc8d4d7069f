package gosrc

import (
	"regexp"
	"strings"

	"github.com/dave/jennifer/jen"
)

// packages are the imports that templates may name.
var packages = map[string]string{
	"array": Root + "array", "safetensors": Root + "array/safetensors", "kernel": Root + "kernel", "nn": Root + "nn", "tensor": Root + "tensor",
	"atomic": "sync/atomic", "context": "context", "io": "io", "iter": "iter", "runtime": "runtime",
}

// word matches the names that a template may replace: a package name, or an
// identifier that does not follow a dot.
var word = regexp.MustCompile(`\.\w+|\b([a-z]+)\.([A-Z]\w*)|\b[A-Za-z]\w*`)

// Template turns Go source into jennifer code. Identifiers in with, which stand for
// others (strings) or for code (jen.Code, lists of statements), are replaced, in
// comments too; those after a dot stay as they are. Package names become imports.
func Template(source string, with map[string]any) *jen.Statement {
	out := jen.Null()
	var text strings.Builder // that follows out
	put := func(code jen.Code) {
		out.Op(text.String()).Add(code)
		text.Reset()
	}
	done := 0
	for _, match := range word.FindAllStringSubmatchIndex(source, -1) {
		text.WriteString(source[done:match[0]])
		done = match[1]
		if match[2] >= 0 {
			if path, ok := packages[source[match[2]:match[3]]]; ok {
				put(jen.Qual(path, source[match[4]:match[5]]))
				continue
			}
			done = match[3] // a selector of a value, which may be one to replace
		}
		switch by := with[source[match[0]:done]].(type) {
		case string:
			text.WriteString(by)
		case []jen.Code:
			if len(by) == 0 { // no line at all
				line := strings.TrimRight(text.String(), " \t\n")
				text.Reset()
				text.WriteString(line)
			}
			put(Lines(by))
		case jen.Code:
			put(by)
		default:
			text.WriteString(source[match[0]:done])
		}
	}
	return out.Op(text.String() + source[done:])
}

// Lines are statements as one piece of code.
func Lines(list []jen.Code) jen.Code { return jen.Custom(jen.Options{Separator: "\n"}, list...) }
