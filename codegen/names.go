package codegen

import (
	"go/token"
	"strconv"
	"strings"
	"unicode"
)

// predeclared are the names that Go declares itself; shadowing one makes code
// hard to read and may break what is printed after it.
var predeclared = strings.Fields(`any append bool byte cap clear close comparable complex complex64 complex128 copy
	delete error false float32 float64 imag int int8 int16 int32 int64 iota len make max min new nil panic print println
	real recover rune string true uint uint8 uint16 uint32 uint64 uintptr init main`)

// namer gives out Go identifiers, each once. A name from a graph never reaches
// source any other way.
type namer struct{ used map[string]bool }

func newNamer(reserved ...string) *namer {
	s := &namer{used: map[string]bool{}}
	for _, name := range predeclared {
		s.used[name] = true
	}
	for _, name := range reserved {
		s.used[name] = true
	}
	return s
}

// local returns an unexported identifier made of a name: "layer1_0_conv1" gives
// layer10Conv1.
func (s *namer) local(hint string) string { return s.unique(lowerFirst(camelWords(hint)), "v") }

// exported returns an exported identifier made of a name: "layer1.0.conv1.weight"
// gives Layer10Conv1Weight.
func (s *namer) exported(hint string) string { return s.unique(upperFirst(camelWords(hint)), "V") }

func (s *namer) unique(name, prefix string) string {
	if !token.IsIdentifier(name) {
		if name = prefix + name; !token.IsIdentifier(name) { // a keyword with a letter in front is none
			name = prefix
		}
	}
	for base, i := name, 2; s.used[name]; i++ {
		name = base + strconv.Itoa(i)
		if unicode.IsDigit(rune(base[len(base)-1])) {
			name = base + "_" + strconv.Itoa(i)
		}
	}
	s.used[name] = true
	return name
}

// camelWords joins the ASCII words of a name, each but the first with a capital.
func camelWords(s string) string {
	var b strings.Builder
	up := false
	for _, r := range s {
		if r >= unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			up = b.Len() > 0
			continue
		}
		if up {
			r = unicode.ToUpper(r)
		}
		up = false
		b.WriteRune(r)
	}
	return b.String()
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// lowerFirst lowers the first letter, and all of a name in capitals.
func lowerFirst(s string) string {
	if s == "" || strings.ToUpper(s) == s {
		return strings.ToLower(s)
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// splitType takes "import/path.Name" apart; the path is "" when there is none.
func splitType(full string) (path, name string) {
	slash := strings.LastIndexByte(full, '/') + 1
	dot := strings.IndexByte(full[slash:], '.')
	if dot < 0 {
		return "", full
	}
	return full[:slash+dot], full[slash+dot+1:]
}

// importable reports whether another package can name what path exports. A path
// may come from a text; what is none never reaches an import declaration.
func importable(path string) bool {
	return isImportPath(path) && path != "main" && path != "C" && !strings.HasSuffix(path, "_test") && !strings.HasSuffix(path, ".test")
}

// isImportPath reports whether a text is an import path: elements of ASCII letters,
// digits and -._~+, none of them empty or only dots.
func isImportPath(path string) bool {
	for _, e := range strings.Split(path, "/") {
		if strings.Trim(e, ".") == "" || strings.ContainsFunc(e, func(r rune) bool {
			return r >= unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-._~+", r)
		}) {
			return false
		}
	}
	return true
}

func isExported(name string) bool { return token.IsIdentifier(name) && token.IsExported(name) }
