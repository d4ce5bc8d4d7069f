// Package goname makes Go identifiers of any text: of the paths of tensors, the
// names of nodes, operators and attributes. Everything that writes Go takes its
// names from here, so the same tensor has the same name in every generated file,
// and no text from a graph reaches source any other way. It knows the standard
// library alone; every room may import it.
//
// Lower, Upper and Keep turn a text into an identifier; a Set makes identifiers
// of one scope differ, Labels any texts. Read words first: it is the one definition of a word.
package goname

import (
	"go/token"
	"strconv"
	"strings"
	"unicode"
)

// Predeclared are the names that Go declares itself or gives a meaning; shadowing
// one makes code hard to read and may break later code.
var Predeclared = strings.Fields(`any append bool byte cap clear close comparable complex complex64 complex128 copy
	delete error false float32 float64 imag int int8 int16 int32 int64 iota len make max min new nil panic print println
	real recover rune string true uint uint8 uint16 uint32 uint64 uintptr init main`)

// Lower returns an unexported identifier: "layer1.0.conv1" gives layer1Block0Conv1,
// "MLP" mlp, "KeepDim" keepDim, "DType" dtype, "h_n" hN. It may be a keyword; see Set.
func Lower(text string) string {
	list := words(text)
	list[0] = lowerLeading(list[0])
	return join(list, "v")
}

// Upper returns an exported identifier: "layer1.0.conv1" gives Layer1Block0Conv1,
// "batch_norm" BatchNorm. Capitals stay: "HTTPCode" is HTTPCode.
func Upper(text string) string {
	list := words(text)
	list[0] = capital(list[0])
	return join(list, "V")
}

// Keep returns a text as it is where it is an identifier, else the text without
// the characters that no identifier has; "size" if nothing remains.
func Keep(text string) string {
	var b strings.Builder
	for i := 0; i < len(text) && i < 32; i++ {
		if isLetter(text[i]) || isDigit(text[i]) && b.Len() > 0 || text[i] == '_' {
			b.WriteByte(text[i])
		}
	}
	if strings.Trim(b.String(), "_") == "" {
		return "size"
	}
	return b.String()
}

// mostLegal is the length at which Legal cuts: a file can have names of any.
const mostLegal = 100

// Legal makes the name of a node or of a size of a name in a model file: letters, digits and
// underscores, not starting with a digit; def where nothing is left.
func Legal(text, def string) string {
	var b strings.Builder
	for _, r := range text {
		if b.Len() >= mostLegal {
			break
		}
		switch {
		case r < 0x80 && (isLetter(byte(r)) || isDigit(byte(r))):
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	name := strings.Trim(b.String(), "_")
	switch {
	case name == "":
		return def
	case isDigit(name[0]):
		return def + "_" + name
	}
	return name
}

// LegalPath makes the path of a parameter: numbers and legal names with dots between.
func LegalPath(text string) string {
	parts := strings.Split(text, ".")
	for i, p := range parts {
		if !IsNumber(p) {
			parts[i] = Legal(p, "p")
		}
	}
	return strings.Join(parts, ".")
}

// IsNumber reports whether a text is a number of at most nine digits.
func IsNumber(text string) bool {
	for i := range len(text) {
		if !isDigit(text[i]) {
			return false
		}
	}
	return text != "" && len(text) < 10
}

// Snake is the text form of a Go name: "KeepDim" gives keep_dim, "DType" dtype.
func Snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 && !unicode.IsUpper(rune(name[i-1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// Package returns the name of a package: "My Net" gives mynet.
func Package(text string) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
	if name == "" || unicode.IsDigit(rune(name[0])) {
		return "model" + name
	}
	return name
}

// longest is the most bytes of an identifier that is made of a text.
const longest = 96

// words are the runs of ASCII letters and digits of a text; one empty word where
// it has none. A number in a path of modules counts blocks: after another number
// it says so.
func words(text string) []string {
	for i := 1; i+1 < len(text); i++ {
		if text[i] == '.' && isDigit(text[i-1]) && isDigit(text[i+1]) {
			text = text[:i] + ".Block" + text[i+1:]
		}
	}
	list := strings.FieldsFunc(text, func(r rune) bool { return r > 127 || !isLetter(byte(r)) && !isDigit(byte(r)) })
	if len(list) == 0 {
		return []string{""}
	}
	return list
}

// join writes words as one identifier: each but the first gets a capital, and
// digits that were apart stay apart. A result that does not begin with a letter
// gets one.
func join(words []string, letter string) string {
	out := words[0]
	if out == "" || isDigit(out[0]) {
		out = letter + out
	}
	for _, w := range words[1:] {
		if isDigit(w[0]) && isDigit(out[len(out)-1]) {
			out += "_"
		}
		out += capital(w)
	}
	return out[:min(len(out), longest)]
}

func capital(word string) string {
	if word == "" {
		return ""
	}
	return strings.ToUpper(word[:1]) + word[1:]
}

// lowerLeading lowers the capitals that a word begins with, save the one that
// begins the next word: HTTPModel is httpModel. A single capital before that one
// is an abbreviation of its own: DType is dtype.
func lowerLeading(word string) string {
	n := 0
	for n < len(word) && word[n] >= 'A' && word[n] <= 'Z' {
		n++
	}
	if n > 2 && n < len(word) && isLetter(word[n]) {
		n--
	}
	return strings.ToLower(word[:n]) + word[n:]
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// Set gives out the identifiers of one scope, each once.
type Set struct{ used map[string]bool }

// NewSet returns a set in which Go's own names and the given ones are taken.
func NewSet(reserved ...string) *Set {
	s := &Set{used: map[string]bool{}}
	s.Reserve(Predeclared...)
	s.Reserve(reserved...)
	return s
}

// Reserve takes names as they are.
func (s *Set) Reserve(names ...string) {
	for _, name := range names {
		s.used[name] = true
	}
}

// Include takes the names that another set has given out.
func (s *Set) Include(other *Set) {
	for name := range other.used {
		s.used[name] = true
	}
}

// Has reports whether a name is taken.
func (s *Set) Has(name string) bool { return s.used[name] }

// Free gives a name back, where its scope has ended.
func (s *Set) Free(name string) { delete(s.used, name) }

// Lower is the function Lower for a name that nothing else of the set has.
func (s *Set) Lower(text string) string { return s.Unique(Lower(text)) }

// Upper is the function Upper for a name that nothing else of the set has.
func (s *Set) Upper(text string) string { return s.Unique(Upper(text)) }

// Unique returns an identifier, or it and a number where it is taken. A keyword
// gets a letter in front, so that it is none and looks like no other name's number.
func (s *Set) Unique(name string) string {
	if token.IsKeyword(name) {
		name = "v" + name
	}
	base := name
	if isDigit(base[len(base)-1]) {
		base += "_"
	}
	for i := 2; s.used[name]; i++ {
		name = base + strconv.Itoa(i)
	}
	s.used[name] = true
	return name
}

// Labels makes names different, in constant time each. Unlike a Set it takes them as they
// are: names of nodes and parameters need not be free for Go.
type Labels map[string]int

// Fresh returns the name, with a number if it was given out before.
func (l *Labels) Fresh(name string) string {
	if *l == nil {
		*l = Labels{}
	}
	for {
		n := (*l)[name]
		(*l)[name]++
		if n == 0 {
			return name
		}
		numbered := name + "_" + strconv.Itoa(n)
		if (*l)[numbered] == 0 {
			(*l)[numbered] = 1
			return numbered
		}
	}
}
