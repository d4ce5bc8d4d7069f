// Package near finds the name that someone meant. Whatever refuses a name that it does not
// know (a flag, a pass, a function, an input) asks it, so that all count slips alike. It
// knows the standard library alone; every room may import it.
package near

import (
	"strings"
	"unicode/utf8"
)

// Of returns the known name that a wrong one is closest to, "" where none is close: one
// that differs in case and in -, _ and spaces alone, else one that at most a third of the
// name's letters, and never more than three, have to be put in, left out, changed or
// exchanged with their neighbour for. Of several that are as close, the first wins.
func Of(name string, known []string) string {
	if len(name) > longest {
		return ""
	}
	best, found := min(3, utf8.RuneCountInString(name)/3)+1, ""
	folded := fold(name)
	for _, k := range known {
		if k == name || len(k) > longest {
			continue
		}
		if d := distance(folded, fold(k)); d < best {
			best, found = d, k
		}
	}
	return found
}

// longest bounds the time on names that come from files.
const longest = 256

// Hint is the hint of a name that is not known: the name that was probably meant, else the other
// hint.
func Hint(name string, known []string, otherwise string) string {
	if meant := Of(name, known); meant != "" {
		return question + meant + "?"
	}
	return otherwise
}

const question = "did you mean "

// IsHint reports whether a hint proposes a name.
func IsHint(hint string) bool { return strings.HasPrefix(hint, question) }

func fold(name string) []rune {
	return []rune(strings.ToLower(strings.NewReplacer("-", "", "_", "", " ", "").Replace(name)))
}

// distance is the number of letters to put in, leave out, change, or exchange with
// their neighbour, that make b of a.
func distance(a, b []rune) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for k := range last {
		last[k] = k
	}
	for i := range a {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for k := range b {
			cost := 1
			if a[i] == b[k] {
				cost = 0
			}
			row[k+1] = min(last[k]+cost, last[k+1]+1, row[k]+1)
			if i > 0 && k > 0 && a[i] == b[k-1] && a[i-1] == b[k] {
				row[k+1] = min(row[k+1], before[k-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
