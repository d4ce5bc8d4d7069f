package rules

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"regexp"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/gofx-dev/gofx/cmd/fxvet/internal/flow"
	"github.com/gofx-dev/gofx/diag"
)

const docs = "https://github.com/gofx-dev/gofx/blob/main/docs/"

// All returns the analyzers.
func All() []*analysis.Analyzer {
	return []*analysis.Analyzer{Data, Write, Keep, Steady, State, Wrap, Attr, Scope}
}

// rule makes an analyzer of a function that is called for each package with models.
func rule(name, doc string, run func(*check)) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name: name, Doc: name + " " + doc, URL: docs + "fxvet.md#" + name,
		Requires: []*analysis.Analyzer{flow.Analyzer},
		Run: func(pass *analysis.Pass) (any, error) {
			if r := pass.ResultOf[flow.Analyzer].(*flow.Result); r != nil {
				c := &check{Pass: pass, flow: r, ignored: ignored(pass, name), seen: map[string]bool{}}
				run(c)
			}
			return nil, nil
		},
	}
}

// check is one analyzer at work on one package.
type check struct {
	*analysis.Pass
	flow    *flow.Result
	ignored map[line]bool
	seen    map[string]bool // reported positions with their codes
}

type line struct {
	file string
	line int
}

var ignore = regexp.MustCompile(`^//fxvet:ignore ([a-z,]+): .`)

// ignored returns the lines that comments exempt from an analyzer: that of the comment, and
// the next one. A comment without a reason exempts nothing.
func ignored(pass *analysis.Pass, name string) map[line]bool {
	out := map[line]bool{}
	for _, f := range pass.Files {
		for _, g := range f.Comments {
			for _, c := range g.List {
				m := ignore.FindStringSubmatch(c.Text)
				if m == nil || !contains(strings.Split(m[1], ","), name) {
					continue
				}
				at := pass.Fset.Position(c.Pos())
				out[line{at.Filename, at.Line}] = true
				out[line{at.Filename, at.Line + 1}] = true
			}
		}
	}
	return out
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// report reports a mistake in the words of its code; detail tells what is meant here.
func (c *check) report(n ast.Node, code diag.Code, detail string, fixes ...analysis.SuggestedFix) {
	info, _ := diag.Lookup(code)
	c.say(n, string(code), string(code)+": "+info.Title+": "+detail, fixes)
}

// say reports a message once for each place.
func (c *check) say(n ast.Node, category, message string, fixes []analysis.SuggestedFix) {
	pos, end := place(c.Fset, n)
	if !pos.IsValid() {
		return
	}
	at := c.Fset.Position(pos)
	key := at.String() + category
	if c.seen[key] || c.ignored[line{at.Filename, at.Line}] || c.flow.Generated(pos) {
		return
	}
	c.seen[key] = true
	url := ""
	if category != "" {
		url = docs + "errors.md"
	}
	c.Report(analysis.Diagnostic{Pos: pos, End: end, Category: category, Message: message, URL: url, SuggestedFixes: fixes})
}

// place returns where a mistake is shown: a call in a chain of several lines at its name.
func place(fset *token.FileSet, n ast.Node) (pos, end token.Pos) {
	pos, end = n.Pos(), n.End()
	if call, ok := n.(*ast.CallExpr); ok {
		if s, ok := call.Fun.(*ast.SelectorExpr); ok && fset.Position(pos).Line != fset.Position(s.Sel.Pos()).Line {
			pos = s.Sel.Pos()
		}
	}
	return pos, end
}

// fix is a suggested fix of edits.
func fix(message string, edits ...analysis.TextEdit) []analysis.SuggestedFix {
	return []analysis.SuggestedFix{{Message: message, TextEdits: edits}}
}

// replace is the edit that puts text in place of a node.
func replace(n ast.Node, text string) analysis.TextEdit {
	return analysis.TextEdit{Pos: n.Pos(), End: n.End(), NewText: []byte(text)}
}

// text returns the source of a node.
func (c *check) text(n ast.Node) string {
	file := c.Fset.File(n.Pos())
	src, err := c.ReadFile(file.Name())
	if err != nil {
		return ""
	}
	from, to := file.Offset(n.Pos()), file.Offset(n.End())
	if to > len(src) {
		return ""
	}
	return string(src[from:to])
}

// parent returns what a call stands in, parentheses left out: nearest first.
func (c *check) parents(call *ast.CallExpr) []ast.Node {
	path := c.flow.Paths[call]
	var out []ast.Node
	for i := len(path) - 2; i >= 0; i-- {
		if _, ok := path[i].(*ast.ParenExpr); !ok {
			out = append(out, path[i])
		}
	}
	return out
}

// calls visits the calls of the files whose mistakes are reported, with what they call. In
// tests these are the calls in captured functions.
func (c *check) calls(visit func(call *ast.CallExpr, fn *types.Func)) {
	for _, f := range c.Files {
		test := c.flow.Test(f.Pos())
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if fn, ok := c.flow.Callee(call); ok && (!test || c.flow.InCapture(call)) {
				visit(call, fn)
			}
			return true
		})
	}
}

// name returns the name by which a file has a package, "" when it does not import it.
func (c *check) name(at token.Pos, pkg string) string {
	for _, f := range c.Files {
		if f.FileStart > at || at > f.FileEnd {
			continue
		}
		for _, spec := range f.Imports {
			if strings.Trim(spec.Path.Value, `"`) != pkg {
				continue
			}
			name := pkg[strings.LastIndexByte(pkg, '/')+1:]
			if spec.Name != nil {
				name = spec.Name.Name
			}
			if name == "_" || name == "." {
				return ""
			}
			if inner := c.Pkg.Scope().Innermost(at); inner != nil {
				if _, obj := inner.LookupParent(name, at); obj != nil {
					if p, ok := obj.(*types.PkgName); !ok || p.Imported().Path() != pkg {
						return "" // something else has the name here
					}
				}
			}
			return name
		}
	}
	return ""
}

// tag reads a key of a field's tag.
func tag(text, key string) string { return reflect.StructTag(text).Get(key) }
