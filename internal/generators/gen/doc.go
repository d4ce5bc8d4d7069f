package main

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/gofx-dev/gofx/internal/generators/opsrc"
	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/api"
	"github.com/gofx-dev/gofx/shape"
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
	case api.With:
		plain := plainName(f)
		last := f.Params[len(f.Params)-1].Name
		lines = wrap(f.Name + " is [" + ref(f, method, plain) + "] with options after " + last + ", in one [" + f.AttrsType() + "].")
	}
	if notes := f.Notes(); notes != "" {
		lines = append(append(lines, ""), wrap(notes)...)
	}
	if f.Op.Ref != "" && f.Form == api.Plain {
		lines = append(append(lines, ""), wrap("Reference: "+f.Op.Ref)...)
	}
	return lines
}

// docOfStruct returns the doc comment of the name of an attributes struct: that of op/std,
// and the fields, which go doc does not show for a struct of another package.
func docOfStruct(o *op.Op, s opsrc.Struct) []string {
	lines := wrap(s.Doc)
	lines = append(lines, "", "Its fields:", "")
	var out bytes.Buffer
	w := tabwriter.NewWriter(&out, 0, 0, 1, ' ', 0)
	makers := map[string]bool{}
	for _, a := range o.Codec().Fields(o.Codec().Zero()) {
		t := reflect.TypeOf(a.Value)
		var notes []string
		switch {
		case a.Arg:
			notes = append(notes, "the argument "+goname.Lower(a.GoName))
		case a.Enum != nil:
			notes = append(notes, api.OneOf(a.Enum))
		}
		if m := makerOf[t]; m != "" && !a.Arg {
			makers[m] = true
		}
		if c := s.Comments[a.GoName]; c != "" {
			notes = append(notes, c)
		}
		row := a.GoName + "\t" + t.String()
		if len(notes) > 0 {
			row += "\t// " + strings.Join(notes, ": ")
		}
		fmt.Fprintln(w, row)
	}
	w.Flush()
	for _, row := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		lines = append(lines, "\t"+strings.TrimRight(row, " "))
	}
	if names := slices.Sorted(maps.Keys(makers)); len(names) > 0 {
		for i, n := range names {
			names[i] = "[" + n + "]"
		}
		verb := " make"
		if len(names) == 1 {
			verb += "s"
		}
		lines = append(lines, "", strings.Join(names, " and ")+verb+" values of fields.")
	}
	return lines
}

// makerOf names the functions of package tensor that make values of fields.
var makerOf = map[reflect.Type]string{
	reflect.TypeFor[op.Ints]():    "Ints",
	reflect.TypeFor[op.Floats]():  "Floats",
	reflect.TypeFor[op.Scalar]():  "Number",
	reflect.TypeFor[shape.Dims](): "Sizes",
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
