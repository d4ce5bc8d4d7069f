package main

import (
	"strings"
	"unicode"

	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/op/api"
)

const width = 80

// docOf returns the doc comment of a function or method: the operator's result,
// the values of each parameter, the source of the definition.
func docOf(f *api.Func, method bool) []string {
	var lines []string
	switch f.Form {
	case api.Plain:
		lines = wrap(sentence(f))
	case api.Number:
		lines = wrap(f.Name + " is [" + ref(f, method, plainName(f)) + "] with the number v in place of " + numberName(f) + ".")
	case api.Swapped:
		lines = wrap(f.Name + " is [" + ref(f, method, plainName(f)) + "] with the number v in place of " + f.Params[0].Name +
			", and " + f.Params[0].Name + " in place of " + numberName(f) + ".")
	}
	if notes := f.Notes(); notes != "" {
		lines = append(append(lines, ""), wrap(notes)...)
	}
	if f.Op.Ref != "" && f.Form == api.Plain {
		lines = append(append(lines, ""), wrap("Reference: "+f.Op.Ref)...)
	}
	return lines
}

// docInPlace returns the doc comment of the in-place method.
func docInPlace(f *api.Func) []string {
	x := f.Params[0].Name
	return wrap(f.InPlace + " is [Tensor." + f.Name + "] with the result written to " + x + ", which it returns; views of " + x +
		" see it. The result must have the shape of " + x + ".")
}

func ref(f *api.Func, method bool, name string) string {
	if method {
		return "Tensor." + name
	}
	return name
}

func plainName(f *api.Func) string { return goname.Upper(f.Op.Name) }

// numberName returns the name of the operand that a number replaces.
func numberName(f *api.Func) string {
	for i, p := range f.Params {
		if p.Field == "Other" {
			return f.Op.In[i].Name
		}
	}
	return "the operand"
}

// sentence is the operator's own documentation with Go's names in it.
func sentence(f *api.Func) string {
	text := strings.TrimPrefix(f.Op.Doc, f.Op.Name+" ")
	text = goNames(f, text)
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return f.Name + " " + text
}

// goNames replaces the text form's names of attributes and results by those of
// the parameters: "normalized_shape" by "normalizedShape".
func goNames(f *api.Func, text string) string {
	known := map[string]string{}
	for _, a := range f.Op.Codec().Fields(f.Op.Codec().Zero()) {
		known[a.Name] = a.GoName
	}
	for _, p := range f.Params {
		for snake, field := range known {
			if field == p.Field {
				known[snake] = p.Name
			}
		}
		if p.Operand != "" {
			known[p.Operand] = p.Name
		}
	}
	var b strings.Builder
	for len(text) > 0 {
		n := strings.IndexFunc(text, func(r rune) bool { return !isWord(r) })
		if n < 0 {
			n = len(text)
		}
		if n == 0 {
			n = strings.IndexFunc(text, isWord)
			if n < 0 {
				n = len(text)
			}
			b.WriteString(text[:n])
			text = text[n:]
			continue
		}
		word := text[:n]
		if to := known[word]; to != "" && strings.Contains(word, "_") {
			word = to
		}
		b.WriteString(word)
		text = text[n:]
	}
	return b.String()
}

// wrap breaks text into lines.
func wrap(text string) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width-3 {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// isWord reports whether r may be part of a name.
func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
