package codegen

import (
	"strings"

	"github.com/gofx-dev/gofx/shape"
)

// dim prints a size as a Go expression over the symbols' variables. Floor
// division becomes a call, because Go's division rounds towards zero.
func (g *kernelGen) dim(d shape.Dim) string {
	r := dimReader{s: d.String(), g: g}
	return r.sum()
}

// dims prints sizes as arguments.
func (g *kernelGen) dims(d shape.Dims) string {
	parts := make([]string, d.Len())
	for i := range parts {
		parts[i] = g.dim(d.At(i))
	}
	return strings.Join(parts, ", ")
}

// comma prints ", " and the sizes, nothing for none.
func (g *kernelGen) comma(d shape.Dims) string {
	if d.Len() == 0 {
		return ""
	}
	return ", " + g.dims(d)
}

// dimReader reads the text of a size: sums of products of numbers, symbols,
// parentheses and floor divisions, of which // binds like *, from the left.
type dimReader struct {
	s string
	i int
	g *kernelGen
}

func (r *dimReader) sum() string {
	out := ""
	if r.next("-") {
		out = "-"
	}
	out += r.product()
	for {
		switch {
		case r.next("+"):
			out += " + " + r.product()
		case r.next("-"):
			out += " - " + r.product()
		default:
			return out
		}
	}
}

func (r *dimReader) product() string {
	out := r.factor()
	for {
		switch {
		case r.next("//"):
			den := r.factor()
			out = r.g.prefix + "FloorDiv(" + bare(out) + ", " + bare(den) + ")"
		case r.next("*"):
			out += "*" + r.factor()
		default:
			return out
		}
	}
}

// bare removes parentheses around a whole factor.
func bare(s string) string {
	if !strings.HasPrefix(s, "(") {
		return s
	}
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 && i < len(s)-1 {
			return s
		}
	}
	return s[1 : len(s)-1]
}

func (r *dimReader) factor() string {
	if r.next("(") {
		in := r.sum()
		r.next(")")
		if !isSum(in) {
			return in
		}
		return "(" + in + ")"
	}
	start := r.i
	for r.i < len(r.s) && (isLetter(r.s[r.i]) || isDigit(r.s[r.i]) || r.s[r.i] == '_') {
		r.i++
	}
	word := r.s[start:r.i]
	if name, ok := r.g.symbols[word]; ok {
		return name
	}
	return word
}

// isSum reports whether an expression has a sign outside parentheses.
func isSum(s string) bool {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			depth--
		case '+', '-':
			if depth == 0 {
				return true
			}
		}
	}
	return false
}

func (r *dimReader) next(token string) bool {
	for r.i < len(r.s) && r.s[r.i] == ' ' {
		r.i++
	}
	if strings.HasPrefix(r.s[r.i:], token) {
		r.i += len(token)
		return true
	}
	return false
}
