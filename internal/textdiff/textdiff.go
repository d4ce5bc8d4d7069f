// Package textdiff compares two texts line by line.
package textdiff

import (
	"fmt"
	"strings"
)

const context = 3

// Unified returns the difference in the format of diff -u, "" for equal texts.
func Unified(oldName, newName, a, b string) string {
	if a == b {
		return ""
	}
	edits := Edits(a, b)
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", oldName, newName)
	for i := 0; i < len(edits); {
		if edits[i].Op == ' ' {
			i++
			continue
		}
		from := max(0, i-context)
		to := i
		for k := i; k < len(edits) && k <= to+2*context; k++ {
			if edits[k].Op != ' ' {
				to = k
			}
		}
		to = min(len(edits), to+1+context)
		hunk(&out, edits, from, to)
		i = to
	}
	return out.String()
}

// Edit is one line: equal (' '), only in the old text ('-') or in the new ('+').
type Edit struct {
	Op         byte
	Text       string // with its line feed; the last line may have none
	oldN, newN int    // lines before it
}

func hunk(out *strings.Builder, edits []Edit, from, to int) {
	olds, news := 0, 0
	for _, e := range edits[from:to] {
		if e.Op != '+' {
			olds++
		}
		if e.Op != '-' {
			news++
		}
	}
	fmt.Fprintf(out, "@@ -%s +%s @@\n", span(edits[from].oldN, olds), span(edits[from].newN, news))
	for _, e := range edits[from:to] {
		out.WriteByte(e.Op)
		out.WriteString(e.Text)
		if !strings.HasSuffix(e.Text, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

func span(before, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", before)
	case 1:
		return fmt.Sprintf("%d", before+1)
	}
	return fmt.Sprintf("%d,%d", before+1, n)
}

// lines splits a text into lines that keep their line feeds.
func lines(s string) []string {
	l := strings.SplitAfter(s, "\n")
	if l[len(l)-1] == "" {
		l = l[:len(l)-1]
	}
	return l
}

// maxEdits bounds the search for a shortest script; beyond it everything between
// the common ends counts as replaced.
const maxEdits = 2000

// Edits returns a shortest edit script. Ref: Myers, An O(ND) difference algorithm
// and its variations, Algorithmica 1, 1986.
func Edits(oldText, newText string) []Edit {
	a, b := lines(oldText), lines(newText)
	pre := 0
	for pre < len(a) && pre < len(b) && a[pre] == b[pre] {
		pre++
	}
	post := 0
	for post < len(a)-pre && post < len(b)-pre && a[len(a)-1-post] == b[len(b)-1-post] {
		post++
	}
	s := script{}
	for _, l := range a[:pre] {
		s.add(' ', l)
	}
	s.middle(a[pre:len(a)-post], b[pre:len(b)-post])
	for _, l := range a[len(a)-post:] {
		s.add(' ', l)
	}
	return s.edits
}

type script struct {
	edits      []Edit
	oldN, newN int
}

func (s *script) add(op byte, text string) {
	s.edits = append(s.edits, Edit{op, text, s.oldN, s.newN})
	if op != '+' {
		s.oldN++
	}
	if op != '-' {
		s.newN++
	}
}

func (s *script) middle(a, b []string) {
	trace, found := search(a, b)
	if !found {
		for _, l := range a {
			s.add('-', l)
		}
		for _, l := range b {
			s.add('+', l)
		}
		return
	}
	var back []Edit
	x, y := len(a), len(b)
	for d := len(trace) - 1; d >= 0; d-- {
		v, k := trace[d], x-y
		prev := k - 1
		if k == -d || k != d && v[d+k-1] < v[d+k+1] {
			prev = k + 1
		}
		px := 0
		if d > 0 {
			px = v[d+prev]
		}
		py := px - prev
		if d == 0 {
			py = 0
		}
		for x > px && y > py {
			x, y = x-1, y-1
			back = append(back, Edit{Op: ' ', Text: a[x]})
		}
		if d == 0 {
			break
		}
		if x == px {
			y--
			back = append(back, Edit{Op: '+', Text: b[y]})
		} else {
			x--
			back = append(back, Edit{Op: '-', Text: a[x]})
		}
	}
	for i := len(back) - 1; i >= 0; i-- {
		s.add(back[i].Op, back[i].Text)
	}
}

// search returns the furthest points before each number of edits: trace[d][d+k]
// is that of diagonal k after d-1 edits.
func search(a, b []string) (trace [][]int, found bool) {
	limit := min(len(a)+len(b), maxEdits)
	v := make([]int, 2*limit+3)
	at := limit + 1
	for d := 0; d <= limit; d++ {
		snap := make([]int, 2*d+1)
		copy(snap, v[at-d:at+d+1])
		trace = append(trace, snap)
		for k := -d; k <= d; k += 2 {
			x := 0
			switch {
			case d == 0:
			case k == -d || k != d && v[at+k-1] < v[at+k+1]:
				x = v[at+k+1]
			default:
				x = v[at+k-1] + 1
			}
			y := x - k
			for x < len(a) && y < len(b) && a[x] == b[y] {
				x, y = x+1, y+1
			}
			v[at+k] = x
			if x >= len(a) && y >= len(b) {
				return trace, true
			}
		}
	}
	return nil, false
}
