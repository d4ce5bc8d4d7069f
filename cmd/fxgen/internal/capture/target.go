// Package capture does jobs in the code of the user's package: it checks what is to be captured,
// writes a test of the package that exists only in an overlay, and runs the
// go command. The test does the job in the package itself, where it can use
// unexported names, and leaves no files.
package capture

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/userpkg"
)

// Target is a function, or a method of a module, in a package.
type Target struct {
	Pattern string // of the package, as given
	Name    string // function or type
	Method  string // "" for Forward
	New     string // Go expression that makes the module, "" for New+Name or a literal

	Link         // operators and passes of other packages
	File  string // the graph that is the source instead, an absolute path
	Model string // the built-in network that is the source instead

	// Generated are the files that are about to be written, where that is known:
	// absolute paths, or a folder. The package may use them before they exist.
	Generated string

	// Output is the text that the model itself printed during the last job.
	Output string

	parts []string // the files of the package, once it is loaded
}

// Owns reports whether a file is part of the package: source of any kind, or a
// file that the package embeds. It knows once the target's job was done.
func (t *Target) Owns(path string) bool {
	info, err := os.Stat(path)
	return err == nil && slices.ContainsFunc(t.parts, func(part string) bool {
		other, err := os.Stat(part)
		return err == nil && os.SameFile(info, other)
	})
}

// Dir is the folder of the package where the pattern is one, else "".
func (t *Target) Dir() string {
	if info, err := os.Stat(t.Pattern); err == nil && info.IsDir() {
		return t.Pattern
	}
	return ""
}

// PackageIn returns the name of the package in a folder, "" when there is none.
func PackageIn(dir string) string {
	for _, f := range userpkg.GoFiles(dir) {
		if !strings.HasSuffix(f, "_test.go") {
			if name := packageName(f); name != "" {
				return name
			}
		}
	}
	return ""
}

// Parse reads PACKAGE#SYMBOL. constructor names a function or is an expression.
func Parse(pkg, symbol, constructor string) (*Target, error) {
	t := &Target{Pattern: pkg}
	if pkg == "" {
		t.Pattern = "."
	}
	t.Name, t.Method, _ = strings.Cut(symbol, ".")
	if !token.IsIdentifier(t.Name) || t.Method != "" && !token.IsIdentifier(t.Method) {
		return nil, coded(work.NoSymbol, bad("#"+symbol+" is no name of a function, type or method", "write ./pkg#Func, ./pkg#Type or ./pkg#Type.Method"))
	}
	if constructor != "" {
		e, err := parser.ParseExpr(constructor)
		if err != nil {
			return nil, coded(work.BadConstructor, bad("-new "+constructor+" is no Go expression", "name a function of the package, such as New"+t.Name))
		}
		t.New = constructor
		switch e.(type) {
		case *ast.Ident, *ast.SelectorExpr, *ast.FuncLit:
			t.New += "()"
		}
	}
	return t, nil
}

// badSource is the code of errors without a code of their own.
const badSource = work.BadSource

func bad(msg, hint string) *diag.Error { return diag.New(badSource, msg).WithHint(hint) }

// coded gives a refusal of this package the code of its cause.
func coded(c diag.Code, err error) error {
	var e *diag.Error
	if errors.As(err, &e) && e.Code == badSource {
		e.Code = c
	}
	return err
}
