package codegen

import (
	"strings"
	"unicode"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/shape"
)

const maxComment = 120

// commentText makes a text safe inside a line comment: one line, printable, and
// no directive to the Go tools.
func commentText(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > maxComment {
		s = string(r[:maxComment-3]) + "..."
	}
	return s
}

// scopeText describes a scope: "layer1.0 (BasicBlock)", "" for the root. It has
// no line numbers: an edit of comments in the model changes no byte of the code.
func scopeText(s graph.Scope) string {
	_, name := splitType(s.Type)
	switch {
	case s.Path == "" && name == "":
		return ""
	case s.Path == "":
		return commentText("(" + name + ")")
	case name == "":
		return commentText(s.Path)
	}
	return commentText(s.Path + " (" + name + ")")
}

// typeText describes what is known about a value, "" when nothing is.
func typeText(t shape.Type) string {
	if t.Kind() == shape.None {
		return ""
	}
	return commentText(t.String())
}
