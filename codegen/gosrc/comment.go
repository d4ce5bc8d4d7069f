package gosrc

import (
	"strings"
	"unicode"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/shape"
)

const (
	maxComment = 120 // runes of a name
	maxLine    = 500 // of any line
)

// Comment makes any text fit for a line comment after "// ": one line, printable, of bounded
// length, and no directive to the Go tools. Only one directive works after a space: a build
// constraint, which gofmt moves to the top of the file from anywhere.
func Comment(text string) string {
	text = shortened(printable(text), maxLine)
	if name := strings.TrimLeft(text, " "); strings.HasPrefix(name, "+build") {
		return "(" + name + ")"
	}
	return text
}

func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, text)
}

// shortened is a text of at most so many runes.
func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	if r := []rune(text); len(r) > most {
		return string(r[:most-3]) + "..."
	}
	return text
}

// CommentLine is Comment for names: without blanks at its ends, and not too long.
func CommentLine(s string) string {
	return shortened(strings.Join(strings.Fields(Comment(s)), " "), maxComment)
}

// ScopeComment describes a scope: "layer1.0 (BasicBlock)", "" for the root. It has
// no line numbers: an edit of comments in the model changes no byte of the code.
func ScopeComment(s graph.Scope) string {
	_, name := SplitType(s.Type)
	switch {
	case s.Path == "" && name == "":
		return ""
	case s.Path == "":
		return CommentLine("(" + name + ")")
	case name == "":
		return CommentLine(s.Path)
	}
	return CommentLine(s.Path + " (" + name + ")")
}

// TypeComment describes what is known about a value, "" when nothing is.
func TypeComment(t shape.Type) string {
	if t.Kind() == shape.None {
		return ""
	}
	return CommentLine(t.String())
}
