package main

import (
	"bytes"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
)

// quote is where a page shows a file: the comment says which.
var quote = regexp.MustCompile("(?s)<!-- copied from ([\\w./]+) -->\n```go\n(.*?)```")

// writeQuotes updates the quotes in the pages of a checkout.
func writeQuotes(top string) error {
	pages, err := filepath.Glob(filepath.Join(top, "docs", "*.md"))
	if err != nil {
		return err
	}
	for _, path := range pages {
		page, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fresh, err := quoted(page, top)
		if err != nil {
			return err
		}
		if bytes.Equal(page, fresh) {
			continue
		}
		if err := os.WriteFile(path, fresh, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// quoted returns a page with the quotations that it should have.
func quoted(page []byte, top string) (fresh []byte, err error) {
	at := 0
	for _, m := range quote.FindAllSubmatchIndex(page, -1) {
		code, err := body(filepath.Join(top, string(page[m[2]:m[3]])))
		if err != nil {
			return nil, err
		}
		fresh = append(append(fresh, page[at:m[4]]...), code...)
		at = m[5]
	}
	return append(fresh, page[at:]...), nil
}

// body returns the part of a Go file after its imports.
func body(path string) ([]byte, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, src, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	end := f.Name.End()
	if n := len(f.Decls); n > 0 {
		end = f.Decls[n-1].End()
	}
	return bytes.TrimLeft(src[fset.Position(end).Offset:], "\n"), nil
}
