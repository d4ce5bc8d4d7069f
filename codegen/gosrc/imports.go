package gosrc

import (
	"go/token"
	"strings"
	"unicode"
)

// Root is the beginning of the import paths of this module's rooms.
const Root = "github.com/gofx-dev/gofx/"

// SplitType takes "import/path.Name" apart; the path is "" when there is none.
func SplitType(full string) (path, name string) {
	slash := strings.LastIndexByte(full, '/') + 1
	dot := strings.IndexByte(full[slash:], '.')
	if dot < 0 {
		return "", full
	}
	return full[:slash+dot], full[slash+dot+1:]
}

// Importable reports whether another package can name the exports of path. A
// path may come from a text; an invalid one never reaches an import
// declaration.
func Importable(path string) bool {
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

// Exported reports whether a name is an identifier that other packages see.
func Exported(name string) bool { return token.IsIdentifier(name) && token.IsExported(name) }
