package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/internal/testkit/repo"
)

// directive begins the comment of a row that names its constants.
const directive = "//gofx:code "

// mark is a constant for the code of a row.
type mark struct{ room, name, code, title string }

// read returns the marks of the tables in dir.
func read(dir string) ([]mark, error) {
	fset := token.NewFileSet()
	files, err := repo.Parse(fset, filepath.Join(dir, "codes_*.go"))
	if err != nil {
		return nil, err
	}
	var marks []mark
	for _, file := range files {
		rows := rowsOf(file)
		for _, group := range file.Comments {
			for _, c := range group.List {
				words, ok := strings.CutPrefix(c.Text, directive)
				if !ok {
					continue
				}
				more, err := marksOf(strings.Fields(words), rowAround(rows, c.Pos()))
				if err != nil {
					return nil, fmt.Errorf("%s: %w", fset.Position(c.Pos()), err)
				}
				marks = append(marks, more...)
			}
		}
	}
	return marks, nil
}

// rowsOf returns the literals of a file's tables, one a code.
func rowsOf(f *ast.File) []*ast.CompositeLit {
	var rows []*ast.CompositeLit
	ast.Inspect(f, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if ok && lit.Type == nil {
			rows = append(rows, lit)
		}
		return true
	})
	return rows
}

func rowAround(rows []*ast.CompositeLit, at token.Pos) *ast.CompositeLit {
	for _, r := range rows {
		if r.Lbrace < at && at < r.Rbrace {
			return r
		}
	}
	return nil
}

// marksOf reads the words of a comment in a row.
func marksOf(words []string, row *ast.CompositeLit) ([]mark, error) {
	if row == nil {
		return nil, fmt.Errorf("%sis not in the row of a code", directive)
	}
	code, title := field(row, "Code"), field(row, "Title")
	if code == "" || title == "" || len(words) == 0 {
		return nil, fmt.Errorf("%sneeds a name, and its row a Code and a Title", directive)
	}
	var marks []mark
	for _, w := range words {
		dot := strings.LastIndexByte(w, '.')
		if dot < 1 || !token.IsIdentifier(w[dot+1:]) {
			return nil, fmt.Errorf("%q is no constant; expected the path of a package in this module, a dot and a name", w)
		}
		marks = append(marks, mark{w[:dot], w[dot+1:], code, title})
	}
	return marks, nil
}

// field returns a field of a row that is a string.
func field(row *ast.CompositeLit, name string) string {
	for _, e := range row.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if key, ok := kv.Key.(*ast.Ident); ok && key.Name == name {
			if lit, ok := kv.Value.(*ast.BasicLit); ok {
				text, _ := strconv.Unquote(lit.Value)
				return text
			}
		}
	}
	return ""
}
